/* Model descriptions in JSON on arbitrary bytes: parsing, training configurations, custom models, building
 * and counting what they describe. What is built verifies. */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "base/json_tree.h"
#include "formats/model_config.h"
#include "ir/verify.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_it(const ir_model *m)
{
    arena *work = arena_new(LIMIT_BYTES);
    profile *p = profile_new(LIMIT_BYTES);
    infer_result *r = NULL;
    counted of;
    const count_options opt = {0};
    assay_error err = {0};
    if (work && p && infer_run(m, NULL, work, &r, &err) == ASSAY_OK)
        count_run(r, &opt, p, &of, &err);
    profile_free(p);
    arena_free(work);
}

static void build_it(const model_config *c)
{
    assay_error err = {0};
    ir_model *m = NULL;
    const zoo_request q = {.row = c->row, .set = &c->args, .memory_limit = LIMIT_BYTES};
    if (zoo_build(&q, &m, &err) != ASSAY_OK)
        return;
    if (ir_verify(m, &err) != ASSAY_OK)
        abort();
    count_it(m);
    ir_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_new(LIMIT_BYTES);
    assay_error err = {0};
    json_value root;
    model_config c;
    str text = {(const char *)data, (uint32_t)size};
    if (a && size < 1 << 20 && json_tree_parse(text, "fuzz", NULL, a, &root, &err) == ASSAY_OK &&
        model_config_of(&root, "fuzz.json", a, &c, &err) == ASSAY_OK)
        build_it(&c);
    arena_free(a);
    return 0;
}

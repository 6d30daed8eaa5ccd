/* The whole static road on arbitrary bytes: reader, inlining, verification, inference, counting, memory
 * plan, training, patterns and groups, every report. Whatever the bytes are, each step ends in a status, and what comes out
 * well keeps its promises: a report can be written and sums are the sums of the layers.
 *
 * The reader alone is fuzz_onnx_read.c.
 */
#include <stdint.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "analyze/fuse.h"
#include "analyze/infer.h"
#include "analyze/memory.h"
#include "analyze/training.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "formats/onnx_read.h"
#include "fuzz/mutate.h"
#include "ir/verify.h"
#include "report/report.h"
#include "rewrite/inline.h"

#define LIMIT_BYTES ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef ASSAY_FUZZING
MUTATE_WITH(mutate_protobuf)
#endif

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void check_sums(const profile *p)
{
    uint64_t flops = 0, macs = 0;
    for (uint32_t k = 0; k < p->n_layers; k++) {
        flops = sat_add(flops, p->layers[k].flops);
        macs = sat_add(macs, p->layers[k].macs);
    }
    promise(flops == p->total_flops && macs == p->total_macs);
    promise(p->memory_plan.activations_peak_bytes >= p->memory_plan.lower_bound_bytes);
}

/* Patterns, and groups by every strategy: each layer in one, in an order that respects dependencies. */
static assay_status cut(infer_result *r, const counted *of, profile *p, assay_error *err)
{
    flow f;
    pattern_list patterns;
    TRY(flow_build(r, of, p, IR_UNDEFINED, &f, err));
    TRY(pattern_find(&f, &patterns, err));
    TRY(pattern_fill(&f, &patterns, p, err));
    for (int s = 0; s < FUSE_STRATEGIES; s++) {
        fuse_partition g;
        uint64_t nodes = 0;
        TRY(fuse_run(&f, &patterns, (fuse_strategy)s, &g, err));
        TRY(fuse_figures(&f, &g, (fuse_strategy)s, p, &p->fusion, err));
        for (uint32_t k = 0; k < p->fusion->n_groups; k++) {
            const fusion_group *x = &p->fusion->groups[k];
            nodes += x->n_nodes;
            for (uint32_t d = 0; d < x->n_depends_on; d++)
                promise(x->depends_on[d] < k);
        }
        promise(nodes == p->n_layers);
    }
    return ASSAY_OK;
}

static assay_status write_reports(const profile *p, assay_error *err)
{
    const report_options o = {.width = 80, .top = 5, .depth = 2, .verbose = true};
    for (uint32_t k = 0; k < report_table_n; k++) {
        sbuf out = {0};
        assay_status s = report_table[k].write(p, &o, &out, err);
        sbuf_free(&out);
        TRY(s);
    }
    return ASSAY_OK;
}

static assay_status analyse(const ir_model *m, arena *a, profile *p, assay_error *err)
{
    infer_result *r = NULL;
    counted of;
    const count_options counting = {.verbose = true};
    TRY(infer_run(m, NULL, a, &r, err));
    TRY(count_run(r, &counting, p, &of, err));
    TRY(memory_run(r, &of, IR_UNDEFINED, &(memory_detail){.events = true}, p, err));
    TRY(training_run(r, &of, p, err));
    check_sums(p);
    TRY(cut(r, &of, p, err));
    return write_reports(p, err);
}

static assay_status read_model(const uint8_t *data, size_t size, ir_model **m, assay_error *err)
{
    const onnx_read_options opt = {.memory_limit = LIMIT_BYTES};
    TRY(onnx_read_bytes(data, size, &opt, m, err));
    TRY(ir_verify(*m, err));
    TRY(rewrite_inline(*m, err));
    assay_status again = ir_verify(*m, err);
    promise(again == ASSAY_OK || again == ASSAY_ERR_SYSTEM);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error err;
    ir_model *m = NULL;
    arena *a = arena_new(LIMIT_BYTES);
    profile *p = profile_new(LIMIT_BYTES);
    err_clear(&err);
    assay_status s = read_model(data, size, &m, &err);
    if (s == ASSAY_OK)
        s = analyse(m, a, p, &err);
    promise((s == ASSAY_OK) == (err.message[0] == '\0'));
    promise(s == ASSAY_OK || s == ASSAY_ERR_MALFORMED || s == ASSAY_ERR_UNSUPPORTED ||
            s == ASSAY_ERR_SYSTEM);
    profile_free(p);
    arena_free(a);
    ir_model_free(m);
    return 0;
}

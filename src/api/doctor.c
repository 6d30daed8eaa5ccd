/* Checks of the installation, one row each. The last one analyses a model with one operator whose result is known. */
#include <assay/measure.h>

#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"
#include "base/limits.h"
#include "device/host.h"
#include "formats/image.h"
#include "ops/op.h"

/* y[2,4] = MatMul(a[2,3], b[3,4]) in float32, opset 13, as an ONNX file. */
static const unsigned char product_model[] = {
    0x08, 0x07, 0x3a, 0x55, 0x0a, 0x11, 0x0a, 0x01, 0x61, 0x0a, 0x01, 0x62, 0x12, 0x01, 0x79, 0x22,
    0x06, 0x4d, 0x61, 0x74, 0x4d, 0x75, 0x6c, 0x12, 0x01, 0x67, 0x5a, 0x13, 0x0a, 0x01, 0x61, 0x12,
    0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x5a,
    0x13, 0x0a, 0x01, 0x62, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x03,
    0x0a, 0x02, 0x08, 0x04, 0x62, 0x13, 0x0a, 0x01, 0x79, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12,
    0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x04, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d,
};
#define PRODUCT_MACS 24 /* 2 * 4 * 3 */

static void check_version(assay_doctor_check *c)
{
    c->ok = true;
    snprintf(c->detail, sizeof c->detail, "%s, writes results of schema assay.profile/1",
             assay_version());
}

static bool row_whole(const op_row *r)
{
    return r->name && *r->name && r->type && r->versions && r->infer;
}

static void check_operators(assay_doctor_check *c)
{
    uint32_t n = 0, bad = 0;
    for (uint32_t t = 0; t < op_table_n; t++)
        for (uint32_t i = 0; i < op_table[t]->n; i++, n++)
            bad += !row_whole(&op_table[t]->rows[i]);
    c->ok = n > 0 && bad == 0;
    snprintf(c->detail, sizeof c->detail, "%u known%s", n, bad ? "; some rows are not whole" : "");
}

static void check_lenses(assay_doctor_check *c)
{
    c->ok = lens_table_n > 0 && lens_find(STR("assay")) != NULL;
    snprintf(c->detail, sizeof c->detail, "%u known", lens_table_n);
}

static void check_machine(assay_doctor_check *c)
{
    host_info h;
    host_describe(&h);
    c->ok = h.cores > 0;
    snprintf(c->detail, sizeof c->detail, "%s, %s%s%" PRIu64 " cores, %.1f GiB", h.os, h.cpu,
             *h.cpu ? ", " : "", h.cores, (double)h.memory_bytes / (double)(1 << 30));
}

static void check_analysis(assay_doctor_check *c)
{
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_error err;
    assay_value macs = {.size = sizeof macs};
    assay_status s = assay_model_from_bytes(product_model, sizeof product_model, "product", NULL,
                                            &m, &err);
    if (s == ASSAY_OK)
        s = assay_analyze(m, NULL, &p, &err);
    if (s == ASSAY_OK)
        s = assay_result_get(p, "total_macs", &macs, &err);
    c->ok = s == ASSAY_OK && macs.whole == PRODUCT_MACS;
    if (s == ASSAY_OK)
        snprintf(c->detail, sizeof c->detail,
                 "a 2x3 by 3x4 product takes %" PRIu64 " multiply-accumulates", macs.whole);
    else
        snprintf(c->detail, sizeof c->detail, "%.250s", err.message);
    assay_result_free(p);
    assay_model_free(m);
}

/* Found where, or the sentence that says how to install it. */
static void check_engine(assay_doctor_check *c)
{
    assay_engine_info e = {.size = sizeof e};
    assay_error err;
    c->ok = assay_engine_find(NULL, &e, &err) == ASSAY_OK;
    if (c->ok)
        snprintf(c->detail, sizeof c->detail, "%.60s %.60s, %.360s", e.title, e.version, e.library);
    else
        snprintf(c->detail, sizeof c->detail, "%.500s", err.message);
}

static void check_images(assay_doctor_check *c)
{
    c->ok = image_reads_png() && image_reads_jpeg();
    snprintf(c->detail, sizeof c->detail, "PNG %s, JPEG %s",
             image_reads_png() ? "built in" : "not built in",
             image_reads_jpeg() ? "built in" : "not built in");
}

static const struct {
    const char *name;
    void (*run)(assay_doctor_check *c);
    bool optional;
} checks[] = {
    {"version", check_version, false},   {"operators", check_operators, false},
    {"lenses", check_lenses, false},     {"machine", check_machine, false},
    {"analysis", check_analysis, false}, {"engine", check_engine, true},
    {"images", check_images, true},
};

bool assay_doctor(size_t index, assay_doctor_check *out)
{
    if (index >= sizeof checks / sizeof *checks)
        return false;
    assay_doctor_check c = {.name = checks[index].name, .optional = checks[index].optional};
    checks[index].run(&c);
    return HAND_OUT(out, c);
}

bool assay_limit_at(size_t index, assay_limit_info *out)
{
    if (index >= LIMIT_IDS)
        return false;
    const limit_row *r = &limit_table[index];
    assay_limit_info info = {.name = r->name,
                             .unit = r->unit,
                             .value = limit_value((limit_id)index),
                             .about = r->about,
                             .most = r->most};
    return HAND_OUT(out, info);
}

assay_status assay_limits_check(const char *limits, assay_error *err)
{
    api_begin(err);
    return limit_check(limits, err);
}

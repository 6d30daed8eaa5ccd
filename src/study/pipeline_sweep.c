/* Sweeps of a pipeline: its cost over resolutions, steps or guidance scales, with exponents. See pipeline.h. */
#include "study/pipeline.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/text.h"

static bool number_at(str *list, double *out)
{
    str item = str_cut(list, ',');
    return item.n && item.n <= 10 && item.p[0] != '-' && str_to_f64(item, out);
}

static const char *sweep_kind(str word)
{
    static const struct {
        const char *word, *kind;
    } words[] = {
        {"resolution", "resolution"},   {"size", "resolution"},
        {"height", "resolution"},       {"steps", "steps"},
        {"guidance", "guidance"},       {"guidance-scale", "guidance"},
        {"guidance_scale", "guidance"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].word))
            return words[i].kind;
    return NULL;
}

static uint64_t attention_of_pass(const pipeline_result *r)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < r->n_components; i++) {
        const pipeline_component *c = &r->components[i];
        if (c->role == ROLE_DENOISER)
            macs += c->attention.self.qk_macs + c->attention.self.av_macs +
                    c->attention.cross.qk_macs + c->attention.cross.av_macs;
    }
    return macs;
}

static assay_status run_point(const pipeline_plan *plan, const pipeline_settings *s,
                              pipeline_sweep *w, double value, assay_error *err)
{
    pipeline_settings mine = *s;
    pipeline_point *p = &w->points[w->n];
    pipeline_result r = {0};
    if (strcmp(w->over, "resolution") == 0)
        mine.height = mine.width = (int64_t)value;
    else if (strcmp(w->over, "steps") == 0)
        mine.steps = (int64_t)value;
    else
        mine.guidance = value;
    arena *a = arena_new(s->memory_limit);
    assay_status status = a ? pipeline_run(plan, &mine, a, &r, err) : err_no_memory(err);
    if (status == ASSAY_OK) {
        *p = (pipeline_point){.value = value,
                              .height = r.height,
                              .width = r.width,
                              .macs_per_pass = r.macs_per_pass,
                              .macs_per_step = r.macs_per_step,
                              .vae_macs = r.vae_macs,
                              .text_encoder_macs = r.text_encoder_macs,
                              .total_macs = r.total_macs,
                              .total_flops = r.total_flops,
                              .attention_macs = attention_of_pass(&r)};
        p->relative = num_ratio(p->total_macs, w->points[0].total_macs);
        p->relative_denoiser = num_ratio(p->macs_per_step, w->points[0].macs_per_step);
        w->n++;
    }
    arena_free(a);
    return status;
}

static str point_text(const char *over, const pipeline_point *p, arena *a)
{
    sbuf b = {0};
    if (strcmp(over, "resolution") == 0)
        return str_printf(a, "%" PRId64 "×%" PRId64, p->width, p->height);
    text_fixed(&b, p->value, strcmp(over, "guidance") == 0 ? 1 : 0);
    str text = str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return text;
}

/* Slope of ln(cost) over ln(size) by least squares; 0 when a cost is 0. */
static double exponent(const pipeline_sweep *w, uint64_t (*cost)(const pipeline_point *p))
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, n = w->n;
    bool area = strcmp(w->over, "resolution") == 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const pipeline_point *p = &w->points[i];
        double size = area ? (double)p->height * (double)p->width : p->value;
        if (cost(p) == 0 || size <= 0)
            return 0;
        double x = log(size), y = log((double)cost(p));
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    double below = n * sxx - sx * sx;
    return fabs(below) > 1e-12 ? (n * sxy - sx * sy) / below : 0;
}

static uint64_t cost_total(const pipeline_point *p)
{
    return p->total_macs;
}
static uint64_t cost_pass(const pipeline_point *p)
{
    return p->macs_per_pass;
}
static uint64_t cost_attention(const pipeline_point *p)
{
    return p->attention_macs;
}
static uint64_t cost_linear(const pipeline_point *p)
{
    return p->macs_per_pass - p->attention_macs;
}
static uint64_t cost_vae(const pipeline_point *p)
{
    return p->vae_macs;
}

static void fit(pipeline_sweep *w)
{
    bool guidance = strcmp(w->over, "guidance") == 0, area = strcmp(w->over, "resolution") == 0;
    if (guidance || w->n < 2)
        return;
    w->exponents = (pipeline_exponents){.present = true,
                                        .of = area ? "pixels" : w->over,
                                        .total = exponent(w, cost_total),
                                        .denoiser = area ? exponent(w, cost_pass) : 0,
                                        .linear = area ? exponent(w, cost_linear) : 0,
                                        .attention = area ? exponent(w, cost_attention) : 0,
                                        .vae = area ? exponent(w, cost_vae) : 0};
}

assay_status pipeline_sweep_over(const pipeline_plan *plan, const pipeline_settings *s, str what,
                                 arena *a, pipeline_result *out, assay_error *err)
{
    const char *eq = what.n ? memchr(what.p, '=', what.n) : NULL;
    str word = {what.p, eq ? (uint32_t)(eq - what.p) : 0};
    str list = eq ? (str){eq + 1, what.n - word.n - 1} : (str){0};
    const char *over = sweep_kind(word);
    double value;
    if (!out->sweeps)
        out->sweeps = ARENA_ARRAY(a, pipeline_sweep, PIPELINE_SWEEPS);
    TRY_MEMORY(out->sweeps, err);
    if (!over || !list.n || out->n_sweeps == PIPELINE_SWEEPS)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "sweep must be like resolution=512,768,1024, steps=20,30,50 or "
                        "guidance=1,7.5 (at most %d), not '" STR_FMT "'",
                        PIPELINE_SWEEPS, STR_ARG(what));
    pipeline_sweep *w = &out->sweeps[out->n_sweeps++];
    w->over = over;
    while (list.n) {
        if (w->n == PIPELINE_POINTS || !number_at(&list, &value))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "sweep '" STR_FMT "' must have 1 to %d comma-separated numbers",
                            STR_ARG(what), PIPELINE_POINTS);
        if (value <= 0 && strcmp(over, "guidance") != 0)
            return err_fail(err, ASSAY_ERR_USAGE, "sweep '" STR_FMT "' has a size of 0",
                            STR_ARG(what));
        TRY(run_point(plan, s, w, value, err));
        pipeline_point *last = &w->points[w->n - 1];
        last->value_str = point_text(over, last, a);
    }
    fit(w);
    return ASSAY_OK;
}

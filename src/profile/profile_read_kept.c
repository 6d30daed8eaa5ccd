/* Results in a history that are not profiles: pipelines and measured machines. They are searched and compared by
 * model, time, machine, sizes and totals, so they are read as a profile with only these members (profile.kind says
 * so, and absent metrics are not zero). The document itself is stored whole.
 *
 * A new kind is a row of `kinds` and the fields that matter.
 */
#include <math.h>

#include "profile/load.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"

typedef struct kept_rate { /* of a machine */
    str dtype;
    double per_second;
} kept_rate;

typedef struct kept {
    profile p;
    int64_t batch, height, width, steps, prompt_tokens, generate;
    double guidance_scale, strength;
    uint64_t pipeline_params;
    double seconds; /* of a generation; NaN: not measured */
    const kept_rate *rates;
    uint32_t n_rates;
} kept;

/* ---- shared ---- */

static bool add_runs(arena *a, kept *k, double mean_ms, double gflops)
{
    profile_measured *m = ARENA_NEW(a, profile_measured);
    profile_config *c = ARENA_NEW(a, profile_config);
    if (!m || !c)
        return false;
    *c = (profile_config)PROFILE_CONFIG_UNKNOWN;
    c->batch = k->batch > 0 ? (uint64_t)k->batch : 0;
    c->precision = k->p.precision;
    c->latency = (profile_stats){.runs = 1,
                                 .mean = mean_ms,
                                 .std = NAN,
                                 .min = NAN,
                                 .max = NAN,
                                 .median = NAN,
                                 .p50 = NAN,
                                 .p90 = NAN,
                                 .p95 = NAN,
                                 .p99 = NAN};
    c->samples_per_second = (double)k->batch * 1000 / mean_ms;
    c->gflops_per_s = gflops;
    *m = (profile_measured){.engine = k->p.context.engine,
                            .governor = k->p.context.governor,
                            .concurrency = k->p.context.engine.concurrency,
                            .seed = k->p.context.engine.seed,
                            .configs = c,
                            .n_configs = 1};
    k->p.measured = m;
    return true;
}

static void add_size(kept *k, profile_tensor *list, str name, const int64_t *dims, int rank)
{
    list[k->p.n_inputs++] = (profile_tensor){
        .name = name, .kind = "tensor", .shape = {.rank = dims ? rank : 0, .dims = dims}};
}

#define KEPT(key_, member, kind_) FIELD_AS(kept, key_, member, kind_, NONE, NULL, NULL, OMIT_ZERO)

/* ---- pipelines ---- */

static const field times_rows[] = {
    FIELD_AS(kept, "total_seconds", seconds, F64, S, NULL, NULL, OR_OMIT),
};
static const fields times_fields = FIELDS_AS(kept, "times", times_rows);

static const field pipeline_rows[] = {
    KEPT("model", p.model, STR),
    FIELD_STRUCT(kept, "context", p, context_fields, NULL),
    KEPT("total_params", p.total_parameters, U64),
    KEPT("pipeline_params", pipeline_params, U64),
    KEPT("total_macs", p.total_macs, U64),
    KEPT("total_flops", p.total_flops, U64),
    KEPT("batch", batch, I64),
    KEPT("height", height, I64),
    KEPT("width", width, I64),
    KEPT("steps_run", steps, I64),
    KEPT("prompt_tokens", prompt_tokens, I64),
    KEPT("generate", generate, I64),
    KEPT("guidance_scale", guidance_scale, F64),
    KEPT("strength", strength, F64),
    FIELD_AS(kept, "inference_time_seconds", seconds, F64, S, NULL, NULL, OR_OMIT),
    KEPT("weight_dtype", p.precision, STR),
    FIELD_INLINE("measured", times_fields, NULL),
};
static const fields pipeline_fields = FIELDS_AS(kept, "pipeline", pipeline_rows);

/* What the sizes of inputs are to a model: records with the same have comparable figures. */
static bool finish_pipeline(arena *a, kept *k)
{
    const int64_t image[] = {k->batch, k->height, k->width},
                  prompt[] = {k->batch, k->prompt_tokens};
    bool is_image = k->height > 0;
    profile_tensor *list = ARENA_ARRAY(a, profile_tensor, 4);
    const int64_t *sizes = is_image ? arena_copy(a, image, sizeof image) : NULL;
    const int64_t *words = arena_copy(a, prompt, sizeof prompt);
    const int64_t *steps = arena_copy(a, is_image ? &k->steps : &k->generate, sizeof *steps);
    if (!list || !words || !steps || (is_image && !sizes))
        return false;
    if (is_image)
        add_size(k, list, STR("image"), sizes, 3);
    add_size(k, list, STR("prompt"), words, 2);
    add_size(k, list, is_image ? STR("steps") : STR("generate"), steps, 1);
    if (is_image)
        add_size(k, list, str_printf(a, "guidance %g strength %g", k->guidance_scale, k->strength),
                 NULL, 0);
    k->p.inputs = list;
    if (k->pipeline_params)
        k->p.total_parameters = k->pipeline_params;
    if (k->seconds > 0)
        return add_runs(a, k, 1000 * k->seconds, (double)k->p.total_flops / k->seconds / 1e9);
    return true;
}

/* ---- machines ---- */

static const field figure_rows[] = {
    FIELD_AS(kept_rate, "value", per_second, F64, NONE, NULL, NULL, OMIT_ZERO),
};
static const fields figure_fields = FIELDS_AS(kept_rate, "figure", figure_rows);
static const field rate_rows[] = {
    FIELD(kept_rate, dtype, STR, NONE, NULL, NULL),
    FIELD_INLINE("operations_per_second", figure_fields, NULL),
};
static const fields rate_fields = FIELDS(kept_rate, rate_rows);

static const field topology_rows[] = {
    KEPT("cpu", p.context.cpu, STR),
    KEPT("machine", p.context.machine, STR),
    KEPT("os", p.context.os, STR),
    KEPT("usable_processors", p.context.cores, U64),
    KEPT("memory_bytes", p.context.memory_bytes, U64),
};
static const fields topology_fields = FIELDS_AS(kept, "topology", topology_rows);

static const field machine_rows[] = {
    KEPT("timestamp", p.context.timestamp, STR),
    KEPT("tool_version", p.context.tool_version, STR),
    FIELD_STRUCT(kept, "context", p, context_fields, NULL),
    FIELD_INLINE("topology", topology_fields, NULL),
    FIELD_ITEMS(kept, LIST, "compute", rates, n_rates, rate_fields, NULL),
};
static const fields machine_fields = FIELDS_AS(kept, "machine", machine_rows);

static bool finish_machine(arena *a, kept *k)
{
    double most = 0;
    k->p.model = STR("machine");
    k->p.precision = STR("float32");
    for (uint32_t i = 0; i < k->n_rates; i++)
        if (str_is(k->rates[i].dtype, "float32") && k->rates[i].per_second > most)
            most = k->rates[i].per_second;
    return most > 0 ? add_runs(a, k, NAN, most / 1e9) : true;
}

/* ---- all ---- */

static const struct kept_kind {
    const char *schema, *name;
    const fields *of;
    bool (*finish)(arena *a, kept *k);
} kinds[] = {
    {"assay.pipeline", "pipeline", &pipeline_fields, finish_pipeline},
    {"assay.machine", "machine", &machine_fields, finish_machine},
};

static const struct kept_kind *find_kind(str text, const char *shown)
{
    result_identity is = {0};
    arena *scratch = arena_new((size_t)1 << 20);
    const struct kept_kind *found = NULL;
    bool known = scratch && result_identify(text, shown, scratch, &is, NULL) == ASSAY_OK;
    for (size_t i = 0; known && is.version == 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(is.schema, kinds[i].schema))
            found = &kinds[i];
    arena_free(scratch);
    return found;
}

static assay_status read_totals(str text, const char *shown, const struct kept_kind *as, arena *a,
                                profile **out, assay_error *err)
{
    kept *k = ARENA_NEW(a, kept);
    profile *p = ARENA_NEW(a, profile);
    TRY_MEMORY(k && p, err);
    TRY(fields_parse(text, shown, as->of, k, a, err));
    k->p.arena = a;
    k->p.kind = as->name;
    notes_init(&k->p.warnings, a);
    if (!as->finish(a, k) || !profile_settle(&k->p) || arena_failed(a))
        return err_no_memory(err);
    *p = k->p;
    *out = p;
    return ASSAY_OK;
}

static bool is_load(str text)
{
    return result_is(&load_kind, text);
}

static assay_status read_load(str text, const char *shown, arena *a, profile **out,
                              assay_error *err)
{
    load_result *r = ARENA_NEW(a, load_result);
    TRY_MEMORY(r, err);
    TRY(result_read_as(&load_kind, text, shown, a, r, err));
    *out = load_as_profile(r, a);
    return *out ? ASSAY_OK : err_no_memory(err);
}

assay_status profile_read_kept(str text, const char *shown, size_t limit_bytes, profile **out,
                               assay_error *err)
{
    const struct kept_kind *as = find_kind(text, shown);
    bool load = !as && is_load(text);
    if (!as && !load)
        return profile_read(text, shown, limit_bytes, out, err);
    arena *a = arena_new(limit_bytes);
    *out = NULL;
    assay_status s = !a     ? err_no_memory(err)
                     : load ? read_load(text, shown, a, out, err)
                            : read_totals(text, shown, as, a, out, err);
    if (s != ASSAY_OK)
        arena_free(a);
    return s;
}

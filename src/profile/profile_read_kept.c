/* What a history keeps beside profiles: pipelines and measured machines. Of these one searches and compares by
 * model, time, machine, sizes and totals; so they are read as a profile that holds these and nothing else
 * (profile.kind says so, and no metric takes what is absent for zero). The document itself is kept whole.
 *
 * A new kind is a row of `kinds` and a table of the keys that matter.
 */
#include <math.h>

#include "profile/profile_read.h"
#include "profile/profile_read_impl.h"

typedef struct kept_rate { /* of a machine */
    str dtype;
    double per_second;
} kept_rate;

typedef struct kept {
    doc d;
    int64_t batch, height, width, steps, prompt_tokens, generate;
    double guidance_scale, strength;
    uint64_t pipeline_params;
    double seconds; /* of a generation; negative: not measured */
    const kept_rate *rates;
    uint32_t n_rates;
} kept;

/* ---- shared ---- */

static bool add_runs(reader *r, kept *k, double mean_ms, double gflops)
{
    profile_measured *m = ARENA_NEW(r->arena, profile_measured);
    profile_config *c = ARENA_NEW(r->arena, profile_config);
    if (!m || !c)
        return read_no_memory(r);
    *c = (profile_config)PROFILE_CONFIG_NOT_TOLD;
    c->batch = k->batch > 0 ? (uint64_t)k->batch : 0;
    c->precision = k->d.p.precision;
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
    *m = k->d.m;
    m->configs = c;
    m->n_configs = 1;
    k->d.p.measured = m;
    return true;
}

static void add_size(kept *k, profile_tensor *list, str name, const int64_t *dims, int rank)
{
    list[k->d.p.n_inputs++] = (profile_tensor){
        .name = name, .kind = "tensor", .shape = {.rank = dims ? rank : 0, .dims = dims}};
}

/* ---- pipelines ---- */

static const read_row times_rows[] = {ROW_F64(kept, "total_seconds", seconds, NULL_MINUS_ONE)};
static const read_table times_table = {READ_TABLE(times_rows)};

static const read_row pipeline_rows[] = {
    ROW_STR(kept, "model", d.p.model),
    ROW_INLINE("context", read_context_table),
    ROW_U64(kept, "total_params", d.p.total_parameters),
    ROW_U64(kept, "pipeline_params", pipeline_params),
    ROW_U64(kept, "total_macs", d.p.total_macs),
    ROW_U64(kept, "total_flops", d.p.total_flops),
    ROW_I64(kept, "batch", batch, NULL_ZERO),
    ROW_I64(kept, "height", height, NULL_ZERO),
    ROW_I64(kept, "width", width, NULL_ZERO),
    ROW_I64(kept, "steps_run", steps, NULL_ZERO),
    ROW_I64(kept, "prompt_tokens", prompt_tokens, NULL_ZERO),
    ROW_I64(kept, "generate", generate, NULL_ZERO),
    ROW_F64(kept, "guidance_scale", guidance_scale, NULL_ZERO),
    ROW_F64(kept, "strength", strength, NULL_ZERO),
    ROW_F64(kept, "inference_time_seconds", seconds, NULL_MINUS_ONE),
    ROW_STR(kept, "weight_dtype", d.p.precision),
    ROW_INLINE("measured", times_table),
};
static const read_table pipeline_table = {READ_TABLE(pipeline_rows)};

/* What the sizes of inputs are to a model: runs with the same have comparable figures. */
static bool finish_pipeline(reader *r, kept *k)
{
    const int64_t image[] = {k->batch, k->height, k->width},
                  prompt[] = {k->batch, k->prompt_tokens};
    profile_tensor *list = ARENA_ARRAY(r->arena, profile_tensor, 4);
    const int64_t *sizes = k->height > 0 ? arena_copy(r->arena, image, sizeof image) : NULL;
    const int64_t *words = arena_copy(r->arena, prompt, sizeof prompt);
    const int64_t *steps = arena_copy(r->arena, k->height > 0 ? &k->steps : &k->generate,
                                      sizeof *steps);
    if (!list || !words || !steps || (k->height > 0 && !sizes))
        return read_no_memory(r);
    if (sizes)
        add_size(k, list, STR("image"), sizes, 3);
    add_size(k, list, STR("prompt"), words, 2);
    add_size(k, list, sizes ? STR("steps") : STR("generate"), steps, 1);
    if (sizes)
        add_size(k, list,
                 str_printf(r->arena, "guidance %g strength %g", k->guidance_scale, k->strength),
                 NULL, 0);
    k->d.p.inputs = list;
    if (k->pipeline_params)
        k->d.p.total_parameters = k->pipeline_params;
    if (k->seconds > 0)
        return add_runs(r, k, 1000 * k->seconds, (double)k->d.p.total_flops / k->seconds / 1e9);
    return true;
}

/* ---- machines ---- */

static const read_row figure_rows[] = {ROW_F64(kept_rate, "value", per_second, NULL_ZERO)};
static const read_table figure_table = {READ_TABLE(figure_rows)};
static const read_row rate_rows[] = {ROW_STR(kept_rate, "dtype", dtype),
                                     ROW_INLINE("operations_per_second", figure_table)};
static const read_table rate_table = {READ_TABLE(rate_rows), .size = sizeof(kept_rate)};

static const read_row topology_rows[] = {
    ROW_STR(kept, "cpu", d.p.context.cpu),
    ROW_STR(kept, "machine", d.p.context.machine),
    ROW_STR(kept, "os", d.p.context.os),
    ROW_U64(kept, "usable_processors", d.p.context.cores),
    ROW_U64(kept, "memory_bytes", d.p.context.memory_bytes),
};
static const read_table topology_table = {READ_TABLE(topology_rows)};

static const read_row machine_rows[] = {
    ROW_STR(kept, "timestamp", d.p.context.timestamp),
    ROW_STR(kept, "tool_version", d.p.context.tool_version),
    ROW_INLINE("context", read_context_table),
    ROW_INLINE("topology", topology_table),
    ROW_LIST(kept, "compute", rates, n_rates, rate_table),
};
static const read_table machine_table = {READ_TABLE(machine_rows)};

static bool finish_machine(reader *r, kept *k)
{
    double most = 0;
    k->d.p.model = STR("machine");
    k->d.p.precision = STR("float32");
    for (uint32_t i = 0; i < k->n_rates; i++)
        if (str_is(k->rates[i].dtype, "float32") && k->rates[i].per_second > most)
            most = k->rates[i].per_second;
    return most > 0 ? add_runs(r, k, NAN, most / 1e9) : true;
}

/* ---- all ---- */

static const struct kept_kind {
    const char *schema, *kind;
    const read_table *root;
    bool (*finish)(reader *r, kept *k);
} kinds[] = {
    {"assay.pipeline", "pipeline", &pipeline_table, finish_pipeline},
    {"assay.machine", "machine", &machine_table, finish_machine},
};

static const struct kept_kind *kind_of(str schema)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(schema, kinds[i].schema))
            return &kinds[i];
    return NULL;
}

static assay_status read_totals(str text, const char *shown, const struct kept_kind *as,
                                arena *scratch, profile *p, assay_error *err)
{
    assay_error own = {0};
    kept *k = ARENA_NEW(scratch, kept);
    reader *r = ARENA_NEW(scratch, reader);
    if (!k || !r)
        return err_no_memory(err);
    *k = (kept){.d = {.p = *p}, .seconds = -1};
    r->s = scan_text(text, 0, shown, scratch, &own);
    r->s.nul = true;
    r->arena = p->arena;
    if (!read_object(r, as->root, k) || !scan_end(&r->s) || !as->finish(r, k))
        return read_failed(r, shown, own.offset, err);
    *p = k->d.p;
    p->kind = as->kind;
    return arena_failed(p->arena) ? err_no_memory(err) : ASSAY_OK;
}

assay_status profile_read_kept(str text, const char *shown, size_t limit_bytes, profile **out,
                               assay_error *err)
{
    profile_schema is = {0};
    assay_error ignored = {0};
    arena *scratch = arena_new(limit_bytes);
    *out = NULL;
    if (!scratch)
        return err_no_memory(err);
    assay_status s = profile_schema_of(text, shown, scratch, &is, &ignored);
    const struct kept_kind *as = s == ASSAY_OK && is.major == 1 ? kind_of(is.name) : NULL;
    if (!as) {
        arena_free(scratch);
        return profile_read(text, shown, limit_bytes, out, err);
    }
    profile *p = profile_new(limit_bytes);
    s = p ? read_totals(text, shown, as, scratch, p, err) : err_no_memory(err);
    arena_free(scratch);
    if (s == ASSAY_OK)
        *out = p;
    else
        profile_free(p);
    return s;
}

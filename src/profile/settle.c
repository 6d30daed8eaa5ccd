/* Derived members of a profile: shares, rates, and copies for keys that scripts rely on. Computed in one place, so
 * that a new result and one read from a file are equal. */
#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "base/num.h"
#include "profile/batch_choice.h"
#include "profile/metrics.h"
#include "profile/plan_ledger.h"
#include "profile/profile.h"
#include "profile/time_groups.h"

#define MIB          1048576.0
#define SAMPLES_MOST 100000u /* runs that a result keeps one by one; more are thinned evenly */

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* All members are counters. */
profile_io profile_io_between(const profile_io *before, const profile_io *after)
{
    enum { N = sizeof(profile_io) / sizeof(uint64_t) };
    uint64_t from[N], to[N];
    profile_io grown;
    memcpy(from, before, sizeof from);
    memcpy(to, after, sizeof to);
    for (size_t i = 0; i < N; i++) {
        bool known = from[i] != PROFILE_NOT_TOLD && to[i] != PROFILE_NOT_TOLD && to[i] >= from[i];
        to[i] = known ? to[i] - from[i] : PROFILE_NOT_TOLD;
    }
    memcpy(&grown, to, sizeof grown);
    return grown;
}

/* ---- the model ---- */

static void settle_architecture(profile *p)
{
    profile_architecture *a = &p->architecture;
    a->model_size_mb = (double)a->weight_bytes / MIB;
    a->gflops = (double)a->flops / 1e9;
    a->gmacs = (double)a->macs / 1e9;
    a->flops_per_param = a->total_parameters ? (double)a->flops / (double)a->total_parameters : NAN;
    p->weights_dtype = profile_precision(p);
}

static void settle_layers(profile *p)
{
    for (uint32_t i = 0; i < p->n_layers; i++) {
        profile_layer *l = &p->layers[i];
        l->with_training = p->training.present;
        l->gflops_per_s = l->time_ms > 0 ? (double)l->flops / l->time_ms / 1e6 : NAN;
        l->gbytes_per_s = l->time_ms > 0 ? (double)l->memory / l->time_ms / 1e6 : NAN;
        l->percent_of_roof = profile_percent_of_roof(p, l);
    }
}

static void settle_traffic(profile *p)
{
    p->total_read = p->total_written = 0;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        p->total_read = sat_add(p->total_read, sat_add(l->read_bytes, l->weight_bytes));
        p->total_written = sat_add(p->total_written, l->written_bytes);
    }
}

/* ---- what limits it ---- */

/* The share of FLOPs of types that begin with one of the words. */
static double family_share(const profile *p, const char *const *words)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_operations; i++)
        for (const char *const *w = words; *w; w++)
            if (str_starts(p->operations[i].type, *w)) {
                sum += p->operations[i].percent;
                break;
            }
    return sum;
}

static void settle_bottlenecks(profile *p)
{
    static const char *const convolutions[] = {"conv", "deformconv", NULL};
    static const char *const products[] = {"matmul", "linear", "attention", "einsum", NULL};
    profile_bottlenecks *b = &p->bottlenecks;
    double convs = family_share(p, convolutions), matmuls = family_share(p, products);
    b->limit = !p->n_layers                     ? NULL
               : b->compute_bound_percent >= 60 ? "compute"
               : b->compute_bound_percent > 40  ? "both"
                                                : "memory";
    b->many_small = p->n_layers && b->compute_bound_percent >= 60 &&
                    b->memory_bound_layers_percent >= 60;
    b->family = convs > 70 ? "convolution" : matmuls > 50 ? "matmul" : NULL;
    b->family_percent = convs > 70 ? convs : matmuls > 50 ? matmuls : NAN;
}

/* Branches of one If may use the same name twice; a JSON object may not. The later one gets its number in the list
 * after its name. */
static bool settle_values(profile *p)
{
    profile_tensor *values = (profile_tensor *)(uintptr_t)p->values;
    arena *scratch = arena_new(SIZE_MAX);
    map seen;
    bool ok = scratch && map_init(&seen, scratch, p->n_values);
    for (uint32_t i = 0; i < p->n_values && ok; i++) {
        if (map_get(&seen, values[i].name) != MAP_NONE)
            values[i].name = str_printf(p->arena, STR_FMT "#%u", STR_ARG(values[i].name), i);
        ok = values[i].name.p && map_put(&seen, values[i].name, i);
    }
    arena_free(scratch);
    return ok;
}

/* ---- one configuration ---- */

static void settle_memory(profile_resident *m, const profile_measured *of, uint64_t batch)
{
    m->present = m->peak &&
                 !of->interleaved; /* the memory of models in one process cannot be separated */
    m->has_mb = m->present && m->run_peak;
    m->used_peak = above(m->peak, m->before_session);
    m->used_average = above(m->average, m->before_session);
    m->used_run = m->run_peak ? above(m->run_peak, m->before) : PROFILE_NOT_TOLD;
    m->used_anon = above(m->peak_anon, m->before_anon);
    m->used_file = above(m->peak_file, m->before_file);
    m->per_sample = batch ? m->used_peak / batch : PROFILE_NOT_TOLD;
    m->before_mb = (double)m->before_session / MIB;
    m->after_mb = (double)m->after / MIB;
    m->peak_mb = (double)m->peak / MIB;
    m->activation_mb = (double)above(m->run_peak, m->before) / MIB;
}

static void settle_units(profile_config *c, const profile_measured *m)
{
    double rate = profile_rate(m, c);
    c->units.name = m->unit ? m->unit : "samples";
    c->units.per_sample = m->units_per_sample;
    c->units.images = strcmp(c->units.name, "images") == 0 ? rate : NAN;
    c->units.tokens = strcmp(c->units.name, "tokens") == 0 ? rate : NAN;
    c->units.requests = strcmp(c->units.name, "requests") == 0 ? rate : NAN;
}

static bool thin_samples(profile_config *c, arena *a)
{
    uint32_t step = c->n_samples ? (c->n_samples - 1) / SAMPLES_MOST + 1 : 1, n = 0;
    if (step == 1)
        return true;
    double *kept = ARENA_ARRAY(a, double, c->n_samples / step + 1);
    for (uint32_t i = 0; kept && i < c->n_samples; i += step)
        kept[n++] = c->samples_ms[i];
    c->samples_ms = kept;
    c->n_samples = n;
    return kept != NULL;
}

bool profile_settle_config(profile_config *c, const profile_measured *m, arena *a)
{
    const profile_stats *t = &c->latency;
    c->ran = !c->error.n;
    c->detailed = c->ran;
    c->fps = c->batch && t->mean > 0 ? (double)c->batch * 1000 / t->mean : NAN;
    c->latency.ci95_absent = t->runs ? profile_no_interval(t) : NULL;
    c->has_end_to_end = c->pre_ms >= 0 && t->runs;
    c->end_to_end_ms = c->pre_ms + t->median + (c->post_ms > 0 ? c->post_ms : 0);
    c->use.cpu_percent_per_thread = c->use.threads > 0 ? c->use.cpu_percent / c->use.threads : NAN;
    c->batch_key = str_printf(a, "%" PRIu64, c->batch);
    settle_memory(&c->memory, m, c->batch);
    settle_units(c, m);
    c->bands = config_bands_of(m, c);
    return c->batch_key.p && thin_samples(c, a);
}

/* ---- all configurations ---- */

/* Those that were never begun, because the user stopped, are none. */
static void drop_empty_configs(profile_measured *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].error.n || m->configs[i].latency.runs)
            m->configs[n++] = m->configs[i];
    m->n_configs = n;
}

static bool is_first_of_batch(const profile_measured *m, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (m->configs[i].batch == m->configs[index].batch)
            return false;
    return true;
}

static bool settle_batches(profile *p, profile_measured *m)
{
    profile_config *batches = ARENA_ARRAY(p->arena, profile_config, m->n_configs + 1);
    uint64_t *sizes = ARENA_ARRAY(p->arena, uint64_t, m->n_configs + 1);
    if (!batches || !sizes)
        return false;
    m->n_batches = 0;
    for (uint32_t i = 0; i < m->n_configs; i++) {
        sizes[i] = m->configs[i].batch;
        if (is_first_of_batch(m, i))
            batches[m->n_batches++] = m->configs[i];
    }
    m->batches = batches;
    p->batch_sizes = sizes;
    p->n_batch_sizes = m->n_configs;
    return true;
}

/* The first input with its batch, if it has one, set to the one that was measured. */
static bool settle_single_shape(const profile *p, profile_measured *m)
{
    m->single_shape = (profile_shape){.rank = -1};
    if (!p->n_inputs || p->inputs[0].shape.rank < 0)
        return true;
    int64_t axis = profile_input_batch(p, 0);
    int rank = p->inputs[0].shape.rank;
    int64_t *dims = ARENA_ARRAY(p->arena, int64_t, (size_t)rank + 1);
    if (!dims)
        return false;
    for (int i = 0; i < rank; i++)
        dims[i] = i == axis ? (int64_t)m->top.batch : p->inputs[0].shape.dims[i];
    m->single_shape = (profile_shape){rank, dims};
    return true;
}

static bool settle_top(profile *p, profile_measured *m)
{
    profile_config *smallest = (profile_config *)(uintptr_t)profile_smallest(p);
    m->has_top = smallest != NULL;
    if (!smallest)
        return true;
    smallest->detailed = false;
    m->top = *smallest;
    return settle_single_shape(p, m);
}

static void settle_engine(profile *p, const profile_measured *m)
{
    p->context.engine = m->engine;
    p->context.engine.present = true;
    p->context.engine.concurrency = m->concurrency;
    p->context.engine.seed = m->seed;
    p->context.engine.rate = m->rate;
    p->context.engine.interleaved = m->interleaved;
    p->context.governor = m->governor;
}

static bool settle_measured(profile *p, profile_measured *m)
{
    drop_empty_configs(m);
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (!profile_settle_config(&m->configs[i], m, p->arena))
            return false;
    settle_engine(p, m);
    time_groups_settle(p, (profile_time_group *)(uintptr_t)m->ledger.groups, m->ledger.n_groups);
    if (m->plan.present)
        m->plan.n_steps = plan_ledger(&m->plan, m->plan.steps);
    m->plan.excess_percent =
        m->plan.planned_peak
            ? 100 * ((double)m->plan.measured_peak / (double)m->plan.planned_peak - 1)
            : NAN;
    m->gpu.present = m->gpu.available || m->gpu.why.n || m->gpu.n_events;
    m->choice.present = m->choice.why.n > 0;
    m->choice.tie_percent = BATCH_TIE_PERCENT;
    return settle_batches(p, m) && settle_top(p, m);
}

/* ---- devices, groups ---- */

static void settle_mapping(profile_mapping *m)
{
    m->prediction =
        m->calibration.present
            ? "of calibration.device at fp32 from measured kernels, else expectation of "
              "the runtime"
            : "expectation of the runtime of each device, or roofline where there is none";
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const mapping_hardware *h = &m->hardware[m->rows[i].hardware];
        m->rows[i].device = h->id;
        m->rows[i].percent_of_memory = h->memory_bytes > 0
                                           ? 100 * (double)m->rows[i].memory_bytes / h->memory_bytes
                                           : 0;
    }
    for (uint32_t i = 0; i < m->n_hardware; i++)
        m->hardware[i].overhead_us = m->hardware[i].overhead_s * 1e6;
}

static void settle_fusion(profile_fusion *f)
{
    fusion_group *groups = (fusion_group *)(uintptr_t)f->groups;
    fusion_kind *kinds = (fusion_kind *)(uintptr_t)f->kinds;
    for (uint32_t i = 0; i < f->n_groups; i++) {
        groups[i].id = i;
        groups[i].saved_bytes = above(groups[i].memory, groups[i].boundary_bytes);
    }
    for (uint32_t i = 0; i < f->n_kinds; i++)
        kinds[i].saved_bytes = above(kinds[i].memory, kinds[i].boundary_bytes);
    f->launches_saved = above(f->launches_before, f->launches_after);
    f->bytes_saved = above(f->bytes_before, f->bytes_after);
}

bool profile_settle(profile *p)
{
    p->batch.asked = p->batch.certainty != NULL;
    p->memory_plan.fragmentation = profile_plan_fragmentation(&p->memory_plan);
    settle_architecture(p);
    settle_layers(p);
    settle_traffic(p);
    settle_bottlenecks(p);
    if (p->mapping)
        settle_mapping(p->mapping);
    if (p->fusion)
        settle_fusion(p->fusion);
    if ((p->n_values && !settle_values(p)) || (p->measured && !settle_measured(p, p->measured)))
        return false;
    p->bands = profile_bands_of(p);
    return true;
}

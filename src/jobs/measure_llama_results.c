/* Results of llama.cpp as configurations and entries of `generation`; see measure_llama.h. */
#include <math.h>

#include "base/num.h"
#include "jobs/measure_llama_impl.h"
#include "measure/busy.h"
#include "measure/shares.h"
#include "measure/stats.h"
#include "measure/system.h"

static profile_stats stats_of(const llama_job *j, const generate_series *s)
{
    profile_stats out = {.ci95_low = NAN, .ci95_high = NAN};
    double *work = ARENA_ARRAY(j->work, double, 2 * (size_t)s->n + 1);
    if (work && s->n)
        stats_describe(s->ms, s->n, work, &out);
    return out;
}

/* Tokens per second at the mean, and at both ends of its interval. */
static void set_rates(const profile_stats *s, double tokens, double *rate, double *low,
                      double *high)
{
    *rate = s->runs ? tokens * 1e3 / s->mean : NAN;
    *low = s->runs ? tokens * 1e3 / s->ci95_high : NAN;
    *high = s->runs ? tokens * 1e3 / s->ci95_low : NAN;
}

static double memory_rate(const profile_ceilings *c)
{
    return c->present && c->n_levels ? c->levels[c->n_levels - 1].bytes_per_s : NAN;
}

/* The longer of arithmetic and traffic. */
static double roofline_ms(const profile_ceilings *c, double flops, double bytes)
{
    double traffic = bytes / memory_rate(c), arithmetic = flops / c->ops_per_s;
    return c->present ? 1e3 * (traffic > arithmetic ? traffic : arithmetic) : NAN;
}

static void set_prefill(const language_result *l, const profile_ceilings *c, profile_generation *g)
{
    double flops = 2.0 * (double)l->prefill_macs_last_logits;
    if (!g->first_token.runs)
        return;
    g->prefill_gflops_per_s = flops / g->first_token.mean * 1e-6;
    g->predicted_first_token_ms = roofline_ms(c, flops, (double)l->prefill.bytes);
    if (c->present)
        g->prefill_percent_of_peak = 1e11 * g->prefill_gflops_per_s / c->ops_per_s;
}

static void set_decode(const language_result *l, const profile_ceilings *c, profile_generation *g)
{
    double bytes = (double)l->average.weight_bytes + (double)l->average.cache_bytes;
    if (!g->token.runs)
        return;
    g->decode_gbytes_per_s = bytes / g->token.mean * 1e-6;
    g->predicted_token_ms = roofline_ms(c, (double)l->average.flops, bytes);
    if (c->present)
        g->decode_percent_of_bandwidth = 1e11 * g->decode_gbytes_per_s / memory_rate(c);
}

/* Buffers of the weights as they are stored, or of copies in another layout. */
static uint64_t weights_of(const generate_answer *a, bool copies)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->n_parts; i++)
        if (a->parts[i].copy == copies)
            n = sat_add(n, a->parts[i].bytes);
    return n;
}

/* Of a token, in joules; NaN when the machine does not report energy. */
static double token_energy(const generate_series *s, double tokens)
{
    return s->n ? s->energy_j / ((double)s->n * tokens) : NAN;
}

static profile_generation generation_of(const llama_job *j, const llama_file *f,
                                        const generate_request *q, const generate_answer *a,
                                        const generate_series *decode)
{
    static const char *const flash[] = {"auto", "on", "off"};
    const llama_cache *cache = NULL;
    double prompt = (double)q->prompt * (double)q->batch;
    const llama_memory_plan plan = llama_plan_buffers(j, f, q);
    (void)llama_find_cache(j->o, &cache, NULL);
    profile_generation g = {.batch = q->batch,
                            .precision = f->precision,
                            .prompt_tokens = q->prompt,
                            .generate = q->generate,
                            .context_depth = decode->depth,
                            .context = a->context,
                            .cache_dtype = str_of(cache->name),
                            .flash_attention = flash[j->o->measure.flash],
                            .random_weights = j->random,
                            .parameters = a->parameters,
                            .model_bytes = a->model_bytes,
                            .first_token = stats_of(j, &a->prefill),
                            .token = stats_of(j, decode),
                            .prefill_gflops_per_s = NAN,
                            .prefill_percent_of_peak = NAN,
                            .decode_gbytes_per_s = NAN,
                            .decode_percent_of_bandwidth = NAN,
                            .predicted_first_token_ms = NAN,
                            .predicted_token_ms = NAN,
                            .prefill_token_j = token_energy(&a->prefill, prompt),
                            .decode_token_j = token_energy(decode, (double)q->batch),
                            .planned_weight_bytes = f->tensor_bytes,
                            .weight_bytes = weights_of(a, false),
                            .repacked_bytes = weights_of(a, true),
                            .cache_bytes = a->cache_buffer,
                            .planned_cache_bytes = plan.cache,
                            .planned_compute_bytes = plan.compute,
                            .compute_bytes = a->compute_buffer,
                            .planned_output_bytes = plan.output,
                            /* grows without notice if the logits of every token are requested */
                            .output_bytes = q->operators ? 0 : a->output_buffer,
                            .resident_weight_bytes = sat_sub(a->after.file, a->before.file),
                            .resident_bytes = sat_sub(a->peak, a->before.total)};
    set_rates(&g.first_token, prompt, &g.prefill_rate, &g.prefill_low, &g.prefill_high);
    set_rates(&g.token, (double)q->batch, &g.decode_rate, &g.decode_low, &g.decode_high);
    return g;
}

static profile_resident resident_of(const generate_answer *a)
{
    return (profile_resident){.before = a->ready.total,
                              .after = a->after.total,
                              .run_peak = a->peak,
                              .average = a->after.total,
                              .before_session = a->before.total,
                              .peak = a->peak,
                              .before_anon = a->before.anon,
                              .peak_anon = a->after.anon,
                              .before_file = a->before.file,
                              .peak_file = a->after.file,
                              .arena_in_use = PROFILE_NOT_TOLD,
                              .arena_requested = PROFILE_NOT_TOLD,
                              .arena_held = PROFILE_NOT_TOLD,
                              .arena_peak = PROFILE_NOT_TOLD,
                              .per_sample = PROFILE_NOT_TOLD,
                              .used_run = PROFILE_NOT_TOLD,
                              .fragmentation = NAN};
}

/* The use of the machine in all timed calls of a series. */
static profile_use use_of(const llama_job *j, const generate_request *q, const generate_answer *a,
                          const generate_series *s)
{
    profile_use u = {.present = true,
                     .wall_s = s->wall_s,
                     .cpu_s = s->cpu_s,
                     .cpu_percent = system_cpu_percent(s->cpu_s, s->wall_s),
                     .threads = q->threads,
                     .voluntary_switches = a->voluntary,
                     .involuntary_switches = a->involuntary,
                     .minor_faults = a->minor_faults,
                     .major_faults = a->major_faults,
                     .run_queue_wait_s = s->waited_s,
                     .energy_j = s->energy_j,
                     .io = PROFILE_IO_UNKNOWN,
                     .gpu = PROFILE_GPU_UNKNOWN,
                     .steal_percent = NAN,
                     .frequency_mhz = NAN,
                     .frequency_min_mhz = NAN};
    busy_describe(&u, "", j->p->arena);
    return u;
}

/* A run of the configuration is a call of that series. */
static profile_config config_of(const llama_job *j, const llama_file *f, const generate_request *q,
                                const generate_answer *a, const generate_series *s)
{
    profile_config c = PROFILE_CONFIG_UNKNOWN;
    c.batch = q->batch;
    c.precision = f->precision;
    c.file_bytes = f->file_bytes;
    c.latency = stats_of(j, s);
    c.samples_ms = arena_copy(j->p->arena, s->ms, (size_t)s->n * sizeof *s->ms);
    c.n_samples = c.samples_ms ? s->n : 0;
    c.warmup_runs = q->warmups;
    c.steady = true;
    c.samples_per_second = c.latency.runs ? (double)q->batch * 1e3 / c.latency.mean : NAN;
    c.load_ms = 1e-6 * (double)engine_about(j->engine)->load_ns;
    c.session_ms = a->load_ms + a->context_ms;
    c.memory = resident_of(a);
    c.use = use_of(j, q, a, s);
    return c;
}

/* ---- one file at one batch ---- */

/* Shares and predictions need this machine's ceilings, which are looked up with the first configuration. */
assay_status llama_add_results(llama_job *j, const llama_file *f, const generate_request *q,
                               const generate_answer *a, assay_error *err)
{
    profile_config c = config_of(j, f, q, a, &a->decode[0]);
    language_result l;
    shares_set(q->threads, j->measured->engine.device, &c, j->p->arena, &j->measured->ceilings);
    for (uint32_t i = 0; i < a->n_decode; i++) {
        profile_generation g = generation_of(j, f, q, a, &a->decode[i]);
        TRY(llama_plan_at(j, f, q, q->prompt, &l, err));
        set_prefill(&l, &j->measured->ceilings, &g);
        TRY(llama_plan_at(j, f, q, g.context_depth, &l, err));
        set_decode(&l, &j->measured->ceilings, &g);
        if (!g.planned_cache_bytes)
            g.planned_cache_bytes = sat_mul(l.cache_bytes_per_token, a->context);
        if (i == 0) {
            c.gbytes_per_s = g.decode_gbytes_per_s;
            c.gflops_per_s = c.latency.runs ? (double)l.average.flops / c.latency.mean * 1e-6 : NAN;
        }
        if (!VEC_ADD(j->p->arena, &j->list, g))
            return err_no_memory(err);
    }
    shares_set(q->threads, j->measured->engine.device, &c, j->p->arena, &j->measured->ceilings);
    return VEC_ADD(j->p->arena, &j->configs, c) ? ASSAY_OK : err_no_memory(err);
}

/* The figures of the graph are those of one pass. */
assay_status llama_add_pass(llama_job *j, const llama_file *f, const generate_request *q,
                            const generate_answer *a, assay_error *err)
{
    profile_config c = config_of(j, f, q, a, &a->prefill);
    if (c.latency.runs) {
        c.gflops_per_s = (double)j->p->total_flops / c.latency.mean * 1e-6;
        c.gbytes_per_s = (double)j->p->total_memory / c.latency.mean * 1e-6;
    }
    shares_set(q->threads, j->measured->engine.device, &c, j->p->arena, &j->measured->ceilings);
    profile_generation g = generation_of(j, f, q, a, &(generate_series){.energy_j = NAN});
    return VEC_ADD(j->p->arena, &j->list, g) && VEC_ADD(j->p->arena, &j->configs, c)
               ? ASSAY_OK
               : err_no_memory(err);
}

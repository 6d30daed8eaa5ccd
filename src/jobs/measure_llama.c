/* See measure_llama.h. For every quantisation and batch: the file (written to a temporary directory if there is none),
 * what the analysis plans for it, a process that runs it, statistics of the times. */
#include "jobs/measure_llama.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "engine/llama.h"
#include "engine/llama_api.h"
#include "formats/weights.h"
#include "jobs/export_gguf.h"
#include "jobs/hooks.h"
#include "measure/shares.h"
#include "measure/stats.h"
#include "measure/system.h"
#include "study/language.h"

enum { PROMPT = 512, GENERATE = 32, REPEATS = 5, WARMUPS = 1, GGML_F16 = 1 };
#define LLAMA_HEADROOM ((uint64_t)64 << 20)

typedef struct llama_job {
    assay_model *m;
    const assay_options *o;
    const job_measure_hooks *hooks;
    profile *p;
    profile_measured *measured;
    arena *work;
    VEC(profile_config) configs;
    VEC(profile_generation) list;
    bool random; /* weights */
} llama_job;

/* One file to run. */
typedef struct llama_file {
    str precision;
    const char *path;
    char *folder; /* temporary, or NULL */
    uint64_t file_bytes, tensor_bytes;
} llama_file;

static bool is_gguf_file(const assay_model *m)
{
    return m->weights && str_is(m->weights->format, "gguf") && !m->bytes;
}

bool job_runs_on_llama(const assay_model *m, const assay_options *o)
{
    return o->export.quant.n > 0 || is_gguf_file(m);
}

/* ---- sizes ---- */

static uint64_t prompt_of(const assay_options *o)
{
    return o->pipeline.prompt_tokens > 0 ? (uint64_t)o->pipeline.prompt_tokens : PROMPT;
}

static uint64_t generate_of(const assay_options *o)
{
    return o->pipeline.generate > 0 ? (uint64_t)o->pipeline.generate : GENERATE;
}

static int threads_of(const assay_options *o)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return o->engine.threads ? (int)o->engine.threads : n > 0 ? (int)n : 1;
}

/* Number types of the cache that llama.cpp has, by ggml's numbers. */
static const struct {
    ir_dtype dtype;
    int type;
    const char *name;
} caches[] = {{IR_UNDEFINED, GGML_F16, "float16"},
              {IR_FLOAT16, GGML_F16, "float16"},
              {IR_FLOAT32, 0, "float32"},
              {IR_BFLOAT16, 30, "bfloat16"},
              {IR_INT8, 8, "q8_0"},
              {IR_INT4, 2, "q4_0"}};

static assay_status find_cache(const assay_options *o, size_t *out, assay_error *err)
{
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (caches[i].dtype == o->pipeline.cache_dtype) {
            *out = i;
            return ASSAY_OK;
        }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "llama.cpp has no KV cache of %s. Use --cache-dtype fp32, fp16, bf16, int8 or "
                    "int4.",
                    ir_dtype_get(o->pipeline.cache_dtype)->name);
}

static assay_status make_request(const llama_job *j, const llama_file *f, uint64_t batch,
                                 llama_request *q, assay_error *err)
{
    static const int flash[] = {LLAMA_FLASH_AUTO, LLAMA_FLASH_ON, LLAMA_FLASH_OFF};
    const assay_options *o = j->o;
    size_t cache = 0;
    TRY(find_cache(o, &cache, err));
    *q = (llama_request){.library = o->engine.library.n ? o->engine.library.p : NULL,
                         .model = f->path,
                         .prompt = prompt_of(o),
                         .generate = generate_of(o),
                         .batch = batch,
                         .threads = threads_of(o),
                         .depths = {prompt_of(o)},
                         .n_depths = 1,
                         .cache_type = caches[cache].type,
                         .flash = flash[o->measure.flash],
                         .warmups = o->measure.warmup_given ? (uint64_t)o->measure.warmup_runs
                                                            : WARMUPS,
                         .repeats = o->measure.runs_given ? (uint64_t)o->measure.num_runs : REPEATS,
                         .duration_s = o->measure.duration,
                         .seed = (uint64_t)o->model.seed};
    for (uint32_t i = 0; i < o->measure.depths.n && i < LLAMA_DEPTHS; i++)
        q->depths[i] = (uint64_t)o->measure.depths.items[i];
    if (o->measure.depths.n)
        q->n_depths = o->measure.depths.n < LLAMA_DEPTHS ? o->measure.depths.n : LLAMA_DEPTHS;
    return ASSAY_OK;
}

/* ---- the plan ---- */

/* The cost of generating after `context` tokens. */
static assay_status plan_at(const llama_job *j, const llama_file *f, const llama_request *q,
                            uint64_t context, language_result *out, assay_error *err)
{
    zoo_args *args = ARENA_NEW(j->work, zoo_args);
    if (!args)
        return err_no_memory(err);
    zoo_args_init(args, j->work);
    if (!zoo_args_add(args, &j->m->config) || !zoo_args_add(args, &j->o->model.set))
        return err_no_memory(err);
    const language_settings s = {.model = j->m->name,
                                 .row = j->m->row,
                                 .args = args,
                                 .prompt_tokens = context ? (int64_t)context : 1,
                                 .generate = (int64_t)q->generate,
                                 .batch = (int64_t)q->batch,
                                 .cache = j->o->pipeline.cache_dtype == IR_UNDEFINED
                                              ? IR_FLOAT16
                                              : j->o->pipeline.cache_dtype,
                                 .stored_bytes = f->tensor_bytes,
                                 .stored_type = f->precision.p,
                                 .memory_limit = JOB_ANALYSIS_BYTES};
    return language_run(&s, j->work, out, err);
}

/* ---- memory ---- */

static assay_status too_large(const llama_job *j, const llama_file *f, uint64_t need, uint64_t have,
                              assay_error *err)
{
    sbuf sizes[2] = {{0}, {0}};
    text_bytes(&sizes[0], need);
    text_bytes(&sizes[1], have);
    assay_status s = err_fail_errno(
        err, ASSAY_ERR_SYSTEM, ENOMEM,
        STR_FMT " as " STR_FMT " needs %s for weights and KV cache, and %s %s. Use a smaller "
                "--quant, --batch or --context-depth, or raise --memory-limit.",
        STR_ARG(j->m->name), STR_ARG(f->precision), sbuf_cstr(&sizes[0]), sbuf_cstr(&sizes[1]),
        j->o->measure.memory_limit ? "is the limit" : "is free");
    sbuf_free(&sizes[0]);
    sbuf_free(&sizes[1]);
    return s;
}

static assay_status check_memory(const llama_job *j, const llama_file *f, const language_result *l,
                                 assay_error *err)
{
    uint64_t limit = j->o->measure.memory_limit, room = limit ? limit : system_available("");
    uint64_t need = sat_add(f->tensor_bytes, sat_add(l->cache_bytes, limit ? 0 : LLAMA_HEADROOM));
    return room != PROFILE_NOT_TOLD && need > room ? too_large(j, f, need, room, err) : ASSAY_OK;
}

/* ---- results ---- */

static profile_stats stats_of(const llama_job *j, const llama_series *s)
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

static profile_generation generation_of(const llama_job *j, const llama_file *f,
                                        const llama_request *q, const llama_answer *a,
                                        const llama_series *decode)
{
    static const char *const flash[] = {"auto", "on", "off"};
    size_t cache = 0;
    (void)find_cache(j->o, &cache, NULL);
    profile_generation g = {.batch = q->batch,
                            .precision = f->precision,
                            .prompt_tokens = q->prompt,
                            .generate = q->generate,
                            .context_depth = decode->depth,
                            .context = a->context,
                            .cache_dtype = str_of(caches[cache].name),
                            .flash_attention = flash[j->o->measure.flash],
                            .random_weights = j->random,
                            .first_token = stats_of(j, &a->prefill),
                            .token = stats_of(j, decode),
                            .prefill_gflops_per_s = NAN,
                            .prefill_percent_of_peak = NAN,
                            .decode_gbytes_per_s = NAN,
                            .decode_percent_of_bandwidth = NAN,
                            .predicted_first_token_ms = NAN,
                            .predicted_token_ms = NAN,
                            .planned_weight_bytes = f->tensor_bytes,
                            .weight_bytes = a->model_buffer,
                            .cache_bytes = a->cache_buffer,
                            .compute_bytes = sat_add(a->compute_buffer, a->output_buffer),
                            .resident_bytes = a->peak > a->before.total ? a->peak - a->before.total
                                                                        : 0};
    set_rates(&g.first_token, (double)(q->prompt * q->batch), &g.prefill_rate, &g.prefill_low,
              &g.prefill_high);
    set_rates(&g.token, (double)q->batch, &g.decode_rate, &g.decode_low, &g.decode_high);
    return g;
}

static profile_resident resident_of(const llama_answer *a)
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

/* A run of the configuration is a step of decoding. */
static profile_config config_of(const llama_job *j, const llama_file *f, const llama_request *q,
                                const llama_answer *a)
{
    const llama_series *s = &a->decode[0];
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
    c.load_ms = a->library_ms;
    c.session_ms = a->load_ms + a->context_ms;
    c.memory = resident_of(a);
    c.use.present = true;
    c.use.wall_s = s->wall_s;
    c.use.cpu_s = s->cpu_s;
    c.use.cpu_percent = system_cpu_percent(s->cpu_s, s->wall_s);
    c.use.threads = q->threads;
    c.use.voluntary_switches = a->voluntary;
    c.use.involuntary_switches = a->involuntary;
    c.use.minor_faults = a->minor_faults;
    c.use.major_faults = a->major_faults;
    return c;
}

static void describe_engine(llama_job *j, const llama_request *q, const llama_answer *a)
{
    arena *keep = j->p->arena;
    j->measured->engine = (profile_engine){.name = STR("llama"),
                                           .title = STR("llama.cpp"),
                                           .version = str_copy(keep, a->version),
                                           .library = str_copy(keep, a->library),
                                           .device = STR("cpu"),
                                           .threads = q->threads};
    j->measured->unit = "tokens";
    j->measured->units_per_sample = 1;
    j->measured->concurrency = 1;
    j->measured->seed = q->seed;
}

/* ---- one file at one batch ---- */

/* Shares and predictions need this machine's ceilings, which are looked up with the first configuration. */
static assay_status add_results(llama_job *j, const llama_file *f, const llama_request *q,
                                const llama_answer *a, assay_error *err)
{
    profile_config c = config_of(j, f, q, a);
    language_result l;
    shares_set(q->threads, j->measured->engine.device, &c, j->p->arena, &j->measured->ceilings);
    for (uint32_t i = 0; i < a->n_decode; i++) {
        profile_generation g = generation_of(j, f, q, a, &a->decode[i]);
        TRY(plan_at(j, f, q, q->prompt, &l, err));
        set_prefill(&l, &j->measured->ceilings, &g);
        TRY(plan_at(j, f, q, g.context_depth, &l, err));
        set_decode(&l, &j->measured->ceilings, &g);
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

static bool cancelled(void *job)
{
    return job_cancelled(((const llama_job *)job)->hooks->caller);
}

static assay_status measure_batch(llama_job *j, const llama_file *f, uint64_t batch,
                                  assay_error *err)
{
    llama_request q;
    llama_answer a;
    language_result l;
    TRY(make_request(j, f, batch, &q, err));
    uint64_t deepest = q.prompt;
    for (uint32_t i = 0; i < q.n_depths; i++)
        deepest = q.depths[i] > deepest ? q.depths[i] : deepest;
    TRY(plan_at(j, f, &q, deepest, &l, err));
    TRY(check_memory(j, f, &l, err));
    q.cancelled = cancelled;
    q.asks = j;
    TRY(llama_measure(&q, j->work, &a, err));
    describe_engine(j, &q, &a);
    return add_results(j, f, &q, &a, err);
}

static assay_status measure_batches(llama_job *j, const llama_file *f, assay_error *err)
{
    const assay_options *o = j->o;
    for (uint32_t i = 0; i < o->measure.batch_sizes.n; i++)
        TRY(measure_batch(j, f, (uint64_t)o->measure.batch_sizes.items[i], err));
    if (o->measure.batch_sizes.n)
        return ASSAY_OK;
    return measure_batch(j, f, o->model.batch ? (uint64_t)o->model.batch : 1, err);
}

/* ---- files ---- */

static assay_status use_file(llama_job *j, assay_error *err)
{
    gguf_file g;
    TRY(gguf_read(j->m->name.p, j->work, &g, err));
    const gguf_value *random = gguf_get(&g, "assay.random_weights");
    j->random = random && random->kind == GGUF_BOOL && random->i;
    const llama_file f = {.precision = str_copy(j->p->arena, weights_type(j->m->weights)),
                          .path = j->m->name.p,
                          .file_bytes = file_stat(j->m->name.p).size,
                          .tensor_bytes = j->m->weights->size_bytes};
    return measure_batches(j, &f, err);
}

static uint64_t tensor_bytes(const gguf_plan *plan)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < plan->tensors.n; i++)
        n = sat_add(n, plan->tensors.items[i].bytes);
    return n;
}

/* Refused before it is written: by its own size first, then with the cache of each batch. */
static assay_status write_file(llama_job *j, const gguf_plan *plan, llama_file *f, assay_error *err)
{
    uint64_t room = j->o->measure.memory_limit ? j->o->measure.memory_limit : system_available("");
    f->tensor_bytes = tensor_bytes(plan);
    if (room != PROFILE_NOT_TOLD && f->tensor_bytes > room)
        return too_large(j, f, f->tensor_bytes, room, err);
    TRY(file_temp_folder(&f->folder, err));
    f->path = arena_printf(j->work, "%s/model.gguf", f->folder);
    if (!f->path)
        return err_no_memory(err);
    return job_gguf_write(plan, f->path, j->o, &f->file_bytes, err);
}

static assay_status use_quant(llama_job *j, str name, assay_error *err)
{
    gguf_plan plan;
    llama_file f = {.precision = str_copy(j->p->arena, name)};
    j->random = true;
    assay_status s = job_gguf_plan(j->m, j->o, name, j->work, &plan, err);
    if (s == ASSAY_OK)
        s = write_file(j, &plan, &f, err);
    if (s == ASSAY_OK)
        s = measure_batches(j, &f, err);
    file_drop_folder(f.folder);
    return s;
}

static void record_failure(llama_job *j, str quant, assay_status s, const assay_error *err)
{
    profile_config c = PROFILE_CONFIG_UNKNOWN;
    c.batch = j->o->model.batch ? (uint64_t)j->o->model.batch : 1;
    c.precision = str_copy(j->p->arena, quant);
    c.code = job_failure_code(s, err);
    c.error = str_copy(j->p->arena, str_of(err->message));
    (void)VEC_ADD(j->p->arena, &j->configs, c);
    notes_add(&j->p->warnings, "configuration-failed", (str){0}, NULL, STR_FMT ": %s",
              STR_ARG(quant), err->message);
}

/* One that does not fit does not end the others. */
static assay_status use_quants(llama_job *j, assay_error *err)
{
    str rest = j->o->export.quant;
    assay_status first = ASSAY_OK;
    uint32_t good = 0;
    for (str name; str_split(&rest, ',', &name);)
        if (!gguf_quant_find(name))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "--quant must be " GGUF_QUANTS ", or a list of them, got '" STR_FMT "'",
                            STR_ARG(name));
    rest = j->o->export.quant;
    for (str name; str_split(&rest, ',', &name);) {
        assay_error one;
        err_clear(&one);
        assay_status s = use_quant(j, name, &one);
        good += s == ASSAY_OK;
        if (s == ASSAY_OK)
            continue;
        if (first == ASSAY_OK && err)
            *err = one;
        first = first == ASSAY_OK ? s : first;
        if (s == ASSAY_ERR_INTERRUPTED || s == ASSAY_ERR_USAGE)
            return s;
        record_failure(j, name, s, &one);
    }
    if (good)
        err_clear(err);
    return good ? ASSAY_OK : first;
}

/* ---- the whole ---- */

static assay_status check_model(const assay_model *m, const assay_options *o, assay_error *err)
{
    if (is_gguf_file(m) && o->export.quant.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--quant is for built-in models; the file has types of its own");
    if (!m->row || !language_is(m->row))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "llama.cpp runs language models that generate text, which " STR_FMT
                        " is not known to be",
                        STR_ARG(m->name));
    return ASSAY_OK;
}

assay_status job_measure_llama(assay_model *m, const assay_options *o,
                               const job_measure_hooks *hooks, assay_result *of, assay_error *err)
{
    llama_job j = {.m = m, .o = o, .hooks = hooks, .p = of->p};
    TRY(check_model(m, o, err));
    j.measured = ARENA_NEW(of->p->arena, profile_measured);
    j.work = arena_new(JOB_ANALYSIS_BYTES);
    if (!j.measured || !j.work) {
        arena_free(j.work);
        return err_no_memory(err);
    }
    assay_status s = is_gguf_file(m) ? use_file(&j, err) : use_quants(&j, err);
    j.measured->configs = j.configs.items;
    j.measured->n_configs = j.configs.n;
    j.measured->generation = j.list.items;
    j.measured->n_generation = j.list.n;
    if (j.list.n || j.configs.n)
        of->p->measured = j.measured;
    of->p->device = STR("cpu");
    if (j.list.n && j.random)
        notes_add(&of->p->warnings, "random-weights", (str){0},
                  "Speed and memory do not depend on them. The tokens are meaningless.",
                  "The weights are random.");
    arena_free(j.work);
    return s;
}

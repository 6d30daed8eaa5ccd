/* See measure_llama.h. For every quantisation and batch: the file (written to a temporary directory if there is none),
 * what the analysis plans for it, a process that runs it, statistics of the times. */
#include "jobs/measure_llama.h"

#include <errno.h>

#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "device/host.h"
#include "engine/llama_api.h"
#include "engine/llama_run.h"
#include "formats/gguf_export.h"
#include "formats/weights.h"
#include "jobs/hooks.h"
#include "jobs/measure_llama_impl.h"
#include "measure/busy.h"
#include "measure/system.h"

enum { PROMPT = 512, GENERATE = 32, REPEATS = 5, LAYER_REPEATS = 20, WARMUPS = 1, GGML_F16 = 1 };
#define LLAMA_HEADROOM ((uint64_t)64 << 20)

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
    host_info host;
    host_describe(&host); /* the processors that this process may use */
    return o->engine.threads ? (int)o->engine.threads : host.cores ? (int)host.cores : 1;
}

static const llama_cache caches[] = {{IR_UNDEFINED, GGML_F16, "float16"},
                                     {IR_FLOAT16, GGML_F16, "float16"},
                                     {IR_FLOAT32, 0, "float32"},
                                     {IR_BFLOAT16, 30, "bfloat16"},
                                     {IR_INT8, 8, "q8_0"},
                                     {IR_INT4, 2, "q4_0"}};

assay_status llama_find_cache(const assay_options *o, const llama_cache **out, assay_error *err)
{
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (caches[i].dtype == o->pipeline.cache_dtype) {
            *out = &caches[i];
            return ASSAY_OK;
        }
    return err_fail(err, ASSAY_ERR_USAGE,
                    "llama.cpp has no KV cache of %s. Use --cache-dtype fp32, fp16, bf16, int8 or "
                    "int4.",
                    ir_dtype_get(o->pipeline.cache_dtype)->name);
}

static bool cancelled(void *job)
{
    return job_cancelled(((const llama_job *)job)->hooks->caller);
}

static assay_status make_request(const llama_job *j, const llama_file *f, uint64_t batch,
                                 generate_request *q, assay_error *err)
{
    static const int flash[] = {LLAMA_FLASH_AUTO, LLAMA_FLASH_ON, LLAMA_FLASH_OFF};
    const assay_options *o = j->o;
    const llama_cache *cache = NULL;
    TRY(llama_find_cache(o, &cache, err));
    *q = (generate_request){
        .model = f->path,
        .prompt = prompt_of(o),
        .generate = generate_of(o),
        .batch = batch,
        .threads = threads_of(o),
        .depths = {prompt_of(o)},
        .n_depths = 1,
        .cache_type = cache->type,
        .flash = flash[o->measure.flash],
        .warmups = o->measure.warmup_given ? (uint64_t)o->measure.warmup_runs : WARMUPS,
        .repeats = o->measure.runs_given ? (uint64_t)o->measure.num_runs : REPEATS,
        .duration_s = o->measure.duration,
        .seed = (uint64_t)o->model.seed,
        .probes = {system_energy_uj, system_energy_between, system_run_queue_wait, ""},
        .cancelled = cancelled,
        .asks = (void *)(uintptr_t)j};
    for (uint32_t i = 0; i < o->measure.depths.n && i < GENERATE_DEPTHS; i++)
        q->depths[i] = (uint64_t)o->measure.depths.items[i];
    if (o->measure.depths.n)
        q->n_depths = o->measure.depths.n < GENERATE_DEPTHS ? o->measure.depths.n : GENERATE_DEPTHS;
    return ASSAY_OK;
}

/* ---- the plan ---- */

assay_status llama_plan_at(const llama_job *j, const llama_file *f, const generate_request *q,
                           uint64_t context, language_result *out, assay_error *err)
{
    zoo_args *args = ARENA_NEW(j->work, zoo_args);
    TRY_MEMORY(args, err);
    zoo_args_init(args, j->work);
    TRY_MEMORY(zoo_args_add(args, &j->m->config) && zoo_args_add(args, &j->o->model.set), err);
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
        STR_FMT " as " STR_FMT
                " needs %s for weights, KV cache and buffers, and %s %s. Use a smaller "
                "--quant, --batch or --context-depth, or raise --memory-limit.",
        STR_ARG(j->m->name), STR_ARG(f->precision), sbuf_cstr(&sizes[0]), sbuf_cstr(&sizes[1]),
        j->o->measure.memory_limit ? "is the limit" : "is free");
    sbuf_free(&sizes[0]);
    sbuf_free(&sizes[1]);
    return s;
}

llama_memory_plan llama_plan_buffers(const llama_job *j, const llama_file *f,
                                     const generate_request *q)
{
    const uint64_t tokens = sat_mul(q->batch, q->prompt);
    const llama_sizes sizes = {.context = generate_context(q),
                               .sequences = q->batch,
                               .outputs = !q->operators                ? q->batch
                                          : tokens < LLAMA_CALL_TOKENS ? tokens
                                                                       : LLAMA_CALL_TOKENS,
                               .cache_type = q->cache_type,
                               .flash = q->flash != LLAMA_FLASH_OFF};
    llama_memory_plan plan;
    (void)llama_plan_memory(&f->shape, &sizes, j->work, &plan, NULL);
    return plan;
}

static assay_status check_memory(const llama_job *j, const llama_file *f, const generate_request *q,
                                 assay_error *err)
{
    const llama_memory_plan plan = llama_plan_buffers(j, f, q);
    uint64_t limit = j->o->measure.memory_limit, room = limit ? limit : system_available("");
    uint64_t need = sat_add(f->tensor_bytes, limit ? 0 : LLAMA_HEADROOM);
    need = sat_add(need, sat_add(plan.cache, sat_add(plan.compute, plan.output)));
    return room != PROFILE_NOT_TOLD && need > room ? too_large(j, f, need, room, err) : ASSAY_OK;
}

/* ---- one file at one batch ---- */

static void describe_engine(llama_job *j, const generate_request *q, double tokens)
{
    profile_measured *m = j->measured;
    m->engine = job_engine_used(j->o, engine_about(j->engine), j->p->arena);
    m->engine.device = STR("cpu");
    m->engine.threads = q->threads;
    m->unit = "tokens";
    m->units_per_sample = tokens;
    m->concurrency = 1;
    m->seed = q->seed;
}

static assay_status run_file(llama_job *j, const generate_request *q, generate_answer *a,
                             assay_error *err)
{
    TRY(engine_generate(j->engine, q, j->work, a, err));
    j->as_stored = j->as_stored || a->as_stored;
    return ASSAY_OK;
}

static assay_status measure_batch(llama_job *j, const llama_file *f, uint64_t batch,
                                  assay_error *err)
{
    generate_request q;
    generate_answer a;
    TRY(make_request(j, f, batch, &q, err));
    TRY(check_memory(j, f, &q, err));
    TRY(run_file(j, &q, &a, err));
    describe_engine(j, &q, 1);
    return llama_add_results(j, f, &q, &a, err);
}

/* Sequences and tokens of the graph that was analysed: its input is [sequences, tokens]. */
static assay_status find_shape(const profile *p, generate_request *q, assay_error *err)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_shape *s = &p->inputs[i].shape;
        if (!str_is(p->inputs[i].name, "input_ids") || s->rank != 2 || s->dims[0] < 1 ||
            s->dims[1] < 1)
            continue;
        q->batch = (uint64_t)s->dims[0];
        q->prompt = (uint64_t)s->dims[1];
        return ASSAY_OK;
    }
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "the model has no input_ids of a known size");
}

/* The time of every layer in a pass over the input of the graph. */
static assay_status measure_layers(llama_job *j, const llama_file *f, assay_error *err)
{
    generate_request q;
    generate_answer a;
    TRY(make_request(j, f, 1, &q, err));
    TRY(find_shape(j->p, &q, err));
    q.operators = true;
    q.generate = 0;
    q.n_depths = 0;
    q.repeats = j->o->measure.runs_given ? (uint64_t)j->o->measure.num_runs : LAYER_REPEATS;
    TRY(check_memory(j, f, &q, err));
    TRY(run_file(j, &q, &a, err));
    describe_engine(j, &q, (double)q.prompt);
    TRY(llama_add_pass(j, f, &q, &a, err));
    return llama_fill_layers(j, &a, err);
}

static assay_status sweep_batches(llama_job *j, const llama_file *f, assay_error *err)
{
    int64_t batch;
    for (str list = STR(ASSAY_BATCH_SIZES), item;
         str_split(&list, ',', &item) && str_to_i64(item, &batch);)
        TRY(measure_batch(j, f, (uint64_t)batch, err));
    return ASSAY_OK;
}

static assay_status measure_batches(llama_job *j, const llama_file *f, assay_error *err)
{
    const assay_options *o = j->o;
    if (j->layers)
        return measure_layers(j, f, err);
    if (j->sweep && !o->measure.batch_sizes.n && !o->model.batch)
        return sweep_batches(j, f, err);
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
    llama_file f = {.precision = str_copy(j->p->arena, weights_type(j->m->weights)),
                    .path = j->m->name.p,
                    .file_bytes = file_stat(j->m->name.p).size,
                    .tensor_bytes = j->m->weights->size_bytes};
    TRY(llama_shape_of(&g, j->work, &f.shape, err));
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
    TRY_MEMORY(f->path, err);
    return job_gguf_write(plan, f->path, j->o, &f->file_bytes, err);
}

static assay_status read_shape(llama_job *j, llama_file *f, assay_error *err)
{
    gguf_file g;
    TRY(gguf_read(f->path, j->work, &g, err));
    return llama_shape_of(&g, j->work, &f->shape, err);
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
        s = read_shape(j, &f, err);
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
        bool ends = s == ASSAY_ERR_INTERRUPTED || s == ASSAY_ERR_USAGE;
        if (err && (first == ASSAY_OK || ends))
            *err = one;
        first = first == ASSAY_OK ? s : first;
        if (ends)
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

static assay_status open_engine(llama_job *j, assay_error *err)
{
    const assay_options *o = j->o;
    const engine_config config = {.library = o->engine.library.n ? o->engine.library.p : NULL};
    return engine_open(o->engine.name.n ? o->engine.name.p : "llama", &config, &j->engine, err);
}

static void hand_over(llama_job *j)
{
    profile_measured *m = j->measured;
    m->configs = j->configs.items;
    m->n_configs = j->configs.n;
    m->generation = j->list.items;
    m->n_generation = j->list.n;
    if (j->list.n || j->configs.n)
        j->p->measured = m;
    j->p->device = STR("cpu");
    if ((j->list.n || j->configs.n) && j->random)
        notes_add(&j->p->warnings, "random-weights", (str){0},
                  "Speed and memory do not depend on them. The tokens are meaningless.",
                  "The weights are random.");
    if (j->as_stored)
        notes_add(&j->p->warnings, "weights-as-stored", (str){0},
                  "Times are those of the generic kernels; see `--no-repack` of llama.cpp.",
                  "llama.cpp aborted with weights in the layout of its kernels and was run with "
                  "the weights as stored.");
    busy_note(m, &j->p->warnings);
}

static assay_status measure_model(llama_job *j, assay_error *err)
{
    TRY(open_engine(j, err));
    assay_status s = is_gguf_file(j->m) ? use_file(j, err) : use_quants(j, err);
    hand_over(j);
    return s;
}

assay_status job_measure_llama(assay_model *m, const assay_options *o, unsigned what,
                               const job_measure_hooks *hooks, assay_result *of, assay_error *err)
{
    llama_job j = {.m = m,
                   .o = o,
                   .hooks = hooks,
                   .p = of->p,
                   .sweep = (what & ASSAY_MEASURE_SWEEP) != 0,
                   .layers = (what & ASSAY_MEASURE_LAYERS) != 0};
    TRY(check_model(m, o, err));
    j.measured = ARENA_NEW(of->p->arena, profile_measured);
    j.work = arena_new(JOB_ANALYSIS_BYTES);
    assay_status s = j.measured && j.work ? measure_model(&j, err) : err_no_memory(err);
    if (s == ASSAY_OK && j.layers)
        s = job_advise(m, o, NULL, of->p, err);
    engine_close(j.engine);
    arena_free(j.work);
    return s;
}

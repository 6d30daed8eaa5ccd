/* Loads a model into llama.cpp and times its calls, in a process of its own; see llama.h and llama_run.h. */
#include "engine/llama_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/num.h"
#include "engine/llama_plan.h"

enum { ARENA = 1 << 20, REPEATS_MOST = 100000 };

/* ---- what the library says ---- */

/* "load_tensors:   CPU_REPACK model buffer size =   56.95 MiB": the word before `what` names the buffer. */
static void note_part(llama_buffers *b, const char *text, const char *what, double bytes)
{
    const char *from = what;
    while (from > text && from[-1] != ' ' && from[-1] != ':')
        from--;
    if (b->n_parts == GENERATE_PARTS)
        return;
    llama_part *part = &b->parts[b->n_parts++];
    snprintf(part->name, sizeof part->name, "%.*s", (int)(what - from), from);
    part->bytes = bytes;
}

/* "...: CPU KV buffer size =   12.00 MiB" */
static void note_buffer(llama_buffers *b, const char *text)
{
    const struct {
        const char *what;
        double *bytes; /* NULL: of weights */
    } rows[] = {{" KV buffer size", &b->cache},
                {" RS buffer size", &b->cache},
                {" model buffer size", NULL},
                {" compute buffer size", &b->compute},
                {" output buffer size", &b->output}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i].what), *equals = at ? strchr(at, '=') : NULL;
        double bytes = equals ? strtod(equals + 1, NULL) * 1048576.0 : 0;
        if (equals && rows[i].bytes)
            *rows[i].bytes += bytes;
        else if (equals)
            note_part(b, text, at, bytes);
    }
}

static void take_log(int level, const char *text, void *ctx)
{
    llama_running *r = ctx;
    note_buffer(&r->buffers, text);
    if (level == LLAMA_LOG_ERROR && strlen(text) > 1 && !r->complaint[0])
        snprintf(r->complaint, sizeof r->complaint, "%.*s", (int)strcspn(text, "\n"), text);
}

/* ---- this process ---- */

static uint64_t status_bytes(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? (uint64_t)strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static void put_resident(llama_running *r, const char *key)
{
    char text[4096];
    if (file_read_small("/proc/self/status", text, sizeof text) <= 0)
        return;
    json_key(r->out, key);
    json_object(r->out);
    key_u64(r->out, "total", status_bytes(text, "VmRSS:"));
    key_u64(r->out, "anon", status_bytes(text, "RssAnon:"));
    key_u64(r->out, "file", status_bytes(text, "RssFile:"));
    key_u64(r->out, "peak", status_bytes(text, "VmHWM:"));
    json_end(r->out);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec);
}

/* No dump of memory, and no debugger that ggml would call when it aborts. */
static void prepare_process(int words)
{
    dup2(words, 1);
    dup2(words, 2);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setenv("GGML_NO_BACKTRACE", "1", 1);
}

/* ---- tokens ---- */

static bool make_batch(llama_running *r)
{
    llama_batch *b = &r->batch;
    b->token = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *b->token);
    b->pos = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *b->pos);
    b->n_seq_id = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *b->n_seq_id);
    b->logits = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *b->logits);
    b->seq_id = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *b->seq_id);
    int32_t *ids = memory_zeroed(LLAMA_CALL_TOKENS, sizeof *ids);
    for (int i = 0; b->seq_id && ids && i < LLAMA_CALL_TOKENS; i++)
        b->seq_id[i] = &ids[i];
    return b->token && b->pos && b->n_seq_id && b->logits && b->seq_id && ids;
}

static assay_status call_decode(llama_running *r)
{
    int32_t code = r->api.decode(r->context, r->batch);
    r->batch.n_tokens = 0;
    if (code == 0)
        return ASSAY_OK;
    return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp failed to decode: %s (code %d)",
                    r->complaint[0] ? r->complaint : "no reason was given", (int)code);
}

static assay_status add_token(llama_running *r, uint64_t sequence, uint64_t at, bool logits)
{
    llama_batch *b = &r->batch;
    int32_t i = b->n_tokens++;
    b->token[i] = (int32_t)(rng_next(&r->rng) % (uint64_t)(r->vocab > 0 ? r->vocab : 1));
    b->pos[i] = (int32_t)at;
    b->n_seq_id[i] = 1;
    b->seq_id[i][0] = (int32_t)sequence;
    b->logits[i] = logits;
    return b->n_tokens == LLAMA_CALL_TOKENS ? call_decode(r) : ASSAY_OK;
}

assay_status llama_put_tokens(llama_running *r, uint64_t from, uint64_t n)
{
    for (uint64_t s = 0; s < r->q->batch; s++)
        for (uint64_t i = 0; i < n; i++)
            TRY(add_token(r, s, from + i, r->operators || i + 1 == n));
    if (r->batch.n_tokens)
        TRY(call_decode(r));
    r->api.synchronize(r->context);
    return ASSAY_OK;
}

void llama_clear(llama_running *r)
{
    r->api.memory_clear(r->api.memory(r->context), false);
    r->api.synchronize(r->context);
}

/* ---- series ---- */

static double waited(const llama_running *r)
{
    const generate_probes *p = &r->q->probes;
    return p->waited_s ? p->waited_s(p->root) : NAN;
}

static uint64_t energy(const llama_running *r)
{
    const generate_probes *p = &r->q->probes;
    return p->energy_uj ? p->energy_uj(p->root) : 0;
}

void llama_series_begin(llama_running *r, uint64_t depth, llama_timing *t)
{
    *t = (llama_timing){0};
    json_object(r->out);
    key_u64(r->out, "depth", depth);
    json_key(r->out, "ms");
    json_flat_array(r->out);
}

void llama_calls_begin(llama_running *r, llama_timing *t)
{
    t->energy_before_uj = energy(r);
    t->waited_before_s = waited(r);
    t->cpu_before_s = cpu_seconds();
}

void llama_calls_end(llama_running *r, llama_timing *t)
{
    const generate_probes *p = &r->q->probes;
    t->cpu_s += cpu_seconds() - t->cpu_before_s;
    t->waited_s += waited(r) - t->waited_before_s;
    t->energy_j += p->energy_between ? p->energy_between(p->root, t->energy_before_uj, energy(r))
                                     : NAN;
}

static void put_f64(llama_running *r, const char *key, double v)
{
    json_key(r->out, key);
    json_f64(r->out, v);
}

void llama_series_end(llama_running *r, const llama_timing *t)
{
    json_end(r->out);
    put_f64(r, "wall_s", t->wall_s);
    put_f64(r, "cpu_s", t->cpu_s);
    if (t->waited_s >= 0)
        put_f64(r, "waited_s", t->waited_s);
    if (t->energy_j > 0)
        put_f64(r, "energy_j", t->energy_j);
    json_end(r->out);
}

assay_status llama_time_tokens(llama_running *r, uint64_t from, uint64_t n, llama_timing *t)
{
    uint64_t begun = clock_mono_ns();
    TRY(llama_put_tokens(r, from, n));
    uint64_t ns = clock_mono_ns() - begun;
    t->wall_s += 1e-9 * (double)ns;
    json_f64(r->out, 1e-6 * (double)ns);
    return ASSAY_OK;
}

bool llama_goes_on(const llama_running *r, uint64_t done, uint64_t begun_ns)
{
    return done < REPEATS_MOST &&
           (done < r->q->repeats || 1e-9 * (double)(clock_mono_ns() - begun_ns) < r->q->duration_s);
}

static assay_status time_prefill(llama_running *r)
{
    llama_timing t;
    uint64_t begun = clock_mono_ns();
    json_key(r->out, "prefill");
    llama_series_begin(r, 0, &t);
    for (uint64_t i = 0; llama_goes_on(r, i, begun); i++) {
        llama_clear(r);
        llama_calls_begin(r, &t);
        TRY(llama_time_tokens(r, 0, r->q->prompt, &t));
        llama_calls_end(r, &t);
    }
    llama_series_end(r, &t);
    return ASSAY_OK;
}

static assay_status time_decode(llama_running *r, uint64_t depth)
{
    llama_timing t;
    uint64_t begun = clock_mono_ns();
    llama_series_begin(r, depth, &t);
    for (uint64_t i = 0; llama_goes_on(r, i, begun); i++) {
        llama_clear(r);
        if (depth)
            TRY(llama_put_tokens(r, 0, depth));
        llama_calls_begin(r, &t);
        for (uint64_t k = 0; k < r->q->generate; k++)
            TRY(llama_time_tokens(r, depth + k, 1, &t));
        llama_calls_end(r, &t);
    }
    llama_series_end(r, &t);
    return ASSAY_OK;
}

static assay_status time_depths(llama_running *r)
{
    json_key(r->out, "decode");
    json_array(r->out);
    for (uint32_t i = 0; i < r->q->n_depths && r->q->generate; i++)
        TRY(time_decode(r, r->q->depths[i]));
    json_end(r->out);
    return ASSAY_OK;
}

static assay_status warm_up(llama_running *r)
{
    for (uint64_t i = 0; i < r->q->warmups; i++) {
        llama_clear(r);
        TRY(llama_put_tokens(r, 0, r->q->prompt ? r->q->prompt : 1));
        if (r->q->generate)
            TRY(llama_put_tokens(r, r->q->prompt ? r->q->prompt : 1, 1));
    }
    return ASSAY_OK;
}

/* ---- model and context ---- */

uint64_t generate_context(const generate_request *q)
{
    uint64_t most = q->prompt + 1;
    for (uint32_t i = 0; i < q->n_depths; i++)
        if (q->depths[i] + q->generate > most)
            most = q->depths[i] + q->generate;
    most = (most + LLAMA_CONTEXT_STEP - 1) / LLAMA_CONTEXT_STEP * LLAMA_CONTEXT_STEP;
    return sat_mul(most, q->batch);
}

static void put_ms(llama_running *r, const char *key, uint64_t begun)
{
    json_key(r->out, key);
    json_f64(r->out, 1e-6 * (double)(clock_mono_ns() - begun));
}

static assay_status load_model(llama_running *r)
{
    llama_model_params p = r->api.model_defaults();
    uint64_t begun = clock_mono_ns();
    char text[256] = "";
    p.n_gpu_layers = 0;
    p.use_extra_bufts = !r->as_stored;
    r->model = r->api.model_load(r->q->model, p);
    if (!r->model)
        return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp did not load %.200s: %s", r->q->model,
                        r->complaint[0] ? r->complaint : "no reason was given");
    r->complaint[0] = '\0';
    put_ms(r, "load_ms", begun);
    r->vocab = r->api.vocab_tokens(r->api.vocab(r->model));
    r->api.model_desc(r->model, text, sizeof text);
    json_key(r->out, "description");
    json_cstr(r->out, text);
    key_u64(r->out, "parameters", r->api.model_parameters(r->model));
    key_u64(r->out, "model_bytes", r->api.model_size(r->model));
    put_resident(r, "loaded");
    return ASSAY_OK;
}

/* The threads live as long as the context, as in the programs of llama.cpp: without a pool, ggml would create them
 * anew for every call. */
static assay_status attach_threads(llama_running *r)
{
    llama_pool_params p;
    void *cpu = r->api.device_by_type(LLAMA_DEVICE_CPU);
    void *made = cpu ? r->api.backend_function(r->api.device_backend(cpu), "ggml_threadpool_new")
                     : NULL;
    void *(*new_pool)(llama_pool_params *);
    memcpy(&new_pool, &made, sizeof made);
    r->api.pool_defaults(&p, r->q->threads);
    void *pool = made ? new_pool(&p) : NULL;
    if (!pool)
        return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp could not start %d threads",
                        r->q->threads);
    r->api.pool_attach(r->context, pool, NULL);
    return ASSAY_OK;
}

static assay_status make_context(llama_running *r)
{
    const generate_request *q = r->q;
    llama_context_params p = r->api.context_defaults();
    uint64_t begun = clock_mono_ns();
    p.n_seq_max = (uint32_t)q->batch;
    p.n_ctx = (uint32_t)generate_context(q);
    p.n_threads = p.n_threads_batch = q->threads;
    p.type_k = p.type_v = q->cache_type;
    p.flash_attn_type = q->flash;
    if (q->operators && !llama_operators_make(r, &p))
        return err_no_memory(r->err);
    r->context = r->api.context_new(r->model, p);
    if (!r->context)
        return err_fail(r->err, ASSAY_ERR_ENGINE,
                        "llama.cpp could not create a context of %u tokens: %s", p.n_ctx,
                        r->complaint[0] ? r->complaint : "no reason was given");
    r->complaint[0] = '\0';
    TRY(attach_threads(r));
    put_ms(r, "context_ms", begun);
    key_u64(r->out, "context", p.n_ctx);
    put_resident(r, "ready");
    return ASSAY_OK;
}

static void start_library(llama_running *r, uint64_t begun)
{
    char *folder = memory_strdup(r->api.library), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    r->api.log_set(take_log, r);
    r->api.load_backends(folder ? folder : ".");
    r->api.backend_init();
    put_ms(r, "library_ms", begun);
    json_key(r->out, "version");
    json_cstr(r->out, r->api.version);
    json_key(r->out, "library");
    json_cstr(r->out, r->api.library);
    json_key(r->out, "system");
    json_cstr(r->out, r->api.system_info());
    put_resident(r, "before");
}

static void put_use(llama_running *r)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    key_u64(r->out, "voluntary", (uint64_t)u.ru_nvcsw);
    key_u64(r->out, "involuntary", (uint64_t)u.ru_nivcsw);
    key_u64(r->out, "minor_faults", (uint64_t)u.ru_minflt);
    key_u64(r->out, "major_faults", (uint64_t)u.ru_majflt);
}

static void put_buffers(llama_running *r)
{
    json_key(r->out, "parts");
    json_array(r->out);
    for (uint32_t i = 0; i < r->buffers.n_parts; i++) {
        json_object(r->out);
        json_key(r->out, "name");
        json_cstr(r->out, r->buffers.parts[i].name);
        key_u64(r->out, "bytes", (uint64_t)r->buffers.parts[i].bytes);
        json_end(r->out);
    }
    json_end(r->out);
    key_u64(r->out, "cache_buffer", (uint64_t)r->buffers.cache);
    key_u64(r->out, "compute_buffer", (uint64_t)r->buffers.compute);
    key_u64(r->out, "output_buffer", (uint64_t)r->buffers.output);
}

static assay_status time_all(llama_running *r)
{
    TRY(warm_up(r));
    if (r->q->operators)
        return llama_operators_time(r);
    if (r->q->prompt)
        TRY(time_prefill(r));
    return time_depths(r);
}

static assay_status run_all(llama_running *r, const char *library, arena *a)
{
    uint64_t begun = clock_mono_ns();
    TRY(llama_api_load(library, a, &r->api, r->err));
    start_library(r, begun);
    if (!r->q)
        return ASSAY_OK;
    TRY(load_model(r));
    TRY(make_context(r));
    put_buffers(r);
    TRY_MEMORY(make_batch(r), r->err);
    TRY(time_all(r));
    put_resident(r, "after");
    put_use(r);
    return ASSAY_OK;
}

/* Whatever was written before a failure is dropped: the answer is whole, or the reason. */
void llama_run(void *request, sbuf *out)
{
    const llama_run_request *q = request;
    json_writer w;
    assay_error err = {0};
    llama_running r = {.q = q->q, .as_stored = q->as_stored, .out = &w, .err = &err};
    arena *a = arena_new(ARENA);
    prepare_process(q->words);
    rng_seed(&r.rng, q->q ? q->q->seed : 0);
    json_begin(&w, out, 0);
    json_object(&w);
    assay_status s = a ? run_all(&r, q->library, a) : err_no_memory(&err);
    if (s != ASSAY_OK) {
        out->n = 0;
        json_begin(&w, out, 0);
        json_object(&w);
        json_key(&w, "error");
        json_cstr(&w, err.message);
    }
    json_end(&w);
}

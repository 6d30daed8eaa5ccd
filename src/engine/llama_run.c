/* Loads a model into llama.cpp and times its calls, in a process of its own; see llama.h and llama_run.h. */
#include "engine/llama_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/rng.h"
#include "engine/llama_api.h"

enum { ARENA = 1 << 20, CALL_TOKENS = 2048, CONTEXT_STEP = 256, REPEATS_MOST = 100000 };

typedef struct buffers { /* bytes */
    double model, cache, compute, output;
} buffers;

typedef struct running {
    const llama_request *q;
    llama_api api;
    llama_model *model;
    llama_context *context;
    llama_batch batch; /* room for CALL_TOKENS */
    int32_t vocab;
    rng rng;
    buffers buffers;
    char complaint[512]; /* the last error that the library logged */
    json_writer *out;
    assay_error *err;
} running;

/* ---- what the library says ---- */

/* "...: CPU KV buffer size =   12.00 MiB" */
static void note_buffer(buffers *b, const char *text)
{
    const struct {
        const char *what;
        double *bytes;
    } rows[] = {{" KV buffer size", &b->cache},
                {" RS buffer size", &b->cache},
                {" model buffer size", &b->model},
                {" compute buffer size", &b->compute},
                {" output buffer size", &b->output}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i].what), *equals = at ? strchr(at, '=') : NULL;
        if (equals)
            *rows[i].bytes += strtod(equals + 1, NULL) * 1048576.0;
    }
}

static void take_log(int level, const char *text, void *ctx)
{
    running *r = ctx;
    note_buffer(&r->buffers, text);
    if (level == LLAMA_LOG_ERROR && strlen(text) > 1)
        snprintf(r->complaint, sizeof r->complaint, "%.*s", (int)strcspn(text, "\n"), text);
}

/* ---- this process ---- */

static uint64_t status_bytes(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? (uint64_t)strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static void put_resident(running *r, const char *key)
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

static bool make_batch(running *r)
{
    llama_batch *b = &r->batch;
    b->token = memory_zeroed(CALL_TOKENS, sizeof *b->token);
    b->pos = memory_zeroed(CALL_TOKENS, sizeof *b->pos);
    b->n_seq_id = memory_zeroed(CALL_TOKENS, sizeof *b->n_seq_id);
    b->logits = memory_zeroed(CALL_TOKENS, sizeof *b->logits);
    b->seq_id = memory_zeroed(CALL_TOKENS, sizeof *b->seq_id);
    int32_t *ids = memory_zeroed(CALL_TOKENS, sizeof *ids);
    for (int i = 0; b->seq_id && ids && i < CALL_TOKENS; i++)
        b->seq_id[i] = &ids[i];
    return b->token && b->pos && b->n_seq_id && b->logits && b->seq_id && ids;
}

static assay_status call_decode(running *r)
{
    int32_t code = r->api.decode(r->context, r->batch);
    r->batch.n_tokens = 0;
    if (code == 0)
        return ASSAY_OK;
    return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp did not compute: %s (code %d)",
                    r->complaint[0] ? r->complaint : "no reason was given", (int)code);
}

static assay_status add_token(running *r, uint64_t sequence, uint64_t at, bool logits)
{
    llama_batch *b = &r->batch;
    int32_t i = b->n_tokens++;
    b->token[i] = (int32_t)(rng_next(&r->rng) % (uint64_t)(r->vocab > 0 ? r->vocab : 1));
    b->pos[i] = (int32_t)at;
    b->n_seq_id[i] = 1;
    b->seq_id[i][0] = (int32_t)sequence;
    b->logits[i] = logits;
    return b->n_tokens == CALL_TOKENS ? call_decode(r) : ASSAY_OK;
}

/* `n` tokens of every sequence after those at `from`, in as few calls as there may be. */
static assay_status put_tokens(running *r, uint64_t from, uint64_t n)
{
    for (uint64_t s = 0; s < r->q->batch; s++)
        for (uint64_t i = 0; i < n; i++)
            TRY(add_token(r, s, from + i, i + 1 == n));
    if (r->batch.n_tokens)
        TRY(call_decode(r));
    r->api.synchronize(r->context);
    return ASSAY_OK;
}

static void clear(running *r)
{
    r->api.memory_clear(r->api.memory(r->context), true);
    r->api.synchronize(r->context);
}

/* ---- series ---- */

static assay_status time_tokens(running *r, uint64_t from, uint64_t n, double *wall_s)
{
    uint64_t begun = clock_mono_ns();
    TRY(put_tokens(r, from, n));
    uint64_t ns = clock_mono_ns() - begun;
    *wall_s += 1e-9 * (double)ns;
    json_f64(r->out, 1e-6 * (double)ns);
    return ASSAY_OK;
}

static bool goes_on(const running *r, uint64_t done, uint64_t begun)
{
    return done < REPEATS_MOST &&
           (done < r->q->repeats || 1e-9 * (double)(clock_mono_ns() - begun) < r->q->duration_s);
}

static void end_series(running *r, double wall_s, double cpu_s)
{
    json_end(r->out);
    json_key(r->out, "wall_s");
    json_f64(r->out, wall_s);
    json_key(r->out, "cpu_s");
    json_f64(r->out, cpu_s);
    json_end(r->out);
}

static assay_status time_prefill(running *r)
{
    double wall = 0, cpu = 0;
    uint64_t begun = clock_mono_ns();
    json_key(r->out, "prefill");
    json_object(r->out);
    json_key(r->out, "ms");
    json_flat_array(r->out);
    for (uint64_t i = 0; goes_on(r, i, begun); i++) {
        clear(r);
        double before = cpu_seconds();
        TRY(time_tokens(r, 0, r->q->prompt, &wall));
        cpu += cpu_seconds() - before;
    }
    end_series(r, wall, cpu);
    return ASSAY_OK;
}

static assay_status time_decode(running *r, uint64_t depth)
{
    double wall = 0, cpu = 0;
    uint64_t begun = clock_mono_ns();
    json_object(r->out);
    key_u64(r->out, "depth", depth);
    json_key(r->out, "ms");
    json_flat_array(r->out);
    for (uint64_t i = 0; goes_on(r, i, begun); i++) {
        clear(r);
        if (depth)
            TRY(put_tokens(r, 0, depth));
        double before = cpu_seconds();
        for (uint64_t k = 0; k < r->q->generate; k++)
            TRY(time_tokens(r, depth + k, 1, &wall));
        cpu += cpu_seconds() - before;
    }
    end_series(r, wall, cpu);
    return ASSAY_OK;
}

static assay_status time_depths(running *r)
{
    json_key(r->out, "decode");
    json_array(r->out);
    for (uint32_t i = 0; i < r->q->n_depths && r->q->generate; i++)
        TRY(time_decode(r, r->q->depths[i]));
    json_end(r->out);
    return ASSAY_OK;
}

static assay_status warm_up(running *r)
{
    for (uint64_t i = 0; i < r->q->warmups; i++) {
        clear(r);
        TRY(put_tokens(r, 0, r->q->prompt ? r->q->prompt : 1));
        if (r->q->generate)
            TRY(put_tokens(r, r->q->prompt ? r->q->prompt : 1, 1));
    }
    return ASSAY_OK;
}

/* ---- model and context ---- */

static uint64_t longest(const llama_request *q)
{
    uint64_t most = q->prompt + 1;
    for (uint32_t i = 0; i < q->n_depths; i++)
        if (q->depths[i] + q->generate > most)
            most = q->depths[i] + q->generate;
    return (most + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP;
}

static void put_ms(running *r, const char *key, uint64_t begun)
{
    json_key(r->out, key);
    json_f64(r->out, 1e-6 * (double)(clock_mono_ns() - begun));
}

static assay_status load_model(running *r)
{
    llama_model_params p = r->api.model_defaults();
    uint64_t begun = clock_mono_ns();
    char text[256] = "";
    p.n_gpu_layers = 0;
    r->model = r->api.model_load(r->q->model, p);
    if (!r->model)
        return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp did not load %.200s: %s", r->q->model,
                        r->complaint[0] ? r->complaint : "no reason was given");
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

static assay_status make_context(running *r)
{
    const llama_request *q = r->q;
    llama_context_params p = r->api.context_defaults();
    uint64_t begun = clock_mono_ns();
    p.n_seq_max = (uint32_t)q->batch;
    p.n_ctx = (uint32_t)(longest(q) * q->batch);
    p.n_threads = p.n_threads_batch = q->threads;
    p.type_k = p.type_v = q->cache_type;
    p.flash_attn_type = q->flash;
    r->context = r->api.context_new(r->model, p);
    if (!r->context)
        return err_fail(r->err, ASSAY_ERR_ENGINE, "llama.cpp made no context of %u tokens: %s",
                        p.n_ctx, r->complaint[0] ? r->complaint : "no reason was given");
    put_ms(r, "context_ms", begun);
    key_u64(r->out, "context", p.n_ctx);
    put_resident(r, "ready");
    return ASSAY_OK;
}

static void start_library(running *r, uint64_t begun)
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

static void put_use(running *r)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    key_u64(r->out, "voluntary", (uint64_t)u.ru_nvcsw);
    key_u64(r->out, "involuntary", (uint64_t)u.ru_nivcsw);
    key_u64(r->out, "minor_faults", (uint64_t)u.ru_minflt);
    key_u64(r->out, "major_faults", (uint64_t)u.ru_majflt);
}

static void put_buffers(running *r)
{
    key_u64(r->out, "model_buffer", (uint64_t)r->buffers.model);
    key_u64(r->out, "cache_buffer", (uint64_t)r->buffers.cache);
    key_u64(r->out, "compute_buffer", (uint64_t)r->buffers.compute);
    key_u64(r->out, "output_buffer", (uint64_t)r->buffers.output);
}

static assay_status run_all(running *r, arena *a)
{
    uint64_t begun = clock_mono_ns();
    TRY(llama_api_load(r->q->library, a, &r->api, r->err));
    start_library(r, begun);
    TRY(load_model(r));
    TRY(make_context(r));
    put_buffers(r);
    if (!make_batch(r))
        return err_no_memory(r->err);
    TRY(warm_up(r));
    if (r->q->prompt)
        TRY(time_prefill(r));
    TRY(time_depths(r));
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
    running r = {.q = q->q, .out = &w, .err = &err};
    arena *a = arena_new(ARENA);
    prepare_process(q->words);
    rng_seed(&r.rng, q->q->seed);
    json_begin(&w, out, 0);
    json_object(&w);
    assay_status s = a ? run_all(&r, a) : err_no_memory(&err);
    if (s != ASSAY_OK) {
        out->n = 0;
        json_begin(&w, out, 0);
        json_object(&w);
        json_key(&w, "error");
        json_cstr(&w, err.message);
    }
    json_end(&w);
}

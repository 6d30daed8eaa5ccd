/* llama.cpp as an engine, for language models in GGUF files (generate.h); it has no sessions, because its models are no
 * graphs with tensors as inputs.
 *
 * The library runs in a process of its own (llama_run.h), because ggml aborts on failed checks; an abort is an error
 * with ggml's words. This file starts that process and reads its answer. */
#include "engine/generate.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "base/memory.h"
#include "base/process.h"
#include "engine/engine_impl.h"
#include "engine/llama_run.h"

enum { ANSWER_MOST = 256 << 20, WORDS = 600 };
#define TIMEOUT_MS ((int64_t)6 * 3600 * 1000)

static uint64_t u64_of(const json_value *v)
{
    return v->kind == JSON_INT && v->i > 0 ? (uint64_t)v->i : 0;
}

static double number_or_nan(const json_value *v)
{
    return v->kind == JSON_INT || v->kind == JSON_REAL ? v->f : NAN;
}

static generate_resident resident_of(const json_value *v)
{
    return (generate_resident){.total = u64_of(json_path(v, "total")),
                               .anon = u64_of(json_path(v, "anon")),
                               .file = u64_of(json_path(v, "file"))};
}

static bool read_series(const json_value *v, arena *a, generate_series *out)
{
    const json_value *list = json_path(v, "ms");
    double *ms = ARENA_ARRAY(a, double, (size_t)list->n + 1);
    for (uint32_t i = 0; ms && list->kind == JSON_LIST && i < list->n; i++)
        ms[i] = list->items[i].f;
    *out = (generate_series){.depth = u64_of(json_path(v, "depth")),
                             .ms = ms,
                             .n = list->kind == JSON_LIST ? list->n : 0,
                             .wall_s = json_path(v, "wall_s")->f,
                             .cpu_s = json_path(v, "cpu_s")->f,
                             .waited_s = number_or_nan(json_path(v, "waited_s")),
                             .energy_j = number_or_nan(json_path(v, "energy_j"))};
    return ms != NULL;
}

static assay_status read_times(const json_value *v, arena *a, generate_answer *out,
                               assay_error *err)
{
    const json_value *decode = json_path(v, "decode");
    bool ok = read_series(json_path(v, "prefill"), a, &out->prefill);
    for (uint32_t i = 0; ok && decode->kind == JSON_LIST && i < decode->n && i < GENERATE_DEPTHS;
         i++)
        ok = read_series(&decode->items[i], a, &out->decode[out->n_decode++]);
    return ok ? ASSAY_OK : err_no_memory(err);
}

/* ---- operators ---- */

static bool read_nodes(const json_value *list, arena *a, generate_answer *out)
{
    uint32_t n = list->kind == JSON_LIST ? list->n / 3 : 0;
    trace_node *nodes = ARENA_ARRAY(a, trace_node, (size_t)n + 1);
    str *weights = ARENA_ARRAY(a, str, (size_t)n + 1);
    for (uint32_t i = 0; nodes && weights && i < n; i++) {
        nodes[i] = (trace_node){.name = list->items[3 * (size_t)i].s,
                                .op = list->items[3 * (size_t)i + 1].s,
                                .index = i};
        weights[i] = list->items[3 * (size_t)i + 2].s;
    }
    out->operators.nodes = nodes;
    out->operators.n_nodes = n;
    out->weights = weights;
    return nodes && weights;
}

/* A trace has whole microseconds. */
static uint64_t us_of(const json_value *ns)
{
    return (u64_of(ns) + 500) / 1000;
}

static bool read_runs(const json_value *list, arena *a, trace *out)
{
    uint32_t n = list->kind == JSON_LIST ? list->n / 2 : 0;
    trace_run *runs = ARENA_ARRAY(a, trace_run, (size_t)n + 1);
    for (uint32_t i = 0; runs && i < n; i++)
        runs[i] = (trace_run){.start_us = us_of(&list->items[2 * (size_t)i]),
                              .dur_us = us_of(&list->items[2 * (size_t)i + 1])};
    out->runs = runs;
    out->n_runs = n;
    return runs != NULL;
}

static bool read_events(const json_value *list, arena *a, trace *out)
{
    uint32_t n = list->kind == JSON_LIST ? list->n / 4 : 0;
    trace_event *events = ARENA_ARRAY(a, trace_event, (size_t)n + 1);
    trace_run *runs = (trace_run *)(uintptr_t)out->runs;
    for (uint32_t i = 0; events && i < n; i++) {
        const json_value *v = &list->items[4 * (size_t)i];
        uint32_t run = (uint32_t)u64_of(&v[1]);
        if (u64_of(&v[0]) >= out->n_nodes || run >= out->n_runs)
            return false;
        runs[run].first = runs[run].n ? runs[run].first : i;
        runs[run].n++;
        events[i] = (trace_event){.node = (uint32_t)u64_of(&v[0]),
                                  .run = run,
                                  .parent = TRACE_NONE,
                                  .start_us = us_of(&v[2]),
                                  .dur_us = us_of(&v[3])};
    }
    out->events = events;
    out->n_events = n;
    return events != NULL;
}

static assay_status read_operators(const json_value *v, arena *a, generate_answer *out,
                                   assay_error *err)
{
    bool ok = read_nodes(json_path(v, "nodes"), a, out) &&
              read_runs(json_path(v, "runs"), a, &out->operators) &&
              read_events(json_path(v, "events"), a, &out->operators);
    return ok ? ASSAY_OK : err_no_memory(err);
}

/* ---- the answer ---- */

/* Weights are mapped from the file ("CPU_Mapped") or read ("CPU"); what other buffers hold was made of these. */
static void read_parts(const json_value *list, generate_answer *out)
{
    for (uint32_t i = 0; list->kind == JSON_LIST && i < list->n && i < GENERATE_PARTS; i++) {
        str name = json_path(&list->items[i], "name")->s;
        out->parts[out->n_parts++] = (generate_part){
            .name = name,
            .bytes = u64_of(json_path(&list->items[i], "bytes")),
            .copy = !str_is(name, "CPU") && !str_is(name, "CPU_Mapped")};
    }
}

static assay_status read_answer(const json_value *v, arena *a, generate_answer *out,
                                assay_error *err)
{
    *out = (generate_answer){.system = json_path(v, "system")->s,
                             .description = json_path(v, "description")->s,
                             .parameters = u64_of(json_path(v, "parameters")),
                             .model_bytes = u64_of(json_path(v, "model_bytes")),
                             .context = u64_of(json_path(v, "context")),
                             .load_ms = json_path(v, "load_ms")->f,
                             .context_ms = json_path(v, "context_ms")->f,
                             .before = resident_of(json_path(v, "before")),
                             .loaded = resident_of(json_path(v, "loaded")),
                             .ready = resident_of(json_path(v, "ready")),
                             .after = resident_of(json_path(v, "after")),
                             .peak = u64_of(json_path(v, "after.peak")),
                             .cache_buffer = u64_of(json_path(v, "cache_buffer")),
                             .compute_buffer = u64_of(json_path(v, "compute_buffer")),
                             .output_buffer = u64_of(json_path(v, "output_buffer")),
                             .voluntary = u64_of(json_path(v, "voluntary")),
                             .involuntary = u64_of(json_path(v, "involuntary")),
                             .minor_faults = u64_of(json_path(v, "minor_faults")),
                             .major_faults = u64_of(json_path(v, "major_faults"))};
    read_parts(json_path(v, "parts"), out);
    TRY(read_operators(json_path(v, "operators"), a, out, err));
    return read_times(v, a, out, err);
}

/* ---- the process ---- */

/* It ended without an answer: an abort of ggml, a crash, or the system that was out of memory. */
static assay_status explain_end(const process_result *r, int words, assay_error *err)
{
    char text[WORDS] = "";
    ssize_t n = pread(words, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *slash = strchr(text, ':') ? memrchr(text, '/', strcspn(text, ":")) : NULL;
    if (r->code == 128 + SIGABRT)
        return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp aborted: %s",
                        slash     ? slash + 1
                        : text[0] ? text
                                  : "no reason was given");
    if (r->code == 128 + SIGKILL && !r->timed_out)
        return err_fail(err, ASSAY_ERR_ENGINE,
                        "the process of llama.cpp was killed, probably because memory ran out. "
                        "Use a smaller --quant, --batch or --context-depth.");
    if (r->timed_out)
        return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp took more than six hours");
    if (r->code <= 128)
        return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp exited with code %d and no result",
                        r->code);
    return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp crashed (signal %d)", r->code - 128);
}

static assay_status parse_answer(const process_result *r, arena *a, json_value *v, assay_error *err)
{
    TRY(json_tree_parse((str){r->out.p, (uint32_t)r->out.n}, "llama.cpp", NULL, a, v, err));
    const json_value *error = json_path(v, "error");
    return error->kind == JSON_TEXT ? err_fail(err, ASSAY_ERR_ENGINE, "%s", error->s.p) : ASSAY_OK;
}

/* The answer of llama_run() as a tree in the arena. */
static assay_status call_library(llama_run_request *run, arena *a, json_value *v, assay_error *err)
{
    const process_writer call = {.run = llama_run,
                                 .ctx = run,
                                 .timeout_ms = TIMEOUT_MS,
                                 .max_bytes = ANSWER_MOST,
                                 .cancelled = run->q ? run->q->cancelled : NULL,
                                 .asks = run->q ? run->q->asks : NULL};
    process_result r;
    run->words = memfd_create("assay-llama", MFD_CLOEXEC);
    if (run->words < 0)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "cannot start llama.cpp: %s",
                              strerror(errno));
    assay_status s = process_call_writer(&call, &r, err);
    run->aborted = s == ASSAY_OK && r.code == 128 + SIGABRT;
    if (s == ASSAY_OK && (r.code != 0 || r.out.n == 0))
        s = explain_end(&r, run->words, err);
    if (s == ASSAY_OK)
        s = parse_answer(&r, a, v, err);
    sbuf_free(&r.out);
    close(run->words);
    return s;
}

/* ---- the engine ---- */

static void llama_close(engine *e)
{
    arena_free(e->arena);
    free(e);
}

static assay_status llama_session_open(engine *e, const engine_model *model,
                                       const engine_options *options, engine_session **out,
                                       assay_error *err)
{
    (void)e;
    (void)options;
    (void)out;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "llama.cpp runs GGUF files of language models by tokens; %.200s is a graph",
                    model->called ? model->called
                    : model->path ? model->path
                                  : "the model");
}

/* The copies of weights in layouts of the kernels have limits that the library finds only by an abort: release 0.5
 * cannot plan DeepSeek's attention with weights in the layout of AMX. Such a model is run with the weights as stored. */
static assay_status llama_generate(engine *e, const generate_request *q, arena *a,
                                   generate_answer *out, assay_error *err)
{
    llama_run_request run = {.q = q, .library = e->info.library};
    json_value v;
    assay_status s = call_library(&run, a, &v, err);
    if (s != ASSAY_OK && run.aborted) {
        assay_error second;
        err_clear(&second);
        run.as_stored = true;
        s = call_library(&run, a, &v, &second) == ASSAY_OK ? ASSAY_OK : s;
    }
    TRY(s);
    err_clear(err);
    TRY(read_answer(&v, a, out, err));
    out->as_stored = run.as_stored;
    return ASSAY_OK;
}

static const engine_ops llama_ops = {
    .close = llama_close,
    .now_ns = engine_clock_now,
    .sleep_until = engine_clock_sleep_until,
    .session_open = llama_session_open,
    .generate = llama_generate,
};

static const char *text_of(const json_value *v, const char *key)
{
    const json_value *text = json_path(v, key);
    return text->kind == JSON_TEXT ? text->s.p : "";
}

/* Loads the library once, to know that it can be and what it is. */
static assay_status ask_library(engine *e, const char *library, assay_error *err)
{
    llama_run_request run = {.library = library};
    json_value v;
    TRY(call_library(&run, e->arena, &v, err));
    e->info = (engine_info){.name = "llama",
                            .title = "llama.cpp",
                            .version = text_of(&v, "version"),
                            .library = text_of(&v, "library"),
                            .build = text_of(&v, "system"),
                            .load_ns = (uint64_t)(1e6 * json_path(&v, "library_ms")->f)};
    return ASSAY_OK;
}

assay_status engine_llama_open(const engine_config *config, engine **out, assay_error *err)
{
    engine *e = memory_zeroed(1, sizeof *e);
    if (!e)
        return err_no_memory(err);
    e->ops = &llama_ops;
    e->arena = arena_new(ENGINE_ARENA_BYTES);
    assay_status s = e->arena ? ask_library(e, config->library, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        *out = e;
    else
        llama_close(e);
    return s;
}

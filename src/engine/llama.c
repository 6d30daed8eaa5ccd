/* Runs llama_run() in a process of its own and reads its answer; see llama.h. */
#include "engine/llama.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "base/process.h"
#include "engine/llama_run.h"

enum { ANSWER_MOST = 256 << 20, WORDS = 600 };
#define TIMEOUT_MS ((int64_t)6 * 3600 * 1000)

static uint64_t u64_of(const json_value *v)
{
    return v->kind == JSON_INT && v->i > 0 ? (uint64_t)v->i : 0;
}

static llama_resident resident_of(const json_value *v)
{
    return (llama_resident){.total = u64_of(json_path(v, "total")),
                            .anon = u64_of(json_path(v, "anon")),
                            .file = u64_of(json_path(v, "file"))};
}

static bool read_series(const json_value *v, arena *a, llama_series *out)
{
    const json_value *list = json_path(v, "ms");
    double *ms = ARENA_ARRAY(a, double, (size_t)list->n + 1);
    for (uint32_t i = 0; ms && list->kind == JSON_LIST && i < list->n; i++)
        ms[i] = list->items[i].f;
    *out = (llama_series){.depth = u64_of(json_path(v, "depth")),
                          .ms = ms,
                          .n = list->kind == JSON_LIST ? list->n : 0,
                          .wall_s = json_path(v, "wall_s")->f,
                          .cpu_s = json_path(v, "cpu_s")->f};
    return ms != NULL;
}

static assay_status read_times(const json_value *v, arena *a, llama_answer *out, assay_error *err)
{
    const json_value *decode = json_path(v, "decode");
    bool ok = read_series(json_path(v, "prefill"), a, &out->prefill);
    for (uint32_t i = 0; ok && decode->kind == JSON_LIST && i < decode->n && i < LLAMA_DEPTHS; i++)
        ok = read_series(&decode->items[i], a, &out->decode[out->n_decode++]);
    return ok ? ASSAY_OK : err_no_memory(err);
}

static assay_status read_answer(str text, arena *a, llama_answer *out, assay_error *err)
{
    json_value v;
    TRY(json_tree_parse(text, "llama.cpp", NULL, a, &v, err));
    const json_value *error = json_path(&v, "error");
    if (error->kind == JSON_TEXT)
        return err_fail(err, ASSAY_ERR_ENGINE, "%s", error->s.p);
    *out = (llama_answer){.version = json_path(&v, "version")->s,
                          .library = json_path(&v, "library")->s,
                          .system = json_path(&v, "system")->s,
                          .description = json_path(&v, "description")->s,
                          .parameters = u64_of(json_path(&v, "parameters")),
                          .model_bytes = u64_of(json_path(&v, "model_bytes")),
                          .context = u64_of(json_path(&v, "context")),
                          .library_ms = json_path(&v, "library_ms")->f,
                          .load_ms = json_path(&v, "load_ms")->f,
                          .context_ms = json_path(&v, "context_ms")->f,
                          .before = resident_of(json_path(&v, "before")),
                          .loaded = resident_of(json_path(&v, "loaded")),
                          .ready = resident_of(json_path(&v, "ready")),
                          .after = resident_of(json_path(&v, "after")),
                          .peak = u64_of(json_path(&v, "after.peak")),
                          .model_buffer = u64_of(json_path(&v, "model_buffer")),
                          .cache_buffer = u64_of(json_path(&v, "cache_buffer")),
                          .compute_buffer = u64_of(json_path(&v, "compute_buffer")),
                          .output_buffer = u64_of(json_path(&v, "output_buffer")),
                          .voluntary = u64_of(json_path(&v, "voluntary")),
                          .involuntary = u64_of(json_path(&v, "involuntary")),
                          .minor_faults = u64_of(json_path(&v, "minor_faults")),
                          .major_faults = u64_of(json_path(&v, "major_faults"))};
    return read_times(&v, a, out, err);
}

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
    return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp crashed (signal %d)",
                    r->code > 128 ? r->code - 128 : r->code);
}

assay_status llama_measure(const llama_request *q, arena *a, llama_answer *out, assay_error *err)
{
    llama_run_request run = {q, memfd_create("assay-llama", MFD_CLOEXEC)};
    const process_writer call = {.run = llama_run,
                                 .ctx = &run,
                                 .timeout_ms = TIMEOUT_MS,
                                 .max_bytes = ANSWER_MOST,
                                 .cancelled = q->cancelled,
                                 .asks = q->asks};
    process_result r;
    if (run.words < 0)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "cannot start llama.cpp: %s",
                              strerror(errno));
    assay_status s = process_call_writer(&call, &r, err);
    if (s == ASSAY_OK && (r.code != 0 || r.out.n == 0))
        s = explain_end(&r, run.words, err);
    if (s == ASSAY_OK)
        s = read_answer((str){r.out.p, (uint32_t)r.out.n}, a, out, err);
    sbuf_free(&r.out);
    close(run.words);
    return s;
}

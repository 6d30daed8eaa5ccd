/* assay: analysis of untrusted models in a confined process (SECURITY.md).
 *
 *     assay_confined what = {.size = sizeof what, .model = "model.onnx"};
 *     assay_text texts[] = {{.format = "json"}};
 *     if (assay_analyze_confined(&what, NULL, texts, 1, &err) == ASSAY_OK)
 *         fwrite(texts[0].text, 1, texts[0].n, stdout);
 *     assay_free(texts[0].text);
 *
 * A confined process may read files that are already open, allocate memory, and write to one descriptor. Every other
 * system call ends it: it cannot open a file or a socket, or start a program. This needs Linux on x86-64 or aarch64
 * (seccomp). Elsewhere these functions return ASSAY_ERR_UNSUPPORTED; nothing is analysed without the confinement.
 */
#ifndef ASSAY_SANDBOX_H
#define ASSAY_SANDBOX_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ASSAY_OK: processes can be confined here. ASSAY_ERR_UNSUPPORTED: the message says why not. */
ASSAY_API assay_status assay_sandbox_check(assay_error *err);

/* Confines the calling process permanently. After this call, only the descriptor `out` can be written. Call it before
 * reading untrusted bytes, in a process with one thread. Set resource limits before. */
ASSAY_API assay_status assay_sandbox_enter(int out, assay_error *err);

/* A file in memory. */
typedef struct assay_memory_file {
    const char *path; /* relative, without "..": "model.xml", "folder/saved_model.pb" */
    const void *bytes;
    size_t n;
} assay_memory_file;

/* What to analyse. */
typedef struct assay_confined {
    size_t size;
    const char *model; /* as for assay_model_open(); with `bytes`, its name in results */
    const void *bytes; /* as for assay_model_from_bytes(); NULL: `model` is a path or a name */
    size_t n_bytes;
    /* A model of several files in memory: `model` is the path of one of them, or their directory. The analysis sees no
     * other files. The options "config" and "hardware" can only name files of this list. */
    const assay_memory_file *files;
    size_t n_files;
} assay_confined;

/* A rendering of the result. */
typedef struct assay_text {
    const char *format; /* as for assay_result_write() */
    bool color;         /* in place of the option "color" */
    char *text; /* set by the function, ends with a NUL; free it with assay_free(). NULL: none */
    size_t n;
} assay_text;

/* assay_model_open(), assay_analyze() and assay_result_write() in a confined child of this process, which must have no
 * other threads. The child can read the model, files in its directory (external data, shards; no hidden files), and
 * files that the options "config" and "hardware" name. Returns what these functions return, and also
 * ASSAY_ERR_MALFORMED: the child attempted a forbidden system call, or crashed. ASSAY_ERR_USAGE: the model needs
 * another file, or the option "follow-symlinks" is set. Texts may be set after a failure too, for example with
 * "strict"; free them in any case. */
ASSAY_API assay_status assay_analyze_confined(const assay_confined *what,
                                              const assay_options *options, assay_text *texts,
                                              size_t n_texts, assay_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* What the library asks of the rest of the system, in a build for WebAssembly (docs/browser.md): there are no engines, no
 * history, no other processes and no sandbox but that of the host, so each of these says that it is missing. What can
 * only be reached behind one of them is not linked: calling it ends the instance with a trap.
 *
 * Files belong to the host: a path reaches it as it was written, and it reads only the ranges that are asked for
 * (fd_pread of WASI, wasm/host.mjs).
 */
#include <assay/history.h>
#include <assay/sandbox.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/broker.h"
#include "base/embedded.h"
#include "base/process.h"
#include "device/gpu_monitor.h"
#include "jobs/measure.h"
#include "jobs/pipeline.h"
#include "jobs/race.h"

#define NATIVE "Use the native program."

/* The page that the host shows or has (docs/browser.md): what is put in it is all that is written here. */
static const char page[] = "@ASSAY_CONNECT@@ASSAY_DATA@";
const embedded_file embedded_page[] = {
    {.name = "page.html", .data = page, .size = sizeof page - 1},
    {.name = NULL},
};

/* ---- rooms that are left out ---- */

static assay_status no_engine(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_ENGINE, "WebAssembly runs no models. " NATIVE);
}

assay_status job_measure(assay_model *model, const assay_options *o, unsigned what,
                         const job_measure_hooks *hooks, assay_result *of, assay_error *err)
{
    (void)model;
    (void)o;
    (void)what;
    (void)hooks;
    (void)of;
    return no_engine(err);
}

assay_status job_race(job_comparison *c, assay_model *const *models, size_t n,
                      const assay_options *o, const assay_hooks *hooks, assay_error *err)
{
    (void)c;
    (void)models;
    (void)n;
    (void)o;
    (void)hooks;
    return no_engine(err);
}

assay_status job_pipeline_measure(job_pipeline *pipeline, const assay_options *o,
                                  const assay_hooks *hooks, assay_error *err)
{
    (void)pipeline;
    (void)o;
    (void)hooks;
    return no_engine(err);
}

assay_status job_engine_open(const assay_options *o, engine **out, assay_error *err)
{
    (void)o;
    *out = NULL;
    return no_engine(err);
}

assay_status job_runnable_make(assay_model *m, const assay_options *o, int64_t batch,
                               job_runnable *out, assay_error *err)
{
    (void)m;
    (void)o;
    (void)batch;
    (void)out;
    return no_engine(err);
}

void job_runnable_free(job_runnable *x)
{
    (void)x;
}

void engine_close(engine *e)
{
    (void)e;
}

static assay_status no_history(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "WebAssembly has no history. " NATIVE);
}

assay_status assay_store_open(const char *path, bool create, assay_store **out, assay_error *err)
{
    (void)path;
    (void)create;
    *out = NULL;
    return no_history(err);
}

assay_status assay_tags_check(const char *const *tags, size_t n, assay_error *err)
{
    (void)tags;
    (void)n;
    return no_history(err);
}

void assay_store_close(assay_store *db)
{
    (void)db;
}

bool assay_store_is_remote(const char *path)
{
    (void)path;
    return false;
}

assay_status gpu_monitor_open(uint32_t index, gpu_monitor **out, assay_error *err)
{
    (void)index;
    *out = NULL;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "no GPU can be seen from WebAssembly");
}

void gpu_monitor_close(gpu_monitor *m)
{
    (void)m;
}

/* ---- processes ---- */

static assay_status no_processes(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "WebAssembly starts no processes. " NATIVE);
}

assay_status process_run(const char *const *argv, int64_t timeout_ms, size_t max_bytes,
                         process_result *result, assay_error *err)
{
    (void)argv;
    (void)timeout_ms;
    (void)max_bytes;
    (void)result;
    return no_processes(err);
}

assay_status process_call_apart(const process_call *call, void *out, assay_error *err)
{
    (void)call;
    (void)out;
    return no_processes(err);
}

assay_status assay_analyze_confined(const assay_confined *what, const assay_options *options,
                                    assay_text *texts, size_t n, assay_error *err)
{
    (void)what;
    (void)options;
    (void)texts;
    (void)n;
    return no_processes(err);
}

bool broker_used(void)
{
    return false;
}

/* ---- of the C library ---- */

int getpid(void)
{
    return 1;
}

int gethostname(char *name, size_t n)
{
    snprintf(name, n, "%s", "wasm");
    return 0;
}

int fchmod(int fd, mode_t mode)
{
    (void)fd;
    (void)mode;
    return 0;
}

int malloc_trim(size_t keep)
{
    (void)keep;
    return 0;
}

char *mkdtemp(char *pattern)
{
    (void)pattern;
    errno = ENOTSUP;
    return NULL;
}

/* Bytes of the path without links, at most `cap`; 0 if there is no such file. */
__attribute__((import_module("assay"), import_name("realpath"))) size_t host_realpath(
    const char *path, size_t n, char *out, size_t cap);

char *realpath(const char *restrict path, char *restrict out)
{
    enum { CAP = 4096 };
    char *found = out ? out : malloc(CAP);
    size_t n = found ? host_realpath(path, strlen(path), found, CAP - 1) : 0;
    if (!n) {
        if (found != out)
            free(found);
        errno = found ? ENOENT : ENOMEM;
        return NULL;
    }
    found[n] = '\0';
    return found;
}

/* Paths go to the host as they are: the descriptor is that of no folder. The names are those of wasi-libc. */
enum { HOST_ROOT = 3 };
int __wasilibc_find_abspath(const char *path, const char **prefix, const char **relative);
int __wasilibc_find_relpath(const char *path, const char **prefix, char **relative, size_t n);

int __wasilibc_find_abspath(const char *path, const char **prefix, const char **relative)
{
    *prefix = "";
    *relative = path;
    return HOST_ROOT;
}

/* The library gives no room for a copy: it takes the path itself. */
int __wasilibc_find_relpath(const char *path, const char **prefix, char **relative, size_t n)
{
    (void)n;
    return __wasilibc_find_abspath(path, prefix, (const char **)relative);
}

/* Debian's C library is built with a guard of the stack. */
_Noreturn void __stack_chk_fail(void);
uintptr_t __stack_chk_guard = 0x5bd1e995;

_Noreturn void __stack_chk_fail(void)
{
    __builtin_trap();
}

/* ---- sorting: stable, as in the C library of GNU, so that rows that compare equal have one order everywhere ---- */

typedef int compare_fn(const void *, const void *);

static void merge_halves(char *base, size_t left, size_t n, size_t size, char *room, compare_fn *by)
{
    size_t a = 0, b = left;
    for (size_t k = 0; k < n; k++) {
        const bool first = b == n || (a < left && by(base + a * size, base + b * size) <= 0);
        memcpy(room + k * size, base + (first ? a++ : b++) * size, size);
    }
    memcpy(base, room, n * size);
}

static void merge_sort(char *base, size_t n, size_t size, char *room, compare_fn *by)
{
    if (n < 2)
        return;
    merge_sort(base, n / 2, size, room, by);
    merge_sort(base + n / 2 * size, n - n / 2, size, room, by);
    merge_halves(base, n / 2, n, size, room, by);
}

void qsort(void *base, size_t n, size_t size, compare_fn *by)
{
    char *room = malloc(n * size + 1);
    if (!room)
        abort();
    merge_sort(base, n, size, room, by);
    free(room);
}

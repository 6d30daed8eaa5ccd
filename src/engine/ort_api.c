/* Loading ONNX Runtime.
 *
 * Entry point: OrtGetApiBase() gives {GetApi(version), GetVersionString()}. "1.N.p" has the API of version N; asking
 * for more returns NULL and prints, so min(N, ORT_API_NEWEST) is requested.
 *
 * Since 1.29 the library sends telemetry unless ORT_DISABLE_TELEMETRY=1 is in the environment before it is loaded.
 */
#include "engine/ort_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "engine/engine.h"
#include "engine/ort_find.h"

typedef void (*any_fn)(void);
typedef struct ort_api_base {
    const any_fn *(*get_api)(uint32_t version);
    const char *(*version_string)(void);
} ort_api_base;

static const char *const loader_names[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

/* ---- one library ----------------------------------------------------------------------------- */

static assay_status not_usable(const char *path, const char *why, assay_error *err)
{
    char shown[FILE_SHOWN];
    return err_fail(err, ASSAY_ERR_ENGINE, "%s: not a usable ONNX Runtime: %.300s. %s.",
                    file_shown(path, shown), why, ORT_INSTALL_ADVICE);
}

static int minor_of(const char *version)
{
    str rest = str_of(version), major_text = str_cut(&rest, '.');
    uint64_t major, minor;
    if (!str_to_u64(major_text, &major) || !str_take_u64(&rest, &minor) || minor > INT32_MAX)
        return -1;
    return major == 1 ? (int)minor : major > 1 ? ORT_API_NEWEST : 0;
}

static void fill_functions(ort_api *api, const any_fn *slots, int version)
{
#define ORT_FILL(slot, since, result, name, params) \
    api->name = (since) <= version ? (result(*) params)slots[slot] : NULL;
    ORT_FUNCTIONS(ORT_FILL)
#undef ORT_FILL
}

static assay_status take_base(const ort_api_base *base, const char *path, ort_api *out,
                              assay_error *err)
{
    char why[128];
    out->version = base->version_string();
    out->minor = minor_of(out->version);
    if (out->minor < ORT_API_OLDEST) {
        snprintf(why, sizeof why, "version %.40s is older than 1.%d",
                 out->version ? out->version : "unknown", ORT_API_OLDEST);
        return not_usable(path, why, err);
    }
    int version = out->minor < ORT_API_NEWEST ? out->minor : ORT_API_NEWEST;
    const any_fn *slots = base->get_api((uint32_t)version);
    if (!slots)
        return not_usable(path, "it does not provide the API", err);
    fill_functions(out, slots, version);
    return ASSAY_OK;
}

static assay_status take_library(void *handle, const char *path, arena *a, ort_api *out,
                                 assay_error *err)
{
    Dl_info where;
    void *symbol = dlsym(handle, "OrtGetApiBase");
    const ort_api_base *(*get_base)(void);
    if (!symbol)
        return not_usable(path, "it has no OrtGetApiBase", err);
    memcpy(&get_base, &symbol, sizeof get_base); /* ISO C has no cast between these two */
    const ort_api_base *base = get_base();
    if (!base)
        return not_usable(path, "it does not provide the API", err);
    TRY(take_base(base, path, out, err));
    out->handle = handle;
    out->library = arena_strdup(a,
                                dladdr(symbol, &where) && where.dli_fname ? where.dli_fname : path);
    return out->library ? ASSAY_OK : err_no_memory(err);
}

/* *there says whether the loader took the file, whatever came of it. */
static assay_status load_library(const char *path, arena *a, ort_api *out, bool *there,
                                 assay_error *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *there = handle != NULL;
    if (!handle) {
        const char *why = dlerror();
        return not_usable(path, why ? why : "it cannot be loaded", err);
    }
    assay_status status = take_library(handle, path, a, out, err);
    if (status != ASSAY_OK)
        dlclose(handle);
    return status;
}

/* A pipe or a directory by that name would block or confuse the loader. */
static assay_status load_named(const char *path, arena *a, ort_api *out, assay_error *err)
{
    file_info info = file_stat(path);
    if (!info.exists)
        return not_usable(path, "no such file", err);
    if (!info.is_regular)
        return not_usable(path, "not a regular file", err);
    /* Without a slash the loader would look elsewhere. */
    const char *exact = strchr(path, '/') ? path : arena_printf(a, "./%s", path);
    bool there;
    return exact ? load_library(exact, a, out, &there, err) : err_no_memory(err);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Keeps in *refused why the first file that is there does not do. */
static bool try_load(const char *path, bool exists, arena *a, ort_api *out, assay_error *refused)
{
    assay_error why = {0};
    bool there;
    if (load_library(path, a, out, &there, &why) == ASSAY_OK)
        return true;
    if (refused->code == ASSAY_OK && (there || exists))
        *refused = why;
    return false;
}

static assay_status load_found(const engine_config *config, arena *a, ort_api *out,
                               assay_error *err)
{
    assay_error refused = {0};
    char shown[FILE_SHOWN];
    for (size_t i = 0; i < sizeof loader_names / sizeof *loader_names; i++)
        if (try_load(loader_names[i], false, a, out, &refused))
            return ASSAY_OK;
    const char *unsafe;
    const char *const *paths = ort_find(config->folders, a, &unsafe);
    TRY_MEMORY(paths, err);
    for (; *paths; paths++)
        if (try_load(*paths, true, a, out, &refused))
            return ASSAY_OK;
    if (refused.code != ASSAY_OK)
        return err_fail(err, ASSAY_ERR_ENGINE, "%s", refused.message);
    if (unsafe)
        return err_fail(
            err, ASSAY_ERR_ENGINE,
            "%s: not loaded: other users can change it or its folder. Use `chmod go-w`, "
            "or name it with --engine-lib.",
            file_shown(unsafe, shown));
    return err_fail(err, ASSAY_ERR_ENGINE, "ONNX Runtime not found. %s.", ORT_INSTALL_ADVICE);
}

static int has_loader(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)found = true;
    return 1; /* the first is the program; no other is asked */
}

assay_status ort_api_load(const engine_config *config, arena *a, ort_api *out, assay_error *err)
{
    bool dynamic = false;
    const char *named = config->library ? config->library : secure_getenv("ASSAY_ORT_LIB");
    dl_iterate_phdr(has_loader, &dynamic);
    if (!dynamic)
        return err_fail(
            err, ASSAY_ERR_ENGINE,
            "a statically linked assay cannot load an engine. Build it without ASSAY_STATIC.");
    setenv("ORT_DISABLE_TELEMETRY", "1", 1);
    if (named && *named)
        return load_named(named, a, out, err);
    return load_found(config, a, out, err);
}

void ort_api_unload(ort_api *api)
{
    if (api->handle)
        dlclose(api->handle);
    api->handle = NULL;
}

/* ---- statuses -------------------------------------------------------------------------------- */

enum { ORT_FAIL = 1, ORT_RUNTIME_EXCEPTION = 6, ORT_EP_FAIL = 11 };

/* The runtime has no code for memory that ran out. An allocation that fails is one of three general codes
 * with a sentence of the runtime's arena, of the C++ library or of CUDA; a kernel's comes behind "Status
 * Message: ", before which stand names that are the model's. */
static bool is_out_of_memory(int code, const char *message)
{
    static const char *const sentences[] = {
        "Failed to allocate memory for requested buffer of size ",
        "is smaller than requested bytes of ",
        "std::bad_alloc",
        "CUDA failure 2: out of memory",
        "_STATUS_ALLOC_FAILED",
    };
    static const char kernel[] = "Status Message: ";
    for (const char *next; (next = strstr(message, kernel)) != NULL;)
        message = next + strlen(kernel);
    if (code != ORT_FAIL && code != ORT_RUNTIME_EXCEPTION && code != ORT_EP_FAIL)
        return false;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strstr(message, sentences[i]))
            return true;
    return false;
}

assay_status ort_check(const ort_api *api, ort_status *status, const char *what, assay_error *err)
{
    if (!status)
        return ASSAY_OK;
    const char *message = api->error_message(status);
    bool memory = message && is_out_of_memory(api->error_code(status), message);
    size_t n = message ? strlen(message) : 0;
    while (n > 0 && strchr(" \t\r\n.", message[n - 1]))
        n--;
    assay_status code = err_fail_errno(err, ASSAY_ERR_ENGINE, memory ? ENOMEM : 0,
                                       "ONNX Runtime %s: %.*s", what, n > 560 ? 560 : (int)n,
                                       n ? message : "");
    api->release_status(status);
    return code;
}

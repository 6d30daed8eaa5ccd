/* Finds and loads llama.cpp; see llama_api.h. The library names the others of its folder (libggml), which the loader
 * finds beside it. */
#include "engine/llama_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ort_find.h"

#define HINT                                                                                   \
    "Run tools/get_engine llama, or `npm install @node-llama-cpp/linux-x64@3.22.1`, and name " \
    "its libllama file by --engine-lib or ASSAY_LLAMA_LIB."

static const struct {
    size_t at;
    const char *name;
} symbols[] = {
    {offsetof(llama_api, llama_version), "llama_version"},
    {offsetof(llama_api, system_info), "llama_print_system_info"},
    {offsetof(llama_api, log_set), "llama_log_set"},
    {offsetof(llama_api, load_backends), "ggml_backend_load_all_from_path"},
    {offsetof(llama_api, backend_init), "llama_backend_init"},
    {offsetof(llama_api, model_defaults), "llama_model_default_params"},
    {offsetof(llama_api, context_defaults), "llama_context_default_params"},
    {offsetof(llama_api, model_load), "llama_model_load_from_file"},
    {offsetof(llama_api, context_new), "llama_init_from_model"},
    {offsetof(llama_api, context_free), "llama_free"},
    {offsetof(llama_api, model_free), "llama_model_free"},
    {offsetof(llama_api, model_parameters), "llama_model_n_params"},
    {offsetof(llama_api, model_size), "llama_model_size"},
    {offsetof(llama_api, model_desc), "llama_model_desc"},
    {offsetof(llama_api, vocab), "llama_model_get_vocab"},
    {offsetof(llama_api, vocab_tokens), "llama_vocab_n_tokens"},
    {offsetof(llama_api, decode), "llama_decode"},
    {offsetof(llama_api, synchronize), "llama_synchronize"},
    {offsetof(llama_api, memory), "llama_get_memory"},
    {offsetof(llama_api, memory_clear), "llama_memory_clear"},
    {offsetof(llama_api, pool_defaults), "ggml_threadpool_params_init"},
    {offsetof(llama_api, pool_attach), "llama_attach_threadpool"},
    {offsetof(llama_api, device_by_type), "ggml_backend_dev_by_type"},
    {offsetof(llama_api, device_backend), "ggml_backend_dev_backend_reg"},
    {offsetof(llama_api, backend_function), "ggml_backend_reg_get_proc_address"},
    {offsetof(llama_api, op_desc), "ggml_op_desc"},
    {offsetof(llama_api, tensor_name), "ggml_get_name"},
};

static assay_status fill_symbols(llama_api *api, assay_error *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(api->handle, symbols[i].name);
        memcpy((char *)api + symbols[i].at, &p, sizeof p);
        if (!p)
            return err_fail(err, ASSAY_ERR_ENGINE,
                            "%s: not llama.cpp %s: it has no function %s. " HINT, api->library,
                            LLAMA_RELEASE, symbols[i].name);
    }
    return ASSAY_OK;
}

/* A library of another layout would give other numbers here. */
static bool defaults_are_known(const llama_api *api)
{
    llama_model_params m = api->model_defaults();
    llama_context_params c = api->context_defaults();
    return m.n_gpu_layers == -1 && !m.vocab_only && m.use_extra_bufts && c.n_ctx == 512 &&
           c.n_batch == 2048 && c.n_ubatch == 512 && c.flash_attn_type == LLAMA_FLASH_AUTO &&
           c.type_k == 1 && c.type_v == 1 && !c.embeddings && c.offload_kqv && c.no_perf;
}

static assay_status check_release(llama_api *api, assay_error *err)
{
    static const char wanted[] = LLAMA_RELEASE ".";
    api->version = api->llama_version();
    if (api->version && strncmp(api->version, wanted, strlen(wanted)) == 0 &&
        defaults_are_known(api))
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_ENGINE,
                    "%s: llama.cpp %.40s is not supported, only release %s. " HINT, api->library,
                    api->version ? api->version : "", LLAMA_RELEASE);
}

static assay_status load_file(const char *path, arena *a, llama_api *out, assay_error *err)
{
    char real[PATH_MAX];
    *out = (llama_api){0};
    out->library = arena_strdup(a, realpath(path, real) ? real : path);
    TRY_MEMORY(out->library, err);
    out->handle = dlopen(out->library, RTLD_NOW | RTLD_GLOBAL);
    if (!out->handle)
        return err_fail(err, ASSAY_ERR_ENGINE, "cannot load llama.cpp: %.300s. " HINT, dlerror());
    TRY(fill_symbols(out, err));
    return check_release(out, err);
}

assay_status llama_api_load(const char *named, arena *a, llama_api *out, assay_error *err)
{
    const char *unsafe = NULL;
    if (!named || !*named)
        named = secure_getenv("ASSAY_LLAMA_LIB");
    if (named && *named)
        return load_file(named, a, out, err);
    const char *const *found = llama_find(a, &unsafe);
    TRY_MEMORY(found, err);
    if (*found)
        return load_file(*found, a, out, err);
    if (unsafe)
        return err_fail(err, ASSAY_ERR_ENGINE,
                        "%.300s is writable by others and was not loaded. Name it by --engine-lib.",
                        unsafe);
    return err_fail(err, ASSAY_ERR_ENGINE, "llama.cpp was not found. " HINT);
}

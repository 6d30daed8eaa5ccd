/* Devices of ONNX Runtime, which it calls execution providers. Whether a device is available is known when its
 * provider is appended. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/ort_impl.h"

typedef enum append_kind { APPEND_CUDA, APPEND_TENSORRT, APPEND_BY_NAME } append_kind;

/* Short names for --device; by_name is what the runtime's own function calls it. */
static const struct device_row {
    const char *name, *provider, *by_name;
    append_kind kind;
} device_rows[] = {
    {"cuda", "CUDAExecutionProvider", NULL, APPEND_CUDA},
    {"gpu", "CUDAExecutionProvider", NULL, APPEND_CUDA},
    {"tensorrt", "TensorrtExecutionProvider", NULL, APPEND_TENSORRT},
    {"openvino", "OpenVINOExecutionProvider", "OpenVINO", APPEND_BY_NAME},
    {"xnnpack", "XnnpackExecutionProvider", "XNNPACK", APPEND_BY_NAME},
    {"webgpu", "WebGpuExecutionProvider", "WebGPU", APPEND_BY_NAME},
    {"qnn", "QNNExecutionProvider", "QNN", APPEND_BY_NAME},
    {"coreml", "CoreMLExecutionProvider", "CoreML", APPEND_BY_NAME},
    {"vitisai", "VitisAIExecutionProvider", "VitisAI", APPEND_BY_NAME},
};

bool ort_device_is_cpu(const char *device)
{
    return !device || !*device || strcmp(device, "cpu") == 0 ||
           strcmp(device, "CPUExecutionProvider") == 0;
}

bool ort_is_session_setting(const char *key)
{
    static const char *const families[] = {"session.", "ep.", "mlas.", "optimization."};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(key, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

/* "cuda:1" is the row of cuda; *number stays empty without one. */
static const struct device_row *find_row(const char *device, str *number)
{
    const char *colon = strchr(device, ':');
    str name = {device, (uint32_t)(colon ? (size_t)(colon - device) : strlen(device))};
    *number = colon ? str_of(colon + 1) : (str){0};
    for (size_t i = 0; i < sizeof device_rows / sizeof *device_rows; i++)
        if (str_is(name, device_rows[i].name) || str_is(name, device_rows[i].provider))
            return &device_rows[i];
    return NULL;
}

/* ---- options of a provider ------------------------------------------------------------------- */

typedef struct pairs {
    const char **keys, **values;
    size_t n;
} pairs;

static void add_pair(pairs *p, const char *key, const char *value)
{
    p->keys[p->n] = key;
    p->values[p->n++] = value;
}

static bool make_pairs(const engine_options *o, const char *number, pairs *p)
{
    size_t room = (size_t)o->n_provider_options + 1;
    p->keys = memory_zeroed(room, sizeof *p->keys);
    p->values = memory_zeroed(room, sizeof *p->values);
    if (!p->keys || !p->values)
        return false;
    if (number && *number)
        add_pair(p, "device_id", number);
    for (uint32_t i = 0; i < o->n_provider_options; i++)
        if (!ort_is_session_setting(o->provider_options[i].key))
            add_pair(p, o->provider_options[i].key, o->provider_options[i].value);
    return true;
}

static void free_pairs(pairs *p)
{
    free(p->keys);
    free(p->values);
}

/* ---- appending ------------------------------------------------------------------------------- */

/* CUDA and TensorRT have a struct of options each, made, filled and released in the same way. */
typedef struct ep_functions {
    ort_status *(*create)(ort_ep_options **);
    ort_status *(*update)(ort_ep_options *, ort_strings, ort_strings, size_t);
    ort_status *(*append)(ort_options *, const ort_ep_options *);
    void (*release)(ort_ep_options *);
} ep_functions;

static ort_status *append_filled(const ep_functions *f, ort_options *to, const pairs *p,
                                 ort_ep_options *ep)
{
    ort_status *status = p->n ? f->update(ep, p->keys, p->values, p->n) : NULL;
    return status ? status : f->append(to, ep);
}

static ort_status *append_struct(const ep_functions *f, ort_options *to, const pairs *p)
{
    ort_ep_options *ep = NULL;
    ort_status *status = f->create(&ep);
    if (!status)
        status = append_filled(f, to, p, ep);
    if (ep)
        f->release(ep);
    return status;
}

static ort_status *append_row(const ort_api *api, const struct device_row *row, ort_options *to,
                              const pairs *p)
{
    ep_functions cuda = {api->create_cuda, api->update_cuda, api->append_cuda, api->release_cuda};
    ep_functions trt = {api->create_tensorrt, api->update_tensorrt, api->append_tensorrt,
                        api->release_tensorrt};
    switch (row->kind) {
    case APPEND_CUDA:
        return append_struct(&cuda, to, p);
    case APPEND_TENSORRT:
        return append_struct(&trt, to, p);
    case APPEND_BY_NAME:
        break;
    }
    return api->append_provider(to, row->by_name, p->keys, p->values, p->n);
}

static assay_status unknown_device(const char *device, assay_error *err)
{
    char names[256] = "cpu";
    size_t n = 3;
    for (size_t i = 0; i < sizeof device_rows / sizeof *device_rows; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, ", %s", device_rows[i].name);
    return err_fail(err, ASSAY_ERR_USAGE, "unknown device '%s'. The devices are: %s.", device,
                    names);
}

assay_status ort_device_append(const ort_engine *e, ort_options *to, const engine_options *options,
                               assay_error *err)
{
    char what[96];
    pairs p = {0};
    str number;
    const struct device_row *row = find_row(options->device, &number);
    if (!row)
        return unknown_device(options->device, err);
    snprintf(what, sizeof what, "cannot use the device '%s'", row->name);
    assay_status status = make_pairs(options, number.p, &p)
                              ? ort_check(&e->api, append_row(&e->api, row, to, &p), what, err)
                              : err_no_memory(err);
    free_pairs(&p);
    return status;
}

/* See gpu_monitor.h. The functions' shapes are those of nvml.h, which is stable since version 5 of the library:
 * int f(device, ...), 0 is success. The only file beside engine/ort_api.c that loads code. */
#include <math.h>

#include "device/gpu_monitor.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct nvml_device *nvml_handle;
typedef struct nvml_rates {
    unsigned gpu, memory; /* percent */
} nvml_rates;
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;
typedef struct nvml_process { /* of the calls whose names end in _v2 and _v3 */
    unsigned pid;
    unsigned long long used;
    unsigned instance, compute_instance;
} nvml_process;

enum { PROCESSES = 256, NVML_MORE = 7 }; /* the error of a list that is too short */

struct gpu_monitor {
    void *library, *ranges;
    nvml_handle device;
    uint32_t count;
    char name[96], driver[80];
    int (*shutdown)(void);
    int (*rates)(nvml_handle, nvml_rates *);
    int (*memory)(nvml_handle, nvml_memory *);
    int (*power)(nvml_handle, unsigned *milliwatts);
    int (*temperature)(nvml_handle, int sensor, unsigned *celsius);
    int (*processes)(nvml_handle, unsigned *n, nvml_process *);
    int (*push)(const char *);
    int (*pop)(void);
};

static void *load_library(const char *variable, const char *const *names)
{
    const char *named = secure_getenv(variable);
    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (; *names; names++) {
        void *handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
    }
    return NULL;
}

/* ISO C has no cast from an object pointer to a function pointer. */
static bool find_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static assay_status no_gpu(const char *why, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_ENGINE, "GPU not available: %s", why);
}

static assay_status choose_device(gpu_monitor *m, uint32_t index, assay_error *err)
{
    int (*count)(unsigned *) = NULL;
    int (*by_index)(unsigned, nvml_handle *) = NULL;
    int (*name)(nvml_handle, char *, unsigned) = NULL;
    int (*driver)(char *, unsigned) = NULL;
    unsigned n = 0;
    find_symbol(m->library, "nvmlDeviceGetCount_v2", &count);
    find_symbol(m->library, "nvmlDeviceGetHandleByIndex_v2", &by_index);
    if (!count || !by_index || count(&n) != 0 || n == 0)
        return no_gpu("the driver reports no NVIDIA device", err);
    m->count = n;
    if (index >= n || by_index(index, &m->device) != 0)
        return no_gpu("no device with that number", err);
    if (find_symbol(m->library, "nvmlDeviceGetName", &name))
        name(m->device, m->name, sizeof m->name);
    if (find_symbol(m->library, "nvmlSystemGetDriverVersion", &driver))
        driver(m->driver, sizeof m->driver);
    m->name[sizeof m->name - 1] = m->driver[sizeof m->driver - 1] = '\0';
    return ASSAY_OK;
}

static void find_readings(gpu_monitor *m)
{
    find_symbol(m->library, "nvmlDeviceGetUtilizationRates", &m->rates);
    find_symbol(m->library, "nvmlDeviceGetMemoryInfo", &m->memory);
    find_symbol(m->library, "nvmlDeviceGetPowerUsage", &m->power);
    find_symbol(m->library, "nvmlDeviceGetTemperature", &m->temperature);
    if (!find_symbol(m->library, "nvmlDeviceGetComputeRunningProcesses_v3", &m->processes))
        find_symbol(m->library, "nvmlDeviceGetComputeRunningProcesses_v2", &m->processes);
}

static void find_ranges(gpu_monitor *m)
{
    static const char *const names[] = {"libnvToolsExt.so.1", "libnvtx3interop.so.1", NULL};
    m->ranges = load_library("ASSAY_NVTX_LIB", names);
    if (!m->ranges)
        return;
    find_symbol(m->ranges, "nvtxRangePushA", &m->push);
    find_symbol(m->ranges, "nvtxRangePop", &m->pop);
}

static assay_status start_monitor(gpu_monitor *m, uint32_t index, assay_error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};
    int (*init)(void) = NULL;
    m->library = load_library("ASSAY_NVML_LIB", names);
    if (!m->library)
        return no_gpu("no NVIDIA driver installed", err);
    if (!find_symbol(m->library, "nvmlInit_v2", &init))
        return no_gpu("the monitoring library has no nvmlInit_v2", err);
    if (init() != 0)
        return no_gpu("the NVIDIA driver does not respond", err);
    find_symbol(m->library, "nvmlShutdown", &m->shutdown);
    TRY(choose_device(m, index, err));
    find_readings(m);
    find_ranges(m);
    return ASSAY_OK;
}

assay_status gpu_monitor_open(uint32_t index, gpu_monitor **out, assay_error *err)
{
    gpu_monitor *m = memory_zeroed(1, sizeof *m);
    *out = NULL;
    TRY_MEMORY(m, err);
    assay_status s = start_monitor(m, index, err);
    if (s == ASSAY_OK)
        *out = m;
    else
        gpu_monitor_close(m);
    return s;
}

void gpu_monitor_close(gpu_monitor *m)
{
    if (!m)
        return;
    if (m->shutdown)
        m->shutdown();
    if (m->ranges)
        dlclose(m->ranges);
    if (m->library)
        dlclose(m->library);
    free(m);
}

const char *gpu_monitor_name(const gpu_monitor *m)
{
    return m->name;
}

const char *gpu_monitor_driver(const gpu_monitor *m)
{
    return m->driver;
}

uint32_t gpu_monitor_count(const gpu_monitor *m)
{
    return m->count;
}

static uint64_t used_by_us(const gpu_monitor *m)
{
    nvml_process list[PROCESSES];
    unsigned n = PROCESSES;
    int code = m->processes ? m->processes(m->device, &n, list) : -1;
    if (code != 0 && code != NVML_MORE)
        return GPU_NOT_TOLD;
    for (unsigned i = 0; i < n && i < PROCESSES; i++)
        if (list[i].pid == (unsigned)getpid())
            return list[i].used == ~0ull ? GPU_NOT_TOLD : list[i].used;
    return 0;
}

void gpu_monitor_read(const gpu_monitor *m, gpu_reading *out)
{
    nvml_rates rates;
    nvml_memory memory;
    unsigned milliwatts, celsius;
    *out = (gpu_reading){.utilisation_percent = NAN,
                         .memory_percent = NAN,
                         .power_w = NAN,
                         .temperature_c = NAN,
                         .memory_used = GPU_NOT_TOLD,
                         .memory_total = GPU_NOT_TOLD,
                         .memory_process = used_by_us(m)};
    if (m->rates && m->rates(m->device, &rates) == 0) {
        out->utilisation_percent = rates.gpu;
        out->memory_percent = rates.memory;
    }
    if (m->memory && m->memory(m->device, &memory) == 0) {
        out->memory_used = memory.used;
        out->memory_total = memory.total;
    }
    if (m->power && m->power(m->device, &milliwatts) == 0)
        out->power_w = milliwatts / 1000.0;
    if (m->temperature && m->temperature(m->device, 0, &celsius) == 0)
        out->temperature_c = celsius;
}

void gpu_range_push(const gpu_monitor *m, const char *name)
{
    if (m && m->push && m->pop)
        m->push(name);
}

void gpu_range_pop(const gpu_monitor *m)
{
    if (m && m->push && m->pop)
        m->pop();
}

bool gpu_ranges_shown(const gpu_monitor *m)
{
    return m->push && m->pop;
}

void gpu_ranges_off(gpu_monitor *m)
{
    m->push = NULL;
    m->pop = NULL;
}

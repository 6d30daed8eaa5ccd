/* A stand-in for libnvidia-ml.so.1 and libnvToolsExt.so.1: one GPU whose figures count up from call to call. Built
 * as a library of its own, which the tests name in ASSAY_NVML_LIB and ASSAY_NVTX_LIB. FAKE_NVML=none: no device;
 * FAKE_NVML=broken: the driver does not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rates {
    unsigned gpu, memory;
} rates;
typedef struct memory {
    unsigned long long total, free, used;
} memory;
typedef struct process {
    unsigned pid;
    unsigned long long used;
    unsigned instance, compute_instance;
} process;

static unsigned looks, depth, ranges;

static int is(const char *word)
{
    const char *now = getenv("FAKE_NVML");
    return now && strcmp(now, word) == 0;
}

int nvmlInit_v2(void)
{
    return is("broken") ? 9 : 0;
}
int nvmlShutdown(void)
{
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = is("none") ? 0 : 1;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
    *out = &looks;
    return index == 0 ? 0 : 2;
}
int nvmlDeviceGetName(void *d, char *buf, unsigned n)
{
    (void)d;
    snprintf(buf, n, "Stand-in GPU");
    return 0;
}
int nvmlSystemGetDriverVersion(char *buf, unsigned n)
{
    snprintf(buf, n, "535.1");
    return 0;
}
int nvmlDeviceGetUtilizationRates(void *d, rates *out)
{
    (void)d;
    looks++;
    *out = (rates){looks % 2 ? 40 : 60, 10};
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *d, memory *out)
{
    (void)d;
    *out = (memory){8ull << 30, (8ull << 30) - (1ull << 30) - looks, (1ull << 30) + looks};
    return 0;
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts)
{
    (void)d;
    *milliwatts = looks % 2 ? 100000 : 200000;
    return 0;
}
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *celsius)
{
    (void)d, (void)sensor;
    *celsius = 55;
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, process *list)
{
    (void)d;
    if (*n < 2)
        return 7;
    list[0] = (process){1, 5, 0, 0};
    list[1] = (process){(unsigned)getpid(), 123456, 0, 0};
    *n = 2;
    return 0;
}
int nvtxRangePushA(const char *name)
{
    ranges += strncmp(name, "assay ", 6) == 0;
    return (int)depth++;
}
int nvtxRangePop(void)
{
    return (int)--depth;
}
unsigned fake_nvtx_ranges(void)
{
    return depth == 0 ? ranges : 1000;
}

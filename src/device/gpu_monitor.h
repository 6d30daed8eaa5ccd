/* GPU counters from NVIDIA's management library (NVML) during runs: utilisation, memory, power, temperature.
 *
 * libnvidia-ml.so.1 comes with the driver and is loaded when it is there; ASSAY_NVML_LIB names another. It has no
 * versioned table: functions are found by name, and values that an old driver does not support are unknown. Nothing
 * here runs on the GPU.
 */
#ifndef DEVICE_GPU_MONITOR_H
#define DEVICE_GPU_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct gpu_monitor gpu_monitor;

#define GPU_NOT_TOLD UINT64_MAX

typedef struct gpu_reading {
    double utilisation_percent; /* of the time that a kernel ran; negative: not reported */
    double memory_percent; /* of the time that memory was read or written; negative: not reported */
    double power_w, temperature_c;      /* negative: not reported */
    uint64_t memory_used, memory_total; /* of the device; or GPU_NOT_TOLD */
    uint64_t memory_process;            /* of this process; or GPU_NOT_TOLD */
} gpu_reading;

/* The `index`th GPU. ASSAY_ERR_ENGINE with a sentence when there is no library, no driver or no such GPU. */
assay_status gpu_monitor_open(uint32_t index, gpu_monitor **out, assay_error *err);
void gpu_monitor_close(gpu_monitor *m); /* NULL is allowed */

const char *gpu_monitor_name(const gpu_monitor *m);   /* "NVIDIA A100-SXM4-80GB" */
const char *gpu_monitor_driver(const gpu_monitor *m); /* "535.104.05", or "" */
uint32_t gpu_monitor_count(const gpu_monitor *m);     /* GPUs in this machine */
void gpu_monitor_read(const gpu_monitor *m, gpu_reading *out);

/* Named ranges for a profiler of NVIDIA's that watches from outside (NVTX, libnvToolsExt.so.1 or ASSAY_NVTX_LIB):
 * session, warm-up, runs. Nothing happens without that library, or when m is NULL. */
void gpu_range_push(const gpu_monitor *m, const char *name);
void gpu_range_pop(const gpu_monitor *m);
bool gpu_ranges_shown(const gpu_monitor *m);
/* From now on none are marked. */
void gpu_ranges_off(gpu_monitor *m);

#endif

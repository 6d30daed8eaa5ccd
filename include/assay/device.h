/* assay: devices.
 *
 * The device table contains published specifications with their sources (docs/hardware.md). A machine result contains
 * ceilings measured on this machine: arithmetic per type and instruction set, bandwidth per memory level, the overhead
 * of a kernel in the engine. `this` in the option "hardware" is the machine saved by assay_machine_save().
 *
 *     assay_devices *devices;
 *     assay_device_info d = {.size = sizeof d};
 *     assay_devices_open("all", &devices, &err);
 *     for (size_t i = 0; assay_devices_at(devices, i, &d); i++)
 *         printf("%s: %.1f TFLOP/s at fp32\n", d.name, d.peak[0] / 1e12);
 *     assay_devices_free(devices);
 *
 *     assay_result *machine;
 *     assay_machine_measure(NULL, NULL, &machine, &err);
 *     printf("%.1f GB/s\n", assay_result_number(machine, "bandwidth.0.bytes_per_second.value") / 1e9);
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <assay/assay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the table ------------------------------------------------------------------------------- */

/* A selection of devices. Freed by assay_devices_free(). */
typedef struct assay_devices assay_devices;

#define ASSAY_DEVICE_PRECISIONS 6
/* One device. Texts are valid as long as the list. Numbers are in base units: operations, bytes, seconds, watts. */
typedef struct assay_device_info {
    size_t size;
    const char *id;                 /* "a100-80" */
    const char *aliases;            /* separated by spaces */
    const char *name;               /* "NVIDIA RTX 3090 24GB" */
    const char *kind;               /* "gpu", "cpu", "tpu", ... */
    const char *certainty, *source; /* of the numbers; docs/hardware.md lists the certainties */
    /* Dense operations per second by precision; assay_device_precision() returns the names. */
    double peak[ASSAY_DEVICE_PRECISIONS];
    double memory_bytes; /* on the device */
    double bandwidth;    /* of that memory, in bytes per second */
    double power_w;      /* power limit of the board */
    double overhead_s;   /* of a kernel launch */
    double
        fp16_acc16; /* fp16 with fp16 accumulation; peak[] is with fp32 accumulation, int8 with int32 */
    double price_usd;                      /* list price of an hour on demand at one provider */
    const char *price_date, *price_source; /* "2026-08-22", and the provider; "": no price */
} assay_device_info;

/* Selects devices like the option "hardware": "rtx3090,a100-80", "all", "this", or a file such as "mine.json"; NULL is
 * "all". ASSAY_ERR_USAGE: no such device; the message suggests the nearest name. */
ASSAY_API assay_status assay_devices_open(const char *hardware, assay_devices **out,
                                          assay_error *err);
/* The index-th device, from 0; false past the end. */
ASSAY_API bool assay_devices_at(const assay_devices *devices, size_t index, assay_device_info *out);
/* Frees the list and the texts of its devices. */
ASSAY_API void assay_devices_free(assay_devices *devices);
/* The name of the index-th precision of peak[]: "fp32", ...; NULL past the end. */
ASSAY_API const char *assay_device_precision(size_t index);

/* ---- this machine ---------------------------------------------------------------------------- */

/* Measures this machine. Takes half a minute; five seconds with the option "quick"; one or two minutes more with
 * "calibrate", which also runs models to measure the engine's kernels. Options: "threads" (0: all), "engine-lib".
 * `hooks` may be NULL; their progress counts milliseconds. The result has the kind "machine". It is not saved; see
 * assay_machine_save(). ASSAY_ERR_INTERRUPTED: a hook ended the call; there is no result. */
ASSAY_API assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                             assay_result **out, assay_error *err);
/* Reads a saved machine from a file; NULL: the file of `this`. ASSAY_ERR_SYSTEM: there is no such file. */
ASSAY_API assay_status assay_machine_open(const char *path, assay_result **out, assay_error *err);
/* Saves a machine to a file; NULL: the file of `this`. The file is written completely or not at all. */
ASSAY_API assay_status assay_machine_save(assay_result *machine, const char *path,
                                          assay_error *err);
/* The file of `this`: $ASSAY_MACHINE, else a file in the user's data directory; "": none. Valid as long as the
 * result. */
ASSAY_API const char *assay_machine_path(assay_result *machine);
/* The roofline of a measured machine in operations per second: the lower of the peak of the type (numpy name) and the
 * memory bandwidth times the intensity. threads 0: all. NaN: the type was not measured. */
ASSAY_API double assay_machine_roof(const assay_result *machine, const char *dtype,
                                    unsigned threads, double flops_per_byte);

#ifdef __cplusplus
}
#endif
#endif

/* assay: devices.
 *
 * Two sources say what hardware can do. The table of devices holds published figures, with their provenance
 * (docs/hardware.md). A measured machine holds ceilings that were measured here: arithmetic per type and instruction
 * set, bandwidth per level of memory, the engine's cost of a kernel. The name `this` in the option "hardware" means
 * the machine that assay_machine_save() saved.
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

/* Devices that were chosen. Freed by assay_devices_free(). */
typedef struct assay_devices assay_devices;

#define ASSAY_DEVICE_PRECISIONS 6
/* One device. Texts live as long as the list. Figures are in base units: operations, bytes, seconds, watts. */
typedef struct assay_device_info {
    size_t size;
    const char *id;                 /* "a100-80" */
    const char *aliases;            /* separated by spaces */
    const char *name;               /* "NVIDIA RTX 3090 24GB" */
    const char *kind;               /* "gpu", "cpu", "tpu", ... */
    const char *certainty, *source; /* how sure the figures are, and where they come from */
    /* Dense operations per second, by precision; assay_device_precision() names them. */
    double peak[ASSAY_DEVICE_PRECISIONS];
    double memory_bytes; /* on the device */
    double bandwidth;    /* of that memory, bytes per second */
    double power_w;      /* the board's limit */
    double overhead_s;   /* of starting a kernel */
    double fp16_acc16;   /* fp16 with sums in fp16; peak[] has sums in fp32, of int8 in int32 */
} assay_device_info;

/* Chooses devices as the option "hardware" does: "rtx3090,a100-80", "all", "this", or a file such as "mine.json";
 * NULL is "all". ASSAY_ERR_USAGE: there is no such device, with the nearest name. */
ASSAY_API assay_status assay_devices_open(const char *hardware, assay_devices **out,
                                          assay_error *err);
/* The index-th device, from 0; false past the end. */
ASSAY_API bool assay_devices_at(const assay_devices *devices, size_t index, assay_device_info *out);
/* Frees the list and the texts of its devices. */
ASSAY_API void assay_devices_free(assay_devices *devices);
/* The name of the index-th precision of peak[]: "fp32", ...; NULL past the end. */
ASSAY_API const char *assay_device_precision(size_t index);

/* ---- this machine ---------------------------------------------------------------------------- */

/* Measures this machine. Takes half a minute, five seconds with the option "quick", a minute more with "calibrate",
 * which also runs models to learn the speed of the engine's kernels. Options: "threads" (0: all), "engine-lib".
 * `hooks` may be NULL; their progress counts milliseconds. The result is of kind "machine" and is kept nowhere until
 * assay_machine_save(). ASSAY_ERR_INTERRUPTED: a hook ended it, and there is no result. */
ASSAY_API assay_status assay_machine_measure(const assay_options *options, const assay_hooks *hooks,
                                             assay_result **out, assay_error *err);
/* Reads a machine that was saved before: from a file, or, with NULL, this machine's own.
 * ASSAY_ERR_SYSTEM: there is none. */
ASSAY_API assay_status assay_machine_open(const char *path, assay_result **out, assay_error *err);
/* Saves a machine: into a file, or, with NULL, where `this` is looked for. Whole or not at all. */
ASSAY_API assay_status assay_machine_save(assay_result *machine, const char *path,
                                          assay_error *err);
/* Where `this` is looked for: $ASSAY_MACHINE, else a file in the user's data folder; "": nowhere. Lives as long as
 * the result. */
ASSAY_API const char *assay_machine_path(assay_result *machine);
/* Operations per second that a kernel of this intensity can reach on a measured machine: the peak of the type (numpy's
 * name) or what memory delivers, whichever is less. threads 0: all. NaN: the type was not measured. */
ASSAY_API double assay_machine_roof(const assay_result *machine, const char *dtype,
                                    unsigned threads, double flops_per_byte);

#ifdef __cplusplus
}
#endif
#endif

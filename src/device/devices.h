/* Device rows: peak rates, and their certainty.
 *
 * Rows come from data/devices.csv, which is compiled in, and from user files with the same columns, as CSV or JSON,
 * or written by `assay machine` on another host (docs/hardware.md). Peaks are dense: a figure that counts on
 * structured sparsity is twice what a model gets. One rule per column: floating-point products are summed in fp32,
 * those of int8 in int32. Every row passes device_lint(), also those of our own.
 */
#ifndef DEVICE_DEVICES_H
#define DEVICE_DEVICES_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

typedef enum device_precision {
    DEVICE_FP32,
    DEVICE_TF32, /* contractions of fp32 tensors, in tensor cores */
    DEVICE_FP16, /* with fp32 accumulation */
    DEVICE_BF16,
    DEVICE_FP8,
    DEVICE_INT8,
    DEVICE_PRECISIONS,
} device_precision;

typedef struct device {
    str id;         /* what the command line calls it */
    str aliases;    /* space separated, or empty */
    str name, kind; /* kind: "gpu", "edge", "tpu", "soc", "cpu", "other" */
    str certainty, source;
    double peak[DEVICE_PRECISIONS]; /* operations per second; 0: none */
    double fp16_acc16;              /* peak of fp16 with fp16 accumulation; 0: none or not known */
    double fp4;                     /* peak of block-scaled fp4; 0: none */
    double units, clock_hz;         /* SMs, CUs or cores, and their boost clock; 0: not known */
    double cache_bytes;             /* the last cache before memory; 0: not known */
    double link; /* to neighbours, bytes per second one way; 0: none or not known */
    double memory_bytes, bandwidth; /* bytes, bytes per second */
    double power_w;                 /* 0: not known */
    double overhead_s;              /* of one kernel: launch and dispatch */
    double price_usd;               /* list price of an hour on demand; 0: not known */
    str price_date, price_source;   /* "2026-08-22", and who asks it for what */
    const struct machine *measured; /* what `assay machine` found there; NULL: it was not asked */
} device;

typedef struct device_list {
    arena *arena; /* holds the strings */
    VEC(device) rows;
} device_list;

/* "fp32"; and back (DEVICE_PRECISIONS when unknown; numpy's names are understood too). */
const char *device_precision_name(device_precision p);
device_precision device_precision_find(str name);
/* The peak that numbers of this type ("bfloat16", "Q4_K") run at: its own, or that of the type it is widened to;
 * DEVICE_PRECISIONS when the device has none of them. */
device_precision device_precision_on(const device *d, str dtype);
/* Bytes of a number at it. */
unsigned device_precision_bytes(device_precision p);

/* Peak of what is not a contraction: elementwise work does not run in tensor cores. */
double device_vector_peak(const device *d, device_precision p);
/* FLOPs per byte from which the peak binds; 0 when there is no such peak. */
double device_ridge(const device *d, device_precision p);

/* Appends the built-in rows, in the order of the file. */
assay_status devices_builtin(device_list *out, assay_error *err);
/* Appends the rows of a text; `shown` is what sentences call it. Impossible rows are
 * ASSAY_ERR_MALFORMED with the reason. */
assay_status devices_csv(str text, const char *shown, device_list *out, assay_error *err);
assay_status devices_json(str text, const char *shown, device_list *out, assay_error *err);
/* A .json or .csv file of at most 1 MiB; a .json may also be a machine as `assay machine` wrote it, which is
 * called by its host's name. */
assay_status devices_file(const char *path, device_list *out, assay_error *err);
/* "rtx3090,a100-80,my.json", "jetson", "gpu" or "all": names, words of names, classes and files; a device that
 * several words name is taken once. ASSAY_ERR_USAGE with what there is. */
assay_status devices_choose(str words, device_list *out, assay_error *err);

/* The row with this id, alias or name; NULL: there is none. Case, blanks and punctuation are ignored. */
const device *devices_called(const device_list *in, str name);

/* Refuses what no device is: sparse figures printed as dense, bits as bytes, bytes as gigabytes, nothing
 * or less than nothing. What cannot be told from one row is in docs/hardware.md. */
assay_status device_lint(const device *d, const char *shown, assay_error *err);

/* ---- as options name them (devices_named.c) ---- */

/* The words of a list such as "fp32,tf32,int8", by device_precision. False: one is not a precision of devices. */
bool device_precisions_read(str list, bool *out);
bool device_is_precision_list(str value);

typedef struct ridge_question {
    str device;    /* one; empty: none was named */
    str precision; /* that was requested; or empty */
    str native;    /* type of the model, where none was requested; empty: it has none of its own */
} ridge_question;
/* The ridge of the device at the precision; nothing when none is named. The name is in `work`. */
assay_status device_named_ridge(const ridge_question *q, arena *work, double *threshold, str *name,
                                assay_error *err);
/* The one device that is named: its id, in `work`, and its memory in bytes. 0 when there is none. */
double device_named_memory(str names, arena *work, str *id);

/* ---- between devices.c and its neighbours ---- */

/* One field by its column's name. A number that does not exist is an empty text. */
assay_status device_set(device *d, str key, str value, const char *shown, arena *a,
                        assay_error *err);
/* Checks and appends a row whose fields were set. */
assay_status device_add(device_list *list, device *d, const char *shown, assay_error *err);

#endif

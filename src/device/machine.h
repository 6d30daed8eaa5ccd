/* The measured machine: peak arithmetic, memory bandwidth, and the overhead of a kernel in the engine. Filled by
 * measure/ceilings.c, kept in a file per machine ("assay.machine/1", docs/hardware.md), and the device that
 * --hardware calls `this`.
 */
#ifndef DEVICE_MACHINE_H
#define DEVICE_MACHINE_H

#include "base/result.h"
#include "device/calibration.h"
#include "device/devices.h"
#include "device/topology.h"

enum { MACHINE_RATES = 48, MACHINE_FLOWS = 40, MACHINE_POINTS = 32, MACHINE_ISAS = 24 };

/* A ceiling is the best of short samples, or their 90th percentile where others share what is measured (L3,
 * memory): what the machine reaches when nobody disturbs it. */
typedef struct machine_figure {
    double value;     /* per second, or seconds */
    double low, high; /* 95 % interval of `value`, by the samples' order (measure/ceilings.c) */
    double spread;    /* distance of the quartiles as a share of the median */
    uint32_t samples;
} machine_figure;

typedef struct machine_rate { /* multiply-adds in registers; each counts as two operations */
    char dtype[12], isa[24];  /* "float32", "avx2+fma" */
    unsigned threads;
    machine_figure ops;
} machine_rate;

typedef struct machine_flow {
    char level[8]; /* "L1", "L2", "L3", "DRAM" */
    char kind[8];  /* "read", "write", "copy", "triad" */
    unsigned threads;
    uint64_t set_bytes; /* of one thread: all arrays together */
    machine_figure bytes;
} machine_flow;

typedef struct machine_point { /* bandwidth of one thread over the working set */
    uint64_t set_bytes;
    double read, triad; /* bytes per second */
} machine_point;

typedef struct machine_dispatch {
    bool present;
    char engine[96];        /* "ONNX Runtime 1.30.0", or why it is not known */
    machine_figure seconds; /* from one kernel to the next when the kernels do nothing */
} machine_dispatch;

typedef struct machine_isa {
    char name[24];
} machine_isa;

typedef struct machine {
    str conclusion; /* one or two sentences: result_conclude() */
    char timestamp[32], tool_version[24];
    topology where;
    unsigned isa; /* bits of device/isa.h */
    machine_isa isas[MACHINE_ISAS];
    uint32_t n_isas;
    bool quick;
    double seconds;       /* that measuring took */
    double steal_percent; /* during it; NaN: not reported */
    machine_rate rates[MACHINE_RATES];
    uint32_t n_rates;
    machine_flow flows[MACHINE_FLOWS];
    uint32_t n_flows;
    machine_point curve[MACHINE_POINTS];
    uint32_t n_curve;
    machine_dispatch dispatch;
    calibration calibrated; /* of the engine's kernels; or not present */
} machine;

/* ---- ceilings ---- */

/* Operations per second of a dtype (numpy's name) at the best instruction set; threads 1 or more: the
 * nearest count that was measured, not above. 0: not measured. */
double machine_peak(const machine *m, str dtype, unsigned threads);
/* Bytes per second of a level ("DRAM") and kind; a kind of NULL is the fastest. 0: not measured. */
double machine_bandwidth(const machine *m, const char *level, const char *kind, unsigned threads);
/* The roof over an arithmetic intensity (FLOPs per byte), with memory as the slowest level. */
double machine_roof(const machine *m, str dtype, unsigned threads, double intensity);
/* The device row `this`; its texts are in the arena, and m must live as long. */
assay_status machine_device(const machine *m, arena *a, device *out, assay_error *err);

/* ---- the file ---- */

/* $ASSAY_MACHINE, or the machine's own file in $XDG_DATA_HOME/assay/machines (~/.local/share by default), named after
 * processor, number of processors and host. NULL if out of memory or there is no home. */
char *machine_path(arena *a);
extern const result_kind machine_kind; /* machine_fields.c */
/* Atomic. */
assay_status machine_save(const machine *m, const char *path, assay_error *err);
/* ASSAY_ERR_SYSTEM with what to do when there is no such file. The machine is in the arena. */
assay_status machine_load(const char *path, arena *a, machine **out, assay_error *err);
/* The stored measurement of this machine. */
assay_status machine_this(arena *a, machine **out, assay_error *err);

#endif

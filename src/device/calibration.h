/* Results of the calibration of this machine as plain data; analyze/predict.h explains them. Part of the machine's
 * file. */
#ifndef DEVICE_CALIBRATION_H
#define DEVICE_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CALIBRATION_TERMS = 10,
    CALIBRATION_FAMILIES = 96,
    CALIBRATION_FOLDS = 768,
    CALIBRATION_RUNS = 96
};

typedef struct calibration_family {
    char name[32];
    double c[CALIBRATION_TERMS]; /* seconds for one of each term */
    uint32_t n_terms, samples;
    double error; /* median relative error of its kernels */
} calibration_family;

typedef struct calibration_fold {
    uint32_t pair; /* hash of two families */
    uint32_t seen, folded;
} calibration_fold;

typedef struct
    calibration_run { /* a model that was measured, and what the other models predict for it */
    char model[48];
    uint32_t batch;
    double measured_s, predicted_s;
} calibration_run;

typedef struct calibration {
    bool present;
    char engine[64];
    uint32_t threads;   /* of the engine; 0: its choice */
    double seconds;     /* that it took */
    double scale;       /* of the sum of kernels */
    double kernel_s;    /* for each kernel beside that; may be negative: the profiler's own part */
    double low, high;   /* of measured over predicted time: 80 % of models left out lie between */
    double error;       /* their median relative error */
    double reference_s; /* usual time of the reference that ran in between; 0: none did */
    double drift;       /* slowest over fastest tenth of its times */
    calibration_family families[CALIBRATION_FAMILIES];
    uint32_t n_families;
    calibration_fold folds[CALIBRATION_FOLDS];
    uint32_t n_folds;
    calibration_run runs[CALIBRATION_RUNS];
    uint32_t n_runs;
} calibration;

#endif

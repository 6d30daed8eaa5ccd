/* Recommendations with numbers: one row each, with a condition on the values of this model. A row whose condition is
 * false gives no recommendation, and no row applies to every model. Measurements take precedence over a device's
 * roofline, and that over counts.
 */
#ifndef ANALYZE_ADVISE_H
#define ANALYZE_ADVISE_H

#include "base/error.h"
#include "base/sbuf.h"
#include "device/devices.h"
#include "profile/profile.h"

/* The model with one thing changed, evaluated by the caller. */
typedef enum advise_change {
    ADVISE_IMAGE,    /* half the side */
    ADVISE_SEQUENCE, /* half the length */
    ADVISE_BATCH,    /* eight times the batch */
    ADVISE_HALF,     /* floats of two bytes */
    ADVISE_BYTE,     /* and of one */
    ADVISE_NARROWER,
    ADVISE_SHALLOWER,
    ADVISE_CHANGES
} advise_change;

typedef struct advise_case {
    bool present;
    str change; /* "side 224 → 112" */
    uint64_t flops, memory, parameters, weights_bytes, activations_bytes, peak_bytes;
    double intensity;
    double times;   /* ADVISE_BATCH: as many samples */
    double samples; /* of ADVISE_BATCH: in the profile's own batch */
} advise_case;

typedef struct advise_facts {
    advise_case cases[ADVISE_CHANGES];
    uint64_t cores;            /* of this machine; 0: not known */
    str device;                /* given with the model, if nothing is mapped */
    double device_memory;      /* its bytes; 0: none was named, or not known */
    bool done[ADVISE_CHANGES]; /* what was requested is no news */
    bool placed_alike; /* the first row of the mapping is at the profile's own batch and width */
} advise_facts;

/* Replaces p->recommendations, largest effect first. */
assay_status advise_run(const advise_facts *f, profile *p, assay_error *err);

/* ---- between the advise*.c files ---- */

typedef struct advise {
    const profile *p;
    const advise_facts *f;
    sbuf title, why, expected;
    double gain; /* share of time or memory that it saves, for the order */
} advise;

typedef struct advise_row {
    const char *id;
    const char *when; /* the condition, for documents */
    bool (*say)(advise *a);
} advise_row;

extern const advise_row advise_rows[];
extern const uint32_t advise_rows_n;

/* Rows that need a clock (advise_measured.c). */
bool advise_batch_measured(advise *a);
bool advise_dynamic_batching(advise *a);
bool advise_precision_measured(advise *a, const char *precision);
bool advise_threads(advise *a);
bool advise_slow_layer(advise *a);
/* Rows about training (advise_training.c). */
bool advise_checkpointing(advise *a);
bool advise_optimizer(advise *a);

void advise_number(sbuf *b, double v, int decimals);
void advise_percent(sbuf *b, double share);             /* 0.389 is "38.9 %" */
void advise_bytes(sbuf *b, uint64_t from, uint64_t to); /* "97.69 MiB → 48.84 MiB" */
void advise_times(sbuf *b, double ratio);               /* "1.64 times" */

/* By the figures of a mapping (advise_mapped.c). Only where they are the profile's own: at batch 1, with numbers as wide
 * as they are stored. */
struct roofline_model;
void advise_know_mapped(const struct roofline_model *m, const profile *p, advise_facts *f);
/* What the user requested, and whether times of the first row may be combined with bytes of the profile. */
void advise_know_asked(const struct roofline_model *m, const bool precisions[DEVICE_PRECISIONS],
                       const profile *p, advise_facts *f);

#endif

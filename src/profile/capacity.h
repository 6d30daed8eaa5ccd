/* The number of machines for a request rate: the result "assay.capacity/1" (capacity_fields.c), filled by
 * study/capacity.c. All pointers are in the arena of the caller. Times are milliseconds, rates requests (samples) per
 * second.
 */
#ifndef PROFILE_CAPACITY_H
#define PROFILE_CAPACITY_H

#include "base/result.h"

/* One way to serve: a configuration that was measured. */
typedef struct capacity_plan {
    str source; /* which result it is of */
    uint64_t batch, concurrency;
    str precision;
    uint64_t runs;      /* that its service time rests on */
    bool by_curve;      /* of a load curve: no queue is assumed */
    bool best;          /* of all plans */
    bool feasible;      /* else `why` says what is in the way */
    str why;            /* a sentence without its full stop; or empty */
    double most;        /* requests per second that one could take with the head-room */
    uint64_t machines;  /* known when feasible, as all below */
    double per_machine; /* requests per second that reach one */
    double utilization; /* 0 to 1 */
    double mean_ms;     /* of a request: the next three together */
    double forming_ms, waiting_ms, service_ms;
    double quantile_ms; /* of a request, at the quantile that was requested (P99 unless) */
    double in_flight;   /* requests in one machine, on average (Little's law) */
    double price_per_hour, cost_per_hour; /* USD of one machine, and of all; NaN: unknown */
    str price_basis;                      /* "given", "list price of 2026-08-22 (...)" */
    /* of language models: expected times, no runs */
    bool predicted, imprecise;
    str device;
    uint64_t machines_low, machines_high; /* 80 % interval */
    double ttft_ms, itl_ms, tokens_per_s; /* tokens that one machine generates */
} capacity_plan;
#define CAPACITY_PLAN_UNKNOWN                                                                      \
    .why = {"", 0}, .machines = FIELD_UNKNOWN, .machines_low = FIELD_UNKNOWN,                      \
    .machines_high = FIELD_UNKNOWN, .per_machine = NAN, .utilization = NAN, .mean_ms = NAN,        \
    .forming_ms = NAN, .waiting_ms = NAN, .service_ms = NAN, .quantile_ms = NAN, .in_flight = NAN, \
    .ttft_ms = NAN, .itl_ms = NAN, .tokens_per_s = NAN

typedef struct capacity {
    str conclusion; /* one or two sentences: result_conclude() */
    str model;
    double target;   /* requests per second */
    double quantile; /* 0.99; NaN: the mean */
    double limit_ms; /* NaN: none */
    /* What the limit and what the plans' quantile_ms are of: "mean", "P99", "P99.9". */
    char limit_name[16], latency_name[16];
    str slo;                         /* of language models: objectives as given, or empty */
    int64_t prompt_tokens, generate; /* of their requests; 0: measured results */
    double headroom;                 /* 0 to 1: share of a machine that is kept free */
    const capacity_plan *plans;
    uint32_t n, best; /* best: index; UINT32_MAX: none is feasible */
    const str *notes; /* what is assumed and what is extrapolated, sentences */
    uint32_t n_notes;
} capacity;

extern const result_kind capacity_kind;

/* "P99", "P99.9"; of what is no quantile "mean". Returns buf. */
const char *capacity_quantile_name(double quantile, char buf[16]);

#endif

/* A load on a live endpoint: the result "assay.load/1" (load_fields.c), filled by measure/load_endpoint.c. Times are milliseconds
 * since a request was due, rates per second. All pointers are in one arena.
 *
 * Percentiles count failed requests as slower than every good one, so that failures never improve them. Mean, deviation,
 * lowest and highest are of good requests.
 */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include "base/result.h"
#include "profile/profile.h"

typedef struct load_times {
    bool present;
    uint64_t runs; /* good requests, or gaps between tokens */
    double mean, std, min, max;
    double p50, p90, p95, p99, p999;
    double ci95_low, ci95_high;                  /* of the mean, with autocorrelation; NaN: none */
    double p50_low, p50_high, p99_low, p99_high; /* 95 % intervals, by ranks; NaN: too few */
    const double *samples_ms; /* of latency: in order, evenly thinned above LOAD_SAMPLES */
    uint32_t n_samples;
} load_times;
enum { LOAD_SAMPLES = 10000, LOAD_TIMELINE = 64 };

typedef struct load_error_count {
    str kind; /* "connect", "timeout", ... */
    uint64_t n;
} load_error_count;

typedef struct load_error_cause {
    str kind, why;
} load_error_cause;

typedef struct load_endpoint {
    str url;           /* without user and password */
    str host, address; /* as in the URL, and as it was resolved */
    uint64_t port;
    bool tls, loopback;
    str protocol; /* "openai-chat" */
    str model;    /* as the server calls it; or empty */
} load_endpoint;

typedef struct load_settings {
    const char *mode; /* "closed", "open", "replay", "curve" */
    uint64_t concurrency;
    double rate;          /* NaN: none */
    const char *arrivals; /* "poisson", "constant"; NULL: of a closed loop */
    double duration_s, warmup_s, timeout_s;
    uint64_t seed;
    bool stream;
    str prompt_tokens, output_tokens; /* as requested; or empty */
    const str *headers;               /* names alone */
    uint32_t n_headers;
    str trace;    /* or empty */
    double speed; /* of the replay; NaN: no replay */
} load_settings;

typedef struct load_throughput {
    double requests, tokens, in_tokens; /* per second; tokens NaN: none */
    double offered;                     /* requests due per second; NaN: a closed loop */
} load_throughput;

typedef struct load_limit { /* of --slo */
    str metric;             /* "latency", "ttft", "itl" */
    double quantile;        /* 0.99 */
    double limit_ms, value_ms;
    bool met;
} load_limit;

typedef struct load_slo {
    bool present, met;
    str text; /* as requested */
    const load_limit *limits;
    uint32_t n_limits;
    uint64_t good;  /* requests within all limits */
    double goodput; /* of them per second */
    double share;   /* of all requests, 0 to 1 */
} load_slo;

typedef struct load_client_use {
    double cpu_percent; /* of one core */
    uint64_t late_sends;
    double late_percent;
    double send_delay_p50_us, send_delay_p99_us, send_delay_max_us, receive_delay_us;
    uint64_t connections, reconnects, in_flight_most, waited;
    bool saturated;
    str why; /* or empty */
} load_client_use;

typedef struct load_network {
    uint64_t in_bytes, out_bytes;
    double in_rate, out_rate; /* bytes per second */
} load_network;

typedef struct load_moment {
    double time_s, requests_per_second, tokens_per_second; /* NaN: no tokens */
    double p50, p99;                                       /* NaN: no request ended */
    uint64_t errors;
} load_moment;

typedef struct load_share { /* a point of the distributions */
    double percent, latency, ttft, itl;
} load_share;

typedef struct load_curve_step {
    double rate; /* offered */
    double duration_s;
    uint64_t requests, errors;
    double requests_per_second, tokens_per_second, goodput; /* goodput NaN: no SLO */
    double mean, mean_low, mean_high, p50, p90, p95, p99, p99_low, p99_high;
    double ttft_p50, ttft_p99, itl_p50, itl_p99;
    double error_rate;
    bool steady, saturated, client_saturated, meets_slo, has_slo;
    double steady_after_s;
    bool knee, best; /* best: the highest rate within the SLO */
} load_curve_step;

typedef struct load_curve_answer {
    bool present;
    double knee_rate;  /* NaN: not found */
    double max_rate;   /* that meets the SLO, or is sustained; NaN: none does */
    double next_rate;  /* the lowest tried above it, which does not; NaN: none was */
    double saturation; /* highest throughput seen */
    bool whole;        /* the server was saturated, so that the curve has an end */
} load_curve_answer;

typedef struct load_result {
    str model;      /* the URL: what records of it are called in the history */
    profile *about; /* holds `context` alone */
    load_endpoint target;
    load_settings settings;
    bool interrupted, any_tokens;
    uint64_t requests, good, failed;
    double error_rate; /* 0 to 1 */
    double wall_s;
    load_times latency, ttft, itl;
    load_throughput throughput;
    uint64_t in_tokens, out_tokens;
    const char *tokens_source; /* "usage", "chunks", "mixed"; NULL: no tokens */
    const load_error_count *errors;
    uint32_t n_errors;
    const load_error_cause *causes;
    uint32_t n_causes;
    load_slo slo;
    load_client_use client;
    load_network network;
    const load_curve_step *curve;
    uint32_t n_curve;
    load_curve_answer answer;
    const load_moment *timeline;
    uint32_t n_timeline;
    const load_share *cdf;
    uint32_t n_cdf;
    profile_watch *server; /* NULL: not watched */
    notes warnings;
} load_result;

extern const result_kind load_kind;

/* What check, compare, trend and the history compare: a profile with the figures of the load and `kind` "load". In the
 * arena of `a`; NULL if out of memory. */
profile *load_as_profile(const load_result *r, arena *a);

#endif

/* Sends requests and times their answers: one thread, one epoll set, non-blocking connections that are kept alive.
 *
 * Closed loop: each of `concurrency` connections sends its next request when its last one is answered. Open loop and
 * replay: requests are due at times that do not depend on the server, and their latency counts from then, whether or not
 * a connection was free (no coordinated omission). A request that is not answered `timeout_ns` after it was due has
 * timed out. Requests are never pipelined and never sent twice, except when a connection that had been kept alive turns
 * out to be closed before a byte of the answer came (RFC 9112, 9.3.1).
 */
#ifndef MEASURE_LOAD_RUN_H
#define MEASURE_LOAD_RUN_H

#include "measure/load_arrivals.h"
#include "measure/load_protocol.h"
#include "measure/load_tls.h"

/* One request. Times are milliseconds since it was due. */
typedef struct load_record {
    uint64_t due_ns; /* since the beginning of the run */
    float sent_ms;   /* when it was sent; negative: never */
    float first_ms;  /* the first token or byte of the body; negative: none */
    float end_ms;
    float itl_ms; /* mean gap between its tokens; negative: none */
    uint32_t in_tokens, out_tokens;
    uint8_t outcome; /* load_outcome */
    bool has_usage;
} load_record;

#define LOAD_RECORDS_MOST 4000000u
#define LOAD_GAPS_MOST    8000000u

typedef struct load_run_result {
    load_record *items; /* in order of their end */
    uint32_t n, cap;
    float *gaps; /* milliseconds between tokens, of good requests */
    uint32_t n_gaps, cap_gaps;
    uint64_t wall_ns, cpu_ns; /* of the thread */
    uint64_t sending_ns;      /* until the last request was due */
    uint64_t bytes_in, bytes_out;
    uint64_t connections,
        reconnects;  /* opened; of them because the server had closed an idle one */
    uint64_t waited; /* sends that waited for a free connection */
    uint64_t late;   /* sends that were late by more than LOAD_LATE_NS, with a free connection */
    uint32_t in_flight_most;
    double late_p50_us, late_p99_us, late_max_us; /* of sends, against when they were due */
    double handling_us; /* mean time between the socket's being ready and our reading it */
    bool interrupted, full,
        gave_up; /* full: LOAD_RECORDS_MOST; gave_up: nothing but refused connections */
    char why[LOAD_OUTCOMES][96]; /* of each kind, the cause of the first */
} load_run_result;

#define LOAD_LATE_NS 1000000u

typedef struct load_run_request {
    load_client_mode mode;
    uint32_t concurrency; /* connections: exactly, of a closed loop; at most, otherwise */
    load_arrivals arrivals;
    uint64_t duration_ns; /* 0: by the number of requests */
    uint64_t requests;    /* at most; 0: by the time */
    /* After the last request is due: how long to wait for answers, at most; 0: until they time out. */
    uint64_t drain_ns;
    bool (*go_on)(void *ctx, uint64_t done,
                  double seconds); /* asked 20 times a second; may be NULL */
    void *ctx;
} load_run_request;

typedef struct load_client load_client; /* connections and buffers, kept from run to run */

assay_status load_client_open(const load_plan *p, load_tls *tls, load_client **out,
                              assay_error *err);
void load_client_close(load_client *c); /* NULL is allowed */
/* A failure of requests is no failure of the run. *out is freed by load_run_free() in any case. */
assay_status load_run(load_client *c, const load_run_request *q, load_run_result *out,
                      assay_error *err);
void load_run_free(load_run_result *r);

#endif

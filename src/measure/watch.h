/* A thread that samples the process every few milliseconds while others run: resident memory, CPU steal, clock
 * frequency, cancellation.
 *
 * A sample takes about ten microseconds. After WATCH_TICKS samples every second one is dropped and the interval
 * doubles, so that a long run has a complete curve in bounded memory.
 */
#ifndef MEASURE_WATCH_H
#define MEASURE_WATCH_H

#include "base/error.h"
#include "device/gpu_monitor.h"
#include "measure/system.h"

#define WATCH_TICKS 4096

typedef struct watch_tick {
    uint64_t time_ns; /* monotonic */
    system_resident resident;
    system_ticks ticks;
    double mhz; /* NaN: not reported */
} watch_tick;

typedef struct watch_options {
    const char *root;                /* before /proc and /sys; NULL is "" */
    uint64_t interval_ns;            /* 0: 10 ms */
    bool (*cancelled)(void *ctx);    /* asked at every look; may be NULL */
    void (*on_cancel)(void *target); /* called once, from the watching thread */
    void *ctx, *target;
    const gpu_monitor *gpu; /* looked at ten times a second; may be NULL */
} watch_options;

typedef struct watch watch;

assay_status watch_start(const watch_options *o, watch **out, assay_error *err);
/* From now on on_cancel is called with this target (a session); NULL: with none. */
void watch_aim(watch *w, void *target);
/* Takes a last look and ends the thread; the ticks stay until watch_free(). */
void watch_stop(watch *w);
void watch_free(watch *w); /* stops it too; NULL is allowed */

/* After watch_stop(). In order of time. */
const watch_tick *watch_ticks(const watch *w, uint32_t *n);
/* GPU counters since watch_gpu_clear(); from any thread. */
void watch_gpu(watch *w, profile_gpu_use *out);
void watch_gpu_clear(watch *w);
/* A look right now, by the caller. */
void watch_look(const char *root, watch_tick *out);

/* Of the ticks in [from, to]: peak and average of resident memory; false when there is none. */
typedef struct watch_summary {
    system_resident peak, average;
    uint64_t steal, all; /* ticks that passed */
    double mhz, mhz_min; /* NaN: not reported */
} watch_summary;
bool watch_summarise(const watch_tick *t, uint32_t n, uint64_t from_ns, uint64_t to_ns,
                     watch_summary *out);

#endif

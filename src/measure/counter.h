/* Instructions that this process retired in user space, in addition to the clock: the same code on the same inputs
 * retires the same instructions to a few in ten thousand, however busy the machine is.
 *
 * perf_event_open(2), where the kernel allows it (perf_event_paranoid up to 2, no container that forbids it). Only
 * threads that start after the counter was opened are counted, so it is opened before the engine starts its threads.
 * Threads that wait by spinning retire instructions too: with several threads the count is as noisy as the waiting,
 * unless spinning is off.
 */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Where the count comes from: the kernel, or a test. */
typedef struct counter_source {
    bool (*open)(void *ctx); /* false: there is none */
    bool (*read)(void *ctx, uint64_t *out);
    void (*close)(void *ctx); /* only after it was opened */
    void *ctx;
} counter_source;

typedef struct counter {
    const counter_source *source; /* NULL: the kernel's */
    int fd;
    bool open;
} counter;

/* Never fails: without a count, counter_read() says so. */
void counter_open(counter *c, const counter_source *source);
bool counter_read(const counter *c, uint64_t *out);
void counter_close(counter *c);

/* Counts of single runs: median, fewest, most; zeros when there are none. Sorts them. */
typedef struct counter_summary {
    double median, fewest, most;
} counter_summary;
counter_summary counter_describe(double *counts, uint32_t n);

#endif

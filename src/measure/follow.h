/* Watching a process until it ends, a timeout or a cancellation. */
#ifndef MEASURE_FOLLOW_H
#define MEASURE_FOLLOW_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/watched.h"

#define FOLLOW_SAMPLES 4096 /* then every second one is forgotten and the interval doubles */

typedef struct follow_request {
    const char *root; /* before /proc; NULL is "" */
    int64_t pid;
    const char *cgroup;   /* a directory of control groups (v2), instead of a process; or NULL */
    bool ours;            /* our own child: its end and what it took are told by the system */
    uint64_t interval_ns; /* 0: 100 ms */
    uint64_t duration_ns; /* 0: until it ends */
    uint64_t begin_ns;    /* when it was started; 0: now */
    uint64_t (*now_ns)(void *ctx); /* the clock; NULL is clock_mono_ns() */
    bool (*sample)(void *ctx, const profile_watch_sample *s,
                   const profile_watch *so_far); /* false ends it */
    bool (*cancelled)(void *ctx);
    void *ctx;
} follow_request;

/* Fills all but the command. A process that does not exist is ASSAY_ERR_USAGE. */
assay_status follow_process(const follow_request *q, arena *a, profile_watch *out,
                            assay_error *err);

#endif

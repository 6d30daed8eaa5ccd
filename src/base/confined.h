/* A function in a confined copy of this process (sandbox.h), which may read a model's files through a broker. */
#ifndef BASE_CONFINED_H
#define BASE_CONFINED_H

#include "base/broker.h"
#include "base/error.h"

typedef struct confined_call {
    /* Run in the new process, which ends without clean-up when it returns. What it puts into `out` comes back, also
     * with a failure; a failure's message too. */
    assay_status (*run)(void *ctx, sbuf *out, assay_error *err);
    void *ctx;
    size_t most;          /* bytes of `out` */
    broker_policy policy; /* what it may read */
} confined_call;

/* For callers that have no other threads. What the function returned, or: ASSAY_ERR_UNSUPPORTED: this system cannot
 * confine a process. ASSAY_ERR_SYSTEM: it cannot be started. ASSAY_ERR_MALFORMED: the process tried what is forbidden,
 * crashed, or asked for a file that is not the model's (ASSAY_ERR_USAGE: an option names it). */
assay_status confined_run(confined_call *call, sbuf *out, assay_error *err);

#endif

/* Runs other programs. Only this room starts processes. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/error.h"
#include "base/sbuf.h"

typedef struct process_result {
    int code;       /* exit code; 128 + signal when one ended it */
    bool timed_out; /* it was ended because it took too long */
    bool cut;       /* it wrote more than was requested */
    sbuf out;       /* stdout and stderr as they came; the caller frees */
} process_result;

/* Starts argv[0], found along PATH, without a shell and with an empty stdin, and waits for its end.
 * argv ends with NULL. ASSAY_ERR_SYSTEM when it cannot be started; what it answers is the caller's to
 * judge. */
assay_status process_run(const char *const *argv, int64_t timeout_ms, size_t max_bytes,
                         process_result *result, assay_error *err);

/* ---- a function in a separate process ---- */

typedef struct process_call {
    /* Run in the new process, which ends without clean-up when it returns; what it writes to `out` comes back. */
    void (*run)(void *ctx, void *out);
    void *ctx;
    size_t out_bytes;              /* at most PROCESS_OUT_MOST */
    bool (*cancelled)(void *asks); /* asked while it goes on; true ends it. May be NULL */
    void *asks;
} process_call;
enum { PROCESS_OUT_MOST = 4096 };

/* A copy of this process, made by fork(): for callers that have no other threads. ASSAY_ERR_SYSTEM when it cannot be
 * started or ends early, ASSAY_ERR_INTERRUPTED when it was cancelled. */
assay_status process_call_apart(const process_call *call, void *out, assay_error *err);

typedef struct process_writer {
    /* Run in the new process, as above; what it puts into `out` comes back. */
    void (*run)(void *ctx, sbuf *out);
    void *ctx;
    int64_t timeout_ms;
    size_t max_bytes;
    bool (*cancelled)(void *asks); /* asked while it goes on; true ends it. May be NULL */
    void *asks;
} process_writer;

/* The same for a text, which is in result->out: for callers that have no other threads. ASSAY_ERR_SYSTEM when it cannot
 * be started, ASSAY_ERR_INTERRUPTED when it was cancelled; result->code is not 0 when it crashed. */
assay_status process_call_writer(const process_writer *call, process_result *result,
                                 assay_error *err);

/* ---- a program that goes on while others look at it ---- */

typedef struct process_end {
    int code;                            /* as above */
    uint64_t cpu_ns, max_resident_bytes; /* of it and of what it waited for */
    uint64_t minor_faults, major_faults, voluntary, involuntary;
} process_end;

/* With this process's own streams and group: Ctrl-C reaches it too. ASSAY_ERR_USAGE when there is no such
 * program. */
assay_status process_start(const char *const *argv, int64_t *pid, assay_error *err);
/* True when it has ended; fills *out then. Does not wait. */
bool process_ended(int64_t pid, process_end *out);
/* Asks it to end (SIGTERM). */
void process_ask_to_end(int64_t pid);
/* Whether there is such a process. */
bool process_exists(int64_t pid);

#endif

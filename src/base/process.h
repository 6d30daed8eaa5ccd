/* Running another program: the only room that starts processes. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/error.h"
#include "base/sbuf.h"

typedef struct process_result {
    int code;       /* exit code; 128 + signal when one ended it */
    bool timed_out; /* it was ended because it took too long */
    bool cut;       /* it wrote more than was asked for */
    sbuf out;       /* stdout and stderr as they came; the caller frees */
} process_result;

/* Starts argv[0], found along PATH, without a shell and with an empty stdin, and waits for its end.
 * argv ends with NULL. ASSAY_ERR_SYSTEM when it cannot be started; what it answers is the caller's to
 * judge. */
assay_status process_run(const char *const *argv, int64_t timeout_ms, size_t max_bytes,
                         process_result *result, assay_error *err);

#endif

/* A process that may compute and nothing else: for code that reads bytes of a stranger.
 *
 * The kernel's seccomp filter (seccomp(2), a program for the classic BPF machine) lets through: reading descriptors
 * that are open already, memory without the right to execute, the clock, writing to one descriptor, talking to a
 * broker (broker.h) on another, and the end. Any other system call (open, socket, execve, kill, ptrace ...) ends the
 * process with SIGSYS. The filter cannot be taken off, and it is passed on to children, which cannot be made.
 *
 * It does not limit time or memory: callers set resource limits before. It protects other files, other processes and
 * the network from the process, not the process from itself.
 *
 * For x86-64 and aarch64 under Linux 4.14 and later; elsewhere sandbox_check() says what is missing.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include "base/error.h"

/* ASSAY_ERR_UNSUPPORTED: processes cannot be confined here; the message says why. */
assay_status sandbox_check(assay_error *err);

/* Confines this process, which has one thread, for good. `out` may be written; `broker` may be written and descriptors
 * received from it (-1: there is none). ASSAY_ERR_UNSUPPORTED as above; then nothing was changed that matters. */
assay_status sandbox_enter(int out, int broker, assay_error *err);

#endif

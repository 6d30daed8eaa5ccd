/* Included before everything else: what the C library of WASI lacks of POSIX and Linux. There is one process and one
 * thread, no signal arrives, and nothing is known of the machine. */
#ifndef WASM_POSIX_H
#define WASM_POSIX_H

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#define P_tmpdir        "/tmp"
#define F_DUPFD_CLOEXEC 1030
#define SA_RESETHAND    0

struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
};
static inline int sigaction(int sig, const struct sigaction *a, struct sigaction *old)
{
    (void)sig;
    (void)a;
    (void)old;
    return 0;
}

#define TIOCGWINSZ 0x5413
struct winsize {
    unsigned short ws_row, ws_col;
};

#define RLIMIT_NOFILE 7
#define RLIM_INFINITY (~0ULL)
typedef unsigned long long rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
static inline int getrlimit(int what, struct rlimit *out)
{
    (void)what;
    memset(out, 0, sizeof *out);
    return -1;
}

typedef struct cpu_set_t {
    int unused;
} cpu_set_t;
#define CPU_COUNT(set) ((void)(set), 0)
static inline int sched_getaffinity(int pid, size_t n, cpu_set_t *set)
{
    (void)pid;
    (void)n;
    (void)set;
    return -1;
}

struct sysinfo {
    unsigned long totalram, mem_unit;
};
static inline int sysinfo(struct sysinfo *out)
{
    (void)out;
    return -1;
}
#define secure_getenv getenv

#endif

/* Counters of this process and this machine from /proc and /sys.
 *
 * `root` is prefixed to every path: "" normally, a directory with sample files in tests. Values that the system does
 * not report are PROFILE_NOT_TOLD, or negative for doubles.
 */
#ifndef MEASURE_SYSTEM_H
#define MEASURE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "profile/measured.h"

typedef struct system_resident {
    uint64_t total, anon, file; /* bytes; file holds shared memory too */
} system_resident;

/* /proc/self/statm: a few microseconds. False when it cannot be read. */
bool system_resident_now(const char *root, system_resident *out);
/* The kernel's high-water mark of resident memory, since the process began or the last reset; 0: not reported. */
uint64_t system_resident_peak(const char *root);
/* Sets the mark to what is resident now. Where the system does not allow it, the mark stays as it is. */
void system_resident_peak_reset(const char *root);

/* Memory that is available without swapping: MemAvailable, or less where a control group says so. */
uint64_t system_available(const char *root);

typedef struct system_ticks {
    uint64_t all, steal; /* of all processors together, in the kernel's ticks */
} system_ticks;
bool system_ticks_now(const char *root, system_ticks *out);

/* Of this process. */
void system_io_now(const char *root, profile_io *out);

/* Sum over the RAPL packages, in microjoules. */
uint64_t system_energy_uj(const char *root);
/* Energy from one reading to the next in joules, with the counters' wrap at `range`; or negative. */
double system_energy_between(const char *root, uint64_t from_uj, uint64_t to_uj);
/* Average of the processors' clocks; or negative. */
double system_frequency_mhz(const char *root);
/* Of the first processor; "" when not reported. */
void system_governor(const char *root, char *buf, size_t cap);

/* How long this thread was ready and waited for a CPU so far, in seconds (/proc/self/schedstat of the first thread);
 * NaN: not reported. */
double system_run_queue_wait(const char *root);
/* Load average of the last minute; NaN: not reported. */
double system_load(const char *root);

/* Time and events of this process (or this thread) so far. */
typedef struct system_usage {
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary, minor_faults, major_faults;
} system_usage;
void system_usage_now(bool thread, system_usage *out);
system_usage system_usage_between(const system_usage *before, const system_usage *after);
void system_usage_add(system_usage *to, const system_usage *x);
/* Of wall time, NaN below 0.1 s: the kernel books a running thread's time by its tick, of up to 10 ms, and a share
 * of less would be noise, above what all processors can give. */
double system_cpu_percent(double cpu_s, double wall_s);

/* A process with its descendants, as far as they are children of first threads; cumulative figures include
 * those that have ended and were waited for. */
typedef struct system_tree {
    system_resident resident;
    uint64_t processes, threads;
    uint64_t cpu_ns, minor_faults, major_faults;
    uint64_t voluntary, involuntary; /* of those that live */
    profile_io io;                   /* NOT_TOLD when one of them does not let us look */
} system_tree;
/* False if the process has ended. */
bool system_tree_now(const char *root, int64_t pid, system_tree *out);
/* The same of a control group (cgroup v2): cpu.stat, memory.current, memory.stat, pids.current. What it does not count
 * is 0 or NOT_TOLD. False when the directory is none. */
bool system_cgroup_now(const char *dir, system_tree *out);
/* Its name, 15 letters at most; "" if it does not exist. */
void system_process_name(const char *root, int64_t pid, char *buf, size_t cap);

#endif

/* Whether other programs used so much of the machine that the times are not reliable.
 *
 * Three kinds of evidence, each from the kernel: how long the measuring thread was ready and waited for a CPU
 * (/proc/self/schedstat), the load average (/proc/loadavg), and context switches that the scheduler forced
 * (getrusage). The wait is the best of them; switches decide only where the kernel does not report it, because a
 * sampler's own thread forces some too. */
#ifndef MEASURE_BUSY_H
#define MEASURE_BUSY_H

#include "base/notes.h"
#include "base/sbuf.h"
#include "profile/measured.h"

#define BUSY_WAIT_SHARE         0.05 /* of the wall time */
#define BUSY_SWITCHES_PER_CPU_S 150  /* forced, per second of CPU time */
#define BUSY_CALIBRATION_SHARE  0.5  /* of the time of a loop that waits for a CPU */

typedef struct busy_evidence {
    double wall_s, cpu_s; /* of the runs */
    double wait_s;        /* NaN: not reported */
    double load;          /* of the last minute, these runs included; NaN: not reported */
    uint64_t forced;      /* context switches */
    uint64_t cpus;        /* 0: not reported */
} busy_evidence;

/* Writes the evidence as a sentence and returns true when the machine was too busy; else writes nothing. */
bool busy_judge(const busy_evidence *e, sbuf *why);

/* Judges what `use` has by now (times, switches, wait), with the load of this moment, and keeps the evidence in it. */
void busy_describe(profile_use *use, const char *root, arena *a);

/* One warning, "machine-busy", ahead of all others, of the first configuration that ran on a busy machine. */
void busy_note(const profile_measured *m, notes *n);

/* A loop of one thread for `seconds`, and how much of that time it was ready and waited for a CPU; NaN: the kernel does
 * not report it. One busy program on two CPUs leaves it a CPU, eight do not. */
double busy_probe(const char *root, double seconds);
/* Whether so large a share keeps a calibration from meaning anything. */
bool busy_for_calibration(double wait_share);

#endif

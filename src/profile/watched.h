/* A watched process: `assay watch`. Sizes are bytes of the process and its descendants; PROFILE_NOT_TOLD: not
 * reported by the system. */
#ifndef PROFILE_WATCHED_H
#define PROFILE_WATCHED_H

#include "profile/measured.h"

typedef struct profile_watch_sample {
    double time_s;      /* since the beginning */
    double cpu_percent; /* since the previous sample: 200 is two cores; NaN: too short */
    uint64_t resident, anon, file;
    uint64_t processes, threads;
    uint64_t read_bytes, written_bytes;  /* of the disk, so far */
    uint64_t minor_faults, major_faults; /* so far */
} profile_watch_sample;

typedef struct profile_watch {
    str command; /* its words, or the name of the process */
    uint64_t pid;
    int64_t exit_code; /* 128 + signal if a signal ended it; INT64_MIN: still running or unknown */
    bool interrupted;
    double interval_s, wall_s, cpu_s;
    double cpu_percent; /* NaN: too short */
    uint64_t peak_resident, average_resident, peak_anon, peak_file;
    uint64_t peak_processes, peak_threads;
    uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
    uint64_t read_bytes, written_bytes, read_chars, written_chars;
    const profile_watch_sample *samples;
    uint32_t n_samples;
} profile_watch;

#endif

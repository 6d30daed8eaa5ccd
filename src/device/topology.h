/* The machine as the system reports it: processors, caches, memory nodes, clocks and virtualisation.
 *
 * Read from /proc and /sys (Documentation/ABI/testing/sysfs-devices-system-cpu, proc(5)); `root` is prefixed to every
 * path, so that tests can use sample directories. Containers and virtual machines hide much of it: unreported values
 * are 0, NaN or "".
 */
#ifndef DEVICE_TOPOLOGY_H
#define DEVICE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_CACHES = 8, TOPOLOGY_GAPS = 16, TOPOLOGY_CPUS = 4096 };

typedef struct topology_cache {
    unsigned level;
    char kind[16];       /* "data", "instruction", "unified" */
    uint64_t size_bytes; /* of one */
    unsigned line_bytes, ways;
    unsigned instances; /* among the processors that are online */
    unsigned shared_by; /* processors that one serves */
} topology_cache;

typedef struct topology_gap {
    const char *what; /* "the highest clock" */
} topology_gap;

typedef struct topology {
    char cpu[80];     /* "AMD EPYC 7763 64-Core Processor" */
    char machine[65]; /* "x86_64" */
    char host[65], os[128];
    unsigned sockets, cores, cpus; /* cpus: logical processors that are online */
    unsigned threads_per_core;
    unsigned usable;   /* processors that this process may run on */
    double quota_cpus; /* of the control group; NaN: none is set */
    unsigned numa_nodes;
    topology_cache caches[TOPOLOGY_CACHES];
    unsigned n_caches;
    uint64_t memory_bytes;
    double mhz_now, mhz_min, mhz_max, mhz_base;
    char governor[32], driver[32];
    char hypervisor[64];  /* "KVM"; "none" when the processor says that there is none */
    char container[32];   /* "docker"; "none" */
    double steal_percent; /* of all processors' time since the system started */
    topology_gap not_reported[TOPOLOGY_GAPS];
    unsigned n_not_reported;
} topology;

/* Fills all of it. root "" is this machine itself; only then are uname, the affinity mask and cpuid asked. */
void topology_read(const char *root, topology *out);

/* The data cache of a level (data or unified), or NULL. */
const topology_cache *topology_data_cache(const topology *t, unsigned level);

/* Fills `not_reported` by what is 0, NaN or "". */
void topology_find_gaps(topology *t);

/* ---- between topology.c and topology_cpu.c ---- */
int64_t topology_text(const char *root, const char *path, char *buf, uint64_t cap); /* trimmed */
void topology_processors(const char *root, topology *out);

#endif

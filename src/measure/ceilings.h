/* Ceilings of this machine, measured with dedicated loops (ceiling_kernels.h).
 *
 * A probe is one loop at one number of threads and one working set. A sample of it takes a fraction of a
 * millisecond, so that some fall between two disturbances; all probes are visited in turn, round after round,
 * so that a long one costs every probe a visit and no probe all of them. Registers and a core's own caches have
 * a sharp limit that no sample passes: the best sample is the ceiling. What others share has none (a
 * neighbour's pause, a set's rest in a nearer cache): there it is the 90th percentile of the samples' rates.
 *
 * Samples and clock come through pointers, so that tests script both.
 */
#ifndef MEASURE_CEILINGS_H
#define MEASURE_CEILINGS_H

#include "base/error.h"
#include "device/machine.h"
#include "measure/ceiling_kernels.h"

enum { CEILING_PROBES = 160 };

typedef struct ceiling_probe {
    char name[48]; /* "float32 avx2+fma, 2 threads" */
    unsigned threads;
    double work;          /* of one round, all threads together: operations or bytes */
    uint64_t array_bytes; /* of each array of a thread; 0: registers only */
    uint64_t part_bytes;  /* of an array, moved in one round; the next round goes on behind it */
    const void *of;       /* row, for `seconds` */
    int kind;             /* of a move: 0 read, 1 write, 2 copy, 3 triad; -1: multiply-adds */
    bool brief;           /* few samples are enough */
    uint64_t lead_rounds; /* before samples are taken, to put this set's end into the caches */
    double quantile;      /* of the rates: 1 where nothing but the hardware limits a sample */
    machine_figure *into; /* figure of rates; or NULL */
    double *best;         /* the best rate alone; or NULL */
} ceiling_probe;

typedef struct ceiling_clock {
    void *ctx;
    /* Seconds that `rounds` rounds took; not above 0: it could not be run. */
    double (*sample)(void *ctx, const ceiling_probe *p, uint64_t rounds);
    uint64_t (*now_ns)(void *ctx);
    /* Between rounds: false ends it early. done and planned are seconds. May be NULL. */
    bool (*progress)(void *ctx, const char *what, double done, double planned);
} ceiling_clock;

/* Samples every probe in turn for about `seconds`, at least three times each. */
assay_status ceilings_sample(const ceiling_probe *probes, uint32_t n, double seconds,
                             const ceiling_clock *clock, assay_error *err);
/* Of rates; sorts them. Of quantile 1, the best: an end that the samples cannot pass (see interval). */
machine_figure ceilings_figure(double *rates, uint32_t n, double quantile);

typedef struct ceiling_options {
    bool quick;       /* 5 s instead of half a minute */
    unsigned threads; /* 0: all that may be used */
    const char *root; /* before /proc and /sys; NULL: none */
    void *ctx;        /* of progress */
    bool (*progress)(void *ctx, const char *what, double done, double planned);
} ceiling_options;

/* Topology, rates, bandwidths and the curve; not the engine's part, which api/ adds. ASSAY_ERR_INTERRUPTED when
 * progress ended it. */
assay_status ceilings_measure(const ceiling_options *o, machine *out, assay_error *err);

/* ---- threads that sample together (ceiling_team.c) ---- */
typedef struct ceiling_team ceiling_team;
/* Room for arrays, which each thread touches first itself: of the first, which also works alone, and of every
 * other. */
assay_status ceiling_team_new(unsigned threads, uint64_t first_bytes, uint64_t other_bytes,
                              ceiling_team **out, assay_error *err);
void ceiling_team_free(ceiling_team *t); /* NULL is allowed */
/* From the first thread's start to the last one's end. */
double ceiling_team_sample(ceiling_team *t, const ceiling_probe *p, uint64_t rounds);

#endif

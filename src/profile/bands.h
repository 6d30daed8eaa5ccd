/* Bands of FLOPs, arithmetic intensity, memory and latency. Results contain the bands of their values
 * (profile_settle()), so that all views and clients show the same words.
 *
 *   work       below 10 GFLOPs light, to 50 medium, above heavy
 *   intensity  FLOPs per byte: below 10 memory-bound, below 50 balanced, to 100 compute-bound, above strongly so
 *   memory     below 2 GB a small GPU, to 8 GB a medium one, above a high-end one; a GB is 10^9 bytes
 *   speed      mean latency: below 50 ms real time, to 200 near real time, above slow
 */
#ifndef PROFILE_BANDS_H
#define PROFILE_BANDS_H

#include <stdbool.h>

typedef enum band_scale { BAND_WORK, BAND_INTENSITY, BAND_MEMORY, BAND_SPEED } band_scale;
typedef enum band_tone { BAND_GOOD, BAND_FAIR, BAND_POOR } band_tone;

typedef struct band {
    double top;        /* figures below it belong to the band */
    bool with_top;     /* and the figure that equals it */
    const char *id;    /* of intensity: what layers call it, "strong-compute" */
    const char *word;  /* "near real time" */
    const char *range; /* "50 to 200 ms" */
    band_tone tone;
} band;

/* FLOPs per byte from which the bands say compute-bound; layers too where no device gives another threshold. */
#define BAND_COMPUTE_FROM 50.0

/* The band of FLOPs, FLOPs per byte, bytes or milliseconds. NULL: the figure is unknown (NaN). */
const band *band_of(band_scale scale, double figure);
/* Its word; NULL where there is no band. */
const char *band_word(const band *b);

/* What a layer waits for, by whether it is compute-bound: "memory-bound", "compute-bound", NULL. */
extern const char *const bound_words[];

/* Of one configuration that ran. */
typedef struct config_bands {
    bool present;
    const band *speed, *memory; /* NULL: the figure is unknown */
} config_bands;

typedef struct profile_bands {
    bool present;     /* some figure has one */
    const band *work; /* NULL also where FLOPs follow another convention */
    const band *intensity;
    const band *memory;             /* of the planned peak */
    const band *speed, *run_memory; /* measured, at the smallest batch */
} profile_bands;

struct profile;
struct profile_config;
struct profile_measured;
config_bands config_bands_of(const struct profile_measured *of, const struct profile_config *c);
profile_bands profile_bands_of(const struct profile *p);

#endif

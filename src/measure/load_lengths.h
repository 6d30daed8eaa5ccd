/* Lengths drawn at random: tokens of prompts and answers.
 *
 *   512                 always
 *   100..500            each as often as the others
 *   normal:512:128      normal, with mean and deviation
 *   lognormal:512:0.5   median, and the deviation of the logarithm
 *   exponential:200     mean
 *
 * Values are rounded and at least 1, at most LOAD_LENGTH_MOST.
 */
#ifndef MEASURE_LOAD_LENGTHS_H
#define MEASURE_LOAD_LENGTHS_H

#include "base/rng.h"
#include "base/str.h"

#define LOAD_LENGTH_MOST 1048576

typedef enum load_length_kind {
    LENGTH_NONE, /* not given */
    LENGTH_FIXED,
    LENGTH_UNIFORM,
    LENGTH_NORMAL,
    LENGTH_LOGNORMAL,
    LENGTH_EXPONENTIAL
} load_length_kind;

typedef struct load_lengths {
    load_length_kind kind;
    double a, b;
} load_lengths;

bool load_lengths_parse(str text, load_lengths *out);
/* 0 of LENGTH_NONE. */
uint32_t load_lengths_draw(const load_lengths *l, rng *r);

#endif

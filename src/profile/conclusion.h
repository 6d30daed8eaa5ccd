/* Conclusions: one or two sentences that sum a result up and that a reader can repeat, made of the members of the
 * result alone. result_conclude() keeps them in the result as "conclusion"; every output shows them first.
 *
 * The first sentence says what was found, with its numbers; the second what to change and the effect, where the result
 * knows. What is predicted, assumed or unknown is called so. conclusion.c has the pieces, conclusion_profile.c models,
 * conclusion_measured.c models that ran, conclusion_study.c the other kinds. That of a machine is in device/.
 */
#ifndef PROFILE_CONCLUSION_H
#define PROFILE_CONCLUSION_H

#include "base/result.h"
#include "profile/metrics.h"
#include "profile/profile.h"

/* Of result_kind.conclude: `data` is the kind's struct. Nothing is written where there is nothing to say. */
void profile_conclude(const void *data, sbuf *out);
void comparison_conclude(const void *data, sbuf *out);
void diffusion_conclude(const void *data, sbuf *out);
void language_conclude(const void *data, sbuf *out);
void scaling_conclude(const void *data, sbuf *out);
void check_conclude(const void *data, sbuf *out);
void trend_conclude(const void *data, sbuf *out);
void capacity_conclude(const void *data, sbuf *out);
void validation_conclude(const void *data, sbuf *out);

/* ---- pieces (conclusion.c) ---- */

/* A name of a file, safe for a terminal: a long path without its folders, a long name cut. "the model" where there is
 * none. */
void conclude_name(sbuf *b, str name);
void conclude_percent(sbuf *b,
                      double percent); /* "84.8 %"; near 0 and 100 as many digits as it needs */
void conclude_ratio(sbuf *b, double ratio);     /* "1.90×" */
void conclude_rate(sbuf *b, double per_second); /* "28.1", "1,234" */
void conclude_flops(sbuf *b, double flops);     /* "8.22 GFLOPs" */
void conclude_flop_rate(sbuf *b, double per_second);
/* "12 layers", "1 layer". */
void conclude_count(sbuf *b, uint64_t n, const char *noun);
/* A value of a metric in its unit. */
void conclude_metric(sbuf *b, double v, metric_unit unit);
/* What a ratio changes, with our words: "12.0 % below", "5.0 % above", "2.10×", "the same". */
void conclude_change(sbuf *b, double ratio, const char *more, const char *less);

/* ---- of a model that ran (conclusion_measured.c) ---- */

void conclude_measured(const profile *p, sbuf *out);
/* "Fuse 69 layers into 32 kernels: 32.8 % fewer bytes": the first advice of a result, as a sentence. */
void conclude_advice(const profile *p, sbuf *out);

#endif

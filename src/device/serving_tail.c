/* Percentiles of what users see, from the means of serving_predict():
 *
 *   time of the first token   prefill + W + G
 *       W   waiting for the prompts of others: exponential, as waiting is in heavy traffic (Kingman 1961), with the mean
 *           that the engine's rows give: TTFT - prefill
 *       G   waiting for memory: a sum of `users - running` times between two ends of requests, each exponential
 *   time between tokens       step + prefill M / (output - 1), the mean over one request
 *       M   prompts that others have processed while it runs: in each of the output - 1 gaps, each of the running - 1
 *           others begins a request with the probability 1 / output (binomial)
 *   time of a request         all of them
 *
 * The terms are independent; their sum is replaced by a gamma distribution of the same mean and variance, which is exact
 * for W alone and for G alone. Its quantile is that of Wilson and Hilferty (1931). The lengths of requests are equal:
 * where they vary, tails are longer. The systematic error of the means is their interval, not part of the percentile.
 */
#include <math.h>

#include "device/serving.h"

typedef struct tail {
    double fixed, mean, variance; /* seconds: fixed + a random part */
} tail;

static double normal_quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double tail_quantile(tail t, double q)
{
    if (!(t.mean > 0) || !(t.variance > 0))
        return t.fixed + fmax(t.mean, 0);
    double shape = t.mean * t.mean / t.variance;
    double root = 1 - 1 / (9 * shape) + normal_quantile(q) / (3 * sqrt(shape));
    return t.fixed + t.mean * pow(fmax(root, 0), 3);
}

static tail add_tails(tail a, tail b)
{
    return (tail){a.fixed + b.fixed, a.mean + b.mean, a.variance + b.variance};
}

static tail first_token(const serving_time *t, const serving_load *l)
{
    double others = fmax(t->ttft.expected - t->wait_s - t->prefill_s, 0);
    double ahead = fmax(l->users - t->running, 1);
    return (tail){.fixed = fmin(t->prefill_s, t->ttft.expected),
                  .mean = others + t->wait_s,
                  .variance = others * others + t->wait_s * t->wait_s / ahead};
}

/* All gaps of a request. */
static tail tokens_after(const serving_time *t, const serving_load *l)
{
    double output = fmax(l->output, 1), gaps = output - 1;
    double prompts = (t->running - 1) * gaps / output;
    return (tail){.fixed = gaps * t->step_s,
                  .mean = prompts * t->prefill_s,
                  .variance = prompts * (1 - 1 / output) * t->prefill_s * t->prefill_s};
}

double serving_quantile(const serving_time *t, const serving_load *l, serving_metric m, double q)
{
    double gaps = fmax(l->output - 1, 1);
    if (m == SERVING_TTFT)
        return tail_quantile(first_token(t, l), q);
    if (m == SERVING_ITL)
        return l->output > 1 ? tail_quantile(tokens_after(t, l), q) / gaps : t->tpot.expected;
    return tail_quantile(add_tails(first_token(t, l), tokens_after(t, l)), q);
}

/* Capacity planning: machines needed for a request rate within a latency limit, from one measured machine.
 *
 * Requests arrive at random (Poisson) and are spread at random over M like machines, so one machine sees Poisson
 * arrivals at rate L = target / M. It collects b of them into a batch, which leaves when it is full; c batches run
 * at the same time, others wait in order. A batch's service time S is drawn from the runs that were measured at
 * that batch size with c runs at a time.
 *
 *   forming   a request is the j-th of its batch with equal chance and waits for b - j more arrivals: with N
 *             Poisson of mean L t, P(forming <= t) = E[min(N + 1, b)] / b; its mean is (b - 1) / (2 L)
 *   waiting   GI/G/c: batches arrive by Erlang-b gaps (variation ca2 = 1 / b), service varies by cs2 = var / mean^2.
 *             Mean by Allen and Cunneen (1990) with the factor of Kraemer and Langenbach-Belz (1976) for ca2 < 1:
 *               W = C(c, a) / (c mu - l) * (ca2 + cs2) / 2 * g,   l = L / b, a = l E[S], mu = 1 / E[S],
 *               g = exp(-2 (1 - rho) / (3 rho) * (1 - ca2)^2 / (ca2 + cs2))
 *             with Erlang's C; exact for M/M/c and, in the mean, M/G/1. The chance to wait at all is C, corrected
 *             for ca2 < 1 by the same authors; a wait, once there is one, is taken for exponential.
 *   running   S itself
 *
 * The three are added as if they did not depend on each other. M is the smallest for which the load rho stays
 * below 1 - headroom and the quantile of the sum below the limit. With more machines batches form more slowly, so
 * more is not always better: where forming alone breaks the limit a batch size is refused.
 */
#ifndef STUDY_CAPACITY_H
#define STUDY_CAPACITY_H

#include "base/error.h"
#include "device/price.h"
#include "profile/capacity.h"
#include "profile/profile.h"

typedef struct capacity_request {
    const profile *const *profiles;
    const struct load_result *const
        *loads;         /* of each that is a load, whose curve is used; else NULL */
    const str *sources; /* what they are called */
    uint32_t n;
    double target, quantile, limit_ms, headroom;
    price_list *prices; /* or NULL: machines have none */
} capacity_request;

/* ASSAY_ERR_UNSUPPORTED when nothing in the profiles was measured in a way that can be used. */
assay_status capacity_run(const capacity_request *q, arena *a, capacity *out, assay_error *err);

/* The price of the machine that a plan is for: `name` is that of price_of_name(). */
void capacity_put_price(capacity_plan *p, price_list *prices, str name);

/* ---- one machine, for tests ---- */

#define CAPACITY_GRID 128

typedef struct capacity_machine {
    double rate; /* requests per millisecond */
    uint64_t batch, servers;
    const double *samples_ms;
    uint32_t n_samples;
} capacity_machine;

typedef struct capacity_times {
    double load, forming_ms, waiting_ms, service_ms;
    double wait_chance;
} capacity_times;

/* False when the load is 1 or more. */
bool capacity_times_of(const capacity_machine *m, capacity_times *out);
/* The quantile of a request's whole time; `t` is that machine's. The grids are CAPACITY_GRID values each. */
double capacity_quantile(const capacity_machine *m, const capacity_times *t, const double *service,
                         const double *forming, double quantile);
/* The middles of CAPACITY_GRID equal shares: of the samples (sorted copy), and of forming in units of 1 / rate. */
void capacity_service_grid(const double *sorted, uint32_t n, double *out);
void capacity_forming_grid(uint64_t batch, double *out);

#endif

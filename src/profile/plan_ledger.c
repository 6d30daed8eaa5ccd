/* Each row is a plan with one more property of the engine. The differences between consecutive rows are the causes. */
#include "profile/plan_ledger.h"

#include <stddef.h>

#include "base/num.h"
#include "profile/profile.h"

typedef struct cause {
    const char *name, *adds, *saves;
    size_t at; /* the peak with it, in profile_plan_check */
} cause;

#define PEAK(field) offsetof(profile_plan_check, field)

static const cause causes[] = {
    {"planned", "planned", "planned", PEAK(planned_peak)},
    {"expanded_operators", "operators that the engine has only in parts",
     "operators that the engine has only in parts", PEAK(planned_expanded)},
    {"engine_order", "the engine's order of branches", "the engine's order of branches",
     PEAK(planned_in_order)},
    {"in_place", "kernels that do not work in place", "more kernels in place than planned",
     PEAK(planned_as_run)},
    {"kept_buffers", "dead buffers kept for later tensors", "dead buffers kept for later tensors",
     PEAK(planned_with_kept)},
    {"unexplained", "unexplained", "unexplained", PEAK(measured_peak)},
    {"measured", "measured", "measured", PEAK(measured_peak)},
};

static uint64_t peak_of(const profile_plan_check *k, const cause *c)
{
    return *(const uint64_t *)(const void *)((const char *)k + c->at);
}

/* Bytes of a file may be anything: a distance beyond the type is its end. */
static int64_t distance(uint64_t from, uint64_t to)
{
    uint64_t d = to > from ? to - from : from - to;
    int64_t size = d > INT64_MAX ? INT64_MAX : (int64_t)d;
    return to > from ? size : -size;
}

uint32_t plan_ledger(const profile_plan_check *k, plan_ledger_row rows[PLAN_LEDGER_MAX])
{
    uint32_t n = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        uint64_t peak = peak_of(k, &causes[i]);
        if (i > 0 && peak == 0 && k->measured_peak)
            continue;
        int64_t bytes = distance(last, peak);
        rows[n++] = (plan_ledger_row){causes[i].name, bytes < 0 ? causes[i].saves : causes[i].adds,
                                      bytes, peak};
        last = peak;
    }
    if (k->workspace != PROFILE_NOT_TOLD)
        rows[n++] = (plan_ledger_row){"kernel_workspace", "kernel workspace and rounding, at most",
                                      distance(0, k->workspace), sat_add(last, k->workspace)};
    return n;
}

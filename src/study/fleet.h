/* Answers about a fleet from the figures of its records.
 *
 * Changes: the records of a model on a machine in one setup are a series; trend.h finds where its level changed. Drift: the
 * newest value of a ceiling is compared with the median of the earlier ones. Cost: of the records of a class of machines
 * that meet a latency, the one with the highest throughput counts; a million samples cost
 *
 *     price per hour / 3600 / throughput * 10^6
 */
#ifndef STUDY_FLEET_H
#define STUDY_FLEET_H

#include "base/error.h"
#include "device/price.h"
#include "profile/fleet.h"

#define FLEET_POINTS       200000 /* most records of a question */
#define FLEET_DRIFT        0.05
#define FLEET_CLASS_PREFIX "class:" /* tag of a record: the class of nodes of its task */

typedef enum fleet_by { FLEET_BY_MODEL, FLEET_BY_MACHINE, FLEET_BY_VERSION } fleet_by;

/* Orders the points. Changes before since_s (INT64_MIN: none) are left out, and what is new is seen since then. */
assay_status fleet_find_changes(fleet_points *points, const metric_row *m, fleet_by by,
                                int64_t since_s, arena *a, fleet_changes *out, assay_error *err);
/* Keeps the changes for the worse. */
void fleet_keep_worse(fleet_changes *c);

typedef struct fleet_ceiling { /* of one record of a machine */
    str machine, name, unit;
    int64_t created_s;
    double value;
    bool less_is_better;
} fleet_ceiling;
/* `list` is in any order; equal machines and names are a series. */
assay_status fleet_find_drift(fleet_ceiling *list, uint32_t n, arena *a, fleet_drifts *out,
                              assay_error *err);

/* `latency` and `throughput` are of the same records. limit_ms NaN: any latency. A class that the user gives no price for
 * and that is called as a device has its list price. */
assay_status fleet_find_cheapest(const fleet_points *latency, const fleet_points *throughput,
                                 price_list *prices, arena *a, fleet_cheapest *out,
                                 assay_error *err);

#endif

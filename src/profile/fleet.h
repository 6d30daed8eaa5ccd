/* Questions to the history of a fleet: what changed ("assay.changes/1"), whether the ceilings of machines drift
 * ("assay.drift/1"), and which class of machines is the cheapest for a model ("assay.cheapest/1"). Tables in
 * fleet_fields.c; docs/history.md. All pointers are in the arena of the caller. Times are seconds since 1970, UTC.
 */
#ifndef PROFILE_FLEET_H
#define PROFILE_FLEET_H

#include "profile/history.h"

/* A figure of one record, with what records are grouped by. */
typedef struct fleet_point {
    int64_t id, created_s;
    str model, machine, version, host, device, setup;
    str tags;          /* separated by commas */
    int64_t setup_key; /* equal setups have equal keys */
    double value;
} fleet_point;

typedef struct fleet_points {
    fleet_point *items;
    uint32_t n;
    uint64_t older; /* records beyond the limit */
} fleet_points;

/* ---- what changed ---- */

typedef struct fleet_change { /* of the level of one series: a model on a machine in one setup */
    str model, machine, setup;
    str version, version_before; /* of assay, on both sides of the change */
    history_change is;
} fleet_change;

typedef struct fleet_group { /* of changes, by model, machine or version */
    str key;
    uint32_t worse, better;
    double worst; /* ratio of the worst; NaN: none is worse */
} fleet_group;

typedef struct fleet_changes {
    str conclusion;
    const char *metric, *title, *by;
    metric_unit unit;
    bool more_is_better, worse_only;
    int64_t since_s; /* INT64_MIN: all */
    uint32_t records, series;
    uint64_t older;
    const str *new_models, *new_machines, *new_versions; /* first seen since then */
    uint32_t n_new_models, n_new_machines, n_new_versions;
    const fleet_group *groups;
    uint32_t n_groups;
    const fleet_change *changes; /* the worst first */
    uint32_t n_changes, n_worse;
} fleet_changes;

/* ---- drift ---- */

typedef enum fleet_course {
    COURSE_STEADY,
    COURSE_LOWER,
    COURSE_HIGHER,
    COURSE_UNKNOWN
} fleet_course;

typedef struct fleet_drift { /* a ceiling of a machine over its records */
    str machine, ceiling, unit;
    uint32_t records;
    double first, median, newest; /* the median is of all but the newest */
    double ratio;                 /* newest / median; NaN: one record alone */
    int64_t first_s, newest_s;
    fleet_course course;
} fleet_drift;

typedef struct fleet_drifts {
    str conclusion;
    double tolerance; /* share that counts as steady */
    const fleet_drift *ceilings;
    uint32_t n;
    uint32_t n_machines;
} fleet_drifts;

/* ---- the cheapest ---- */

typedef struct fleet_class {
    str name, config; /* config: the best setup that meets the limit */
    int64_t record;
    double latency_ms, throughput; /* of that record */
    bool meets;
    double price_per_hour, cost_per_million; /* NaN: no price */
    str price_basis;                         /* "given", "list price of 2026-08-22 (...)" */
    uint32_t records;
    bool cheapest;
} fleet_class;

typedef struct fleet_cheapest {
    str conclusion;
    str model;
    const char *statistic; /* of the limit: "p99" */
    double limit_ms;
    const fleet_class *classes; /* by cost */
    uint32_t n;
} fleet_cheapest;

extern const result_kind changes_kind, drift_kind, cheapest_kind;

#endif

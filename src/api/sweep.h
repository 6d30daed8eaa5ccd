/* Shared by the files of sweeps in this room. */
#ifndef API_SWEEP_H
#define API_SWEEP_H

#include <assay/sweep.h>

#include "api/history.h"
#include "api/result.h"
#include "jobs/sweep.h"

#define SWEEP_BYTES ((size_t)256 << 20)

/* Options of every measurement that a plan keeps; NULL at the end. */
extern const char *const sweep_settings[];
/* The axes of a plan, as options: their names, NULL at the end. */
extern const char *const sweep_axes[];

/* The plan that a result is; ASSAY_ERR_USAGE when it is none. */
assay_status api_sweep_of(const assay_result *of, const sweep_plan **out, assay_error *err);
/* Architecture, name, version and digest of the engine that these options find; false when there is none. */
typedef struct sweep_engine {
    char name[32], version[64], architecture[65];
    sweep_hex sha256;
} sweep_engine;
bool api_sweep_engine(const assay_options *options, sweep_engine *out);
/* The records of a sweep. */
assay_status api_sweep_records(assay_store *db, const sweep_plan *plan, arena *a, history_list *out,
                               assay_error *err);

#endif

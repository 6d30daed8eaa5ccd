/* The views of the result kinds, each in a views_*.c. */
#ifndef REPORT_VIEWS_H
#define REPORT_VIEWS_H

#include "report/view.h"

extern const view_kind profile_view, machine_view, records_view, models_view, trend_view,
    capacity_view, validation_view, check_view, scaling_view, language_view, diffusion_view,
    pipelines_view, comparison_view, load_view, sweep_view, sweep_status_view, sweep_report_view,
    changes_view, drift_view, cheapest_view;

/* Parts of the profile's (views_profile_csv.c). */
enum { PROFILE_CSV_LISTS = 12 };
extern const view_csv_row profile_csv[PROFILE_CSV_LISTS];
const void *profile_in_detail(const void *data, arena *a);

/* CSV of language models: also of several, views_pipeline.c. */
#define LANGUAGE_PHASES "prefill decode.first decode.last"
enum { LANGUAGE_CSV_COLUMNS = 12 };
extern const view_column language_csv_columns[LANGUAGE_CSV_COLUMNS];
/* Columns of a language model's devices; the first is the device. */
enum { LANGUAGE_DEVICE_COLUMNS = 13 };
extern const view_column language_device_columns[LANGUAGE_DEVICE_COLUMNS];

#endif

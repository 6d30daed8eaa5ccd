/* The table of views: one row per kind of result. */
#include "report/views.h"

const view_kind *const view_kinds[] = {&profile_view,      &machine_view,      &records_view,
                                       &models_view,       &trend_view,        &capacity_view,
                                       &validation_view,   &check_view,        &scaling_view,
                                       &language_view,     &diffusion_view,    &pipelines_view,
                                       &comparison_view,   &load_view,         &sweep_view,
                                       &sweep_status_view, &sweep_report_view, &changes_view,
                                       &drift_view,        &cheapest_view,     NULL};

/* Sections of a profile's view by subject; views_profile.c puts them in order. */
#ifndef REPORT_VIEWS_PROFILE_H
#define REPORT_VIEWS_PROFILE_H

#include "report/views.h"

extern const view_sections profile_layers_sections, profile_times_sections, profile_memory_sections,
    profile_events_sections, profile_training_sections, profile_measured_sections,
    profile_plan_sections, profile_map_sections, profile_fusion_sections, profile_watch_sections,
    profile_stages_sections, profile_blocking_sections;

/* Of `operations`: share of FLOPs with its bar, count, FLOPs, memory. */
enum { PROFILE_OPERATION_COLUMNS = 6 };
extern const view_column profile_operation_columns[PROFILE_OPERATION_COLUMNS];

/* A configuration that the user stopped on the way. */
#define PROFILE_PARTIAL_LINE                                                              \
    {                                                                                     \
        .text = "Batch {batch:whole} is incomplete: interrupted after {runs:whole run}.", \
        .each = "configurations", .when = "+partial", .tone = TONE_FAIR                   \
    }

/* Configurations that ran, in their order (views_profile_measured.c). */
view_order profile_order_ran;

#endif

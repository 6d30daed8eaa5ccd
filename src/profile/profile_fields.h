/* Field tables of "assay.profile/1", shared by the files that define its parts. */
#ifndef PROFILE_PROFILE_FIELDS_H
#define PROFILE_PROFILE_FIELDS_H

#include "base/result.h"
#include "profile/profile.h"

extern const result_kind profile_kind;

extern const fields context_fields; /* of a profile: context */
extern const fields tensor_fields;  /* profile_tensor: name, dtype, shape, kind */
extern const fields note_fields;    /* note */
extern const fields weights_by_dtype_fields;
extern const fields warning_fields; /* notes: warnings, warnings_dropped; to be spliced */

/* bands.c */
extern const fields config_band_fields, profile_band_fields;
/* profile_fields_layers.c */
extern const fields layer_fields, module_fields, value_fields, memory_plan_fields, training_fields,
    inventory_fields;
/* profile_fields_measured.c; spliced into the document. */
extern const fields measured_fields;
extern const fields cold_starts_fields;
extern const fields generation_fields;
extern const fields blocking_fields;
extern const fields stats_fields;
extern const fields configuration_fields; /* profile_config */
/* profile_fields_map.c, profile_fields_fusion.c, profile_fields_watch.c */
extern const fields mapping_fields, fusion_fields, pattern_fields, watch_fields;

/* A finish that gives a word which a file leaves out, or calls null, its usual value. */
#define FINISH_WORD(function, type, member, usual)    \
    static bool function(field_reader *r, void *base) \
    {                                                 \
        type *x = base;                               \
        (void)r;                                      \
        x->member = x->member ? x->member : (usual);  \
        return true;                                  \
    }

#endif

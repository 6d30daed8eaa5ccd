/* Shared by the files that produce results. */
#ifndef API_RESULT_H
#define API_RESULT_H

#include "api/api.h"

/* Hands a result over to the caller, or frees it when s is a failure. */
assay_status api_hand_result(assay_status s, assay_result *made, assay_result **out,
                             assay_error *err);
/* A measured configuration for the caller's hook: the profile has it when the measuring is over, until then it is a
 * separate result (model.c). */
void api_hand_config(const assay_hooks *hooks, const profile_measured *m, const profile_config *c);
/* From a document; `shown` is what messages call it, `kind` what it must be, or NULL. */
assay_status api_result_read(str text, const char *shown, const char *kind, assay_result **out,
                             assay_error *err);
/* Fills what is derived of a profile that was made or changed, whatever its status was. */
assay_status api_settle(assay_status s, assay_result *const *of, assay_error *err);
/* The profile that a result is, or that stands for it; NULL: neither. */
profile *api_profile_of(const assay_result *of);
/* ASSAY_ERR_USAGE unless it is a result of one model or endpoint; `what` takes it ("Measuring"). */
assay_status api_need_profile(const assay_result *of, const char *what, assay_error *err);
assay_status api_need_profiles(const assay_result *const *list, size_t n, const char *what,
                               assay_error *err);
/* Fills the machine into the context of a profile that was made here: only who wants to know asks the system
 * (result_get.c). */
void api_describe_host(const assay_result *of);
/* The result as one object (result_get.c). */
field_value api_result_root(const assay_result *of);
/* Its document (write.c). */
assay_status api_result_json(const assay_result *of, int indent, sbuf *out, assay_error *err);

#endif

/* Shared by the files of this room: passing structs and texts to the caller. */
#ifndef API_API_H
#define API_API_H

#include <assay/assay.h>

#include "jobs/job.h"
#include "options/rows.h"
#include "report/report.h"

/* How every public function begins: what went wrong before is no concern of its result. */
void api_begin(assay_error *err);
/* Fills a caller's struct up to its own size, which stays as the caller set it: what both sides know is copied.
 * False when the size is not set (sizes.c). */
bool api_hand_out(void *out, const void *whole, size_t whole_size);
#define HAND_OUT(out, whole) api_hand_out((out), &(whole), sizeof(whole))
/* The same as a status. */
assay_status api_give(void *out, const void *whole, size_t whole_size, assay_error *err);
#define GIVE(out, whole, err) api_give((out), &(whole), sizeof(whole), (err))
/* ASSAY_ERR_USAGE when the size of a struct of the caller's is not set; NULL is allowed. */
assay_status api_check_size(const void *given, assay_error *err);
/* Copies a struct of the caller's, which may be shorter than ours; what it lacks is 0. */
assay_status api_take(const void *given, void *whole, size_t whole_size, assay_error *err);
#define TAKE(given, whole, err) api_take((given), &(whole), sizeof(whole), (err))

/* How a result is shown, by the options (write.c). */
report_options api_screen(const assay_options *o);
/* Hands a text over to the caller, or frees it when s or the text failed (write.c). */
assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err);

/* --prompt-tokens and --generate must be whole numbers: only load draws them. */
assay_status api_refuse_drawn(const assay_options *o, assay_error *err);

#endif

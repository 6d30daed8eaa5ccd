/* What the files of this room share: handing structs and texts out. */
#ifndef API_API_H
#define API_API_H

#include <assay/assay.h>

#include "api/options.h"
#include "jobs/job.h"
#include "report/report.h"

/* Fills a caller's struct up to its own size, which stays as the caller set it: what both sides know is
 * copied (profile_walk.c). Every public struct that is handed out begins with its size. */
void api_hand_out(void *out, const void *whole, size_t whole_size);
#define HAND_OUT(out, whole) api_hand_out((out), &(whole), sizeof(whole))

/* How a result is shown, by the options (write.c). */
report_options api_screen(const assay_options *o);
/* Hands a text over to the caller, or frees it when s or the text failed (write.c). */
assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err);

#endif

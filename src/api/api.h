/* What the files of this room share: handing results and texts out. */
#ifndef API_API_H
#define API_API_H

#include <assay/assay.h>

#include "api/options.h"
#include "jobs/job.h"
#include "report/page.h"
#include "report/report.h"

/* Fills a caller's struct up to its own size, which stays as the caller set it: what both sides know is
 * copied (profile_walk.c). Every public struct that is handed out begins with its size. */
void api_hand_out(void *out, const void *whole, size_t whole_size);
#define HAND_OUT(out, whole) api_hand_out((out), &(whole), sizeof(whole))

struct host_info;
/* The profile with this machine's description, unless it was read from a file and has that of its own;
 * borrows both (report.c). */
profile api_with_host(const assay_profile *of, struct host_info *h);
/* The page with these profiles and, unless it is NULL, one document more (page.c). */
page_how api_page_how(const assay_options *o);
assay_status api_page(const assay_profile *const *profiles, size_t n, const str *more,
                      const page_how *how, sbuf *out, assay_error *err);
/* The page, with these profiles beside it, in place of the document that was written. */
assay_status api_page_around(const assay_profile *const *profiles, size_t n, const assay_options *o,
                             sbuf *text, assay_error *err);
/* How the console is drawn, by the options (check.c). */
report_options api_screen(const assay_options *o);
/* Hands a text over to the caller, or frees it when s or the text failed (check.c). */
assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err);

#endif

/* Requests from files.
 *
 *   --requests FILE   JSON Lines. Each line is the body of a request; they are sent in turn.
 *   --trace FILE      JSON Lines or CSV: when each request is sent, in ascending order of time.
 *
 * Lines of a JSON trace are objects. "time" is seconds, "timestamp" milliseconds since the beginning (as in the traces
 * of Mooncake); "body" is the request, "input_length" and "output_length" (or "prompt_tokens", "output_tokens") are
 * tokens. Lines of a CSV trace are TIME[,INPUT_TOKENS[,OUTPUT_TOKENS]] with the time in seconds or as "2023-11-16
 * 18:01:50.9990000" (as in the Azure LLM inference traces); a first line of names is skipped.
 */
#ifndef MEASURE_LOAD_TRACE_H
#define MEASURE_LOAD_TRACE_H

#include "measure/load_protocol.h"

enum { LOAD_ITEMS_MOST = 1000000 };

/* ASSAY_ERR_MALFORMED with the line. */
assay_status load_requests_read(const char *path, arena *a, const load_item **items, uint32_t *n,
                                assay_error *err);
/* Times are divided by `speed` and begin at 0. */
assay_status load_trace_read(const char *path, double speed, arena *a, const load_item **items,
                             uint32_t *n, assay_error *err);
/* The same of a text, for tests. */
assay_status load_trace_parse(str text, const char *shown, double speed, arena *a,
                              const load_item **items, uint32_t *n, assay_error *err);

#endif

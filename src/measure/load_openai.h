/* One event of a stream of tokens, or a whole answer (load_openai.c). */
#ifndef MEASURE_LOAD_OPENAI_H
#define MEASURE_LOAD_OPENAI_H

#include "base/str.h"

typedef struct load_event {
    bool has_choices, has_text, finished, is_error, has_usage;
    uint64_t in_tokens, out_tokens; /* of usage */
} load_event;

/* False when it is no JSON object of this kind. */
bool load_event_read(str text, load_event *out);

#endif

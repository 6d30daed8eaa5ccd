/* Polls for cancellation while the runtime creates a session. */
#ifndef ENGINE_ORT_GUARD_H
#define ENGINE_ORT_GUARD_H

#include <pthread.h>

#include "engine/engine.h"
#include "engine/ort_api.h"

typedef struct ort_guard {
    const ort_api *api;
    ort_options *options; /* of the session that is being made */
    const engine_options *o;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done, watching;
} ort_guard;

/* Does nothing when the caller does not ask for it, when the runtime cannot be stopped (before 1.22), or when
 * there is no thread to be had. Nothing of g is to be moved until the end. */
void ort_guard_begin(ort_guard *g, const ort_api *api, ort_options *options,
                     const engine_options *o);
void ort_guard_end(ort_guard *g);

#endif

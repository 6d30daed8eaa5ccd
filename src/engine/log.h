/* Messages of a runtime, stored instead of printed: a bounded list that several threads may append to. Duplicate
 * messages are stored once. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include <pthread.h>

#include "engine/engine.h"

typedef struct engine_log {
    pthread_mutex_t lock;
    uint32_t n, dropped;
    engine_message items[ENGINE_MESSAGES_MAX];
} engine_log;

void engine_log_init(engine_log *l);
void engine_log_destroy(engine_log *l);
/* Copies; the text becomes one line that is safe for a terminal. */
void engine_log_add(engine_log *l, int severity, const char *text);
bool engine_log_get(engine_log *l, uint32_t index, engine_message *out);
uint32_t engine_log_dropped(engine_log *l);

#endif

/* Messages of a runtime; see log.h. */
#include "engine/log.h"

#include <string.h>

#include "base/text.h"

void engine_log_init(engine_log *l)
{
    memset(l, 0, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
}

void engine_log_destroy(engine_log *l)
{
    pthread_mutex_destroy(&l->lock);
}

static bool known(const engine_log *l, const char *text)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->items[i].text, text) == 0)
            return true;
    return false;
}

static void add_locked(engine_log *l, const engine_message *m)
{
    if (known(l, m->text))
        return;
    if (l->n == ENGINE_MESSAGES_MAX)
        l->dropped += l->dropped < UINT32_MAX;
    else
        l->items[l->n++] = *m;
}

void engine_log_add(engine_log *l, int severity, const char *text)
{
    engine_message m = {.severity = severity};
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        n--;
    text_safe_into(m.text, sizeof m.text, (str){text, (uint32_t)n});
    pthread_mutex_lock(&l->lock);
    add_locked(l, &m);
    pthread_mutex_unlock(&l->lock);
}

bool engine_log_get(engine_log *l, uint32_t index, engine_message *out)
{
    pthread_mutex_lock(&l->lock);
    bool there = index < l->n;
    if (there)
        *out = l->items[index];
    pthread_mutex_unlock(&l->lock);
    return there;
}

uint32_t engine_log_dropped(engine_log *l)
{
    pthread_mutex_lock(&l->lock);
    uint32_t n = l->dropped;
    pthread_mutex_unlock(&l->lock);
    return n;
}

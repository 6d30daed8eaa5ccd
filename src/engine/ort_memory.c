/* Statistics of a session's arena (ONNX Runtime 1.23 or newer), which the runtime reports as pairs of strings. */
#include <stddef.h>

#include "engine/ort_impl.h"

static const struct stat_row {
    const char *key;
    size_t offset;
} stat_rows[] = {
    {"InUse", offsetof(engine_memory, in_use)},
    {"RequestedInUse", offsetof(engine_memory, requested)},
    {"MaxInUse", offsetof(engine_memory, max_in_use)},
    {"TotalAllocated", offsetof(engine_memory, held)},
    {"MaxAllocSize", offsetof(engine_memory, max_alloc)},
    {"NumAllocs", offsetof(engine_memory, n_allocs)},
    {"NumArenaExtensions", offsetof(engine_memory, n_extensions)},
    {"NumReserves", offsetof(engine_memory, n_reserves)},
};

static void take_statistic(engine_memory *m, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof stat_rows / sizeof *stat_rows; i++) {
        if (strcmp(stat_rows[i].key, key) != 0)
            continue;
        int64_t v;
        uint64_t n = str_to_i64(str_of(value), &v) && v > 0 ? (uint64_t)v : 0;
        memcpy((char *)m + stat_rows[i].offset, &n, sizeof n);
        m->has_requested |= stat_rows[i].offset == offsetof(engine_memory, requested);
    }
}

static bool known(const ort_api *api, ort_status *status)
{
    if (status)
        api->release_status(status);
    return !status;
}

bool ort_session_memory(engine_session *base, engine_memory *out)
{
    ort_engine_session *s = (ort_engine_session *)base;
    const ort_api *api = &ort_of(base)->api;
    ort_pairs *stats = NULL;
    ort_strings keys = NULL, values = NULL;
    size_t n = 0;
    if (!s->arena || !api->allocator_stats || !known(api, api->allocator_stats(s->arena, &stats)) ||
        !stats)
        return false;
    api->pairs(stats, &keys, &values, &n);
    for (size_t i = 0; i < n; i++)
        take_statistic(out, keys[i], values[i]);
    api->release_pairs(stats);
    if (!out->has_requested)
        out->requested = out->in_use;
    return n > 0;
}

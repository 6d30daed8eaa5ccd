/* What waits for what: the critical path of a profiled run, layers that were ready and not run, threads that waited. */
#include "report/views_profile.h"

enum { SHOWN = 10 };

typedef double figure_fn(const profile_wait *w);

static double path_time(const profile_wait *w)
{
    return w->critical ? w->time_ms : 0;
}

static double queue_time(const profile_wait *w)
{
    return w->queued_ms;
}

/* The SHOWN largest, in the order of the graph. */
static uint32_t order_largest(const field_value *list, figure_fn *figure, uint32_t *index)
{
    const profile_wait *w = list->at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        if (!(figure(&w[i]) > 0))
            continue;
        uint32_t least = 0;
        for (uint32_t k = 1; k < n; k++)
            least = figure(&w[index[k]]) < figure(&w[index[least]]) ? k : least;
        if (n == SHOWN && figure(&w[i]) <= figure(&w[index[least]]))
            continue;
        for (uint32_t k = least; n == SHOWN && k + 1 < n; k++)
            index[k] = index[k + 1];
        n -= n == SHOWN;
        index[n++] = i;
    }
    return n;
}

static uint32_t order_path(const view *v, const field_value *list, uint32_t *index)
{
    (void)v;
    return order_largest(list, path_time, index);
}

static uint32_t order_queued(const view *v, const field_value *list, uint32_t *index)
{
    (void)v;
    return order_largest(list, queue_time, index);
}

static const view_column path_columns[] = {
    VIEW_TEXT("on the critical path", "{layer:name}", .min = 16),
    VIEW_TEXT("type", "{type:text}", .drop = 3, .tone = TONE_DIM),
    VIEW_NUMBER("time", "{time_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_NUMBER("of the path", "{time_ms/^blocking.critical_path_ms:share1}", .drop = 2),
    VIEW_TEXT("waits for", "{waits_for:name}|inputs", .min = 16, .tone = TONE_DIM),
};
static const view_column queue_columns[] = {
    VIEW_TEXT("ready, not run", "{layer:name}", .min = 16),
    VIEW_NUMBER("ready", "{ready_ms:ms}", .drop = 2),
    VIEW_NUMBER("start", "{start_ms:ms}", .drop = 1),
    VIEW_NUMBER("queued", "{queued_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_TEXT("waits for", "{waits_for:name}|inputs", .min = 16, .tone = TONE_DIM),
};
static const view_column thread_columns[] = {
    VIEW_TEXT("thread", "{thread:text}"),
    VIEW_NUMBER("waits", "{wait_ms:ms}", .keep = true),
    VIEW_NUMBER("of a run", "{percent:percent}", .keep = true),
};
static const view_table_row blocking_tables[] = {
    {.path = "blocking.layers", VIEW_COLUMNS(path_columns), .order = order_path},
    {.path = "blocking.layers", VIEW_COLUMNS(queue_columns), .order = order_queued},
    {.path = "blocking.threads", VIEW_COLUMNS(thread_columns)},
};
static const view_line_row blocking_lines[] = {
    VIEW_LINE("The critical path has {blocking.critical_path_layers:whole layer} and takes "
              "{blocking.critical_path_ms:ms} of {blocking.layers_ms:ms}. Running branches in "
              "parallel gains at most {blocking.parallelism:fixed2} times.",
              NULL, PLAIN),
    VIEW_LINE("A worker waits at least as long as shown: outside of the parallel sections it took "
              "part in.",
              "++blocking.threads", DIM),
};
static const view_section_row blocking_rows[] = {
    {VIEW_SECTION("Blocking", "what waits for what in a profiled run", "all layers", "blocking"),
     VIEW_TABLES(blocking_tables), VIEW_LINES(blocking_lines)},
};
const view_sections profile_blocking_sections = VIEW_LIST(blocking_rows);

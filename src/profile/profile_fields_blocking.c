/* `blocking`: what waits for what in a run, with the critical path and the waiting of threads. */
#include "profile/profile_fields.h"

static const field wait_rows[] = {
    FIELD(profile_wait, layer, STR, NONE, "Layer", "Name of the layer."),
    FIELD(profile_wait, type, STR, NONE, "Type", "Type of its operator."),
    FIELD(profile_wait, waits_for, STR, NONE, "Waits for",
          "The layer whose result came last; null: only inputs of the model.", OR_NULL),
    FIELD(profile_wait, time_ms, F64, MS, "Time", "Its measured time."),
    FIELD(profile_wait, ready_ms, F64, MS, "Ready",
          "When its last input was available, since the run began."),
    FIELD(profile_wait, start_ms, F64, MS, "Start", "When it began."),
    FIELD(profile_wait, end_ms, F64, MS, "End", "When it ended."),
    FIELD(profile_wait, queued_ms, F64, MS, "Queued",
          "From ready to start: the engine ran other layers."),
    FIELD(profile_wait, critical, BOOL, NONE, "Critical", "On the critical path."),
};
static const fields wait_fields = FIELDS(profile_wait, wait_rows);

static const field thread_rows[] = {
    FIELD(profile_thread_wait, thread, STR, NONE, "Thread", "main or worker N."),
    FIELD(profile_thread_wait, wait_ms, F64, MS, "Waits",
          "main: for workers to finish their blocks; worker: at least, outside of the parallel "
          "sections it took part in."),
    FIELD(profile_thread_wait, percent, F64, PERCENT, "Share", "Of a run."),
};
static const fields thread_fields = FIELDS(profile_thread_wait, thread_rows);

static const field blocking_rows[] = {
    FIELD(profile_blocking, layers_ms, F64, MS, "Layers", "All layers, one after the other."),
    FIELD_AS(profile_blocking, "critical_path_ms", critical_ms, F64, MS, "Critical path",
             "The longest chain of layers that wait for each other."),
    FIELD_AS(profile_blocking, "critical_path_layers", critical_layers, U64, COUNT, NULL,
             "Layers on it."),
    FIELD(profile_blocking, parallelism, F64, RATIO, "Parallelism",
          "layers_ms over critical_path_ms: the most that running branches in parallel can gain."),
    FIELD_ITEMS(profile_blocking, LIST, "layers", layers, n_layers, wait_fields,
                "Every timed layer, in the order of the graph.", ONE_LINE),
    FIELD_ITEMS(profile_blocking, LIST, "threads", threads, n_threads, thread_fields,
                "Waiting time of each thread.", OR_OMIT, ONE_LINE),
};
const fields blocking_fields = FIELDS_IF_PRESENT(profile_blocking, blocking_rows);

/* The columns of a list of runs. */
#include "profile/history.h"

const history_column history_columns[HISTORY_COLUMNS] = {
    {"p50", "p50_ms"},          {"p95", "p95_ms"},
    {"latency", "mean_ms"},     {"throughput", "throughput"},
    {"memory", "memory_bytes"}, {"macs", "macs"},
    {"params", "parameters"},
};

/* `cold_starts`: how long engine, session and first run took in processes of their own. */
#include "profile/profile_fields.h"

static const char *const part_words[] = {"engine", "session", "first run", "total", NULL};

static const field part_rows[] = {
    FIELD(profile_cold_part, part, WORD, NONE, "Part", "engine, session, first run or total.",
          .words = part_words, .flags = FIELD_NEEDED),
    FIELD(profile_cold_part, mean_ms, F64, MS, "Mean", "Mean of the starts."),
    FIELD(profile_cold_part, std_ms, F64, MS, "Std", "Standard deviation."),
    FIELD(profile_cold_part, min_ms, F64, MS, "Fastest", "Fastest start."),
    FIELD(profile_cold_part, median_ms, F64, MS, "Median", "Median of the starts."),
    FIELD(profile_cold_part, p95_ms, F64, MS, "p95", "95th percentile."),
    FIELD(profile_cold_part, max_ms, F64, MS, "Slowest", "Slowest start."),
    FIELD_VALUES(profile_cold_part, F64S, "samples_ms", samples_ms, n_samples, MS,
                 "Every start, in order.", .decimals = 1 + 6),
};
static const fields part_fields = FIELDS(profile_cold_part, part_rows);

static const field cold_rows[] = {
    FIELD(profile_cold, starts, U64, COUNT, "Starts", "Processes started."),
    FIELD(profile_cold, batch, U64, COUNT, "Batch", "Batch size of the first run."),
    FIELD(profile_cold, precision, STR, NONE, "Precision", "Precision of the model."),
    FIELD_ITEMS(profile_cold, LIST, "parts", parts, n_parts, part_fields,
                "Times of the parts and of their sum.", ONE_LINE),
};
const fields cold_starts_fields = FIELDS_IF_PRESENT(profile_cold, cold_rows);

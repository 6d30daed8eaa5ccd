/* See bands.h. A row is a band; the last one of a scale has no upper limit. */
#include "profile/bands.h"

#include "profile/metrics.h"
#include "profile/profile_fields.h"

static const band work_bands[] = {
    {10e9, false, NULL, "light", "below 10 GFLOPs", BAND_GOOD},
    {50e9, true, NULL, "medium", "10 to 50 GFLOPs", BAND_FAIR},
    {INFINITY, true, NULL, "heavy", "above 50 GFLOPs", BAND_POOR},
};

static const band intensity_bands[] = {
    {10, false, "memory", "memory-bound", "below 10 FLOPs per byte", BAND_POOR},
    {BAND_COMPUTE_FROM, false, "balanced", "balanced", "10 to 50 FLOPs per byte", BAND_FAIR},
    {100, true, "compute", "compute-bound", "50 to 100 FLOPs per byte", BAND_GOOD},
    {INFINITY, true, "strong-compute", "strongly compute-bound", "above 100 FLOPs per byte",
     BAND_GOOD},
};

static const band memory_bands[] = {
    {2e9, false, NULL, "small GPU", "below 2 GB", BAND_GOOD},
    {8e9, true, NULL, "medium GPU", "2 to 8 GB (GTX 1080, RTX 2060)", BAND_FAIR},
    {INFINITY, true, NULL, "high-end GPU", "above 8 GB", BAND_POOR},
};

static const band speed_bands[] = {
    {50, false, NULL, "real time", "below 50 ms", BAND_GOOD},
    {200, true, NULL, "near real time", "50 to 200 ms", BAND_FAIR},
    {INFINITY, true, NULL, "slow", "above 200 ms, for batch work", BAND_POOR},
};

static const band *const scales[] = {[BAND_WORK] = work_bands,
                                     [BAND_INTENSITY] = intensity_bands,
                                     [BAND_MEMORY] = memory_bands,
                                     [BAND_SPEED] = speed_bands};

const band *band_of(band_scale scale, double figure)
{
    const band *b = scales[scale];
    if (isnan(figure))
        return NULL;
    while (figure > b->top || (figure == b->top && !b->with_top))
        b++;
    return b;
}

const char *band_word(const band *b)
{
    return b ? b->word : NULL;
}

const char *const bound_words[] = {"memory-bound", "compute-bound", NULL};

/* ---- of results ---- */

/* The memory of models in one process cannot be separated. */
config_bands config_bands_of(const profile_measured *of, const profile_config *c)
{
    config_bands b = {0};
    if (!c->latency.runs)
        return b;
    b.speed = band_of(BAND_SPEED, c->latency.mean);
    if (c->memory.peak && !of->interleaved)
        b.memory = band_of(BAND_MEMORY, (double)profile_used_bytes(c));
    b.present = b.speed || b.memory;
    return b;
}

/* The bands of work are of FLOPs as assay counts them. */
static const band *work_band(const profile *p)
{
    bool ours = str_empty(p->lens) || str_is(p->lens, "assay");
    bool counted = p->n_layers || p->total_flops;
    return ours && counted ? band_of(BAND_WORK, (double)p->total_flops) : NULL;
}

profile_bands profile_bands_of(const profile *p)
{
    const profile_config *smallest = profile_smallest(p);
    config_bands run = smallest ? config_bands_of(p->measured, smallest) : (config_bands){0};
    uint64_t planned = p->memory_plan.peak_bytes;
    profile_bands b = {.work = work_band(p), .speed = run.speed, .run_memory = run.memory};
    if (p->total_memory)
        b.intensity = band_of(BAND_INTENSITY, p->arithmetic_intensity);
    if (planned)
        b.memory = band_of(BAND_MEMORY, (double)planned);
    b.present = b.work || b.intensity || b.memory || b.speed || b.run_memory;
    return b;
}

/* ---- rows ---- */

static const char *const tone_words[] = {"good", "fair", "poor", NULL};

static const field band_rows[] = {
    FIELD(band, word, WORD, NONE, NULL, "The verdict."),
    FIELD(band, tone, ENUM, NONE, NULL, "How it is coloured.", .words = tone_words),
    FIELD(band, range, WORD, NONE, NULL, "Figures that it holds for."),
};
static const fields band_fields = FIELDS(band, band_rows);

#define BAND(T, member, about_) \
    FIELD_STRUCT(T, #member, member, band_fields, about_, .by_pointer = true, OR_OMIT, ONE_LINE)

static const field config_band_rows[] = {
    BAND(config_bands, speed, "By mean latency."),
    BAND(config_bands, memory, "By peak memory above the start."),
};
const fields config_band_fields = FIELDS_IF_PRESENT(config_bands, config_band_rows);

static const field profile_band_rows[] = {
    BAND(profile_bands, work, "By FLOPs, where they follow assay's convention."),
    BAND(profile_bands, intensity, "By arithmetic intensity."),
    BAND(profile_bands, memory, "By the planned peak of memory."),
    BAND(profile_bands, speed, "By mean latency of the smallest batch."),
    BAND(profile_bands, run_memory, "By measured memory of the smallest batch."),
};
const fields profile_band_fields = FIELDS_IF_PRESENT(profile_bands, profile_band_rows);

/* The summary of a profile: the figures, verdicts and sentences that web/src/views/summary.ts shows first; a test
 * of the page holds both against each other. */
#include <math.h>

#include "base/text.h"
#include "report/view.h"

/* ---- verdicts: the bands of the result ---- */

static view_verdict judge_band(const json_value *v)
{
    static const char *const tones[] = {"good", "fair", "poor"};
    str word = json_path(v, "word")->s, tone = json_path(v, "tone")->s;
    view_verdict verdict = {word.n ? word.p : NULL, TONE_PLAIN};
    for (int i = 0; i < 3; i++)
        if (str_is(tone, tones[i]))
            verdict.tone = (view_tone)(TONE_GOOD + i);
    return verdict;
}

/* ---- figures ---- */

static const view_fact_row measured[] = {
    {.name = "Latency, median",
     .value = "{latency.p50:ms}",
     .note = "mean {latency.mean:ms} ± {latency.std:ms}",
     .when = "latency.p50",
     .judge = judge_band,
     .judged = "bands.speed"},
    {.name = "Latency, p95",
     .value = "{latency.p95:ms}",
     .note = "p99 {latency.p99:ms} of {latency.runs:whole} runs",
     .when = "latency.p95"},
    {.name = "Throughput",
     .value = "{throughput.samples_per_second*throughput.units_per_sample:rate}",
     .note = "{throughput.unit:text} per second|samples per second",
     .when = "throughput.samples_per_second"},
    {.name = "Memory of the run",
     .value = "{memory.peak:bytes}",
     .note = "peak above the start",
     .when = "memory.peak"},
    {.name = "Processor",
     .value = "{utilization.cpu_percent:percent0}",
     .note = "of one core",
     .when = "utilization.cpu_percent"},
    {.name = "Recommended batch",
     .value = "{recommended_batch:whole}",
     .note = "{batch_choice.why:text}|most throughput within four fifths of memory",
     .when = "recommended_batch,++configurations"},
};

static const view_fact_row counted[] = {
    {.name = "Parameters",
     .value = "{total_parameters:si}",
     .note = "{+architecture.buffers:si} more in buffers|{total_parameters:whole}",
     .when = "!watch/+total_parameters"},
    {.name = "Model size",
     .value = "{architecture.weight_bytes:bytes}",
     .note = "{+architecture.file_size_bytes:bytes} on disk|[{config.precision:text}]",
     .when = "+architecture.weight_bytes"},
    {.name = "FLOPs",
     .value = "{total_flops:si}|{architecture.flops:si}",
     .note = "{total_macs:si} MACs",
     .when = "lens=assay,+layers/+total_flops",
     .judge = judge_band,
     .judged = "bands.work"},
    {.name = "FLOPs as {lens:text} counts",
     .value = "{total_flops:si}|{architecture.flops:si}",
     .note = "{total_macs:si} MACs",
     .when = "lens!=assay,+layers/+total_flops"},
    {.name = "Memory traffic",
     .value = "{total_memory:bytes}",
     .note = "every tensor of a layer once",
     .when = "+total_memory"},
    {.name = "Arithmetic intensity",
     .value = "{arithmetic_intensity:intensity}",
     .note = "FLOPs per byte",
     .when = "+total_memory",
     .judge = judge_band,
     .judged = "bands.intensity"},
    {.name = "Planned peak memory",
     .value = "{memory_plan.peak_bytes:bytes}",
     .note = "{memory_plan.activations_peak_bytes:bytes} of activations",
     .when = "+memory_plan.peak_bytes",
     .judge = judge_band,
     .judged = "bands.memory"},
};

static const view_group_row groups[] = {{"Measured", VIEW_FACTS(measured)},
                                        {"Counted", VIEW_FACTS(counted)}};

/* ---- how sure the counts are ---- */

static void put_doubts(sbuf *b, const json_value *a)
{
    const char *comma = "";
    if (json_path(a, "assumed")->f > 0) {
        view_put(b, a, a, "{assumed:whole} under an assumption");
        comma = ", ";
    }
    if (json_path(a, "unknown")->f > 0) {
        sbuf_puts(b, comma);
        view_put(b, a, a, "{unknown:whole} unknown and not in the totals");
        comma = ", ";
    }
    if (json_is_true(json_path(a, "architecture_changed"))) {
        sbuf_printf(b, "%sthe input size changes the architecture", comma);
        comma = ", ";
    }
    if (!*comma)
        sbuf_puts(b, "sizes of inputs were assumed");
}

static void say_certainty(view *v, const json_value *d)
{
    const json_value *a = json_path(d, "accounting");
    bool exact = json_path(a, "assumed")->f == 0 && json_path(a, "unknown")->f == 0 &&
                 !json_is_true(json_path(a, "anything_assumed"));
    sbuf b = {0};
    if (!(json_path(a, "nodes")->f > 0))
        return;
    if (exact)
        view_put(&b, a, a,
                 "Exact: {exact:whole} of {nodes:whole} operators counted, nothing assumed.");
    else {
        view_put(&b, a, a, "{exact:whole} of {nodes:whole} operators are exact; ");
        put_doubts(&b, a);
        sbuf_putc(&b, '.');
    }
    view_banner_add(v, exact ? TONE_GOOD : TONE_FAIR,
                    str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n}));
    sbuf_free(&b);
}

static void say_first(view *v, const json_value *d)
{
    if (json_is_true(json_path(d, "interrupted")))
        view_banner_add(v, TONE_FAIR,
                        STR("The measurement was interrupted; what follows is what was there by "
                            "then."));
    say_certainty(v, d);
    view_banner_add(v, TONE_FAIR, json_path(d, "stopped")->s);
}

/* What no figure of the summary rests on, and may be long. */
static const char *const long_lists[] = {
    "layers",   "modules",   "values",     "operations",     "groups",          "devices",
    "patterns", "inventory", "memory_map", "configurations", "batch_profiling", NULL};

const view_kind view_profile_kind = {
    .schema = "assay.profile",
    .title = "{model:text}|unnamed",
    .under = "[{config.format:text}][ · {config.precision:text}][ · {context.engine.title:text} "
             "{context.engine.version:text} on {context.engine.device:text}]",
    .groups = groups,
    .n_groups = 2,
    .skip = long_lists,
    .more = say_first};

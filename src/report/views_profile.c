/* View of a profile. Its first figures, verdicts and sentences are those of web/src/views/summary.ts; a test of the
 * page compares the two. */
#include "profile/profile_fields.h"
#include "report/views.h"

/* ---- figures ---- */

static const view_fact_row measured[] = {
    {.name = "Latency, median",
     .value = "{latency.p50:ms}",
     .note = "mean {latency.mean:ms} ± {latency.std:ms}",
     .when = "latency.p50",
     .verdict = "bands.speed"},
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
     .verdict = "bands.work"},
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
     .verdict = "bands.intensity"},
    {.name = "Planned peak memory",
     .value = "{memory_plan.peak_bytes:bytes}",
     .note = "{memory_plan.activations_peak_bytes:bytes} of activations",
     .when = "+memory_plan.peak_bytes",
     .verdict = "bands.memory"},
};

/* ---- how sure the counts are ---- */

static void put_doubts(const view *v, sbuf *b, const field_value *a)
{
    static const struct {
        const char *when, *text;
    } doubts[] = {{"+assumed", "{assumed:whole} under an assumption"},
                  {"+unknown", "{unknown:whole} unknown and not in the totals"},
                  {"+architecture_changed", "the input size changes the architecture"}};
    const char *comma = "";
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
        if (!view_holds(v, a, doubts[i].when))
            continue;
        sbuf_puts(b, comma);
        view_put(v, b, a, doubts[i].text);
        comma = ", ";
    }
    if (!*comma)
        sbuf_puts(b, "sizes of inputs were assumed");
}

static void say_certainty(view *v)
{
    field_value a = fields_get(&v->root, "accounting");
    bool doubt = view_holds(v, &a, "+assumed/+unknown/+anything_assumed");
    sbuf b = {0};
    if (!view_holds(v, &a, "+nodes"))
        return;
    view_put(v, &b, &a,
             doubt ? "{exact:whole} of {nodes:whole} operators are exact; "
                   : "Exact: {exact:whole} of {nodes:whole} operators counted, nothing assumed.");
    if (doubt) {
        put_doubts(v, &b, &a);
        sbuf_putc(&b, '.');
    }
    view_add_banner(v, doubt ? TONE_FAIR : TONE_GOOD,
                    str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n}));
    sbuf_free(&b);
}

static void say_first(view *v)
{
    if (view_holds(v, &v->root, "+interrupted"))
        view_add_banner(v, TONE_FAIR,
                        STR("The measurement was interrupted; what follows is what was there by "
                            "then."));
    say_certainty(v);
    view_add_banner(v, TONE_FAIR, fields_get(&v->root, "stopped").text);
}

static const view_section_row sections[] = {
    {.title = "Measured", .first = true, VIEW_FACTS(measured)},
    {.title = "Counted", .first = true, VIEW_FACTS(counted)},
};

const view_kind profile_view = {
    .of = &profile_kind,
    .title = "{model:text}|unnamed",
    .under = "[{config.format:text}][ · {config.precision:text}][ · {context.engine.title:text} "
             "{context.engine.version:text} on {context.engine.device:text}]",
    VIEW_SECTIONS(sections),
    .csv = profile_csv,
    .n_csv = PROFILE_CSV_LISTS,
    .begin = say_first,
    .prepare = profile_in_detail,
};

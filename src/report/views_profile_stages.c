/* The stages of `assay profile`: load, architecture, FLOPs, single input, batch sizes, and the recommended batch
 * size. */
#include "profile/batch_choice.h"
#include "profile/metrics.h"
#include "report/view_units.h"
#include "report/views_profile.h"

#define STAGES .only = "profile"

static const view_fact_row loading_facts[] = {
    VIEW_FACT("Config file", "{config.config_file:text}", NULL, "+config.config_file"),
    VIEW_FACT("Model", "{model:text}", NULL, "+model"),
    VIEW_FACT("Image size", "{config.image_size:text}", NULL, "config.image_size"),
    VIEW_FACT("Device", "{config.device:text}|cpu",
              "[{context.engine.title:text} {context.engine.version:text}][, "
              "{+context.engine.threads:whole thread}]",
              NULL),
    VIEW_FACT("Batch sizes", "{config.batch_sizes:text}", NULL, "+config.batch_sizes"),
    VIEW_FACT("Layers", "{layers.@count:whole}", NULL, NULL),
};

static const view_fact_row architecture_facts[] = {
    VIEW_FACT("Total parameters", "{architecture.total_parameters:whole}",
              "{architecture.total_parameters:si2}[ · {+architecture.buffers:whole} more in "
              "buffers]",
              NULL),
    VIEW_FACT("Trainable parameters", "{architecture.trainable_parameters:whole}", NULL, NULL),
    VIEW_FACT("Model size", "{architecture.weight_bytes:bytes}",
              "{architecture.weights_by_dtype:sizes}[ · file "
              "{+architecture.file_size_bytes:bytes}]|",
              NULL),
};

static const view_fact_row flops_facts[] = {
    VIEW_FACT("FLOPs", "{total_flops:whole}", NULL, "lens=assay"),
    VIEW_FACT("FLOPs", "{total_flops:whole}", "as {lens:text} counts", "lens!=assay"),
    VIEW_FACT("GFLOPs", "{architecture.gflops:small2}", NULL, NULL, .verdict = "bands.work"),
    VIEW_FACT("FLOPs per parameter", "{architecture.flops_per_param:fixed1}", NULL,
              "architecture.flops_per_param"),
    VIEW_FACT("Memory traffic", "{total_memory:bytes}",
              "reads {total_read:bytes} · writes {total_written:bytes}", "+total_memory"),
    VIEW_FACT("Intensity", "{arithmetic_intensity:fixed2}", NULL, "+total_memory",
              .verdict = "bands.intensity"),
};
static const view_table_row operation_tables[] = {
    {.path = "operations", VIEW_COLUMNS(profile_operation_columns), .limit = 6, .rest = "others"},
};

static const view_fact_row single_facts[] = {
    VIEW_FACT("Time", "{latency.mean:ms}",
              "± {latency.std:ms}, median {latency.p50:ms}, min {latency.min:ms}, max "
              "{latency.max:ms}",
              NULL, .verdict = "bands.speed"),
    VIEW_FACT("Memory", "{memory.peak:bytes}",
              "peak, activations {single_image.memory.activation_mb:mib}[ (planned "
              "{+memory.planned_activations:bytes})]",
              "memory,single_image.memory"),
    VIEW_FACT("", "{single_image.memory.before_mb:mib}",
              "before[, {memory.engine_bytes:bytes} of it the engine]; highest "
              "{single_image.memory.peak_mb:mib}",
              "memory,single_image.memory"),
    VIEW_FACT("Processor", "{utilization.cpu_percent:percent0}",
              "[{throughput.gflops_per_s:fixed1} GFLOP/s]",
              "utilization.cpu_percent,accounting.assumed=0"),
    VIEW_FACT("Processor", "{utilization.cpu_percent:percent0}",
              "[at most {throughput.gflops_per_s:fixed1} GFLOP/s]",
              "utilization.cpu_percent,+accounting.assumed"),
    VIEW_FACT("Processor", "–", "too short to tell[, {throughput.gflops_per_s:fixed1} GFLOP/s]",
              "!utilization.cpu_percent,accounting.assumed=0"),
    VIEW_FACT("Processor", "–",
              "too short to tell[, at most {throughput.gflops_per_s:fixed1} GFLOP/s]",
              "!utilization.cpu_percent,+accounting.assumed"),
};

/* ---- batch sizes ---- */

static void put_activations(const view *v, sbuf *b, const field_value *row)
{
    const profile_config *c = row->at;
    (void)v;
    if (c->memory.has_mb)
        view_put_number(b, c->memory.activation_mb, STR("mib"));
    else
        sbuf_puts(b, "–");
}

static const view_column batch_columns[] = {
    VIEW_NUMBER("batch", "{batch:whole}"),
    VIEW_NUMBER("mean", "{mean_ms:ms}", .keep = true, .tone = TONE_STRONG),
    VIEW_TEXT("", "± {std_ms:ms}", .keep = true, .tone = TONE_DIM),
    {.title = "",
     .cell = "samples_per_second/^batch_choice.samples_per_second",
     .bar = true,
     .drop = 2},
    VIEW_NUMBER("{throughput.unit:text}/s",
                "{samples_per_second*^throughput.units_per_sample:rate}", .keep = true),
    VIEW_NUMBER("peak", "{peak_bytes:bytes}", .keep = true),
    VIEW_NUMBER("activations", NULL, .put = put_activations, .keep = true),
    VIEW_NUMBER("output error", "[{output_error.relative:digits%}]", .drop = 1),
};
static const view_table_row batch_tables[] = {
    {.path = "configurations", VIEW_COLUMNS(batch_columns), .order = profile_order_ran},
};
static const view_line_row batch_lines[] = {
    VIEW_LINE(
        "The model has no batch dimension and runs one sample at a time: {config.batch.why:text}.",
        "config.batch.present=false,config.batch.why", PLAIN),
    PROFILE_PARTIAL_LINE,
};

/* ---- summary ---- */

static const view_fact_row summary_facts[] = {
    VIEW_FACT("Parameters", "{architecture.total_parameters:whole}",
              "{architecture.weight_bytes:bytes}", NULL),
    VIEW_FACT("GFLOPs", "{architecture.gflops:small2}", NULL, "lens=assay",
              .verdict = "bands.work"),
    VIEW_FACT("GFLOPs", "{architecture.gflops:small2}", "as {lens:text} counts", "lens!=assay"),
    VIEW_FACT("Single input", "{latency.mean:ms}", NULL, "latency", .verdict = "bands.speed"),
    VIEW_FACT("Memory", "{memory.peak:bytes}", NULL, "memory", .verdict = "bands.run_memory"),
    VIEW_FACT("Throughput", "{batch_choice.samples_per_second*throughput.units_per_sample:rate}",
              "{throughput.unit:text}/s at batch {batch_choice.batch:whole}",
              "batch_choice.samples_per_second,config.batch.present!=false"),
    VIEW_FACT("Throughput", "{batch_choice.samples_per_second*throughput.units_per_sample:rate}",
              "{throughput.unit:text}/s",
              "batch_choice.samples_per_second,config.batch.present,config.batch.present=false"),
};

static const profile_config *quickest(const profile_measured *m)
{
    const profile_config *best = NULL;
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].latency.runs &&
            (!best || m->configs[i].latency.mean < best->latency.mean))
            best = &m->configs[i];
    return best;
}

static void add_figure(view *v, const char *name, double number, const char *unit, str remark)
{
    sbuf b = {0};
    view_put_number(&b, number, str_of(unit));
    view_add_fact(v, (view_fact){.name = str_of(name),
                                 .value = str_copy(v->a, (str){sbuf_cstr(&b), (uint32_t)b.n}),
                                 .note = remark});
    sbuf_free(&b);
}

static void add_training(view *v, const profile_config *best)
{
    if (!best->plan_training)
        return;
    double kept = (double)best->plan_training_activations, all = (double)best->plan_training;
    add_figure(v, "Training at it", all, "bytes", STR("for a step with AdamW in float32"));
    add_figure(v, "", all - kept, "bytes", STR("weights, gradients and moments"));
    add_figure(v, "", kept, "bytes", STR("activations"));
}

static void build_choice(view *v)
{
    const profile_measured *m = ((const profile *)v->root.at)->measured;
    const profile_config *fast = m ? quickest(m) : NULL, *best = m ? profile_chosen(m) : NULL;
    if (!fast || !best)
        return;
    double used = (double)profile_used_bytes(best);
    add_figure(v, "Lowest latency", fast->latency.mean, "ms",
               str_printf(v->a, "at batch %llu", (unsigned long long)fast->batch));
    add_figure(v, "For throughput", (double)best->batch, "whole", m->choice.why);
    add_figure(v, "Memory at it", used, "bytes", (str){0});
    add_figure(v, "", used / 0.8, "bytes", STR("leaves 20 % free"));
    add_training(v, best);
}

static const view_section_row stages_rows[] = {
    {.title = "[1/5] Loading", STAGES, .first = true, VIEW_FACTS(loading_facts)},
    {.title = "[2/5] Architecture", STAGES, .first = true, VIEW_FACTS(architecture_facts)},
    {VIEW_SECTION("[3/5] FLOPs", NULL, NULL, NULL), STAGES, .first = true, VIEW_FACTS(flops_facts),
     VIEW_TABLES(operation_tables)},
    {VIEW_SECTION("[4/5] Single input", NULL, NULL, "latency"), STAGES, .first = true,
     VIEW_FACTS(single_facts)},
    {VIEW_SECTION("[5/5] Batch sizes", NULL, NULL, "latency"), STAGES, .first = true,
     VIEW_TABLES(batch_tables), VIEW_LINES(batch_lines)},
    {.title = "Summary", STAGES, .first = true, VIEW_FACTS(summary_facts)},
    {VIEW_SECTION("Batch size recommendations", NULL, NULL,
                  "config.batch.present!=false,!interrupted/interrupted=false"),
     STAGES, .first = true, .build = build_choice},
};
const view_sections profile_stages_sections = VIEW_LIST(stages_rows);

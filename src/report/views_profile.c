/* View of a profile: what the model is and how sure the figures are, the figures, where the work is, what limits it,
 * and what to know before relying on it. views_profile_*.c have the sections that only some profiles have.
 *
 * Sections are shown by --view: "all" stands for the view of everything. The page and the HTML
 * summary show the sections of "summary". */
#include "report/views_profile.h"
#include "profile/profile_fields.h"

/* ---- figures of the summary ---- */

static const view_fact_row summary_measured[] = {
    VIEW_FACT("Latency, median", "{latency.p50:ms}", "mean {latency.mean:ms} ± {latency.std:ms}",
              "latency.p50", .verdict = "bands.speed"),
    VIEW_FACT("Latency, p95", "{latency.p95:ms}",
              "p99 {latency.p99:ms} of {latency.runs:whole run}", "latency.p95"),
    VIEW_FACT("Throughput", "{throughput.samples_per_second*throughput.units_per_sample:rate}",
              "{throughput.unit:text} per second|samples per second",
              "throughput.samples_per_second"),
    VIEW_FACT("Memory of the run", "{memory.peak:bytes}", "peak above the start", "memory.peak"),
    VIEW_FACT("Processor", "{utilization.cpu_percent:percent0}", "of one core",
              "utilization.cpu_percent"),
    VIEW_FACT("Recommended batch", "{recommended_batch:whole}",
              "{batch_choice.why:text}|most throughput within four fifths of memory",
              "recommended_batch,++configurations"),
};

static const view_fact_row summary_counted[] = {
    VIEW_FACT("Parameters", "{total_parameters:si}",
              "{+architecture.buffers:si} more in buffers|{total_parameters:whole}",
              "!watch/+total_parameters", .exact = "{total_parameters:whole}"),
    VIEW_FACT("Model size", "{architecture.weight_bytes:bytes}",
              "{+architecture.file_size_bytes:bytes} on disk|[{config.precision:text}]",
              "+architecture.weight_bytes", .exact = "{architecture.weight_bytes:whole} bytes"),
    VIEW_FACT("FLOPs", "{total_flops:si}|{architecture.flops:si}", "{total_macs:si} MACs",
              "lens=assay,+layers/+total_flops", .verdict = "bands.work",
              .exact = "{total_flops:whole}|{architecture.flops:whole}"),
    VIEW_FACT("FLOPs as {lens:text} counts", "{total_flops:si}|{architecture.flops:si}",
              "{total_macs:si} MACs", "lens!=assay,+layers/+total_flops",
              .exact = "{total_flops:whole}|{architecture.flops:whole}"),
    VIEW_FACT("Memory traffic", "{total_memory:bytes}", "every tensor of a layer once",
              "+total_memory", .exact = "{total_memory:whole} bytes"),
    VIEW_FACT("Arithmetic intensity", "{arithmetic_intensity:intensity}", "FLOPs per byte",
              "+total_memory", .verdict = "bands.intensity"),
    VIEW_FACT("Planned peak memory", "{memory_plan.peak_bytes:bytes}",
              "{memory_plan.activations_peak_bytes:bytes} of activations",
              "+memory_plan.peak_bytes", .verdict = "bands.memory",
              .exact = "{memory_plan.peak_bytes:whole} bytes"),
};

/* ---- figures ---- */

static const view_fact_row size_facts[] = {
    VIEW_FACT("Parameters", "{architecture.total_parameters:whole}",
              "{architecture.total_parameters:si2}[ · {+architecture.buffers:whole} more in "
              "buffers][ · {+architecture.parameters_not_in_graph:whole} not in the graph]",
              NULL),
    VIEW_FACT("Model size", "{architecture.weight_bytes:bytes}",
              "{architecture.weights_by_dtype:sizes}[ · file "
              "{+architecture.file_size_bytes:bytes}]|",
              NULL),
    VIEW_FACT("Tensors", "{inventory.tensors:whole}",
              "{inventory.elements:whole} elements[ · {+inventory.training_elements:whole} of them "
              "of training]",
              "inventory"),
};

#define CAUSAL_IS_ALL \
    "architecture.causal_macs=0/architecture.causal_macs>total_macs/architecture.causal_macs=^total_macs"
static const view_fact_row work_facts[] = {
    VIEW_FACT(
        "Operators", "{total_operators:whole}",
        "{operations.@count:whole type}[ · {+accounting.folded:whole} more folded in advance]",
        NULL),
    VIEW_FACT("MACs", "{total_macs:whole}", "{total_macs:macs}", CAUSAL_IS_ALL),
    VIEW_FACT("MACs", "{total_macs:whole}",
              "{total_macs:macs} · causal {architecture.causal_macs:si2}",
              "+architecture.causal_macs,total_macs>architecture.causal_macs"),
    VIEW_FACT("FLOPs", "{total_flops:whole}", "{total_flops:flops}", "lens=assay",
              .verdict = "bands.work"),
    VIEW_FACT("FLOPs", "{total_flops:whole}", "{total_flops:flops} · as {lens:text} counts",
              "lens!=assay"),
    VIEW_FACT("Memory traffic", "{total_memory:bytes}",
              "reads {total_read:bytes} · writes {total_written:bytes}", NULL),
    VIEW_FACT("Intensity", "{arithmetic_intensity:fixed2}", NULL, NULL,
              .verdict = "bands.intensity"),
    VIEW_FACT("Load-time work", "{load_time.memory:bytes}",
              "once, not per run · operators on weights alone: {load_time.operators:whole}[ · "
              "{+load_time.flops:flops}]",
              "+load_time.operators"),
    VIEW_FACT("Activation peak", "{memory_plan.activations_peak_bytes:bytes}",
              "[at {memory_plan.peak_node:name}]", NULL),
    VIEW_FACT("Peak memory", "{memory_plan.peak_bytes:bytes}",
              "weights and activations, no kernel scratch", NULL),
};

/* ---- weights without a graph ---- */

static const view_column type_columns[] = {
    VIEW_TEXT("Type", "{@key}"),
    VIEW_NUMBER("Elements", "{elements:whole}"),
    VIEW_NUMBER("Size", "{bytes:bytes}"),
};
static const view_column tensor_columns[] = {
    VIEW_TEXT("Tensor", "{name:text}", .min = 20),
    VIEW_TEXT("Type", "{dtype:text}", .keep = true),
    VIEW_TEXT("Shape", "{shape:text}", .keep = true, .min = 12),
    VIEW_NUMBER("Elements", "{elements:whole}", .keep = true),
    VIEW_NUMBER("Size", "{bytes:bytes}", .keep = true),
};
static const view_table_row inventory_tables[] = {
    {.title = "Types", .path = "inventory.by_dtype", VIEW_COLUMNS(type_columns)},
    {VIEW_TABLE("Largest tensors", "inventory.largest", tensor_columns), .limit = VIEW_TOP_ONLY},
};

static const view_column metadata_columns[] = {
    VIEW_TEXT("Metadata", "{key:text}", .keep = true),
    VIEW_TEXT("Value", "{value:text}", .min = 20),
};
static const view_table_row metadata_tables[] = {
    {VIEW_TABLE(NULL, "config.metadata", metadata_columns)},
};

/* ---- where the work is, and what limits it ---- */

const view_column profile_operation_columns[PROFILE_OPERATION_COLUMNS] = {
    VIEW_TEXT("type", "{type:text}"),
    {.title = "", .cell = "percent", .bar = true, .drop = 1},
    VIEW_NUMBER("share", "{percent:percent}", .keep = true),
    VIEW_NUMBER("count", "{count:whole}", .keep = true),
    VIEW_NUMBER("FLOPs", "{flops:si}", .keep = true),
    VIEW_NUMBER("memory", "{memory:bytes}", .keep = true),
};
static const view_table_row operation_tables[] = {
    {.path = "operations", VIEW_COLUMNS(profile_operation_columns), .limit = 12, .rest = "others"},
};

static const view_fact_row bound_facts[] = {
    VIEW_FACT("compute-bound", "{bottlenecks.compute_bound_percent:percent}",
              "of FLOPs · {bottlenecks.compute_bound_layers_percent:percent} of layers", NULL,
              .bar = "bottlenecks.compute_bound_percent"),
    VIEW_FACT("memory-bound", "{bottlenecks.memory_bound_percent:percent}",
              "of FLOPs · {bottlenecks.memory_bound_layers_percent:percent} of layers", NULL,
              .bar = "bottlenecks.memory_bound_percent"),
};
static const view_line_row bound_lines[] = {
    VIEW_LINE("Most FLOPs are in compute-bound layers. They benefit from more FLOPs per second: "
              "higher clocks, more cores, wider vector units, a lower precision.",
              "bottlenecks.limit,bottlenecks.limit=compute", PLAIN),
    VIEW_LINE(
        "About half of the FLOPs are limited by compute and half by memory bandwidth. Consider "
        "the layers, not the total.",
        "bottlenecks.limit,bottlenecks.limit=both", PLAIN),
    VIEW_LINE("Most FLOPs are in memory-bound layers. They benefit from bandwidth (HBM, caches), "
              "smaller types (fp16, int8) and fusion with their neighbours. A larger batch reuses "
              "the weights.",
              "bottlenecks.limit,bottlenecks.limit=memory", PLAIN),
    VIEW_LINE("Most layers are small and only move data. Fusion removes their memory traffic.",
              "+bottlenecks.many_small", PLAIN),
    VIEW_LINE("Convolutions are {bottlenecks.family_percent:percent0} of the FLOPs. The model "
              "benefits from a high peak of FLOPs per second, from int8, and from fusing "
              "normalization and activation into the convolutions.",
              "bottlenecks.family,bottlenecks.family=convolution", PLAIN),
    VIEW_LINE("Matrix products are {bottlenecks.family_percent:percent0} of the FLOPs. Long "
              "sequences and large batches are limited by compute. Decoding one token reads every "
              "weight for little arithmetic and is limited by bandwidth; batching helps.",
              "bottlenecks.family,bottlenecks.family=matmul", PLAIN),
    VIEW_LINE("The threshold is a convention. For a device, it is the peak divided by the "
              "bandwidth: about 16 for an EPYC 9654 in fp32, 153 for an A100 80 GB in fp16. Set it "
              "with --threshold N.",
              NULL, DIM),
};

/* ---- what the model is ---- */

enum { TENSORS_SHOWN = 4, HEAD_COLUMNS = 4, HEAD_ROWS = 2 * (TENSORS_SHOWN + 1) + 4 };

/* Label, name, type, shape. */
typedef struct head_rows {
    str cells[HEAD_ROWS][HEAD_COLUMNS];
    uint32_t n;
} head_rows;

static void add_tensors(const view *v, head_rows *to, const char *path, const char *one,
                        const char *several)
{
    field_value list = fields_get(&v->root, path);
    uint32_t shown = list.n <= TENSORS_SHOWN + 1 ? list.n : TENSORS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        field_value t = fields_item(&list, i);
        str *row = to->cells[to->n++];
        row[0] = str_of(i ? "" : list.n > 1 ? several : one);
        row[1] = view_text(v, &t, "{name:text}");
        row[2] = view_text(v, &t, "{dtype:text}|?");
        row[3] = view_text(v, &t, "[{kind:text} ]{shape:text}|[{kind:text} ]?");
    }
    if (shown < list.n)
        to->cells[to->n++][1] = str_printf(v->a, "and %u more", list.n - shown);
}

static void add_origin(const view *v, head_rows *to)
{
    static const view_fact_row rows[] = {
        VIEW_FACT("Made by", "{config.producer:text}", NULL, "+config.producer"),
        VIEW_FACT("Lens", "{lens:text}", NULL, "lens!=assay"),
        VIEW_FACT("Weighed as", "{config.weighed_as:text}", NULL, "+config.weighed_as"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (view_holds(v, &v->root, rows[i].when)) {
            to->cells[to->n][0] = str_of(rows[i].name);
            to->cells[to->n++][1] = view_text(v, &v->root, rows[i].value);
        }
    const profile *p = v->root.at;
    if (p->memory_plan.kv_cache) {
        to->cells[to->n][0] = STR("Memory");
        to->cells[to->n++][1] = str_of(profile_cache_words(p->memory_plan.kv_cache));
    }
}

static void build_head(view *v)
{
    head_rows rows = {.n = 0};
    add_tensors(v, &rows, "config.inputs", "Input", "Inputs");
    add_tensors(v, &rows, "config.outputs", "Output", "Outputs");
    add_origin(v, &rows);
    view_table *t = rows.n ? view_add_table(v, HEAD_COLUMNS, rows.n) : NULL;
    if (!t)
        return;
    t->untitled = true;
    t->heads[0].tone = TONE_DIM;
    t->heads[1].min = t->heads[3].min = 12;
    memcpy(t->cells, rows.cells, sizeof *rows.cells * rows.n);
}

/* ---- how sure the counts are ---- */

static void put_doubts(const view *v, sbuf *b, const field_value *a)
{
    static const struct {
        const char *when, *text;
    } doubts[] = {{"+assumed", "{assumed:whole} under an assumption"},
                  {"+unknown", "{unknown:whole} unknown and not in the totals"},
                  {"+weights_differ", "the weights are not those of the configuration"},
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
             doubt
                 ? "{exact:whole} of {nodes:whole operator} are exact; [{+user_defined:whole} by "
                   "user-defined rules; ]"
                 : "Exact: {exact:whole} of {nodes:whole operator} counted, [{+user_defined:whole} "
                   "by user-defined rules, ]nothing assumed.");
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
    if (str_is(str_of(v->o->view), "summary"))
        v->under = view_text(v, &v->root,
                             "[{config.format:text}][ · {config.precision:text}][ · "
                             "{context.engine.title:text} {context.engine.version:text} on "
                             "{context.engine.device:text}]");
    if (view_holds(v, &v->root, "+interrupted"))
        view_add_banner(v, TONE_FAIR,
                        view_holds(v, &v->root, "latency")
                            ? STR("Interrupted: only the measurements so far are shown.")
                            : STR("Interrupted before the first run: nothing was measured."));
    say_certainty(v);
    view_add_banner(v, TONE_FAIR, fields_get(&v->root, "stopped").text);
}

/* ---- the sections ---- */

static const view_items_row advice = {.path = "recommendations",
                                      .title = "{title:text}",
                                      .text = "{why:text}",
                                      .note = "{expected:text}",
                                      .limit = 5};

#define MODEL_VIEWS "all profile bench layers memory map fuse"

static const view_section_row sections[] = {
    {.title = "Measured", .only = "summary", .first = true, VIEW_FACTS(summary_measured)},
    {.title = "Counted", .only = "summary", .first = true, VIEW_FACTS(summary_counted)},
    {VIEW_SECTION("Model", NULL, MODEL_VIEWS, "!watch"), .first = true, .head = true,
     .build = build_head},
    {VIEW_SECTION("Metadata", "what the file says about itself", MODEL_VIEWS,
                  "+config.metadata,$verbose"),
     VIEW_TABLES(metadata_tables)},
    {.of = &profile_stages_sections},
    {VIEW_SECTION("Summary", NULL, MODEL_VIEWS, "+inventory.alone"), .first = true,
     VIEW_FACTS(size_facts), VIEW_TABLES(inventory_tables)},
    {VIEW_SECTION("Summary", NULL, "all", "!inventory/1>inventory.alone,!watch"), .first = true,
     .beside = true, VIEW_FACTS(size_facts)},
    {.in = "all", .when = "!inventory/1>inventory.alone,!watch", VIEW_FACTS(work_facts)},
    {VIEW_SECTION("Operations", "by share of FLOPs", "all", NULL), .first = true,
     VIEW_TABLES(operation_tables)},
    {VIEW_SECTION("Bottlenecks",
                  "compute-bound means {bottlenecks.threshold:short} FLOPs per byte or more[, "
                  "ridge of {bottlenecks.hardware:text}]",
                  "all profile", "+layers,!interrupted/interrupted=false"),
     .first = true, .beside = true, VIEW_FACTS(bound_facts), VIEW_LINES(bound_lines)},
    {.of = &profile_memory_sections},
    {.of = &profile_measured_sections},
    {.of = &profile_times_sections},
    {.of = &profile_blocking_sections},
    {.of = &profile_plan_sections},
    {.of = &profile_layers_sections},
    {.of = &profile_events_sections},
    {.of = &profile_training_sections},
    {.of = &profile_map_sections},
    {.of = &profile_fusion_sections},
    {.of = &profile_watch_sections},
    {VIEW_SECTION("Recommendations", "by what they could save", "all layers map profile",
                  "!interrupted/interrupted=false"),
     .items = &advice},
};

const view_kind profile_view = {
    .of = &profile_kind,
    .title = "{watch.command:name}|{model:text}|unnamed",
    .under =
        "[{config.format:text}][ · opset {+config.opset:text}][ · IR {+config.ir_version:text}]",
    VIEW_SECTIONS(sections),
    .csv = profile_csv,
    .n_csv = PROFILE_CSV_LISTS,
    .ruled = true,
    .begin = say_first,
    .prepare = profile_in_detail,
};

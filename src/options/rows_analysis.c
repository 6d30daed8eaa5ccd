/* Options of static analysis: counting, the memory plan, hardware, fusion, scaling. */
#include "base/sbuf.h"
#include "base/text.h"
#include "options/rows.h"

static OPTION_SETTER(set_question)
{
    (void)row;
    return scaling_add_question(&o->scaling, o->arena, value, err);
}

static OPTION_SETTER(set_lens)
{
    const char *names[64] = {0};
    uint32_t n = 0;
    sbuf hint = {0};
    o->analysis.lens = lens_find(value);
    o->analysis.all_lenses = str_is(value, "all");
    if (o->analysis.lens || o->analysis.all_lenses)
        return ASSAY_OK;
    for (; n < lens_table_n && n < 64; n++)
        names[n] = lens_table[n].name;
    text_did_you_mean(&hint, value, names, n);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "%s: unknown convention '" STR_FMT "'.%s `assay lenses` lists them.",
                              row->name, STR_ARG(value), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

static const option_row analysis[] = {
    {OPTION_READ("lens", set_lens, "graph profile compare check validate fuse scale"),
     .value = "NAME", .values = "@conventions",
     .about = "Count FLOPs by the convention of another tool; `assay lenses` lists them."},
    {OPTION("training", FLAG, analysis.training, "graph profile scale"),
     .about = "Add the cost of a training step: backward pass, gradients, optimizer states."},
    {OPTION("patterns", FLAG, analysis.patterns, "graph"),
     .about = "Recognise norms, activations and attention that the file expresses as several "
              "operators."},
    {OPTION("advice", FLAG, analysis.advice, "graph"),
     .about = "Add recommendations, each evaluated by analysing the changed model."},
    {OPTION("no-advice", FLAG, analysis.no_advice, "graph profile layers map"),
     .about = "Omit the recommendations."},
    {OPTION("live", FLAG, analysis.live, "validate"),
     .about = "Run the other tool (fvcore, thop) in the installed Python."},
};
OPTION_TOPIC(options_analysis, "Analysis", analysis);

static const option_row memory[] = {
    {OPTION("at", WORDS, analysis.at, "memory"), .repeatable = true, .value = "LAYER",
     .max = JOB_SNAPSHOTS_MOST,
     .about = "Show live tensors at this layer, given by its name, an output or its step."},
    {OPTION("allocations", FLAG, analysis.allocations, NULL),
     .about = "Write the complete memory plan: placement, allocations and frees, snapshots."},
};
OPTION_TOPIC(options_memory, "Memory plan", memory);

static const option_row hardware[] = {
    {OPTION("hardware", WORD, hardware.names,
            "graph profile bench layers map devices pipeline capacity models"),
     .value = "NAME|FILE", .values = "@devices",
     .about =
         "Use the roofline of this device: a name that `assay devices` lists, `this`, or a "
         ".json or .csv file. map, models, pipeline, capacity: several, separated by commas, classes "
         "(gpu, edge), words of names (jetson), or `all`."},
    {OPTION("goal", WORD, hardware.goal, "map"), .value = "latency[:10ms]",
     .values = "latency|throughput|memory|power|energy|cost",
     .about = "Rank devices by latency, throughput, memory, power, energy or cost (USD per million "
              "samples), with or without a limit."},
    {OPTION("price", WORDS, hardware.prices, "map capacity history"), .repeatable = true,
     .value = "[NAME=]USD", .max = JOB_PRICES_MOST,
     .about = "Set the price per hour of devices whose name contains NAME, or of all. Default: the "
              "list price that `assay devices` shows. history cheapest: of classes of machines."},
    {OPTION("task", WORD, hardware.task, "models"), .value = "NAME", .values = "@tasks",
     .about = "List models of this task; with --hardware, rank those within --budget by published "
              "accuracy."},
    {OPTION("fit", WORD, hardware.fit, "map"), .value = "FILE",
     .about = "Fit the coefficients of the one device in --hardware to your measurements: CSV with "
              "the columns op, dtype, shape, time_ms."},
    {OPTION("runtime", WORD, hardware.runtime, "map models"), .value = "NAME",
     .values = "eager|compiled|tensorrt|onnxruntime", .closed = true,
     .about = "Predict times of this runtime. Default: compiled on GPUs, onnxruntime on "
              "processors. tensorrt is not validated."},
};
OPTION_TOPIC(options_hardware, "Hardware", hardware);

static const option_row machine[] = {
    {OPTION("quick", FLAG, hardware.quick, "machine"),
     .about = "Measure for five seconds, with wider intervals."},
    {OPTION("calibrate", FLAG, hardware.calibrate, "machine"),
     .about = "Also run models, to predict times on `this` from measured kernels."},
};
OPTION_TOPIC(options_machine, "Machine", machine);

static const option_row fusion[] = {
    {OPTION("strategy", CHOICE, fusion.strategy, "fuse"),
     .values = "none|conventional|aggressive" /* in the order of fuse_strategy */, .initial = 1,
     .about = "Select the fusion: none, chains, or also residual adds, operands and blocks."},
    {OPTION("against-engine", FLAG, fusion.against_engine, "fuse"),
     .about = "Compare the groups with the fusions of the engine. The model is not run."},
};
OPTION_TOPIC(options_fusion, "Fusion", fusion);

static const option_row scaling_rows[] = {
    {OPTION_READ("solve", set_question, "scale"), .repeatable = true, .value = "[NAME:]WHAT<=LIMIT",
     .about = "Find the largest size within a limit: memory<=24GB, side:macs<=100G."},
};
OPTION_TOPIC(options_scaling, "Scaling", scaling_rows);

/* Options of static analysis: counting, the memory plan, hardware, fusion, scaling. */
#include "api/api.h"
#include "base/sbuf.h"
#include "base/text.h"

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
                              "%s: there is no convention '" STR_FMT
                              "'.%s `assay lenses` lists them.",
                              row->name, STR_ARG(value), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

static const option_row analysis[] = {
    {.name = "lens",
     .kind = OPTION_OWN,
     .value = "NAME",
     .values = "@conventions",
     .about = "Count FLOPs by the convention of another tool; `assay lenses` lists them.",
     .commands = "graph profile compare check validate fuse scale",
     .set = set_lens},
    {.name = "training",
     .kind = OPTION_FLAG,
     .about = "Add the cost of a training step: backward pass, gradients, optimizer states.",
     .commands = "graph profile scale",
     .at = OPTION_FIELD(analysis.training)},
    {.name = "patterns",
     .kind = OPTION_FLAG,
     .about = "Name the norms, activations and attention that the file writes as several "
              "operators.",
     .commands = "graph",
     .at = OPTION_FIELD(analysis.patterns)},
    {.name = "advice",
     .kind = OPTION_FLAG,
     .about = "Add recommendations: evaluate the model again with one change at a time.",
     .commands = "graph",
     .at = OPTION_FIELD(analysis.advice)},
    {.name = "no-advice",
     .kind = OPTION_FLAG,
     .about = "Leave out the recommendations.",
     .commands = "graph profile layers map",
     .at = OPTION_FIELD(analysis.no_advice)},
    {.name = "live",
     .kind = OPTION_FLAG,
     .about = "Run the other tool itself (fvcore, thop) in this machine's Python.",
     .commands = "validate",
     .at = OPTION_FIELD(analysis.live)},
};
OPTION_TOPIC(options_analysis, "Analysis", analysis);

static const option_row memory[] = {
    {.name = "at",
     .kind = OPTION_WORDS,
     .repeatable = true,
     .value = "LAYER",
     .about = "Show what is alive while this layer runs: its name, a value that it produces, or "
              "its step.",
     .commands = "memory",
     .at = OPTION_FIELD(analysis.at),
     .max = JOB_SNAPSHOTS_MOST},
    {.name = "allocations",
     .kind = OPTION_FLAG,
     .about = "Write the memory plan in full: placement, allocations and frees in order, "
              "snapshots.",
     .at = OPTION_FIELD(analysis.allocations)},
};
OPTION_TOPIC(options_memory, "Memory plan", memory);

static const option_row hardware[] = {
    {.name = "hardware",
     .kind = OPTION_WORD,
     .value = "NAME|FILE",
     .values = "@devices",
     .about = "Use the roofline of this device: a name that `assay devices` lists, `this`, or a "
              ".json or .csv file. map takes several names, or `all`.",
     .commands = "graph profile bench layers map devices pipeline",
     .at = OPTION_FIELD(hardware.names)},
    {.name = "goal",
     .kind = OPTION_WORD,
     .value = "latency[:10ms]",
     .values = "latency|throughput|memory|power|energy",
     .about = "Rank devices by latency, throughput, memory, power or energy, with or without a "
              "limit.",
     .commands = "map",
     .at = OPTION_FIELD(hardware.goal)},
};
OPTION_TOPIC(options_hardware, "Hardware", hardware);

static const option_row machine[] = {
    {.name = "quick",
     .kind = OPTION_FLAG,
     .about = "Measure for five seconds, with wider intervals.",
     .commands = "machine",
     .at = OPTION_FIELD(hardware.quick)},
    {.name = "calibrate",
     .kind = OPTION_FLAG,
     .about = "Run models too, so that times on `this` are predicted from measured kernels.",
     .commands = "machine",
     .at = OPTION_FIELD(hardware.calibrate)},
};
OPTION_TOPIC(options_machine, "Machine", machine);

static const option_row fusion[] = {
    {.name = "strategy",
     .kind = OPTION_CHOICE,
     .values = "none|conventional|aggressive", /* in the order of fuse_strategy */
     .about = "Choose how far layers are joined: not at all, in chains, or also residual adds, "
              "operands and whole blocks.",
     .commands = "fuse",
     .at = OPTION_FIELD(fusion.strategy),
     .initial = 1},
    {.name = "against-engine",
     .kind = OPTION_FLAG,
     .about = "Show the groups beside what the engine fuses. Nothing is run.",
     .commands = "fuse",
     .at = OPTION_FIELD(fusion.against_engine)},
};
OPTION_TOPIC(options_fusion, "Fusion", fusion);

static const option_row scaling_rows[] = {
    {.name = "solve",
     .kind = OPTION_OWN,
     .repeatable = true,
     .value = "[NAME:]WHAT<=LIMIT",
     .about = "Find the largest size within a limit, as in memory<=24GB or side:macs<=100G.",
     .commands = "scale",
     .set = api_set_question},
};
OPTION_TOPIC(options_scaling, "Scaling", scaling_rows);

/* Options of measuring: what is run, how often, on which engine; and of watching a process. */
#include <assay/measure.h>

#include "api/api.h"
#include "rewrite/precision.h"

#define BATCH_MAX ((int64_t)1 << 30)

static bool parse_batch(str s, int64_t *out)
{
    return option_whole_number(s, BATCH_MAX, out) && *out >= 1;
}

static OPTION_SETTER(set_batch_sizes)
{
    str rest = value;
    o->measure.batch_sizes.n = 0;
    do {
        int64_t v, *slot;
        if (!parse_batch(str_cut(&rest, ','), &v))
            return option_refuse(row, value, err, "whole numbers such as 1,2,4,8");
        slot = VEC_PUSH(o->arena, &o->measure.batch_sizes);
        if (!slot)
            return err_no_memory(err);
        *slot = v;
    } while (rest.n);
    return ASSAY_OK;
}

static OPTION_SETTER(set_configs)
{
    str rest = value;
    o->measure.configs.n = 0;
    do {
        str item = str_cut(&rest, ','), batch = str_cut(&item, ':');
        job_config c = {.precision = item.n ? str_copy(o->arena, item) : STR(JOB_PRECISION)}, *slot;
        if (!parse_batch(batch, &c.batch) ||
            (!precision_find(c.precision) && ir_dtype_by_name(c.precision) == IR_UNDEFINED))
            return option_refuse(row, value, err, "BATCH:PRECISION pairs such as 1:fp32,8:fp16");
        slot = VEC_PUSH(o->arena, &o->measure.configs);
        if (!slot)
            return err_no_memory(err);
        *slot = c;
    } while (rest.n);
    return ASSAY_OK;
}

static OPTION_SETTER(set_input)
{
    str path = value, name = {0};
    if (memchr(value.p, '=', value.n))
        name = str_cut(&path, '=');
    if (!path.n)
        return option_refuse(row, value, err, "[NAME=]FILE");
    job_input *in = VEC_PUSH(o->arena, &o->measure.inputs);
    if (!in)
        return err_no_memory(err);
    *in = (job_input){.name = name.n ? str_copy(o->arena, name) : (str){0},
                      .path = str_copy(o->arena, path)};
    return in->path.p ? ASSAY_OK : err_no_memory(err);
}

static OPTION_SETTER(set_provider_option)
{
    str text = value, key = str_cut(&text, '=');
    if (!key.n || key.n == value.n)
        return option_refuse(row, value, err, "KEY=VALUE");
    job_setting *s = VEC_PUSH(o->arena, &o->engine.provider_options);
    if (!s)
        return err_no_memory(err);
    *s = (job_setting){.key = str_copy(o->arena, key), .value = str_copy(o->arena, text)};
    return s->key.p && s->value.p ? ASSAY_OK : err_no_memory(err);
}

static const option_row measure[] = {
    {.name = "batch-sizes",
     .kind = OPTION_OWN,
     .value = ASSAY_BATCH_SIZES,
     .about = "Measure or map these batch sizes, one after the other.",
     .commands = "profile bench layers memory check map",
     .needs = "measure",
     .set = set_batch_sizes},
    {.name = "configs",
     .kind = OPTION_OWN,
     .value = "1:fp32,8:fp16",
     .about = "Measure these pairs of batch size and precision.",
     .commands = "bench",
     .set = set_configs},
    {.name = "num-runs",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Measure this many runs of each configuration.",
     .commands = "@run",
     .needs = "measure",
     .at = OPTION_FIELD(measure.num_runs),
     .min = 1,
     .max = 1000000,
     .initial = 50},
    {.name = "warmup-runs",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Warm up for at least this many runs, and until timings are steady.",
     .commands = "@run",
     .needs = "measure",
     .at = OPTION_FIELD(measure.warmup_runs),
     .min = 0,
     .max = 1000000,
     .initial = 10},
    {.name = "duration",
     .kind = OPTION_REAL,
     .above = true,
     .value = "SECONDS",
     .about = "Measure for at least this long; watch ends after it.",
     .commands = "profile bench check watch",
     .needs = "measure",
     .at = OPTION_FIELD(measure.duration),
     .max = 86400},
    {.name = "precision-target",
     .kind = OPTION_REAL,
     .above = true,
     .value = "PERCENT",
     .about = "Measure until the 95 % interval of the mean is this narrow, at most a minute.",
     .commands = "profile bench check",
     .needs = "measure",
     .at = OPTION_FIELD(measure.precision_target),
     .max = 100},
    {.name = "concurrency",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Run this many inferences at the same time, each in its own thread.",
     .commands = "bench check",
     .needs = "measure",
     .at = OPTION_FIELD(measure.concurrency),
     .min = 1,
     .max = 256,
     .initial = 1},
    {.name = "rate",
     .kind = OPTION_REAL,
     .above = true,
     .value = "PER-SECOND",
     .about = "Run an open loop: requests arrive at random at this rate, and latency counts from "
              "when they were due.",
     .commands = "bench",
     .at = OPTION_FIELD(measure.rate),
     .max = 10000000},
    {.name = "input",
     .kind = OPTION_OWN,
     .repeatable = true,
     .value = "[NAME=]FILE",
     .values = "@files",
     .about = "Read an input from a file: .npy, .pb (TensorProto), an image (.png, .jpg, .jpeg) or "
              "raw bytes. Default: random data.",
     .commands = "profile bench layers memory check",
     .needs = "measure",
     .set = set_input},
    {.name = "save-outputs",
     .kind = OPTION_WORD,
     .value = "FOLDER",
     .values = "@folders",
     .about = "Write the outputs of a run to this folder, each as NAME.npy.",
     .commands = "bench",
     .at = OPTION_FIELD(measure.save_outputs)},
    {.name = "unit",
     .kind = OPTION_WORD,
     .closed = true,
     .values = "samples|images|tokens|requests",
     .about = "Choose what throughput counts. Default: by the model's input.",
     .commands = "profile bench layers memory",
     .needs = "measure",
     .at = OPTION_FIELD(measure.unit)},
    {.name = "memory-limit",
     .kind = OPTION_BYTES,
     .value = "4GiB",
     .about = "Skip batch sizes that are planned to need more memory. Default: what is free.",
     .commands = "@run",
     .needs = "memory:measure|compare:measure",
     .at = OPTION_FIELD(measure.memory_limit)},
    {.name = "layers",
     .kind = OPTION_WORD,
     .value = "PATTERN,...",
     .about = "Show only layers whose name, module, type or operator contains one of these.",
     .commands = "layers",
     .at = OPTION_FIELD(measure.layer_patterns)},
};
OPTION_TOPIC(options_measure, "Measurement", measure);

static const option_row engine[] = {
    {.name = "device",
     .kind = OPTION_WORD,
     .value = "NAME",
     .values = "cpu|cuda",
     .about = "Run the model on this device of the engine; falls back to cpu with a warning.",
     .commands = "@run fuse",
     .needs = "measure|against-engine",
     .at = OPTION_FIELD(engine.device)},
    {.name = "threads",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Use this many threads inside an operator; 0 is the engine's choice.",
     .commands = "@run fuse machine",
     .needs = "measure|against-engine",
     .at = OPTION_FIELD(engine.threads),
     .min = 0,
     .max = 4096},
    {.name = "no-spin",
     .kind = OPTION_FLAG,
     .about = "Let idle threads of the engine sleep instead of spinning.",
     .commands = "@run",
     .needs = "measure",
     .at = OPTION_FIELD(engine.no_spin)},
    {.name = "opt-level",
     .kind = OPTION_INT,
     .values = "0|1|2|99",
     .about = "Set the engine's graph optimizations: none, basic, extended or all.",
     .commands = "@run fuse",
     .needs = "measure|against-engine",
     .at = OPTION_FIELD(engine.opt_level),
     .min = 0,
     .max = 99,
     .initial = 99},
    {.name = "provider-option",
     .kind = OPTION_OWN,
     .repeatable = true,
     .value = "KEY=VALUE",
     .about = "Pass a setting to the execution provider, or to the session "
              "(session.disable_prepacking=1).",
     .commands = "@run",
     .needs = "measure",
     .set = set_provider_option},
    {.name = "gpu-events",
     .kind = OPTION_CHOICE,
     .values = "all|kernels|copies|none", /* in the order of gpu_wanted */
     .about = "Record what a GPU does while layers are timed.",
     .commands = "profile layers",
     .at = OPTION_FIELD(engine.gpu_events)},
    {.name = "no-nvtx",
     .kind = OPTION_FLAG,
     .about = "Do not mark session, warm-up and runs as NVTX ranges.",
     .commands = "profile bench layers memory",
     .needs = "measure",
     .at = OPTION_FIELD(engine.no_nvtx)},
    {.name = "engine-lib",
     .kind = OPTION_WORD,
     .value = "FILE",
     .values = "@files",
     .about = "Load this ONNX Runtime library. Default: ASSAY_ORT_LIB, else the usual places.",
     .commands = "@run export fuse machine",
     .needs = "measure|against-engine",
     .at = OPTION_FIELD(engine.library)},
    {.name = "engine",
     .kind = OPTION_WORD,
     .value = "NAME",
     .values = "ort|null",
     .about = "Use this engine (ort).",
     .at = OPTION_FIELD(engine.name)},
};
OPTION_TOPIC(options_engine, "Engine", engine);

static const option_row watch[] = {
    {.name = "interval",
     .kind = OPTION_REAL,
     .value = "MS",
     .about = "Sample the process every this many milliseconds (100).",
     .commands = "watch",
     .at = OPTION_FIELD(measure.interval_ms),
     .min = 1,
     .max = 3600000},
};
OPTION_TOPIC(options_watch, "Process", watch);

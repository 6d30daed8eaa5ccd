/* Options of measuring: what is run, how often, on which engine; and of watching a process. */
#include <assay/measure.h>

#include "base/amount.h"
#include "options/rows.h"
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
        TRY_MEMORY(slot, err);
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
        TRY_MEMORY(slot, err);
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
    TRY_MEMORY(in, err);
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
    TRY_MEMORY(s, err);
    *s = (job_setting){.key = str_copy(o->arena, key), .value = str_copy(o->arena, text)};
    return s->key.p && s->value.p ? ASSAY_OK : err_no_memory(err);
}

#define THREADS_MOST 4096

/* One number; or a list, which only sweeps accept (job_engine_open() refuses it). */
static OPTION_SETTER(set_threads)
{
    str rest = value;
    int64_t v = 0;
    bool list = memchr(value.p, ',', value.n) != NULL;
    do {
        if (!option_whole_number(str_cut(&rest, ','), THREADS_MOST, &v))
            return option_refuse(row, value, err, "a whole number from 0 to %d", THREADS_MOST);
    } while (rest.n);
    o->engine.threads = list ? 0 : v;
    o->engine.threads_list = list ? str_copy(o->arena, value) : (str){0};
    return list && !o->engine.threads_list.p ? err_no_memory(err) : ASSAY_OK;
}

static const option_row measure[] = {
    {OPTION_READ("batch-sizes", set_batch_sizes, "profile bench layers memory check map sweep"),
     .value = ASSAY_BATCH_SIZES, .needs = "measure", .about = "Measure or map these batch sizes."},
    {OPTION_READ("configs", set_configs, "bench"), .value = "1:fp32,8:fp16",
     .about = "Measure these combinations of batch size and precision."},
    {OPTION("num-runs", INT, measure.num_runs, "@run sweep"), .value = "N", .needs = "measure",
     .min = 1, .max = 1000000, .initial = 50,
     .about = "Measure this many runs of each configuration."},
    {OPTION("warmup-runs", INT, measure.warmup_runs, "@run sweep"), .value = "N",
     .needs = "measure", .min = 0, .max = 1000000, .initial = 10,
     .about = "Warm up for at least this many runs, and until timings are steady."},
    {OPTION("duration", TIME, measure.duration, "profile bench check watch load sweep"),
     .above = true, .value = "TIME", .needs = "measure", .max = 86400,
     .about =
         "Measure for at least this time (4s, 500ms; a bare number is seconds). watch: end "
         "after this time. load: send requests for this time (default: 10 s), or for all steps "
         "of --curve together (60 s)."},
    {OPTION("precision-target", REAL, measure.precision_target, "profile bench check"),
     .above = true, .value = "PERCENT", .needs = "measure", .max = 100,
     .about = "Measure until half the 95 % interval is at most this share of the mean, for up to "
              "a minute."},
    {OPTION("concurrency", INT, measure.concurrency, "bench check load sweep"), .value = "N",
     .needs = "measure", .min = 1, .max = 10000, .initial = 1,
     .about = "Run this many inferences at the same time, each in its own thread. load: use this "
              "many connections, or at most this many with --rate."},
    {OPTION("cold", INT, measure.cold, "bench"), .value = "N", .min = 1, .max = 1000,
     .about = "Also measure this many cold starts, each in a new process: load the engine, create "
              "the session, run once."},
    {OPTION("rate", REAL, measure.rate, "bench load"), .above = true, .value = "PER-SECOND",
     .max = 10000000,
     .about = "Run an open loop: requests arrive at random at this rate, and latency counts from "
              "their arrival."},
    {OPTION_READ("input", set_input, "profile bench layers memory check"), .repeatable = true,
     .value = "[NAME=]FILE", .values = "@files", .needs = "measure",
     .about = "Read an input from a file: .npy, .pb (TensorProto), an image (.png, .jpg, .jpeg) or "
              "raw bytes. Default: random data."},
    {OPTION("save-outputs", WORD, measure.save_outputs, "bench"), .value = "FOLDER",
     .values = "@folders", .about = "Write the outputs of a run to this directory as NAME.npy."},
    {OPTION("unit", WORD, measure.unit, "profile bench layers memory"), .closed = true,
     .values = "samples|images|tokens|requests", .needs = "measure",
     .about = "Set the unit of throughput. Default: by the model's input."},
    {OPTION("memory-limit", BYTES, measure.memory_limit, "@run sweep"), .value = "4GiB",
     .needs = "memory:measure|compare:measure",
     .about = "Skip batch sizes that need more memory by plan. Default: free memory."},
    {OPTION("layers", WORD, measure.layer_patterns, "layers"), .value = "PATTERN,...",
     .about = "Show only layers whose name, module, type or operator contains one of these."},
};
OPTION_TOPIC(options_measure, "Measurement", measure);

static const option_row engine[] = {
    {OPTION("device", WORD, engine.device, "@run fuse sweep"), .value = "NAME",
     .values = "cpu|cuda", .needs = "measure|against-engine",
     .about = "Run the model on this device of the engine; falls back to cpu with a warning. "
              "sweep: a list."},
    {OPTION_READ("threads", set_threads, "@run fuse machine sweep"), .value = "N",
     .needs = "measure|against-engine", .min = 0, .max = THREADS_MOST,
     .about = "Use this many threads inside an operator; 0: the engine decides. sweep: a list."},
    {OPTION("no-spin", FLAG, engine.no_spin, "@run sweep"), .needs = "measure",
     .about = "Let idle threads of the engine sleep instead of spinning."},
    {OPTION("opt-level", INT, engine.opt_level, "@run fuse sweep"), .values = "0|1|2|99",
     .needs = "measure|against-engine", .min = 0, .max = 99, .initial = 99,
     .about = "Set the engine's graph optimizations: none, basic, extended or all."},
    {OPTION_READ("provider-option", set_provider_option, "@run"), .repeatable = true,
     .value = "KEY=VALUE", .needs = "measure",
     .about = "Set an option of the execution provider, or of the session "
              "(session.disable_prepacking=1)."},
    {OPTION("gpu-events", CHOICE, engine.gpu_events, "profile layers"),
     .values = "all|kernels|copies|none" /* in the order of gpu_wanted */,
     .about = "Record these GPU events while layers are timed."},
    {OPTION("no-nvtx", FLAG, engine.no_nvtx, "profile bench layers memory"), .needs = "measure",
     .about = "Do not mark session, warm-up and runs as NVTX ranges."},
    {OPTION("engine-lib", WORD, engine.library, "@run export fuse machine sweep"), .value = "FILE",
     .values = "@files", .needs = "measure|against-engine",
     .about = "Load this library of the engine: ONNX Runtime, or libllama of llama.cpp for GGUF. "
              "Default: ASSAY_ORT_LIB or ASSAY_LLAMA_LIB, else the library path."},
    {OPTION("engine", WORD, engine.name, NULL), .value = "NAME", .values = "ort|null",
     .about = "Use this engine. Default: ort."},
};
OPTION_TOPIC(options_engine, "Engine", engine);

static OPTION_SETTER(set_interval)
{
    double ms;
    if (!amount_parse(AMOUNT_MS, value, &ms) || ms < 1 || ms > 3600000)
        return option_refuse(row, value, err,
                             "1 to 3600000 milliseconds, or a duration such as 2s");
    o->measure.interval_ms = ms;
    return ASSAY_OK;
}

static const option_row watch[] = {
    {OPTION_READ("interval", set_interval, "watch"), .value = "MS",
     .about = "Set the sampling interval: 500ms, 2s; a bare number is milliseconds. Default: 100."},
};
OPTION_TOPIC(options_watch, "Process", watch);

/* The options of an analysis or a report, one row each: what it is called, what its value looks like,
 * and where it goes. */
#include <ctype.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/map.h"
#include "base/sbuf.h"
#include "rewrite/precision.h"

#define OPTIONS_BYTES ((size_t)16 << 20)
#define DIM_MAX       ((int64_t)1 << 40)

typedef enum option_kind { KIND_FLAG, KIND_INT, KIND_REAL, KIND_WORD, KIND_OWN } option_kind;

typedef struct option_row option_row;
struct option_row {
    const char *name;
    const char *value; /* what stands for its value; NULL for a flag */
    const char *about;
    option_kind kind;
    bool repeatable;
    size_t at;        /* of its field in assay_options */
    int64_t min, max; /* KIND_INT, KIND_REAL */
    assay_status (*set)(assay_options *o, const option_row *row, str value, assay_error *err);
};

static assay_status set_shape(assay_options *o, const option_row *row, str value, assay_error *err);
static assay_status set_dim(assay_options *o, const option_row *row, str value, assay_error *err);
static assay_status set_parameter(assay_options *o, const option_row *row, str value,
                                  assay_error *err);
static assay_status set_lens(assay_options *o, const option_row *row, str value, assay_error *err);
static assay_status set_precision(assay_options *o, const option_row *row, str value,
                                  assay_error *err);

#define FIELD(name) offsetof(assay_options, name)

static const option_row rows[] = {
    {.name = "input-shape",
     .value = "[NAME:]1,3,224,224",
     .about = "Shape of an input; without a name, of the first that has none yet.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = set_shape},
    {.name = "dim",
     .value = "NAME=N",
     .about = "Value of a symbolic dimension of the model; of scale, any size and a range A..B.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = set_dim},
    {.name = "solve",
     .value = "[NAME:]WHAT<=LIMIT",
     .about = "The largest size within a limit, as in memory<=24GB or side:macs<=100G.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_question},
    {.name = "batch",
     .value = "N",
     .about = "Batch size: that dimension of every input that is the batch.",
     .kind = KIND_INT,
     .at = FIELD(batch),
     .min = 1,
     .max = 1 << 30},
    {.name = "set",
     .value = "KEY=VALUE",
     .about = "A parameter of a built-in architecture, for example num_classes=10.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = set_parameter},
    {.name = "config",
     .value = "FILE",
     .about = "A training configuration (JSON) with the parameters of a built-in architecture.",
     .kind = KIND_WORD,
     .at = FIELD(config)},
    {.name = "lens",
     .value = "NAME",
     .about = "Whose FLOPs to show; `assay lenses` lists them.",
     .kind = KIND_OWN,
     .set = set_lens},
    {.name = "precision",
     .value = "fp16|bf16|int8|...",
     .about = "Weigh floating-point tensors as if they had this type; what is exported or run is "
              "converted to it (also int8-dynamic).",
     .kind = KIND_OWN,
     .set = set_precision},
    {.name = "threshold",
     .value = "N|METRIC:LIMIT",
     .about = "N: FLOPs per byte from which a layer is compute-bound (50). METRIC:LIMIT, as "
              "latency:100ms or params<=30M: exit 6 when it is missed.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_threshold},
    {.name = "tolerance",
     .value = "PERCENT",
     .about = "How much slower than the baseline is still good (2).",
     .kind = KIND_REAL,
     .at = FIELD(tolerance),
     .min = 0,
     .max = 1000},
    {.name = "metrics",
     .value = "p50,p95,...",
     .about = "What is compared with the baseline; else the counts and the median latency.",
     .kind = KIND_OWN,
     .set = api_set_metrics},
    {.name = "target",
     .value = "5000rps",
     .about = "Requests per second to serve.",
     .kind = KIND_OWN,
     .set = api_set_target},
    {.name = "latency",
     .value = "p99:50ms",
     .about = "The latency that a request may take: a quantile (p99 unless given) or mean.",
     .kind = KIND_OWN,
     .set = api_set_latency},
    {.name = "headroom",
     .value = "PERCENT",
     .about = "Share of a machine that is kept free (20).",
     .kind = KIND_REAL,
     .at = FIELD(headroom),
     .min = 0,
     .max = 99},
    {.name = "training",
     .about = "Add what a training step costs: backward pass, gradients, optimiser states.",
     .kind = KIND_FLAG,
     .at = FIELD(training)},
    {.name = "strict",
     .about = "Fail (exit 4) when anything had to be assumed or is unknown.",
     .kind = KIND_FLAG,
     .at = FIELD(strict)},
    {.name = "live",
     .about = "Ask the other tool itself, through this machine's Python (fvcore, thop).",
     .kind = KIND_FLAG,
     .at = FIELD(live)},
    {.name = "verbose",
     .about = "Every layer on the console; every value's shape in JSON.",
     .kind = KIND_FLAG,
     .at = FIELD(verbose)},
    {.name = "allocations",
     .about = "The memory plan in full: where each tensor goes, what is allocated and freed in "
              "which order, snapshots.",
     .kind = KIND_FLAG,
     .at = FIELD(allocations)},
    {.name = "at",
     .value = "LAYER",
     .about = "What is alive while this layer runs: its name, a value that it makes, or its step.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_at},
    {.name = "opset",
     .value = "N",
     .about = "Operator set of the written file (17; that of the file when the model is one).",
     .kind = KIND_INT,
     .at = FIELD(opset),
     .min = 11,
     .max = 24},
    {.name = "seed",
     .value = "N",
     .about = "Of random weights: the same number gives the same file (0).",
     .kind = KIND_INT,
     .at = FIELD(seed),
     .min = 0,
     .max = INT64_MAX},
    {.name = "weight-bits",
     .value = "7|8",
     .about =
         "Of int8 weights. 7 keeps sums of two products within 16 bits, for processors without "
         "VNNI; by default what this processor needs, and 8 in files.",
     .kind = KIND_INT,
     .at = FIELD(weight_bits),
     .min = 7,
     .max = 8},
    {.name = "external-data",
     .about = "Weights in a second file beside the model; above 2 GB always.",
     .kind = KIND_FLAG,
     .at = FIELD(external_data)},
    {.name = "holes",
     .about = "Random weights as holes of a second file: zeros that take no space on the disk.",
     .kind = KIND_FLAG,
     .at = FIELD(holes)},
    {.name = "top",
     .value = "N",
     .about = "Number of layers in the table of the costliest (10).",
     .kind = KIND_INT,
     .at = FIELD(top),
     .min = 0,
     .max = 1000000},
    {.name = "depth",
     .value = "N",
     .about = "Show the module tree down to this depth.",
     .kind = KIND_INT,
     .at = FIELD(depth),
     .min = 0,
     .max = 64},
    {.name = "width",
     .value = "N",
     .about = "Columns of the console.",
     .kind = KIND_INT,
     .at = FIELD(width),
     .min = 40,
     .max = 1000},
    {.name = "color", .about = "Colours on the console.", .kind = KIND_FLAG, .at = FIELD(color)},
    {.name = "ascii",
     .about = "Only ASCII characters on the console.",
     .kind = KIND_FLAG,
     .at = FIELD(ascii)},
    {.name = "no-graphs",
     .about = "HTML without charts.",
     .kind = KIND_FLAG,
     .at = FIELD(no_graphs)},
    {.name = "no-details",
     .about = "HTML without the tables of layers, operators' accounting and the like.",
     .kind = KIND_FLAG,
     .at = FIELD(no_details)},
    {.name = "batch-sizes",
     .value = "1,2,4,8,16",
     .about = "Batch sizes to measure, one after the other.",
     .kind = KIND_OWN,
     .set = api_set_batch_sizes},
    {.name = "configs",
     .value = "1:fp32,8:fp16",
     .about = "Configurations to measure: batch size and precision.",
     .kind = KIND_OWN,
     .set = api_set_configs},
    {.name = "num-runs",
     .value = "N",
     .about = "Measured runs of each configuration (50).",
     .kind = KIND_INT,
     .at = FIELD(num_runs),
     .min = 1,
     .max = 1000000},
    {.name = "warmup-runs",
     .value = "N",
     .about = "Least runs of warm-up, which goes on until timings are steady (10).",
     .kind = KIND_INT,
     .at = FIELD(warmup_runs),
     .min = 0,
     .max = 1000000},
    {.name = "duration",
     .value = "SECONDS",
     .about = "Measure at least this long.",
     .kind = KIND_REAL,
     .at = FIELD(duration),
     .min = 0,
     .max = 86400},
    {.name = "interval",
     .value = "MS",
     .about = "Milliseconds between two looks at the process (100).",
     .kind = KIND_REAL,
     .at = FIELD(interval_ms),
     .min = 1,
     .max = 3600000},
    {.name = "precision-target",
     .value = "PERCENT",
     .about = "Measure until the 95 % interval of the mean is this narrow, a minute at most.",
     .kind = KIND_REAL,
     .at = FIELD(precision_target),
     .min = 0,
     .max = 100},
    {.name = "concurrency",
     .value = "N",
     .about = "Runs at the same time, each from a thread of its own (1).",
     .kind = KIND_INT,
     .at = FIELD(concurrency),
     .min = 1,
     .max = 256},
    {.name = "rate",
     .value = "PER-SECOND",
     .about =
         "Open loop: requests arrive at random at this rate; times count from when they were due.",
     .kind = KIND_REAL,
     .at = FIELD(rate),
     .min = 0,
     .max = 10000000},
    {.name = "device",
     .value = "cpu|cuda|...",
     .about = "Where the engine runs the model; falls back to cpu with a warning.",
     .kind = KIND_WORD,
     .at = FIELD(device)},
    {.name = "threads",
     .value = "N",
     .about = "Threads of the engine inside an operator; 0 is its own choice.",
     .kind = KIND_INT,
     .at = FIELD(threads),
     .min = 0,
     .max = 4096},
    {.name = "no-spin",
     .about = "Idle threads of the engine sleep instead of spinning.",
     .kind = KIND_FLAG,
     .at = FIELD(no_spin)},
    {.name = "no-nvtx",
     .about = "Do not mark session, warm-up and runs as NVTX ranges for a profiler of NVIDIA's.",
     .kind = KIND_FLAG,
     .at = FIELD(no_nvtx)},
    {.name = "gpu-events",
     .value = "all|kernels|copies|none",
     .about = "What the GPU did while layers were timed: kernels, copies of memory, both (all).",
     .kind = KIND_OWN,
     .set = api_set_gpu_events},
    {.name = "opt-level",
     .value = "0|1|2|99",
     .about = "Graph optimisations of the engine: none, basic, extended, all (99).",
     .kind = KIND_OWN,
     .set = api_set_opt_level},
    {.name = "provider-option",
     .value = "KEY=VALUE",
     .about = "A setting of the device's execution provider, or of the engine's session "
              "(session.disable_prepacking=1).",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_provider_option},
    {.name = "engine",
     .value = "NAME",
     .about = "The engine (ort).",
     .kind = KIND_WORD,
     .at = FIELD(engine)},
    {.name = "engine-lib",
     .value = "FILE",
     .about = "The engine's library, libonnxruntime.so; else ASSAY_ORT_LIB, else it is looked for.",
     .kind = KIND_WORD,
     .at = FIELD(engine_lib)},
    {.name = "input",
     .value = "[NAME=]FILE",
     .about =
         "Data of an input: .npy, .pb (TensorProto), an image (.png, .jpg, .jpeg) or raw bytes; else it is made up.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_input},
    {.name = "save-outputs",
     .value = "FOLDER",
     .about = "Write the outputs of a run into a folder, each as NAME.npy.",
     .kind = KIND_WORD,
     .at = FIELD(save_outputs)},
    {.name = "unit",
     .value = "samples|images|tokens|requests",
     .about = "What throughput counts; else by what the model's input is.",
     .kind = KIND_OWN,
     .set = api_set_unit},
    {.name = "memory-limit",
     .value = "4GiB",
     .about = "Do not try a batch size that is planned to need more; else what is free.",
     .kind = KIND_OWN,
     .set = api_set_memory_limit},
    {.name = "cold",
     .about = "What a cold start costs (engine, session, first run); always shown.",
     .kind = KIND_FLAG,
     .at = FIELD(cold)},
    {.name = "layers",
     .value = "PATTERN,...",
     .about = "Only layers whose name, module, type or operator holds one of these.",
     .kind = KIND_WORD,
     .at = FIELD(layer_patterns)},
    {.name = "rows",
     .value = "layers|runs|batches|groups|events|...",
     .about = "What the rows of CSV are: layers, single runs, configurations, sums of layers (of "
              "fuse: its groups); of memory: events, timeline, snapshots, slots or curve.",
     .kind = KIND_OWN,
     .set = api_set_rows},
    {.name = "view",
     .value = "bench|layers|memory|map|fuse",
     .about = "The part that the console shows; else everything.",
     .kind = KIND_WORD,
     .at = FIELD(view)},
    {.name = "height",
     .value = "PIXELS",
     .about = "Of the image a pipeline makes; also its width unless that is given.",
     .kind = KIND_INT,
     .at = FIELD(height),
     .min = 1,
     .max = 1 << 20},
    {.name = "image-width",
     .value = "PIXELS",
     .about = "Of the image a pipeline makes.",
     .kind = KIND_INT,
     .at = FIELD(image_width),
     .min = 1,
     .max = 1 << 20},
    {.name = "steps",
     .value = "N",
     .about = "Denoising steps of a pipeline.",
     .kind = KIND_INT,
     .at = FIELD(steps),
     .min = 1,
     .max = 1000000},
    {.name = "guidance-scale",
     .value = "X",
     .about =
         "Above 1 every step has two passes and a negative prompt, unless the model is distilled.",
     .kind = KIND_OWN,
     .set = api_set_guidance},
    {.name = "strength",
     .value = "0..1",
     .about = "From an image: its encoding, and this share of the steps.",
     .kind = KIND_REAL,
     .at = FIELD(strength),
     .min = 0,
     .max = 1},
    {.name = "prompt-tokens",
     .value = "N",
     .about = "Tokens of the prompt.",
     .kind = KIND_INT,
     .at = FIELD(prompt_tokens),
     .min = 1,
     .max = 1 << 23},
    {.name = "generate",
     .value = "N",
     .about = "Tokens that a language model generates (128).",
     .kind = KIND_INT,
     .at = FIELD(generate),
     .min = 1,
     .max = 1 << 23},
    {.name = "cache-dtype",
     .value = "fp16|fp8|...",
     .about = "Number type of a language model's cache (float16).",
     .kind = KIND_OWN,
     .set = api_set_cache_dtype},
    {.name = "sweep",
     .value = "WHAT=A,B,...",
     .about = "Cost of a pipeline over resolution=, steps= or guidance=.",
     .kind = KIND_OWN,
     .repeatable = true,
     .set = api_set_sweep},
    {.name = "prompt",
     .value = "TEXT",
     .about = "The prompt, to be recorded in a generation_config.json.",
     .kind = KIND_WORD,
     .at = FIELD(prompt)},
    {.name = "pipeline-file",
     .value = "FILE",
     .about = "A pipeline of one's own (JSON).",
     .kind = KIND_WORD,
     .at = FIELD(pipeline_file)},
    {.name = "no-profiling",
     .about = "Switch a pipeline's profiling off: the answer says so and holds nothing else.",
     .kind = KIND_FLAG,
     .at = FIELD(no_profiling)},
    {.name = "hardware",
     .value = "NAME|FILE",
     .about =
         "Whose roofline is meant: devices that `assay devices` lists, all, this, or a .json or .csv.",
     .kind = KIND_WORD,
     .at = FIELD(hardware)},
    {.name = "quick",
     .about = "Measure the machine in five seconds, with wider intervals.",
     .kind = KIND_FLAG,
     .at = FIELD(quick)},
    {.name = "calibrate",
     .about = "Also run models, so that times on `this` are predicted from measured kernels.",
     .kind = KIND_FLAG,
     .at = FIELD(calibrate)},
    {.name = "goal",
     .value = "latency[:10ms]",
     .about =
         "What the Pareto table is for: latency, throughput, memory, power, energy; with a limit.",
     .kind = KIND_WORD,
     .at = FIELD(goal)},
    {.name = "strategy",
     .value = "none|conventional|aggressive",
     .about = "How far fuse joins layers: not at all, chains (the default), or also residual adds, "
              "operands and whole blocks.",
     .kind = KIND_OWN,
     .set = api_set_strategy},
    {.name = "patterns",
     .about = "Name what the file writes as several operators: norms, activations, attention.",
     .kind = KIND_FLAG,
     .at = FIELD(patterns)},
    {.name = "against-engine",
     .about = "Beside the groups, what the engine itself fuses.",
     .kind = KIND_FLAG,
     .at = FIELD(against_engine)},
    {.name = "advice",
     .about =
         "Recommendations too: the model is evaluated again with one thing changed after the other.",
     .kind = KIND_FLAG,
     .at = FIELD(advice)},
    {.name = "no-advice",
     .about = "Leave out the recommendations.",
     .kind = KIND_FLAG,
     .at = FIELD(no_advice)},
    {.name = "dims-may-miss",
     .about = "Several models share the sizes: a dimension that this one has not is a warning.",
     .kind = KIND_FLAG,
     .at = FIELD(dims_may_miss)},
    {.name = "command",
     .value = "TEXT",
     .about = "The command line to record in the result's context.",
     .kind = KIND_WORD,
     .at = FIELD(command)},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- values ---- */

/* Digits only, so that what strtoll would forgive ("+3", " 3", "0x3") is not forgiven. */
static bool whole_number(str s, int64_t max, int64_t *out)
{
    int64_t v = 0;
    if (s.n == 0 || s.n > 18)
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        if (!isdigit((unsigned char)s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    *out = v;
    return v <= max;
}

static assay_status set_int(assay_options *o, const option_row *row, str value, assay_error *err)
{
    int64_t v;
    if (!whole_number(value, row->max, &v) || v < row->min)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s takes a whole number from %lld to %lld, not '" STR_FMT "'.", row->name,
                        (long long)row->min, (long long)row->max, STR_ARG(value));
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

/* "12", "0.5": digits and at most one dot, in every locale. */
static bool decimal_number(str s, double *out)
{
    double v = 0, place = 0;
    uint32_t digits = 0;
    for (uint32_t i = 0; i < s.n; i++) {
        if (s.p[i] == '.' && place == 0) {
            place = 1;
            continue;
        }
        if (!isdigit((unsigned char)s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
        place *= 10;
        digits++;
    }
    *out = place > 0 ? v / place : v;
    return digits > 0 && digits <= 18;
}

static assay_status set_real(assay_options *o, const option_row *row, str value, assay_error *err)
{
    double v;
    if (!decimal_number(value, &v) || v <= (double)row->min || v > (double)row->max)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s takes a number above %lld and up to %lld, not '" STR_FMT "'.",
                        row->name, (long long)row->min, (long long)row->max, STR_ARG(value));
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static assay_status set_flag(assay_options *o, const option_row *row, const char *value,
                             assay_error *err)
{
    bool v = !value || strcmp(value, "true") == 0;
    if (value && !v && strcmp(value, "false") != 0)
        return err_fail(err, ASSAY_ERR_USAGE, "%s is either true or false, not '%s'.", row->name,
                        value);
    memcpy((char *)o + row->at, &v, sizeof v);
    return ASSAY_OK;
}

static assay_status set_word(assay_options *o, const option_row *row, str value, assay_error *err)
{
    str copy = str_copy(o->arena, value);
    if (!copy.p)
        return err_no_memory(err);
    memcpy((char *)o + row->at, &copy, sizeof copy);
    return ASSAY_OK;
}

static int64_t last_of(str s, char c)
{
    for (int64_t i = (int64_t)s.n - 1; i >= 0; i--)
        if (s.p[i] == c)
            return i;
    return -1;
}

static assay_status bad_shape(str value, assay_error *err)
{
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "input-shape takes [NAME:]1,3,224,224 (whole numbers, at most %d of them), not '" STR_FMT
        "'.",
        IR_MAX_RANK, STR_ARG(value));
}

/* "1,3,224,224" or "1x3x224x224" into dims; the count, or -1. Nothing at all is a scalar. */
static int parse_dims(str s, int64_t dims[IR_MAX_RANK])
{
    int rank = 0;
    if (s.n == 0)
        return 0;
    for (uint32_t from = 0, to = 0; to <= s.n; to++) {
        if (to < s.n && s.p[to] != ',' && s.p[to] != 'x')
            continue;
        if (rank == IR_MAX_RANK ||
            !whole_number((str){s.p + from, to - from}, DIM_MAX, &dims[rank]))
            return -1;
        rank++;
        from = to + 1;
    }
    return rank;
}

static assay_status set_shape(assay_options *o, const option_row *row, str value, assay_error *err)
{
    int64_t dims[IR_MAX_RANK], colon = last_of(value, ':');
    str name = {value.p, colon > 0 ? (uint32_t)colon : 0};
    str list = {value.p + (colon + 1), value.n - (uint32_t)(colon + 1)};
    (void)row;
    int rank = parse_dims(list, dims);
    if (rank < 0 || colon == 0 || (rank == 0 && colon < 0))
        return bad_shape(value, err);
    infer_shape *s = VEC_PUSH(o->arena, &o->shapes);
    if (!s)
        return err_no_memory(err);
    *s = (infer_shape){.input = name.n ? str_copy(o->arena, name) : (str){0}, .rank = rank};
    s->dims = arena_copy(o->arena, dims, sizeof *dims * (size_t)(rank ? rank : 1));
    return arena_failed(o->arena) ? err_no_memory(err) : ASSAY_OK;
}

static assay_status set_dim(assay_options *o, const option_row *row, str value, assay_error *err)
{
    int64_t v = 0, equals = last_of(value, '=');
    (void)row;
    str size = {value.p + equals + 1, value.n - (uint32_t)(equals + 1)};
    if (equals > 0 && (memchr(size.p, '.', size.n) || memchr(size.p, ',', size.n)))
        return api_set_range(o, (str){value.p, (uint32_t)equals}, size, err);
    if (equals <= 0 || !whole_number(size, DIM_MAX, &v))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "dim takes NAME=N with a whole number, for example batch=8, not '" STR_FMT
                        "'.",
                        STR_ARG(value));
    infer_dim *d = VEC_PUSH(o->arena, &o->dims);
    if (!d)
        return err_no_memory(err);
    *d = (infer_dim){.symbol = str_copy(o->arena, (str){value.p, (uint32_t)equals}), .value = v};
    return d->symbol.p ? ASSAY_OK : err_no_memory(err);
}

static assay_status set_parameter(assay_options *o, const option_row *row, str value,
                                  assay_error *err)
{
    json_value v;
    const char *equals = memchr(value.p, '=', value.n);
    (void)row;
    if (!equals || equals == value.p)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "set takes KEY=VALUE, for example num_classes=10, not '" STR_FMT "'.",
                        STR_ARG(value));
    uint32_t n = (uint32_t)(equals - value.p);
    o->set.arena = o->arena;
    TRY(zoo_value_parse(o->arena, (str){equals + 1, value.n - n - 1}, &v, err));
    return zoo_args_put(&o->set, (str){value.p, n}, v, false)
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "Too many parameters were given with set.");
}

static assay_status set_lens(assay_options *o, const option_row *row, str value, assay_error *err)
{
    const char *names[64] = {0};
    uint32_t n = 0;
    sbuf hint = {0};
    (void)row;
    o->lens = lens_find(value);
    o->all_lenses = str_is(value, "all");
    if (o->lens || o->all_lenses)
        return ASSAY_OK;
    for (; n < lens_table_n && n < 64; n++)
        names[n] = lens_table[n].name;
    api_did_you_mean(&hint, value, names, n);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "There is no lens '" STR_FMT "'.%s `assay lenses` lists them.",
                              STR_ARG(value), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* "fp32,int8-dynamic": of compare, which runs each model at its own. */
static bool is_list_of_targets(str value)
{
    for (uint32_t from = 0, to; from <= value.n; from = to + 1) {
        for (to = from; to < value.n && value.p[to] != ',';)
            to++;
        if (!precision_find((str){value.p + from, to - from}))
            return false;
    }
    return true;
}

static assay_status set_precision(assay_options *o, const option_row *row, str value,
                                  assay_error *err)
{
    const precision_row *target = precision_find(value);
    ir_dtype t = target ? target->dtype : ir_dtype_by_name(value);
    (void)row;
    o->precisions = str_copy(o->arena, value);
    o->precision_list = t == IR_UNDEFINED &&
                        (api_is_precision_list(value) || is_list_of_targets(value));
    if (o->precision_list) {
        o->precision = IR_UNDEFINED;
        o->target = NULL;
        return ASSAY_OK;
    }
    if (t == IR_UNDEFINED || !(ir_is_float(t) || ir_is_integer(t)))
        return err_fail(
            err, ASSAY_ERR_USAGE,
            "precision takes a number type such as fp32, fp16, bf16, int8 or int4, or int8-dynamic, "
            "not '" STR_FMT "'.",
            STR_ARG(value));
    o->precision = t;
    o->target = target;
    return ASSAY_OK;
}

/* ---- the public functions ---- */

assay_options *assay_options_new(void)
{
    arena *a = arena_new(OPTIONS_BYTES);
    assay_options *o = a ? ARENA_NEW(a, assay_options) : NULL;
    if (!o) {
        arena_free(a);
        return NULL;
    }
    *o = API_NO_OPTIONS;
    o->arena = a;
    return o;
}

void assay_options_free(assay_options *options)
{
    if (options)
        arena_free(options->arena);
}

static assay_status unknown_option(const char *name, assay_error *err)
{
    const char *names[N_ROWS];
    sbuf hint = {0};
    for (int i = 0; i < N_ROWS; i++)
        names[i] = rows[i].name;
    api_did_you_mean(&hint, str_of(name), names, N_ROWS);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "There is no option '%s'.%s", name,
                              sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

static assay_status set_row(assay_options *o, const option_row *row, const char *value,
                            assay_error *err)
{
    if (row->kind == KIND_FLAG)
        return set_flag(o, row, value, err);
    if (!value)
        return err_fail(err, ASSAY_ERR_USAGE, "%s needs a value: %s.", row->name, row->value);
    switch (row->kind) {
    case KIND_INT:
        return set_int(o, row, str_of(value), err);
    case KIND_REAL:
        return set_real(o, row, str_of(value), err);
    case KIND_WORD:
        return set_word(o, row, str_of(value), err);
    default:
        return row->set(o, row, str_of(value), err);
    }
}

assay_status assay_options_set(assay_options *options, const char *name, const char *value,
                               assay_error *err)
{
    err_clear(err);
    for (int i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return set_row(options, &rows[i], value, err);
    return unknown_option(name, err);
}

size_t assay_option_count(void)
{
    return N_ROWS;
}

bool assay_option_at(size_t index, assay_option_info *out)
{
    if (index >= N_ROWS)
        return false;
    assay_option_info info = {.name = rows[index].name,
                              .value = rows[index].value,
                              .about = rows[index].about,
                              .repeatable = rows[index].repeatable};
    HAND_OUT(out, info);
    return true;
}

void api_did_you_mean(sbuf *out, str word, const char *const *names, uint32_t n)
{
    const char *best = NULL;
    unsigned least = word.n < 4 ? 1 : word.n < 8 ? 2 : 3;
    for (uint32_t i = 0; i < n; i++) {
        unsigned d = str_distance(word, str_of(names[i]), least);
        if (d <= least && (!best || d < least)) {
            best = names[i];
            least = d;
        }
    }
    if (best)
        sbuf_printf(out, " Did you mean '%s'?", best);
}

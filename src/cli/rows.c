/* The rows: every command and every option there is. */
#include <string.h>

#include "cli/cli.h"

static const char *const graph_examples[] = {
    "assay model.onnx",
    "what the model costs",
    "assay graph model.onnx --batch 8 --top 20",
    "at batch 8, with the 20 costliest layers",
    "assay resnet50 --set num_classes=10 --input-shape 8,3,384,384",
    "a built-in model with other sizes",
    "assay model.onnx --dim seq_len=512 --strict",
    "sizes by name; fail if anything is assumed",
    "assay model.onnx -o result.json -o layers.csv",
    "two files beside the screen",
    "assay model.onnx --json | jq .total_macs",
    "one number for a script",
    NULL,
};

static const char *const compare_examples[] = {
    "assay compare resnet50 efficientnet_b0 vit_b_16",
    "totals with ratios to the first",
    "assay compare before.onnx after.onnx",
    "of two models also the layers that differ",
    NULL,
};

static const char *const validate_examples[] = {
    "assay validate --models resnet18,resnet50,mobilenet_v2,vit_b_16",
    "beside fvcore",
    "assay validate resnet50 --lens all",
    "beside every tool that is known",
    "assay validate resnet50 --live",
    "asks the fvcore of this machine's Python too",
    NULL,
};

static const char *const models_examples[] = {
    "assay models",
    "all of them",
    "assay models 'resnet*'",
    "those whose name matches a pattern",
    "assay models detection --json",
    "one task, for a script",
    NULL,
};

static const char *const export_examples[] = {
    "assay export resnet50 -o resnet50.onnx",
    "with random weights, opset 17",
    "assay export vit_b_16 -o vit.onnx --opset 23 --seed 7",
    "with the Attention operator kept",
    "assay export resnet50 -o resnet50-int8.onnx --precision int8",
    "weights and activations in 8 bits, calibrated on random inputs",
    "assay export model.onnx -o out/model.onnx --external-data",
    "its own weights, in a file beside it",
    NULL,
};

static const char *const pipeline_examples[] = {
    "assay pipeline sd21 --height 512 --width 512 --steps 30 --guidance-scale 7.5",
    "component by component",
    "assay pipeline sd21 --sweep resolution=512,768,1024 --sweep steps=20,30,50",
    "how cost grows",
    "assay pipeline sd15 sdxl flux-dev -o run/generation_config.json",
    "several side by side, and the record of the run",
    "assay pipeline llama-3.1-8b --prompt-tokens 2048 --generate 256 --batch 8",
    "prefill, decode, cache and memory of a language model",
    NULL,
};

static const char *const ops_examples[] = {
    "assay ops",
    "all operators that are known",
    "assay ops '*Attention*'",
    "those whose name matches a pattern",
    NULL,
};

static const char *const completion_examples[] = {
    "assay completion bash > ~/.local/share/bash-completion/completions/assay",
    "for bash",
    "assay completion zsh > ~/.zfunc/_assay",
    "for zsh, with ~/.zfunc in fpath",
    "assay completion fish > ~/.config/fish/completions/assay.fish",
    "for fish",
    NULL,
};

static const char *const profile_examples[] = {
    "assay profile resnet18 --batch-sizes 1,2,4 --output r.json",
    "five stages on the screen, everything in a file",
    "assay profile model.onnx --threads 1 --num-runs 200",
    "one thread, more runs",
    "assay profile resnet50 --memory-limit 1GiB",
    "stop the sweep where the plan needs more",
    NULL,
};

static const char *const bench_examples[] = {
    "assay bench model.onnx",
    "latency and throughput of the model as it is",
    "assay bench resnet50 --configs 1:fp32,4:fp32,8:fp32",
    "several configurations",
    "assay bench model.onnx --rate 30 --duration 20",
    "an open loop of 30 requests per second",
    "assay bench model.onnx --concurrency 2 --threads 1",
    "two runs at once",
    "assay bench model.onnx --input x=image.npy",
    "with data of your own",
    NULL,
};

static const char *const layers_examples[] = {
    "assay layers resnet18",
    "which layers the time goes to",
    "assay layers model.onnx --layers attention,mlp",
    "those whose name, type or module holds one of these",
    NULL,
};

static const char *const memory_examples[] = {
    "assay memory resnet50 -v",
    "the plan, step by step",
    "assay memory model.onnx --measure",
    "the plan beside what a run takes",
    NULL,
};

static const char *const map_examples[] = {
    "assay map resnet50 --hardware rtx3090,a100-80,h100-sxm",
    "time, memory and verdict on three devices",
    "assay map vit_b_16 --hardware all --goal latency:5ms",
    "what reaches 5 ms, and at how much power",
    "assay map model.onnx --hardware t4 --precision fp16,int8 --batch-sizes 1,8,64",
    "one device, with its layers",
    "assay map model.onnx --hardware mine.json -o map.csv",
    "hardware of your own",
    NULL,
};

static const char *const fuse_examples[] = {
    "assay fuse resnet50",
    "convolutions with batch norm and activation",
    "assay fuse resnet50 --strategy aggressive",
    "the residual add folded in too",
    "assay fuse model.onnx --json | jq '.groups[] | select(.critical) | .nodes'",
    "the layers on the critical path",
    NULL,
};

static const char *const devices_examples[] = {
    "assay devices",
    "all of them",
    "assay devices orin --json",
    "those whose name matches, for a script",
    "assay devices --hardware mine.csv",
    "a file of your own, checked",
    NULL,
};

static const char *const scale_examples[] = {
    "assay scale resnet50 --dim batch=1..64 --dim height=224..1024",
    "a grid, closed forms, exponents",
    "assay scale resnet50 --dim batch=1..64 --solve 'memory<=24GB'",
    "the largest batch in 24 GB",
    "assay scale vit_b_16 --dim side=224..1024 --solve 'macs<=100G'",
    "the largest image under 100 GMACs",
    "assay scale gpt2 --dim seq=64..1024:9 --dim batch=1,8 -o gpt2.csv",
    "nine lengths, two batches, into a table",
    NULL,
};

static const char *const history_examples[] = {
    "assay bench model.onnx --save --tag nightly",
    "measure, and keep the result",
    "assay history --model resnet50 --since 30d",
    "what was kept of a model in a month",
    "assay history show 12 -o run12.html",
    "a run again, in any format",
    "assay history tag 12 release-1.4",
    "a name for a run",
    "assay history export --tag nightly -o nightly.jsonl",
    "runs with their tags, for another machine",
    "assay history import nightly.jsonl result.json",
    "what was exported, or single results",
    NULL,
};

const cli_command cli_commands[] = {
    {.name = "graph",
     .words = "MODEL",
     .about = "What a model costs: parameters, FLOPs, MACs, memory, bottlenecks, layers.",
     .more =
         "MODEL is the path of an ONNX file, - for one on stdin, a .json that describes a model, or a "
         "built-in name such as resnet50 (`assay models` lists them). Nothing is run and weights are "
         "not read. `assay MODEL` is short for `assay graph MODEL`.",
     .examples = graph_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_GRAPH,
     .run = cmd_graph},
    {.name = "profile",
     .words = "MODEL",
     .about = "The whole job in five stages: load, architecture, FLOPs, single input, batch sizes.",
     .more =
         "Runs the model on ONNX Runtime. Without an engine the static stages are shown and the exit "
         "code is 5. Ctrl-C ends it early and writes what is there.",
     .examples = profile_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_PROFILE,
     .run = cmd_profile},
    {.name = "bench",
     .words = "MODEL",
     .about = "Measures latency, throughput and memory.",
     .more =
         "Warm-up goes on until timings are steady; then runs by number, time or precision. Inputs are "
         "made up to fit unless --input gives them.",
     .examples = bench_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_BENCH,
     .run = cmd_bench},
    {.name = "layers",
     .words = "MODEL",
     .about = "Measured time per layer beside its FLOPs and bytes.",
     .more =
         "From profiled runs of their own, with the profiler's cost subtracted. Kernels that the engine "
         "fused are shared out to the layers they stand for.",
     .examples = layers_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_LAYERS,
     .run = cmd_layers},
    {.name = "memory",
     .words = "MODEL",
     .about = "The memory plan over time, its peak and who makes it; measured when asked.",
     .examples = memory_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_MEMORY,
     .run = cmd_memory},
    {.name = "compare",
     .words = "A B [...]",
     .about = "Models side by side: totals with ratios, operator types, layers that differ.",
     .more =
         "Ratios are to the first model. Of two models the layers behind the difference are listed: "
         "added, removed, changed, aligned by name and then by structure.",
     .examples = compare_examples,
     .min_words = 2,
     .max_words = 12,
     .bit = ON_COMPARE,
     .run = cmd_compare},
    {.name = "validate",
     .words = "[MODEL ...]",
     .about =
         "Our counts beside those of fvcore and other tools, and what explains the difference.",
     .more =
         "Like is compared with like: a tool that counts a multiply-accumulate as one FLOP is set "
         "beside our multiply-accumulates. Without models a few well-known ones are taken.",
     .examples = validate_examples,
     .max_words = CLI_MAX_WORDS,
     .bit = ON_VALIDATE,
     .run = cmd_validate},
    {.name = "map",
     .words = "MODEL",
     .about = "A model placed on devices: time, memory, fit, bound, batch sizes, Pareto table.",
     .more = "A roofline of each layer on each device; nothing is calibrated. "
             "docs/hardware.md has the formulas, the verdicts and what the figures are worth.",
     .examples = map_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_MAP,
     .run = cmd_map},
    {.name = "fuse",
     .words = "MODEL",
     .about =
         "Layers joined into kernels: groups, bytes and launches saved, levels, critical path.",
     .more =
         "Every layer is in exactly one group; groups have one exit, so forks and outputs are kept and "
         "nothing is cyclic. docs/fusion.md has the rules of each strategy.",
     .examples = fuse_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_FUSE,
     .run = cmd_fuse},
    {.name = "scale",
     .words = "MODEL",
     .about = "Cost over a grid of sizes: closed forms, exponents, the largest size in a limit.",
     .more =
         "--dim names batch, height, width, side, seq, frames, a symbolic dimension of the file, a "
         "parameter of a built-in architecture, or INPUT[AXIS]; its values are A..B, A..B..STEP, "
         "A..B:COUNT or A,B,C. Every figure is an evaluation of the model; docs/scaling.md "
         "explains closed forms.",
     .examples = scale_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_SCALE,
     .run = cmd_scale},
    {.name = "history",
     .words = "[list|show|tag|untag|delete|export|import] [RUN|FILE ...]",
     .about = "Results that were kept with --save: list, show, tag, delete, export, import.",
     .more =
         "The history is an SQLite file: --db FILE, else the environment's ASSAY_DB, else "
         "assay/history.db in $XDG_DATA_HOME or ~/.local/share. With ASSAY_DB set every measuring "
         "command keeps its result.",
     .examples = history_examples,
     .max_words = CLI_MAX_WORDS,
     .bit = ON_HISTORY,
     .run = cmd_history},
    {.name = "devices",
     .words = "[PATTERN]",
     .about =
         "Hardware that is known: dense peaks, memory, bandwidth, power, and how sure that is.",
     .more = "PATTERN is a part of a name or a class, or holds * and ? as in file names.",
     .examples = devices_examples,
     .max_words = 1,
     .bit = ON_DEVICES,
     .run = cmd_devices},
    {.name = "models",
     .words = "[PATTERN]",
     .about = "What is built in: family, parameters, GMACs, default input, task.",
     .more =
         "PATTERN is a part of a name, a family or a task, or holds * and ? as in file names. All "
         "numbers are counted when asked for.",
     .examples = models_examples,
     .max_words = 1,
     .bit = ON_MODELS,
     .run = cmd_models},
    {.name = "export",
     .words = "MODEL",
     .about = "Writes a model as an ONNX file.",
     .more =
         "MODEL is as for graph. Weights of a file are copied; those of a built-in architecture are "
         "random, at a scale that keeps outputs finite, and the same for the same seed.",
     .examples = export_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_EXPORT,
     .run = cmd_export},
    {.name = "pipeline",
     .words = "NAME|DIR ...",
     .about = "What a generation costs, component by component: diffusion and language models.",
     .more =
         "NAME is a pipeline (sd15, sd21, sdxl, sd3-medium, flux-dev, pixart-512, dit-xl-2, ...) or a "
         "language model of `assay models language`; DIR is a folder of diffusers or transformers. "
         "Sizes that are not given are those of the model's own library.",
     .examples = pipeline_examples,
     .max_words = 12,
     .bit = ON_PIPELINE,
     .run = cmd_pipeline},
    {.name = "ops",
     .words = "[PATTERN]",
     .about = "The operators that are known, with versions and cost formula.",
     .more = "PATTERN is a part of the name, or holds * and ? as in file names; case does not "
             "matter. In a type, # is the number of spatial dimensions.",
     .examples = ops_examples,
     .max_words = 1,
     .bit = ON_OPS,
     .run = cmd_ops},
    {.name = "lenses",
     .words = "",
     .about = "Whose way of counting FLOPs can be shown.",
     .bit = ON_LENSES,
     .run = cmd_lenses},
    {.name = "doctor",
     .words = "",
     .about = "Whether this installation is well.",
     .bit = ON_DOCTOR,
     .run = cmd_doctor},
    {.name = "completion",
     .words = "bash|zsh|fish",
     .about = "Prints a completion script for a shell.",
     .examples = completion_examples,
     .min_words = 1,
     .max_words = 1,
     .bit = ON_COMPLETION,
     .run = cmd_completion},
    {.name = "help",
     .words = "[COMMAND]",
     .about = "Explains a command and its options.",
     .max_words = 1,
     .bit = ON_HELP,
     .run = cmd_help},
    {.name = "version",
     .words = "",
     .about = "Prints the version.",
     .bit = ON_VERSION,
     .run = cmd_version},
};
const size_t cli_n_commands = sizeof cli_commands / sizeof *cli_commands;

const cli_option cli_options[] = {
    {.name = "input-shape", .on = ON_GRAPH | ON_STUDIES | ON_EXPORT | ON_RUN | ON_MAP | ON_FUSE},
    {.name = "dim", .on = ON_GRAPH | ON_COMPARE | ON_RUN | ON_MAP | ON_SCALE | ON_FUSE},
    {.name = "solve", .on = ON_SCALE},
    {.name = "batch",
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE},
    {.name = "set",
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT | ON_RUN | ON_MAP | ON_PIPELINE | ON_FUSE},
    {.name = "config",
     .id = OPT_CONFIG,
     .on = ON_GRAPH | ON_EXPORT | ON_RUN | ON_MAP | ON_SCALE | ON_FUSE,
     .value = "FILE",
     .about = "A training configuration (JSON) that describes the model; MODEL may be left out."},
    {.name = "lens", .on = ON_GRAPH | ON_STUDIES | ON_PROFILE | ON_FUSE},
    {.name = "precision",
     .on = ON_GRAPH | ON_COMPARE | ON_PROFILE | ON_EXPORT | ON_PIPELINE | ON_MAP | ON_SCALE |
           ON_FUSE},
    {.name = "hardware", .on = ON_GRAPH | ON_MAP | ON_DEVICES | ON_PIPELINE},
    {.name = "goal", .on = ON_MAP},
    {.name = "strategy", .on = ON_FUSE},
    {.name = "patterns", .on = ON_GRAPH},
    {.name = "threshold", .on = ON_GRAPH | ON_RUN},
    {.name = "training", .on = ON_GRAPH | ON_PROFILE | ON_SCALE},
    {.name = "strict", .on = ON_GRAPH | ON_RUN | ON_MAP | ON_SCALE | ON_FUSE},
    {.name = "tolerance", .on = ON_CHECK | ON_PROFILE | ON_BENCH},
    {.name = "metrics", .on = ON_CHECK | ON_PROFILE | ON_BENCH},
    {.name = "save-baseline",
     .id = OPT_SAVE_BASELINE,
     .on = ON_CHECK | ON_PROFILE | ON_BENCH,
     .value = "FILE",
     .about = "Write the result as a baseline for later."},
    {.name = "junit",
     .id = OPT_JUNIT,
     .on = ON_CHECK | ON_PROFILE | ON_BENCH,
     .value = "FILE",
     .about = "Write the verdicts as JUnit XML."},
    {.name = "save",
     .id = OPT_SAVE,
     .on = ON_SAVE,
     .about = "Keep the result in the history; `assay history` lists it."},
    {.name = "tag",
     .id = OPT_TAG,
     .on = ON_SAVE,
     .value = "NAME",
     .about = "A tag of the run that is saved. May be given again."},
    {.name = "tag",
     .id = OPT_TAG,
     .on = ON_STORE,
     .value = "NAME",
     .about = "Only runs with this tag."},
    {.name = "db",
     .id = OPT_DB,
     .on = ON_SAVE | ON_STORE,
     .value = "FILE",
     .about = "The history; else ASSAY_DB, else assay/history.db where the system keeps data."},
    {.name = "since",
     .id = OPT_SINCE,
     .on = ON_STORE,
     .value = "30d|DATE",
     .about = "Only runs that are not older: 30d, 12h, 2w, 2026-11-15."},
    {.name = "query",
     .id = OPT_QUERY,
     .on = ON_HISTORY,
     .value = "TEXT",
     .about = "Only runs with this in their model, command, machine or a tag."},
    {.name = "limit",
     .id = OPT_LIMIT,
     .on = ON_STORE,
     .value = "N",
     .about = "At most so many runs, the newest (20 of history)."},
    {.name = "model",
     .id = OPT_OF_MODEL,
     .on = ON_HISTORY,
     .value = "MODEL",
     .about = "Only runs of this model."},
    {.name = "opset", .on = ON_EXPORT},
    {.name = "seed", .on = ON_EXPORT | ON_RUN},
    {.name = "weight-bits", .on = ON_EXPORT | ON_RUN},
    {.name = "external-data", .on = ON_EXPORT},
    {.name = "holes", .on = ON_EXPORT},
    {.name = "batch-sizes", .on = ON_RUN | ON_MAP},
    {.name = "configs", .on = ON_BENCH},
    {.name = "num-runs", .on = ON_RUN | ON_PIPELINE},
    {.name = "warmup-runs", .on = ON_RUN | ON_PIPELINE},
    {.name = "duration", .on = ON_BENCH | ON_PROFILE},
    {.name = "precision-target", .on = ON_BENCH | ON_PROFILE},
    {.name = "concurrency", .on = ON_BENCH},
    {.name = "rate", .on = ON_BENCH},
    {.name = "device", .on = ON_RUN | ON_PIPELINE},
    {.name = "threads", .on = ON_RUN | ON_PIPELINE},
    {.name = "no-spin", .on = ON_RUN},
    {.name = "opt-level", .on = ON_RUN},
    {.name = "provider-option", .on = ON_RUN},
    {.name = "engine-lib", .on = ON_RUN | ON_EXPORT | ON_PIPELINE},
    {.name = "input", .on = ON_RUN},
    {.name = "save-outputs", .on = ON_BENCH},
    {.name = "unit", .on = ON_RUN},
    {.name = "memory-limit", .on = ON_RUN | ON_PIPELINE},
    {.name = "cold", .on = ON_BENCH},
    {.name = "layers", .on = ON_LAYERS},
    {.name = "rows", .on = ON_RUN},
    {.name = "measure",
     .id = OPT_MEASURE,
     .on = ON_MEMORY | ON_PIPELINE,
     .about = "Run the model and show what it takes beside the plan."},
    {.name = "top", .on = ON_GRAPH | ON_COMPARE | ON_RUN | ON_MAP | ON_FUSE | ON_HISTORY},
    {.name = "depth", .on = ON_GRAPH | ON_HISTORY},
    {.name = "verbose",
     .letter = 'v',
     .on = ON_GRAPH | ON_COMPARE | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_SCALE | ON_HISTORY},
    {.name = "output",
     .letter = 'o',
     .id = OPT_OUTPUT,
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE,
     .value = "FILE",
     .about = "Write the result to a file; its suffix says how. May be given again."},
    {.name = "format",
     .letter = 'f',
     .id = OPT_FORMAT,
     .on = ON_GRAPH | ON_STUDIES | ON_LISTS | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE,
     .value = "console|json|csv",
     .about = "Format of the result."},
    {.name = "json",
     .id = OPT_JSON,
     .on = ON_GRAPH | ON_STUDIES | ON_LISTS | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE,
     .about = "Short for --format json."},
    {.name = "quiet",
     .letter = 'q',
     .id = OPT_QUIET,
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE,
     .about = "Nothing on stdout."},
    {.name = "models",
     .id = OPT_MODELS,
     .on = ON_VALIDATE,
     .value = "A,B,C",
     .about = "Another way to give the models."},
    {.name = "live", .on = ON_VALIDATE},
    {.name = "model",
     .id = OPT_MODEL,
     .on = ON_GRAPH | ON_EXPORT | ON_RUN | ON_MAP | ON_SCALE | ON_FUSE,
     .value = "MODEL",
     .about = "Another way to give the model."},
    {.name = "model-path",
     .id = OPT_MODEL,
     .on = ON_GRAPH | ON_EXPORT | ON_RUN | ON_MAP | ON_SCALE | ON_FUSE,
     .value = "MODEL",
     .about = "The same."},
    {.name = "color",
     .id = OPT_COLOR,
     .on = ON_GRAPH | ON_STUDIES | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE,
     .value = "auto|always|never",
     .about = "Colours: auto is on a terminal and without NO_COLOR."},
    {.name = "width", .on = ON_GRAPH | ON_STUDIES | ON_RUN | ON_MAP | ON_FUSE | ON_STORE},
    {.name = "ascii",
     .on = ON_GRAPH | ON_STUDIES | ON_RUN | ON_PIPELINE | ON_MAP | ON_FUSE | ON_STORE},
    {.name = "height", .on = ON_PIPELINE},
    {.name = "width",
     .id = OPT_IMAGE_WIDTH,
     .on = ON_PIPELINE,
     .value = "PIXELS",
     .about = "Of the image a pipeline makes."},
    {.name = "steps", .on = ON_PIPELINE},
    {.name = "guidance-scale", .on = ON_PIPELINE},
    {.name = "strength", .on = ON_PIPELINE},
    {.name = "prompt-tokens", .on = ON_PIPELINE},
    {.name = "generate", .on = ON_PIPELINE},
    {.name = "cache-dtype", .on = ON_PIPELINE},
    {.name = "sweep", .on = ON_PIPELINE},
    {.name = "prompt", .on = ON_PIPELINE},
    {.name = "pipeline-file", .on = ON_PIPELINE},
    {.name = "no-profiling", .on = ON_PIPELINE},
    {.name = "licenses",
     .id = OPT_LICENSES,
     .on = ON_VERSION,
     .about = "The licence of this program and of what it holds."},
    {.name = "man", .id = OPT_MAN, .on = ON_HELP, .about = "The manual page, as scdoc source."},
    {.name = "help", .letter = 'h', .id = OPT_HELP, .on = ON_ALL, .about = "Explain the command."},
    {.name = "version",
     .letter = 'V',
     .id = OPT_VERSION,
     .on = ON_ALL,
     .about = "Print the version."},
};
const size_t cli_n_options = sizeof cli_options / sizeof *cli_options;

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    return NULL;
}

void cli_option_text(const cli_option *row, const char **value, const char **about)
{
    assay_option_info info = {.size = sizeof info};
    *value = row->value;
    *about = row->about;
    if (row->id != OPT_LIBRARY)
        return;
    for (size_t i = 0; assay_option_at(i, &info); i++)
        if (strcmp(info.name, row->name) == 0) {
            *value = info.value;
            *about = info.about;
            return;
        }
}

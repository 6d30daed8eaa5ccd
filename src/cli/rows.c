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
    "assay export model.onnx -o out/model.onnx --external-data",
    "its own weights, in a file beside it",
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
    {.name = "compare",
     .words = "A B ...",
     .about = "Models side by side: totals with ratios, operator types, layers that differ.",
     .more = "Ratios are to the first model. Of two models the layers behind the difference are listed: "
             "added, removed, changed, aligned by name and then by structure.",
     .examples = compare_examples,
     .min_words = 2,
     .max_words = 12,
     .bit = ON_COMPARE,
     .run = cmd_compare},
    {.name = "validate",
     .words = "[MODEL ...]",
     .about = "Our counts beside those of fvcore and other tools, and what explains the difference.",
     .more = "Like is compared with like: a tool that counts a multiply-accumulate as one FLOP is set "
             "beside our multiply-accumulates. Without models a few well-known ones are taken.",
     .examples = validate_examples,
     .max_words = CLI_MAX_WORDS,
     .bit = ON_VALIDATE,
     .run = cmd_validate},
    {.name = "models",
     .words = "[PATTERN]",
     .about = "What is built in: family, parameters, GMACs, default input, task.",
     .more = "PATTERN is a part of a name, a family or a task, or holds * and ? as in file names. All "
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
    {.name = "input-shape", .on = ON_GRAPH | ON_EXPORT},
    {.name = "dim", .on = ON_GRAPH | ON_COMPARE},
    {.name = "batch", .on = ON_GRAPH | ON_EXPORT},
    {.name = "set", .on = ON_GRAPH | ON_EXPORT},
    {.name = "config",
     .id = OPT_CONFIG,
     .on = ON_GRAPH | ON_EXPORT,
     .value = "FILE",
     .about = "A training configuration (JSON) that describes the model; MODEL may be left out."},
    {.name = "lens", .on = ON_GRAPH | ON_STUDIES},
    {.name = "precision", .on = ON_GRAPH | ON_COMPARE},
    {.name = "threshold", .on = ON_GRAPH},
    {.name = "training", .on = ON_GRAPH},
    {.name = "strict", .on = ON_GRAPH},
    {.name = "opset", .on = ON_EXPORT},
    {.name = "seed", .on = ON_EXPORT},
    {.name = "external-data", .on = ON_EXPORT},
    {.name = "holes", .on = ON_EXPORT},
    {.name = "top", .on = ON_GRAPH | ON_COMPARE},
    {.name = "depth", .on = ON_GRAPH},
    {.name = "verbose", .letter = 'v', .on = ON_GRAPH | ON_COMPARE},
    {.name = "output",
     .letter = 'o',
     .id = OPT_OUTPUT,
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT,
     .value = "FILE",
     .about = "Write the result to a file; its suffix says how. May be given again."},
    {.name = "format",
     .letter = 'f',
     .id = OPT_FORMAT,
     .on = ON_GRAPH | ON_STUDIES | ON_LISTS,
     .value = "console|json|csv",
     .about = "Format of the result."},
    {.name = "json",
     .id = OPT_JSON,
     .on = ON_GRAPH | ON_STUDIES | ON_LISTS,
     .about = "Short for --format json."},
    {.name = "quiet",
     .letter = 'q',
     .id = OPT_QUIET,
     .on = ON_GRAPH | ON_STUDIES | ON_EXPORT,
     .about = "Nothing on stdout."},
    {.name = "models",
     .id = OPT_MODELS,
     .on = ON_VALIDATE,
     .value = "A,B,C",
     .about = "Another way to give the models."},
    {.name = "live", .on = ON_VALIDATE},
    {.name = "model",
     .id = OPT_MODEL,
     .on = ON_GRAPH | ON_EXPORT,
     .value = "MODEL",
     .about = "Another way to give the model."},
    {.name = "model-path", .id = OPT_MODEL, .on = ON_GRAPH | ON_EXPORT, .value = "MODEL", .about = "The same."},
    {.name = "color",
     .id = OPT_COLOR,
     .on = ON_GRAPH | ON_STUDIES,
     .value = "auto|always|never",
     .about = "Colours: auto is on a terminal and without NO_COLOR."},
    {.name = "width", .on = ON_GRAPH | ON_STUDIES},
    {.name = "ascii", .on = ON_GRAPH | ON_STUDIES},
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

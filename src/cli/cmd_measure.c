/* assay profile, bench, layers, memory: the static analysis first, then runs on the engine. Without an engine, or when
 * it fails, the static part is shown. Results go to stdout, progress and the names of saved files to stderr. */
#include <string.h>

#include "cli/gate.h"
#include "cli/run.h"
#include "cli/values.h"

static bool is_console(const cli_job *j)
{
    return j->stdout_format && strcmp(j->stdout_format, "console") == 0;
}

/* The console's own view has the warning of every configuration that failed. */
static void warn_of(const cli_job *j)
{
    const assay_result *p = j->profile;
    if (is_console(j))
        return;
    for (size_t i = 0; i < assay_result_count(p, "configurations"); i++) {
        const char *error = cli_text(p, "configurations.%zu.error", i);
        if (*error)
            fprintf(stderr, "assay: batch %.0f, %s: %s\n",
                    cli_number(p, "configurations.%zu.batch", i),
                    cli_text(p, "configurations.%zu.precision", i), error);
    }
}

/* When every configuration failed, the complaint says why; a page without a figure would only repeat it. */
static bool has_nothing_to_show(const cli_job *j)
{
    return j->failed && is_console(j) && assay_result_count(j->profile, "configurations") > 0;
}

static int measure_and_show(cli_job *j, cli_gate *g, unsigned what, const char *view)
{
    cli_run r = {.job = j};
    int code = cli_job_open(j);
    assay_options_set(j->args->options, "view", view, NULL);
    if (!code)
        code = cli_gate_open(g, j->args);
    if (!code)
        code = cli_job_analyze(j);
    if (code)
        return code;
    int ran = cli_run_measure(&r, what);
    if (ran == ASSAY_ERR_USAGE)
        return ran;
    if (!ran)
        warn_of(j);
    cli_describe_screen(j->args);
    code = cli_job_write(j);
    int shown = has_nothing_to_show(j) ? 0 : cli_job_show(j);
    code = code ? code : ran ? ran : shown ? shown : (int)j->verdict;
    return code || !cli_gate_wanted(g, j->args) ? code : cli_gate_judge(g, j, false);
}

static int measure_as(cli_args *args, unsigned what, const char *view)
{
    cli_job j = {.args = args};
    cli_gate g = {0};
    int code = measure_and_show(&j, &g, what, view);
    cli_gate_close(&g);
    cli_job_close(&j);
    return code;
}

static int run_profile(cli_args *args)
{
    int code = measure_as(args, ASSAY_MEASURE_SWEEP, "profile");
    for (int i = 0; i < args->output.paths.n && !code && !args->output.quiet; i++)
        if (strcmp(args->output.paths.items[i], "-") != 0)
            fprintf(stderr, "assay: saved to %s\n", args->output.paths.items[i]);
    return code;
}

static int run_bench(cli_args *args)
{
    return measure_as(args, 0, "bench");
}

static int run_layers(cli_args *args)
{
    return measure_as(args, ASSAY_MEASURE_LAYERS, "layers");
}

static int run_memory(cli_args *args)
{
    assay_options_set(args->options, "allocations", NULL, NULL);
    if (args->measure)
        return measure_as(args, ASSAY_MEASURE_PLAN, "memory");
    assay_options_set(args->options, "view", "memory", NULL);
    return cli_gate_static(args);
}

static const char *const profile_examples[] = {
    "assay profile resnet18 --batch-sizes 1,2,4 --output r.json",
    "all five stages, with the result in a file",
    "assay profile model.onnx --threads 1 --num-runs 200",
    "one thread, more runs",
    "assay profile resnet50 --memory-limit 1GiB",
    "skip batch sizes that need more memory",
    NULL,
};

const cli_command command_profile = {
    CLI_COMMAND("profile", "MODEL", 1, 1, run_profile),
    .classes = "model run measures screen page result save advises",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = profile_examples,
    .about =
        "Profile a model in five stages: load, architecture, FLOPs, single input, batch sizes.",
    .more = "Runs the model on ONNX Runtime. Without an engine, it shows the static stages and "
            "the exit code is 5. After Ctrl-C, the measurements so far are written."};

static const char *const bench_examples[] = {
    "assay bench model.onnx",
    "latency and throughput of the model as it is",
    "assay bench resnet50 --configs 1:fp32,4:fp32,8:fp32",
    "several configurations",
    "assay bench model.onnx --rate 30 --duration 20",
    "an open loop of 30 requests per second",
    "assay bench model.onnx --concurrency 2 --threads 1",
    "two runs at the same time",
    "assay bench model.onnx --input x=image.npy",
    "with your own input",
    NULL,
};

const cli_command command_bench = {
    CLI_COMMAND("bench", "MODEL", 1, 1, run_bench),
    .classes = "model run measures screen page result save",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = bench_examples,
    .about = "Measure latency, throughput and memory.",
    .more =
        "Warm-up continues until timings are steady. Measurement ends after a number of runs, a "
        "time or at a precision. Inputs are random without --input."};

static const char *const layers_examples[] = {
    "assay layers resnet18",
    "the layers that take the most time",
    "assay layers model.onnx --layers attention,mlp",
    "only layers whose name, type or module contains one of these",
    NULL,
};

const cli_command command_layers = {
    CLI_COMMAND("layers", "MODEL", 1, 1, run_layers),
    .classes = "model run measures screen page result save advises",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = layers_examples,
    .about = "Measure the time of every layer, and show it with FLOPs and bytes.",
    .more = "Uses separate profiled runs and subtracts the overhead of the profiler. The time of a "
            "fused kernel is divided among its layers."};

static const char *const memory_examples[] = {
    "assay memory resnet50 -v",
    "every step of the plan",
    "assay memory model.onnx --measure",
    "compare the plan with a run",
    NULL,
};

const cli_command command_memory = {
    CLI_COMMAND("memory", "MODEL", 1, 1, run_memory),
    .classes = "model run asked screen page result save limits",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .examples = memory_examples,
    .about = "Show the memory plan over time, and the tensors of its peak.",
    .more = "With --measure the model is run, and the plan is compared with the measurement."};

/* assay profile: the whole job in five numbered stages, told as it goes, then a summary.
 *
 * Stage lines are part of the console view: on stdout when that is the console, on stderr when stdout
 * carries another format, nowhere with --quiet. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/gate.h"
#include "cli/run.h"
#include "cli/stage_stream.h"

enum { ADVICE_SHOWN = 6, TIME_WIDTH = 22 };

/* A hair more, so that printf rounds 6.125 up as all other views do; no other number of bytes is that near a half. */
static double to_mib(uint64_t bytes)
{
    return nextafter((double)bytes / 1048576, INFINITY);
}

static void count(FILE *f, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            fputc(',', f);
        fputc(digits[i], f);
    }
}

/* The unit in which a time shows three digits, as the other screens choose it. */
typedef struct time_scale {
    double factor;
    const char *unit;
    int decimals;
} time_scale;

static time_scale scale_of(double ms)
{
    if (ms < 0.1)
        return (time_scale){1e3, "µs", ms < 0.01 ? 2 : 1};
    if (ms >= 1e4)
        return (time_scale){1e-3, "s", 2};
    return (time_scale){1, "ms", ms < 1 ? 3 : ms < 100 ? 2 : 1};
}

static void put_time(FILE *f, double ms)
{
    time_scale s = scale_of(ms);
    fprintf(f, "%.*f %s", s.decimals, ms * s.factor, s.unit);
}

/* "1.25 ± 0.08 ms": both in the unit of the mean. The bytes that are no column of their own are told. */
static int print_spread(char *buf, size_t cap, const assay_config *c)
{
    time_scale s = scale_of(c->mean_ms);
    snprintf(buf, cap, "%.*f ± %.*f %s", s.decimals, c->mean_ms * s.factor, s.decimals,
             c->std_ms * s.factor, s.unit);
    return s.factor > 1 ? 2 : 1;
}

/* Work of small models is not "0.00". */
static void put_gflops(FILE *f, double g)
{
    fprintf(f, g > 0 && g < 0.1 ? "%.3g" : "%.2f", g);
}

/* ---- stages 1 to 3 ---- */

static void put_shape(FILE *f, const assay_tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        fprintf(f, "%s%" PRId64, i ? "x" : "", t->dims[i]);
}

static void put_banner(FILE *f, const cli_job *j)
{
    const cli_args *a = j->args;
    const char *device = assay_options_get(a->options, "device");
    const char *sizes = assay_options_get(a->options, "batch-sizes");
    fprintf(f, "assay %s: profile of %s\n", assay_version(), a->words[0]);
    fprintf(f, "  Model        %s\n", a->words[0]);
    fprintf(f, "  Config file  %s\n", a->model.config ? a->model.config : "none");
    fprintf(f, "  Device       %s\n", device ? device : "cpu");
    fprintf(f, "  Batch sizes  %s\n\n", sizes ? sizes : ASSAY_BATCH_SIZES);
}

static void put_created(FILE *f, const cli_job *j)
{
    assay_tensor t = {.size = sizeof t};
    fprintf(f, "  %zu layers", assay_profile_layer_count(j->profile));
    for (size_t i = 0; i < 4 && assay_profile_input(j->profile, i, &t); i++) {
        fprintf(f, ", input %s ", t.name);
        put_shape(f, &t);
    }
    fputs("\n\n", f);
}

static void put_architecture(FILE *f, const assay_totals *t)
{
    fputs("[2/5] Architecture\n  Total parameters      ", f);
    count(f, t->parameters);
    fputs("\n  Trainable parameters  ", f);
    count(f, t->trainable_parameters);
    fprintf(f, "\n  Model size            %.2f MiB\n\n", to_mib(t->weights_bytes));
}

static void put_flops(FILE *f, const assay_totals *t, const char *convention)
{
    double g = (double)t->flops / 1e9;
    fputs("[3/5] FLOPs\n", f);
    if (convention)
        fprintf(f, "  Convention   %s\n", convention);
    fputs("  FLOPs        ", f);
    count(f, t->flops);
    fputs("\n  GFLOPs       ", f);
    put_gflops(f, g);
    if (t->work_band)
        fprintf(f, " (%s)", t->work_band);
    fputc('\n', f);
    if (t->parameters)
        fprintf(f, "  FLOPs/param  %.1f\n", (double)t->flops / (double)t->parameters);
    fputs("\n", f);
}

/* ---- stages 4 and 5, as configurations come in ---- */

static void put_band(FILE *f, const char *word)
{
    if (word)
        fprintf(f, ": %s", word);
    fputc('\n', f);
}

static double used_mib(const assay_config *c)
{
    uint64_t base = c->resident_before_session;
    return c->resident_peak > base ? to_mib(c->resident_peak - base) : 0;
}

static bool anything_assumed(const assay_result *p)
{
    assay_totals t = {.size = sizeof t};
    assay_profile_totals(p, &t);
    return t.nodes_assumed > 0;
}

static void put_single(FILE *f, const assay_config *c, const assay_result *p)
{
    char time[64];
    print_spread(time, sizeof time, c);
    time_scale s = scale_of(c->mean_ms);
    fprintf(f, "  Time       %s", time);
    put_band(f, c->speed_band);
    fprintf(f, "             median %.*f, min %.*f, max %.*f %s\n", s.decimals,
            c->median_ms * s.factor, s.decimals, c->min_ms * s.factor, s.decimals,
            c->max_ms * s.factor, s.unit);
    fprintf(f, "  Memory     peak %.1f MiB, activations %.1f MiB (planned %.1f MiB)\n", used_mib(c),
            to_mib(c->activation_bytes), to_mib(c->planned_activation_bytes));
    if (c->cpu_percent >= 0)
        fprintf(f, "  Processor  %.0f %%", c->cpu_percent);
    else
        fputs("  Processor  too short to tell", f);
    if (c->gflops_per_s >= 0)
        fprintf(f, anything_assumed(p) ? ", at most %.1f GFLOP/s" : ", %.1f GFLOP/s",
                c->gflops_per_s);
    fputs("\n\n", f);
}

/* Lines of this table fit 80 columns: they are written as the sizes are done, so no width can be measured. */
static void put_titles(FILE *f, const assay_config *c)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%s/s", c->unit && *c->unit ? c->unit : "samples");
    fprintf(f, "  %5s  %*s  %12s  %12s  %12s\n", "batch", TIME_WIDTH + 1, "mean ± std", rate,
            "peak", "activations");
}

static void put_rate(FILE *f, double rate)
{
    if (rate < 0)
        fprintf(f, "  %14s", "–"); /* three bytes, one column */
    else
        fprintf(f, "  %12.*f", rate < 10 ? 3 : 1, rate);
}

static void put_failure(FILE *f, const assay_config *c, unsigned columns)
{
    int n = fprintf(f, "  batch %" PRIu64 ":", c->batch);
    cli_wrap_to(f, c->error, (unsigned)n, 4, columns);
}

static void put_config(FILE *f, const assay_config *c, unsigned columns)
{
    char time[64];
    if (*c->error) {
        put_failure(f, c, columns);
        return;
    }
    if (!c->runs)
        return;
    int wide = print_spread(time, sizeof time, c);
    fprintf(f, "  %5" PRIu64 "  %*s", c->batch, TIME_WIDTH + wide, time);
    put_rate(f, c->units_per_second);
    fprintf(f, "  %8.1f MiB  %8.1f MiB", used_mib(c), to_mib(c->activation_bytes));
    if (c->has_output_error && c->error_relative >= 0)
        fprintf(f, "\n%15soutput error %.3g %%", "", 100 * c->error_relative);
    fputc('\n', f);
}

static bool has_batch(const assay_result *p)
{
    assay_batch b = {.size = sizeof b};
    return !assay_profile_batch(p, &b) || b.present;
}

static void put_no_batch(FILE *f, const assay_result *p, unsigned columns)
{
    assay_batch b = {.size = sizeof b};
    char line[512];
    if (!assay_profile_batch(p, &b) || b.present)
        return;
    snprintf(line, sizeof line, "One sample at a time, for the model has no batch dimension: %s.",
             b.why);
    fputs("  ", f);
    cli_wrap_to(f, line, 2, 2, columns);
}

static void on_measured(cli_run *r, const assay_config *c)
{
    FILE *f = r->stages;
    const unsigned columns = cli_columns(r->job->args);
    if (!f)
        return;
    if (!r->single_shown) {
        if (*c->error)
            put_failure(f, c, columns);
        else if (c->runs)
            put_single(f, c, r->job->profile);
        fputs(*c->error ? "\n[5/5] Batch sizes\n" : "[5/5] Batch sizes\n", f);
        put_no_batch(f, r->job->profile, columns);
    }
    if (!r->titles_shown && !*c->error && c->runs)
        put_titles(f, c);
    r->titles_shown = r->titles_shown || (!*c->error && c->runs);
    r->single_shown = true;
    put_config(f, c, columns);
    fflush(f);
}

/* ---- summary ---- */

static bool ends_of_sweep(const assay_result *p, assay_config *single, assay_config *quickest)
{
    assay_config c = {.size = sizeof c};
    bool any = false;
    for (size_t i = 0; assay_profile_config(p, i, &c); i++) {
        if (*c.error || !c.runs)
            continue;
        if (!any || c.batch < single->batch)
            *single = c;
        if (!any || c.mean_ms < quickest->mean_ms)
            *quickest = c;
        any = true;
    }
    return any;
}

/* By the arithmetic of --training, at the batch that was measured. */
static void put_training(FILE *f, const assay_config *c)
{
    uint64_t all = c->planned_training_bytes, kept = c->planned_training_activation_bytes;
    if (!all)
        return;
    fprintf(f,
            "    training at it      %.1f MiB for a step with AdamW in float32\n"
            "                        %.1f MiB weights, gradients and moments\n"
            "                        %.1f MiB activations\n",
            to_mib(all), to_mib(all - kept), to_mib(kept));
}

static void put_recommendations(FILE *f, const assay_batch_choice *choice, const assay_config *best,
                                const assay_config *quickest, unsigned columns)
{
    double used = used_mib(best);
    fprintf(f, "  Batch size recommendations\n    lowest latency      batch %" PRIu64 ": ",
            quickest->batch);
    put_time(f, quickest->mean_ms);
    fputs("\n    for throughput      ", f);
    cli_wrap_to(f, choice->why, 24, 24, columns);
    fprintf(f, "    memory at it        %.1f MiB; leave 20 %% free: %.1f MiB\n", used, used / 0.8);
    put_training(f, best);
}

static void put_throughput(FILE *f, const assay_result *p, const assay_config *best)
{
    fprintf(f, "  Throughput     %.1f %s/s", best->units_per_second, best->unit);
    if (has_batch(p))
        fprintf(f, " at batch %" PRIu64, best->batch);
    fputc('\n', f);
}

static void put_measured(FILE *f, const cli_job *j, const assay_config *single,
                         const assay_config *quickest)
{
    const assay_result *p = j->profile;
    assay_batch_choice choice = {.size = sizeof choice};
    assay_config best = {.size = sizeof best};
    fputs("  Single input   ", f);
    put_time(f, single->mean_ms);
    put_band(f, single->speed_band);
    fprintf(f, "  Memory         %.1f MiB", used_mib(single));
    put_band(f, single->memory_band);
    if (!assay_profile_batch_choice(p, &choice) || !assay_profile_config(p, choice.config, &best))
        return;
    if (best.units_per_second >= 0)
        put_throughput(f, p, &best);
    if (has_batch(p))
        put_recommendations(f, &choice, &best, quickest, cli_columns(j->args));
}

static void put_summary(FILE *f, const cli_job *j, const assay_totals *t)
{
    assay_config single = {.size = sizeof single}, quickest = {.size = sizeof quickest};
    fputs("\nSummary\n  Parameters     ", f);
    count(f, t->parameters);
    fprintf(f, " (%.2f MiB)\n  GFLOPs         ", to_mib(t->weights_bytes));
    put_gflops(f, (double)t->flops / 1e9);
    fputc('\n', f);
    if (ends_of_sweep(j->profile, &single, &quickest))
        put_measured(f, j, &single, &quickest);
    for (int i = 0; i < j->args->output.paths.n; i++)
        if (strcmp(j->args->output.paths.items[i], "-") != 0)
            fprintf(f, "  Saved to %s\n", j->args->output.paths.items[i]);
}

static void put_advice(FILE *f, const assay_result *p, unsigned columns)
{
    assay_recommendation r = {.size = sizeof r};
    if (!assay_profile_recommendation_count(p))
        return;
    fputs("\nRecommendations\n", f);
    for (size_t i = 0; i < ADVICE_SHOWN && assay_profile_recommendation(p, i, &r); i++) {
        fprintf(f, "  %zu. %s\n     ", i + 1, r.title);
        cli_wrap_to(f, r.why, 5, 5, columns);
        fputs("     ", f);
        cli_wrap_to(f, r.expected, 5, 5, columns);
    }
}

static void put_warnings(const assay_result *p)
{
    assay_warning w = {.size = sizeof w};
    for (size_t i = 0; i < 8 && assay_profile_warning(p, i, &w); i++)
        if (strcmp(w.code, "configuration-failed") != 0 && /* have their line in the fifth stage */
            strcmp(w.code, "no-batch") != 0)
            fprintf(stderr, "assay: %s%s%s\n", w.text, *w.advice ? " " : "", w.advice);
}

/* ---- the whole ---- */

/* Where stage lines go; .to is NULL when they go nowhere. */
static stage_stream stage_file(const cli_job *j)
{
    bool console = j->stdout_format && strcmp(j->stdout_format, "console") == 0;
    return (stage_stream){.to = j->args->output.quiet ? NULL
                                : console             ? stdout
                                                      : stderr,
                          .ascii = cli_ascii(j->args),
                          .color = console && cli_color(j->args->output.color)};
}

/* Options about layers and counts: the sections that they shape are shown below the summary. */
static bool wants_sections(const cli_args *a)
{
    const char *threshold = cli_given(a, "threshold");
    return cli_given(a, "top") || cli_given(a, "verbose") || cli_given(a, "training") ||
           cli_given(a, "hardware") ||
           (threshold && strspn(threshold, "0123456789.") == strlen(threshold));
}

static int static_stages(cli_job *j, FILE *f, assay_totals *t)
{
    if (f)
        put_banner(f, j);
    if (f)
        fputs("[1/5] Loading the model\n", f);
    int code = cli_job_analyze(j);
    if (code)
        return code;
    assay_profile_totals(j->profile, t);
    if (f) {
        put_created(f, j);
        put_architecture(f, t);
        put_flops(f, t, cli_given(j->args, "lens"));
        fputs("[4/5] Single input\n", f);
        fflush(f);
    }
    return ASSAY_OK;
}

static int show(cli_job *j, const cli_run *r, const assay_totals *t)
{
    bool console = j->stdout_format && strcmp(j->stdout_format, "console") == 0;
    bool sections = wants_sections(j->args);
    cli_describe_screen(j->args);
    int code = cli_job_write(j);
    if (r->stages && !code)
        put_summary(r->stages, j, t);
    if (r->stages && !code && console)
        put_advice(r->stages, j->profile, cli_columns(j->args));
    if (r->stages)
        put_warnings(j->profile);
    if (!r->stages || (console && !sections))
        return code;
    if (console)
        fputc('\n', r->stages);
    fflush(r->stages);
    fflush(stdout);
    int shown = cli_job_show(j);
    return code ? code : shown;
}

static int run_stages(cli_job *j, cli_gate *g, FILE *stages)
{
    assay_totals t = {.size = sizeof t};
    cli_run r = {.job = j, .stages = stages, .measured = on_measured};
    int code = static_stages(j, r.stages, &t);
    if (code)
        return code;
    int ran = cli_run_measure(&r, ASSAY_MEASURE_SWEEP);
    if (ran == ASSAY_ERR_USAGE)
        return ran;
    int shown = show(j, &r, &t);
    code = shown ? shown : ran ? ran : (int)j->verdict;
    return code || !cli_gate_wanted(g, j->args) ? code : cli_gate_judge(g, j, false);
}

static int run(cli_job *j, cli_gate *g)
{
    int code = cli_job_open(j);
    if (!code)
        code = cli_gate_open(g, j->args);
    if (code)
        return code;
    stage_stream shown = stage_file(j);
    FILE *stages = shown.to ? stage_stream_open(&shown) : NULL;
    code = run_stages(j, g, stages);
    if (stages)
        fclose(stages);
    return code;
}

static int run_profile(cli_args *args)
{
    cli_job j = {.args = args};
    cli_gate g = {0};
    int code = run(&j, &g);
    cli_gate_close(&g);
    cli_job_close(&j);
    return code;
}

static const char *const profile_examples[] = {
    "assay profile resnet18 --batch-sizes 1,2,4 --output r.json",
    "five stages on the screen, everything in a file",
    "assay profile model.onnx --threads 1 --num-runs 200",
    "one thread, more runs",
    "assay profile resnet50 --memory-limit 1GiB",
    "stop the sweep where the plan needs more",
    NULL,
};

const cli_command command_profile = {
    .name = "profile",
    .words = "MODEL",
    .about = "Do the whole job in five stages: load, architecture, FLOPs, single input, batch "
             "sizes.",
    .more = "Runs the model on ONNX Runtime. Without an engine the static stages are shown and "
            "the exit code is 5. Ctrl-C ends it early and writes what was measured.",
    .examples = profile_examples,
    .min_words = 1,
    .max_words = 1,
    .classes = "model run measures screen page result save advises",
    .formats = CLI_REPORT_FORMATS,
    .values = "@models",
    .run = run_profile,
};

/* Is what the analysis says what the engine does? Models of different kinds are run without optimisations and
 * under the profiler:
 *   shapes    every shape the engine reports equals the inferred one
 *   memory    the measured activation peak is within 5 % of the plan, or what lies between them is named: the ledger
 *             of causes (docs/measuring.md) adds up to the byte and less than 5 % of it is unexplained. Rows that
 *             must be within 5 % of the plan itself are marked
 *   ledger    layers + engine + dispatch + unexplained is the run; above 5 ms less than 5 % is unexplained
 *
 *   truth [MODEL[@BATCH][:SHAPE] ...]      SHAPE without the batch, as 1,64,64; exit 1 when one of them does not hold
 *   truth memory [MODEL...]                without the times of layers, which take most of the time
 */
#include <assay/measure.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/job.h"
#include "jobs/measure.h"
#include "profile/plan_ledger.h"

typedef struct row {
    const char *word;
    bool near_plan; /* the plan itself is within 5 %, not only what its ledger ends in */
    bool no_times;  /* large: memory alone */
} row;

static const row usual[] = {{"resnet18", .near_plan = true},
                            {"resnet50", .near_plan = true},
                            {"resnet50@8", .near_plan = true},
                            {"resnet50@32", .near_plan = true, .no_times = true},
                            {"swinir_small:1,64,64", .near_plan = true},
                            {"swinir_small@8:1,64,64", .near_plan = true, .no_times = true},
                            {"swinir_small@32:1,64,64", .near_plan = true, .no_times = true},
                            {"mobilenet_v2", .near_plan = true},
                            {"squeezenet1_1", .near_plan = true},
                            {"densenet121", .near_plan = true},
                            {"googlenet", .near_plan = true},
                            {"inception_v3", .near_plan = true},
                            {"r3d_18", .near_plan = true, .no_times = true},
                            {"shufflenet_v2_x1_0", .near_plan = true},
                            {"gpt2", .near_plan = true},
                            {"t5-small", .near_plan = true},
                            {.word = "efficientnet_b0"},
                            {.word = "vit_b_16"},
                            {.word = "swin_t"},
                            {.word = "convnext_tiny"},
                            {.word = "bert-base-uncased"},
                            {.word = "whisper-tiny"}};

static bool near(uint64_t a, uint64_t b)
{
    return fabs((double)a - (double)b) <= 0.05 * (double)b;
}

/* ---- memory ---- */

/* Every total is the one before and the row's bytes; they begin at the plan and come by what was measured. */
static bool adds_up(const profile_plan_check *k, const plan_ledger_row *rows, uint32_t n)
{
    uint64_t sum = 0;
    bool met = false;
    for (uint32_t i = 0; i < n; i++) {
        sum += (uint64_t)rows[i].bytes;
        if (sum != rows[i].total)
            return false;
        met = met || (strcmp(rows[i].cause, "measured") == 0 && sum == k->measured_peak);
    }
    return met && rows[0].total == k->planned_peak;
}

static bool judge_memory(const profile_plan_check *k, bool near_plan)
{
    plan_ledger_row rows[PLAN_LEDGER_MAX];
    uint32_t n = plan_ledger(k, rows);
    bool ok = adds_up(k, rows, n) && near(k->measured_peak, k->planned_with_kept) &&
              near(k->measured_no_reuse, k->planned_no_reuse) &&
              (!near_plan || near(k->measured_peak, k->planned_peak));
    printf("  plan %8.2f", (double)k->planned_peak / 1048576);
    for (uint32_t i = 1; i < n; i++)
        if (strcmp(rows[i].cause, "measured") == 0)
            printf(" = run %.2f MiB (%+.1f %%)", (double)rows[i].total / 1048576,
                   100 * ((double)k->measured_peak / (double)k->planned_peak - 1));
        else if (rows[i].bytes)
            printf(" %+.2f %s", (double)rows[i].bytes / 1048576, rows[i].cause);
    printf(" %s\n", ok ? "ok" : "BAD");
    return ok;
}

/* ---- shapes and times ---- */

static bool judge_times(const profile_ledger *l)
{
    double sum = l->layers_ms + l->engine_ms + l->dispatch_ms + l->unexplained_ms;
    double lost = l->run_ms > 0 ? 100 * l->unexplained_ms / l->run_ms : 0;
    bool ok = fabs(sum - l->run_ms) < 1e-6 * l->run_ms + 1e-9 && (l->run_ms < 5 || lost < 5);
    printf("  %8.2f ms, layers %5.1f %%, unexplained %4.1f %% %s", l->run_ms,
           100 * l->layers_ms / l->run_ms, lost, ok ? "ok" : "BAD");
    return ok;
}

static int judge(const row *r, const profile_measured *m)
{
    const profile_plan_check *k = &m->plan;
    bool ok = k->shapes_checked && k->shapes_equal == k->shapes_checked;
    printf("%-24s shapes %4llu/%-4llu %s", r->word, (unsigned long long)k->shapes_equal,
           (unsigned long long)k->shapes_checked, ok ? "ok" : "BAD");
    if (!r->no_times)
        ok = judge_times(&m->ledger) && ok;
    putchar('\n');
    return !(judge_memory(k, r->near_plan) && ok);
}

/* ---- running ---- */

/* MODEL[@BATCH][:SHAPE] */
static assay_status take_word(const char *word, char name[128], assay_options *o, assay_error *err)
{
    char shape[128];
    size_t n = strcspn(word, "@:");
    const char *colon = strchr(word, ':');
    int batch = word[n] == '@' ? atoi(word + n + 1) : 1;
    snprintf(name, 128, "%.*s", (int)n, word);
    if (colon) {
        snprintf(shape, sizeof shape, "%d,%s", batch, colon + 1);
        return assay_options_set(o, "input-shape", shape, err);
    }
    snprintf(shape, sizeof shape, "%d", batch);
    return batch > 1 ? assay_options_set(o, "batch", shape, err) : ASSAY_OK;
}

static int try_model(const row *r)
{
    char name[128];
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    assay_error err = {0};
    unsigned what = ASSAY_MEASURE_PLAN | (r->no_times ? 0 : ASSAY_MEASURE_LAYERS);
    int bad = 1;
    assay_status s = o ? assay_options_set(o, "threads", "1", &err) : ASSAY_ERR_SYSTEM;
    if (s == ASSAY_OK)
        s = assay_options_set(o, "num-runs", r->no_times ? "1" : "10", &err);
    if (s == ASSAY_OK && r->no_times)
        s = assay_options_set(o, "warmup-runs", "0", &err);
    if (s == ASSAY_OK)
        s = take_word(r->word, name, o, &err);
    if (s == ASSAY_OK)
        s = assay_model_open(name, &m, &err);
    if (s == ASSAY_OK)
        s = assay_analyze(m, o, &p, &err);
    if (s == ASSAY_OK)
        s = assay_measure(m, o, what, NULL, p, &err);
    if (s == ASSAY_OK && p->p->measured->plan.present &&
        (r->no_times || p->p->measured->ledger.present))
        bad = judge(r, p->p->measured);
    else
        printf("%-24s %s\n", r->word, s == ASSAY_OK ? "was not studied" : err.message);
    fflush(stdout);
    assay_result_free(p);
    assay_model_free(m);
    assay_options_free(o);
    return bad;
}

int main(int argc, char **argv)
{
    bool memory = argc > 1 && strcmp(argv[1], "memory") == 0;
    int bad = 0, first = memory ? 2 : 1;
    for (int i = first; i < argc; i++)
        bad |= try_model(&(row){.word = argv[i], .no_times = memory});
    for (size_t i = 0; argc <= first && i < sizeof usual / sizeof *usual; i++) {
        row r = usual[i];
        r.no_times = r.no_times || memory;
        bad |= try_model(&r);
    }
    puts(bad ? "Something above does not hold." : "All hold.");
    return bad;
}

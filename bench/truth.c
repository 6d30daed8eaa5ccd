/* Is what the analysis says what the engine does? Models of different kinds are run without optimisations and
 * under the profiler:
 *   shapes    every shape the engine reports equals the inferred one
 *   memory    the measured activation peak is within 5 % of the plan of what was run (docs/measuring.md), and the
 *             run without any reuse within 5 % of the plan by that rule
 *   ledger    layers + engine + dispatch + unexplained is the run; above 5 ms less than 5 % is unexplained
 *
 *   truth [MODEL[@BATCH] ...]      exit 1 when one of them does not hold
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/measure.h"

static const char *const usual[] = {"resnet18",
                                    "resnet50",
                                    "resnet50@8",
                                    "mobilenet_v2",
                                    "squeezenet1_1",
                                    "densenet121",
                                    "googlenet",
                                    "efficientnet_b0",
                                    "vit_b_16",
                                    "swin_t",
                                    "convnext_tiny",
                                    "bert-base-uncased",
                                    "gpt2",
                                    "t5-small",
                                    "whisper-tiny",
                                    "shufflenet_v2_x1_0",
                                    NULL};

static bool near(uint64_t a, uint64_t b)
{
    return fabs((double)a - (double)b) <= 0.05 * (double)b;
}

static int judge(const char *name, const profile_measured *m)
{
    const profile_plan_check *k = &m->plan;
    const profile_ledger *l = &m->ledger;
    double sum = l->layers_ms + l->engine_ms + l->dispatch_ms + l->unexplained_ms;
    double lost = l->run_ms > 0 ? 100 * l->unexplained_ms / l->run_ms : 0;
    bool shapes = k->shapes_checked && k->shapes_equal == k->shapes_checked;
    bool memory = near(k->measured_peak, k->planned_as_run);
    bool freed = near(k->measured_no_reuse, k->planned_no_reuse);
    bool ledger = fabs(sum - l->run_ms) < 1e-6 * l->run_ms + 1e-9 && (l->run_ms < 5 || lost < 5);
    printf(
        "%-20s shapes %4llu/%-4llu %s  plan %8.2f run %8.2f MiB %+5.1f %% %s  no reuse %+5.1f %% %s  "
        "%8.2f ms, layers %5.1f %%, unexplained %4.1f %% %s\n",
        name, (unsigned long long)k->shapes_equal, (unsigned long long)k->shapes_checked,
        shapes ? "ok " : "BAD", (double)k->planned_as_run / 1048576,
        (double)k->measured_peak / 1048576,
        100 * ((double)k->measured_peak / (double)k->planned_as_run - 1), memory ? "ok " : "ABOVE",
        100 * ((double)k->measured_no_reuse / (double)k->planned_no_reuse - 1),
        freed ? "ok " : "BAD", l->run_ms, 100 * l->layers_ms / l->run_ms, lost,
        ledger ? "ok" : "BAD");
    return !(shapes && (memory || freed) && ledger);
}

static int try_model(const char *word)
{
    char name[128];
    const char *at = strchr(word, '@');
    assay_model *m = NULL;
    assay_profile *p = NULL;
    assay_options *o = assay_options_new();
    assay_error err = {0};
    int bad = 1;
    snprintf(name, sizeof name, "%.*s", at ? (int)(at - word) : (int)strlen(word), word);
    assay_status s = o ? assay_options_set(o, "threads", "1", &err) : ASSAY_ERR_SYSTEM;
    if (s == ASSAY_OK)
        s = assay_options_set(o, "num-runs", "10", &err);
    if (s == ASSAY_OK && at)
        s = assay_options_set(o, "batch", at + 1, &err);
    if (s == ASSAY_OK)
        s = assay_model_open(name, &m, &err);
    if (s == ASSAY_OK)
        s = assay_analyze(m, o, &p, &err);
    if (s == ASSAY_OK)
        s = assay_measure(m, o, ASSAY_MEASURE_LAYERS | ASSAY_MEASURE_PLAN, NULL, p, &err);
    if (s == ASSAY_OK && p->p->measured->plan.present && p->p->measured->ledger.present)
        bad = judge(word, p->p->measured);
    else
        printf("%-20s %s\n", word, s == ASSAY_OK ? "was not studied" : err.message);
    assay_profile_free(p);
    assay_model_free(m);
    assay_options_free(o);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    const char *const *names = argc > 1 ? (const char *const *)argv + 1 : usual;
    for (; *names; names++) {
        bad |= try_model(*names);
        fflush(stdout);
    }
    puts(bad ? "Something above does not hold." : "All hold.");
    return bad;
}

/* Kubernetes: a manifest with the plan as a ConfigMap and an Indexed Job (batch/v1) per device and node class.
 *
 * It is a v1 List in JSON, which kubectl reads as it reads YAML. A pod finds its task by JOB_COMPLETION_INDEX, an index
 * into ASSAY_TASKS. Pods of sweeps keep away from each other (anti-affinity by host name), so that tasks do not disturb
 * each other. ASSAY_DB comes from the key ASSAY_DB of a secret. The manifest is applied if there is a kubectl with a
 * current context; else it is only written.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "base/json_write.h"
#include "base/num.h"
#include "base/process.h"
#include "cluster/cluster.h"

enum { CONTEXT_MS = 20000 };
#define LABEL           "assay/sweep"
#define TASKS_LABEL     "assay/tasks"
#define CLASS_LABEL     "assay/node-class"
#define INDEX_LABEL     "batch.kubernetes.io/job-completion-index"
#define CONFIG_MAP_MOST ((size_t)1 << 20)
#define MEMORY_LEAST    ((double)(512 << 20))

/* ---- the manifest ---- */

static void put_labels(json_writer *w, const sweep_plan *plan)
{
    json_key(w, "labels");
    json_flat_object(w);
    key_str(w, LABEL, plan->id);
    json_end(w);
}

static void put_config_map(json_writer *w, const sweep_submission *q)
{
    json_object(w);
    key_cstr(w, "apiVersion", "v1");
    key_cstr(w, "kind", "ConfigMap");
    json_key(w, "metadata");
    json_object(w);
    key_str(w, "name", q->plan->id);
    put_labels(w, q->plan);
    json_end(w);
    json_key(w, "data");
    json_object(w);
    key_str(w, "sweep.json", q->plan_text);
    json_end(w);
    json_end(w);
}

static void put_variable(json_writer *w, const char *name, const char *value)
{
    json_flat_object(w);
    key_cstr(w, "name", name);
    key_cstr(w, "value", value);
    json_end(w);
}

/* {"name": NAME, "valueFrom": {KIND: {"x": ..., "y": ...}}} */
static void put_reference(json_writer *w, const char *name, const char *kind,
                          const char *const pairs[2][2])
{
    json_flat_object(w);
    key_cstr(w, "name", name);
    json_key(w, "valueFrom");
    json_flat_object(w);
    json_key(w, kind);
    json_flat_object(w);
    for (int i = 0; i < 2 && pairs[i][0]; i++)
        key_cstr(w, pairs[i][0], pairs[i][1]);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void put_environment(json_writer *w, const sweep_submission *q, const char *tasks)
{
    const char *const node[2][2] = {{"fieldPath", "spec.nodeName"}, {NULL, NULL}};
    const char *const secret[2][2] = {{"name", q->secret}, {"key", "ASSAY_DB"}};
    json_key(w, "env");
    json_array(w);
    put_variable(w, "ASSAY_TASKS", tasks);
    put_reference(w, "ASSAY_NODE", "fieldRef", node);
    if (q->secret)
        put_reference(w, "ASSAY_DB", "secretKeyRef", secret);
    json_end(w);
}

static double bytes_of(const sweep_plan *plan, str model)
{
    for (uint32_t i = 0; i < plan->n_models; i++)
        if (str_eq(plan->models[i].name, model))
            return plan->models[i].bytes > 0 ? plan->models[i].bytes : 0;
    return 0;
}

/* What the largest task of the group asks for: its threads, and four times the bytes that a run moves. */
static void put_resources(json_writer *w, const sweep_submission *q, const sweep_group *g)
{
    uint64_t threads = 1;
    double memory = MEMORY_LEAST;
    for (uint32_t i = 0; i < g->tasks.n; i++) {
        const sweep_task *t = &q->plan->tasks[g->tasks.items[i]];
        threads = t->threads > threads ? t->threads : threads;
        memory = fmax(memory, 4 * bytes_of(q->plan, t->model) * (double)t->batch);
    }
    char cpu[32], mebibytes[32];
    snprintf(cpu, sizeof cpu, "%llu", (unsigned long long)threads);
    snprintf(mebibytes, sizeof mebibytes, "%.0fMi", ceil(memory / (1 << 20)));
    json_key(w, "resources");
    json_object(w);
    json_key(w, "requests");
    json_flat_object(w);
    key_cstr(w, "cpu", cpu);
    key_cstr(w, "memory", mebibytes);
    json_end(w);
    if (!str_is(g->device, "cpu")) {
        json_key(w, "limits");
        json_flat_object(w);
        key_cstr(w, "nvidia.com/gpu", "1");
        json_end(w);
    }
    json_end(w);
}

static void put_container(json_writer *w, const sweep_submission *q, const sweep_group *g,
                          const char *tasks)
{
    static const char *const command[] = {"assay", "sweep", "run", "/sweep/sweep.json", "--quiet"};
    json_object(w);
    key_cstr(w, "name", "assay");
    key_cstr(w, "image", q->image);
    json_key(w, "command");
    json_flat_array(w);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++)
        json_cstr(w, command[i]);
    json_end(w);
    put_environment(w, q, tasks);
    put_resources(w, q, g);
    json_key(w, "volumeMounts");
    json_array(w);
    json_flat_object(w);
    key_cstr(w, "name", "plan");
    key_cstr(w, "mountPath", "/sweep");
    json_end(w);
    json_end(w);
    json_end(w);
}

static void put_affinity(json_writer *w)
{
    json_key(w, "affinity");
    json_object(w);
    json_key(w, "podAntiAffinity");
    json_object(w);
    json_key(w, "requiredDuringSchedulingIgnoredDuringExecution");
    json_array(w);
    json_object(w);
    json_key(w, "labelSelector");
    json_flat_object(w);
    json_key(w, "matchExpressions");
    json_flat_array(w);
    json_flat_object(w);
    key_cstr(w, "key", LABEL);
    key_cstr(w, "operator", "Exists");
    json_end(w);
    json_end(w);
    json_end(w);
    key_cstr(w, "topologyKey", "kubernetes.io/hostname");
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void put_volumes(json_writer *w, const sweep_plan *plan)
{
    json_key(w, "volumes");
    json_array(w);
    json_flat_object(w);
    key_cstr(w, "name", "plan");
    json_key(w, "configMap");
    json_flat_object(w);
    key_str(w, "name", plan->id);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void put_pod(json_writer *w, const sweep_submission *q, const sweep_group *g,
                    const char *tasks)
{
    json_key(w, "spec");
    json_object(w);
    key_cstr(w, "restartPolicy", "Never");
    key_u64(w, "activeDeadlineSeconds", (uint64_t)ceil(g->time_limit_s));
    if (g->node_class.n) {
        json_key(w, "nodeSelector");
        json_flat_object(w);
        key_str(w, CLASS_LABEL, g->node_class);
        json_end(w);
    }
    put_affinity(w);
    json_key(w, "containers");
    json_array(w);
    put_container(w, q, g, tasks);
    json_end(w);
    put_volumes(w, q->plan);
    json_end(w);
}

static void put_template(json_writer *w, const sweep_submission *q, const sweep_group *g,
                         const char *tasks)
{
    json_key(w, "template");
    json_object(w);
    json_key(w, "metadata");
    json_object(w);
    put_labels(w, q->plan);
    json_key(w, "annotations");
    json_flat_object(w);
    key_cstr(w, TASKS_LABEL, tasks);
    json_end(w);
    json_end(w);
    put_pod(w, q, g, tasks);
    json_end(w);
}

/* A name of the API: the sweep and the first task, which tells jobs of one sweep apart. */
static void put_job(json_writer *w, const sweep_submission *q, const sweep_group *g,
                    const char *tasks)
{
    const uint64_t n = g->tasks.n, most = (uint64_t)q->throttle;
    json_object(w);
    key_cstr(w, "apiVersion", "batch/v1");
    key_cstr(w, "kind", "Job");
    json_key(w, "metadata");
    json_object(w);
    key_cstr(w, "name",
             arena_printf(q->arena, STR_FMT "-%lld", STR_ARG(q->plan->id),
                          (long long)g->tasks.items[0]));
    put_labels(w, q->plan);
    json_end(w);
    json_key(w, "spec");
    json_object(w);
    key_cstr(w, "completionMode", "Indexed");
    key_u64(w, "completions", n);
    key_u64(w, "parallelism", most && most < n ? most : n);
    key_u64(w, "backoffLimit", 3 + n);
    put_template(w, q, g, tasks);
    json_end(w);
    json_end(w);
}

static assay_status put_jobs(json_writer *w, const sweep_submission *q, assay_error *err)
{
    sweep_group *groups;
    uint32_t n;
    TRY(sweep_groups(q, &groups, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        sbuf tasks = {0};
        sweep_put_tasks(&tasks, &groups[i].tasks, 0);
        put_job(w, q, &groups[i], sbuf_cstr(&tasks));
        sbuf_free(&tasks);
        sbuf_printf(q->said, "%u task%s on " STR_FMT "%s" STR_FMT "\n", groups[i].tasks.n,
                    groups[i].tasks.n == 1 ? "" : "s", STR_ARG(groups[i].device),
                    groups[i].node_class.n ? ", " : "", STR_ARG(groups[i].node_class));
    }
    return ASSAY_OK;
}

static assay_status make_manifest(const sweep_submission *q, sbuf *out, assay_error *err)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    key_cstr(&w, "apiVersion", "v1");
    key_cstr(&w, "kind", "List");
    json_key(&w, "items");
    json_array(&w);
    put_config_map(&w, q);
    TRY(put_jobs(&w, q, err));
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
    return out->failed || arena_failed(q->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* ---- submitting ---- */

static bool has_context(void)
{
    static const char *const argv[] = {"kubectl", "config", "current-context", NULL};
    process_result r = {0};
    bool yes = process_run(argv, CONTEXT_MS, 1 << 16, &r, NULL) == ASSAY_OK && r.code == 0;
    sbuf_free(&r.out);
    return yes;
}

static assay_status apply(const sweep_submission *q, assay_error *err)
{
    const char *const argv[] = {"kubectl", "apply", "-f", q->manifest, NULL};
    if (has_context())
        return sweep_call(argv, q->said, err);
    sbuf_printf(q->said, "no kubectl with a current context: run `kubectl apply -f %s` yourself\n",
                q->manifest);
    return ASSAY_OK;
}

static assay_status write_manifest(const sweep_submission *q, const sbuf *text, assay_error *err)
{
    file_out *file;
    TRY(file_out_open(q->manifest, &file, err));
    assay_status s = file_out_write(file, text->p, text->n, err);
    if (s == ASSAY_OK)
        return file_out_commit(file, err);
    file_out_abandon(file);
    return s;
}

static assay_status kubernetes_submit(const sweep_submission *q, assay_error *err)
{
    sbuf text = {0};
    if (!q->image)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "no container image. Name one that contains assay, its engine and the "
                        "models with --image.");
    if (q->plan_text.n > CONFIG_MAP_MOST)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the plan has %u bytes; a ConfigMap holds at most %zu. Split the sweep.",
                        q->plan_text.n, CONFIG_MAP_MOST);
    assay_status s = make_manifest(q, &text, err);
    if (s == ASSAY_OK)
        s = write_manifest(q, &text, err);
    sbuf_free(&text);
    if (s != ASSAY_OK)
        return s;
    sbuf_printf(q->said, "manifest written to %s\n", q->manifest);
    return apply(q, err);
}

/* ---- asking ---- */

static void take_pod(const sweep_plan *plan, const json_value *pod, sweep_progress *tasks, arena *a)
{
    const json_value *said = json_path(pod, "metadata.annotations");
    const json_value *index = json_get(said, INDEX_LABEL), *list = json_get(said, TASKS_LABEL);
    const json_value *phase = json_path(pod, "status.phase"),
                     *node = json_path(pod, "spec.nodeName"),
                     *reason = json_path(pod, "status.reason");
    sweep_tasks of = {0};
    uint64_t i;
    if (!index || !list || index->kind != JSON_TEXT || list->kind != JSON_TEXT ||
        !str_to_u64(index->s, &i) ||
        sweep_parse_tasks(list->s, plan->n_tasks, "", a, &of, NULL) != ASSAY_OK || i >= of.n)
        return;
    sweep_progress *t = &tasks[of.items[i]];
    bool runs = str_is(phase->s, "Running");
    if (t->record != INT64_MIN || !(runs || str_is(phase->s, "Pending")))
        return;
    t->state = runs ? SWEEP_RUNNING : SWEEP_WAITING;
    t->machine = runs ? str_copy(a, node->s) : (str){0};
    t->reason = runs ? (str){0} : str_copy(a, reason->s);
}

static assay_status kubernetes_states(const sweep_plan *plan, sweep_progress *tasks, arena *a,
                                      assay_error *err)
{
    const char *const argv[] = {
        "kubectl", "get",  "pods", "-l", arena_printf(a, LABEL "=" STR_FMT, STR_ARG(plan->id)),
        "-o",      "json", NULL};
    const json_tree_options lenient = {.lenient = true};
    sbuf out = {0};
    json_value pods = {0};
    assay_status s = argv[4] ? sweep_call(argv, &out, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = json_tree_parse((str){out.p, (uint32_t)out.n}, "the answer of kubectl", &lenient, a,
                            &pods, err);
    const json_value *items = s == ASSAY_OK ? json_path(&pods, "items") : &json_absent;
    for (uint32_t i = 0; items->kind == JSON_LIST && i < items->n; i++)
        take_pod(plan, &items->items[i], tasks, a);
    sbuf_free(&out);
    return s;
}

static assay_status kubernetes_cancel(const sweep_plan *plan, sbuf *said, assay_error *err)
{
    char selector[200];
    snprintf(selector, sizeof selector, LABEL "=" STR_FMT, STR_ARG(plan->id));
    const char *const argv[] = {"kubectl", "delete", "jobs,configmaps", "-l", selector, NULL};
    return sweep_call(argv, said, err);
}

const sweep_place sweep_place_kubernetes = {"kubernetes", kubernetes_submit, kubernetes_states,
                                            kubernetes_cancel};

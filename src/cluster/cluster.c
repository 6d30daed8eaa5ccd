/* What the schedulers share: lists and groups of tasks, calls of their programs, the task of this process. */
#include <stdlib.h>

#include "base/num.h"
#include "base/process.h"
#include "base/text.h"
#include "base/vec.h"
#include "cluster/cluster.h"

enum { CALL_MS = 60000 };
#define CALL_BYTES ((size_t)64 << 20)

static const sweep_place *const places[] = {&sweep_place_slurm, &sweep_place_kubernetes};

const sweep_place *sweep_find_place(const char *name)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i]->name, name) == 0)
            return places[i];
    return NULL;
}

/* ---- lists ---- */

void sweep_put_tasks(sbuf *b, const sweep_tasks *t, int64_t minus)
{
    for (uint32_t from = 0, to; from < t->n; from = to) {
        for (to = from + 1; to < t->n && t->items[to] == t->items[to - 1] + 1;)
            to++;
        sbuf_printf(b, "%s%lld", from ? "," : "", (long long)(t->items[from] - minus));
        if (to - from > 1)
            sbuf_printf(b, "-%lld", (long long)(t->items[to - 1] - minus));
    }
}

static bool parse_range(str item, uint32_t n_tasks, uint64_t *first, uint64_t *last)
{
    str rest = item, from = str_cut(&rest, '-');
    if (!str_to_u64(from, first))
        return false;
    *last = *first;
    if (from.n < item.n && !str_to_u64(rest, last))
        return false;
    return *first <= *last && *last < n_tasks;
}

assay_status sweep_parse_tasks(str text, uint32_t n_tasks, const char *what, arena *a,
                               sweep_tasks *out, assay_error *err)
{
    bool *wanted = ARENA_ARRAY(a, bool, (size_t)n_tasks + 1);
    int64_t *items = ARENA_ARRAY(a, int64_t, (size_t)n_tasks + 1);
    uint64_t first, last;
    uint32_t n = 0;
    TRY_MEMORY(wanted && items, err);
    for (str rest = text, item; str_split(&rest, ',', &item);) {
        if (!parse_range(item, n_tasks, &first, &last))
            return err_fail(err, ASSAY_ERR_USAGE,
                            "%s must be numbers of tasks such as 0-3,7, below %u, not '" STR_FMT
                            "'",
                            what, n_tasks, STR_ARG(text));
        for (uint64_t i = first; i <= last; i++)
            wanted[i] = true;
    }
    for (uint32_t i = 0; i < n_tasks; i++)
        if (wanted[i])
            items[n++] = i;
    *out = (sweep_tasks){items, n};
    return ASSAY_OK;
}

/* ---- the task of this process ---- */

static assay_status number_of(const char *name, const char *text, int64_t *out, assay_error *err)
{
    uint64_t v;
    if (!str_to_u64(str_of(text), &v) || v > SWEEP_TASKS)
        return err_fail(err, ASSAY_ERR_USAGE, "%s must be the number of a task, not '%s'", name,
                        text);
    *out = (int64_t)v;
    return ASSAY_OK;
}

static assay_status indexed_task(const char *list, uint32_t n_tasks, int64_t *task,
                                 assay_error *err)
{
    arena *a = arena_new((size_t)4 << 20);
    sweep_tasks tasks = {0};
    assay_status s = a ? sweep_parse_tasks(str_of(list), n_tasks, "ASSAY_TASKS", a, &tasks, err)
                       : err_no_memory(err);
    if (s == ASSAY_OK && *task >= tasks.n)
        s = err_fail(err, ASSAY_ERR_USAGE, "JOB_COMPLETION_INDEX is %lld, and ASSAY_TASKS has %u",
                     (long long)*task, tasks.n);
    if (s == ASSAY_OK)
        *task = tasks.items[*task];
    arena_free(a);
    return s;
}

assay_status sweep_task_of_environment(uint32_t n_tasks, int64_t *task, assay_error *err)
{
    const char *array = getenv("SLURM_ARRAY_TASK_ID"), *offset = getenv("ASSAY_TASK_OFFSET");
    const char *index = getenv("JOB_COMPLETION_INDEX"), *list = getenv("ASSAY_TASKS");
    int64_t more = 0;
    *task = -1;
    if (array && *array) {
        TRY(number_of("SLURM_ARRAY_TASK_ID", array, task, err));
        if (offset && *offset)
            TRY(number_of("ASSAY_TASK_OFFSET", offset, &more, err));
        *task += more;
        return ASSAY_OK;
    }
    if (!index || !*index)
        return ASSAY_OK;
    TRY(number_of("JOB_COMPLETION_INDEX", index, task, err));
    return list && *list ? indexed_task(list, n_tasks, task, err) : ASSAY_OK;
}

/* ---- groups ---- */

static uint32_t group_of(const sweep_group *groups, uint32_t n, const sweep_task *t)
{
    uint32_t g = 0;
    while (g < n &&
           !(str_eq(groups[g].device, t->device) && str_eq(groups[g].node_class, t->node_class)))
        g++;
    return g;
}

static assay_status fill_group(const sweep_submission *q, sweep_group *groups, uint32_t n,
                               uint32_t g, assay_error *err)
{
    VEC(int64_t) items = {0};
    for (uint32_t i = 0; i < q->tasks.n; i++) {
        const sweep_task *t = &q->plan->tasks[q->tasks.items[i]];
        if (group_of(groups, n, t) != g)
            continue;
        TRY_MEMORY(VEC_ADD(q->arena, &items, t->task), err);
        groups[g].time_limit_s = fmax(groups[g].time_limit_s, q->limits_s[t->task]);
    }
    groups[g].tasks = (sweep_tasks){items.items, items.n};
    if (q->time_limit_s > 0)
        groups[g].time_limit_s = q->time_limit_s;
    return ASSAY_OK;
}

assay_status sweep_groups(const sweep_submission *q, sweep_group **out, uint32_t *n,
                          assay_error *err)
{
    VEC(sweep_group) groups = {0};
    for (uint32_t i = 0; i < q->tasks.n; i++) {
        const sweep_task *t = &q->plan->tasks[q->tasks.items[i]];
        if (group_of(groups.items, groups.n, t) == groups.n &&
            !VEC_ADD(q->arena, &groups,
                     (sweep_group){.device = t->device, .node_class = t->node_class}))
            return err_no_memory(err);
    }
    for (uint32_t g = 0; g < groups.n; g++)
        TRY(fill_group(q, groups.items, groups.n, g, err));
    *out = groups.items;
    *n = groups.n;
    return ASSAY_OK;
}

/* ---- programs ---- */

assay_status sweep_call(const char *const *argv, sbuf *out, assay_error *err)
{
    process_result r = {0};
    TRY(process_run(argv, CALL_MS, CALL_BYTES, &r, err));
    char shown[400];
    text_safe_into(shown, sizeof shown, str_trim((str){r.out.p, (uint32_t)r.out.n}));
    assay_status s = ASSAY_OK;
    if (r.timed_out)
        s = err_fail(err, ASSAY_ERR_SYSTEM, "%s: no answer within %d s", argv[0], CALL_MS / 1000);
    else if (r.code)
        s = err_fail(err, ASSAY_ERR_SYSTEM, "%s failed with exit code %d: %s", argv[0], r.code,
                     *shown ? shown : "it printed nothing");
    else
        sbuf_put(out, r.out.p, r.out.n);
    sbuf_free(&r.out);
    return s;
}

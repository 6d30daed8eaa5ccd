/* Slurm: a job array per device, node class and thousand tasks, by sbatch(1).
 *
 * The index in the array is the number of the task. Arrays are limited to MaxArraySize (1001 by default), so tasks from
 * 1000 on are jobs of their own, whose name ends in +1000, +2000, ...; ASSAY_TASK_OFFSET is added to their index. The name
 * of a job is that of the sweep: squeue and scancel find it by that. Partition, account and others are chosen by the
 * SBATCH_* variables that sbatch reads itself.
 */
#include <stdlib.h>

#include "base/process.h"
#include "base/vec.h"
#include "cluster/cluster.h"

enum { CHUNK = 1000, ARGUMENTS = 20, SQUEUE_MS = 10000 };

/* ---- submitting ---- */

/* 'a word' for the shell that runs the script. */
static void put_quoted(sbuf *b, const char *word)
{
    sbuf_putc(b, '\'');
    for (; *word; word++)
        if (*word == '\'')
            sbuf_puts(b, "'\\''");
        else
            sbuf_putc(b, *word);
    sbuf_putc(b, '\'');
}

static char *script_of(const sweep_submission *q, int64_t offset)
{
    sbuf b = {0};
    if (offset)
        sbuf_printf(&b, "ASSAY_TASK_OFFSET=%lld ", (long long)offset);
    sbuf_puts(&b, offset ? "" : "exec ");
    put_quoted(&b, q->program);
    sbuf_puts(&b, " sweep run ");
    put_quoted(&b, q->plan_path);
    sbuf_puts(&b, " --quiet");
    char *out = b.failed ? NULL : arena_strdup(q->arena, sbuf_cstr(&b));
    sbuf_free(&b);
    return out;
}

static char *array_of(const sweep_submission *q, const sweep_tasks *chunk, int64_t offset)
{
    sbuf b = {0};
    sweep_put_tasks(&b, chunk, offset);
    if (q->throttle)
        sbuf_printf(&b, "%%%lld", (long long)q->throttle);
    char *out = b.failed ? NULL : arena_printf(q->arena, "--array=%s", sbuf_cstr(&b));
    sbuf_free(&b);
    return out;
}

static char *job_name(const sweep_plan *plan, int64_t offset, arena *a)
{
    return offset ? arena_printf(a, STR_FMT "+%lld", STR_ARG(plan->id), (long long)offset)
                  : arena_printf(a, STR_FMT, STR_ARG(plan->id));
}

static assay_status submit_chunk(const sweep_submission *q, const sweep_group *g,
                                 const sweep_tasks *chunk, int64_t offset, assay_error *err)
{
    arena *a = q->arena;
    const char *argv[ARGUMENTS] = {"sbatch", "--parsable", "--exclusive", "--requeue",
                                   "--open-mode=append"};
    int n = 5;
    sbuf out = {0};
    argv[n++] = arena_printf(a, "--job-name=%s", job_name(q->plan, offset, a));
    argv[n++] = array_of(q, chunk, offset);
    argv[n++] = arena_printf(a, "--time=%lld", (long long)((g->time_limit_s + 59) / 60));
    argv[n++] = arena_printf(a, "--output=" STR_FMT ".log", STR_ARG(q->plan->id));
    if (g->node_class.n)
        argv[n++] = arena_printf(a, "--constraint=" STR_FMT, STR_ARG(g->node_class));
    if (!str_is(g->device, "cpu"))
        argv[n++] = "--gres=gpu:1";
    argv[n++] = arena_printf(a, "--wrap=%s", script_of(q, offset));
    TRY_MEMORY(!arena_failed(a), err);
    assay_status s = sweep_call(argv, &out, err);
    if (s == ASSAY_OK)
        sbuf_printf(q->said, "job " STR_FMT ": %u task%s on " STR_FMT "%s" STR_FMT "\n",
                    STR_ARG(str_trim((str){out.p, (uint32_t)out.n})), chunk->n,
                    chunk->n == 1 ? "" : "s", STR_ARG(g->device), g->node_class.n ? ", " : "",
                    STR_ARG(g->node_class));
    sbuf_free(&out);
    return s;
}

static assay_status submit_group(const sweep_submission *q, const sweep_group *g, assay_error *err)
{
    for (uint32_t from = 0, to; from < g->tasks.n; from = to) {
        int64_t offset = g->tasks.items[from] / CHUNK * CHUNK;
        for (to = from; to < g->tasks.n && g->tasks.items[to] < offset + CHUNK;)
            to++;
        const sweep_tasks chunk = {g->tasks.items + from, to - from};
        TRY(submit_chunk(q, g, &chunk, offset, err));
    }
    return ASSAY_OK;
}

static assay_status slurm_submit(const sweep_submission *q, assay_error *err)
{
    sweep_group *groups;
    uint32_t n;
    TRY(sweep_groups(q, &groups, &n, err));
    for (uint32_t i = 0; i < n; i++)
        TRY(submit_group(q, &groups[i], err));
    return ASSAY_OK;
}

/* ---- asking ---- */

/* All names that jobs of the sweep can have. */
static char *all_names(const sweep_plan *plan, arena *a)
{
    sbuf b = {0};
    sbuf_puts(&b, "--name=");
    for (int64_t offset = 0; offset < plan->n_tasks; offset += CHUNK)
        sbuf_printf(&b, "%s%s", offset ? "," : "", job_name(plan, offset, a));
    char *out = b.failed ? NULL : arena_strdup(a, sbuf_cstr(&b));
    sbuf_free(&b);
    return out;
}

static int64_t offset_of(str name, str id)
{
    uint64_t v;
    if (name.n <= id.n + 1)
        return 0;
    return str_to_u64((str){name.p + id.n + 1, name.n - id.n - 1}, &v) && v <= SWEEP_TASKS
               ? (int64_t)v
               : 0;
}

/* NAME|INDEX|STATE|NODES|REASON */
static void take_line(const sweep_plan *plan, str line, sweep_progress *tasks, arena *a)
{
    str name = str_cut(&line, '|'), index = str_cut(&line, '|'), state = str_cut(&line, '|'),
        nodes = str_cut(&line, '|');
    uint64_t i;
    if (!str_to_u64(str_trim(index), &i))
        return;
    i += (uint64_t)offset_of(name, plan->id);
    if (i >= plan->n_tasks || tasks[i].record != INT64_MIN)
        return;
    bool runs = str_is(state, "RUNNING") || str_is(state, "COMPLETING");
    tasks[i].state = runs ? SWEEP_RUNNING : SWEEP_WAITING;
    tasks[i].machine = runs ? str_copy(a, nodes) : (str){0};
    tasks[i].reason = runs ? (str){0} : str_copy(a, str_trim(line));
}

static assay_status slurm_states(const sweep_plan *plan, sweep_progress *tasks, arena *a,
                                 assay_error *err)
{
    const char *const argv[] = {"squeue",         "-h", "-r", all_names(plan, a), "-o",
                                "%j|%K|%T|%N|%r", NULL};
    sbuf out = {0};
    TRY_MEMORY(argv[3], err);
    assay_status s = sweep_call(argv, &out, err);
    str rest = {out.p, (uint32_t)out.n}, line;
    while (s == ASSAY_OK && rest.n && str_split(&rest, '\n', &line))
        take_line(plan, line, tasks, a);
    sbuf_free(&out);
    return s;
}

static assay_status slurm_cancel(const sweep_plan *plan, sbuf *said, assay_error *err)
{
    arena *a = arena_new((size_t)1 << 20);
    const char *const argv[] = {"scancel", a ? all_names(plan, a) : NULL, NULL};
    assay_status s = argv[1] ? sweep_call(argv, said, err) : err_no_memory(err);
    arena_free(a);
    return s;
}

/* ---- the node ---- */

void sweep_other_jobs(sbuf *why)
{
    const char *own = getenv("SLURM_JOB_ID"), *node = getenv("SLURMD_NODENAME");
    process_result r = {0};
    unsigned others = 0;
    if (!own || !node)
        return;
    const char *const argv[] = {"squeue", "-h", "-t", "R", "-w", node, "-o", "%A", NULL};
    bool answered = process_run(argv, SQUEUE_MS, 1 << 16, &r, NULL) == ASSAY_OK && r.code == 0;
    str rest = {r.out.p, (uint32_t)r.out.n}, line;
    while (answered && rest.n && str_split(&rest, '\n', &line))
        others += str_trim(line).n && !str_is(str_trim(line), own);
    sbuf_free(&r.out);
    if (others)
        sbuf_printf(why, "%u other job%s of Slurm ran on %s", others, others == 1 ? "" : "s", node);
}

const sweep_place sweep_place_slurm = {"slurm", slurm_submit, slurm_states, slurm_cancel};

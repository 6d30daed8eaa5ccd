/* "assay.sweep/1", "assay.sweep_status/1" and "assay.sweep_report/1": their field tables (docs/sweeps.md). */
#include "profile/conclusion.h"
#include "profile/history.h"
#include "profile/sweep.h"

str sweep_config_text(const sweep_task *t, arena *a)
{
    sbuf b = {0};
    sbuf_printf(&b, "batch %llu · " STR_FMT, (unsigned long long)t->batch, STR_ARG(t->precision));
    if (t->threads)
        sbuf_printf(&b, " · threads %llu", (unsigned long long)t->threads);
    str out = b.failed ? (str){0} : str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return out;
}

/* ---- the plan ---- */

static const field model_rows[] = {
    FIELD(sweep_model, name, STR, NONE, "Model", "The model as the user named it."),
    FIELD(sweep_model, sha256, STR, NONE, NULL,
          "SHA-256 of the file, of the files of a directory, or of a built-in architecture."),
    FIELD(sweep_model, flops, F64, FLOPS, NULL, "FLOPs of one run at batch 1.", OR_NULL),
    FIELD(sweep_model, bytes, F64, BYTES, NULL, "Bytes that such a run reads and writes.", OR_NULL),
};
static const fields model_fields = FIELDS(sweep_model, model_rows);

static const field setting_rows[] = {
    FIELD(sweep_setting, option, STR, NONE, NULL, "Name of an option of measuring."),
    FIELD(sweep_setting, value, STR, NONE, NULL, "Its value."),
};
static const fields setting_fields = FIELDS(sweep_setting, setting_rows);

static const field task_rows[] = {
    FIELD(sweep_task, task, I64, NONE, "Task", "Number of the task, from 0."),
    FIELD(sweep_task, model, STR, NONE, "Model", "Its model."),
    FIELD(sweep_task, device, STR, NONE, "Device", "Device that the engine runs on."),
    FIELD(sweep_task, node_class, STR, NONE, "Class",
          "Class of nodes that the scheduler chooses from; omitted: any.", OR_OMIT),
    FIELD(sweep_task, batch, U64, COUNT, "Batch", "Batch size."),
    FIELD(sweep_task, precision, STR, NONE, "Type", "Precision."),
    FIELD(sweep_task, threads, U64, COUNT, "Threads", "Threads; 0: the engine decides."),
    FIELD(sweep_task, repeat, U64, COUNT, "Repeat", "Number among equal tasks, from 0."),
    FIELD(sweep_task, time_limit_s, F64, S, NULL,
          "Time limit of the task, with two repetitions: predicted, with a margin."),
};
static const fields task_fields = FIELDS(sweep_task, task_rows);

static const field plan_rows[] = {
    FIELD(sweep_plan, id, STR, NONE, "Sweep", "Name and digest: the sweep of its records."),
    FIELD(sweep_plan, name, STR, NONE, NULL, "Name of the sweep."),
    FIELD(sweep_plan, digest, STR, NONE, NULL, "SHA-256 of everything that follows."),
    FIELD(sweep_plan, tool_version, STR, NONE, "assay", "Version of assay that the tasks need."),
    FIELD(sweep_plan, engine, STR, NONE, "Engine", "Engine that the tasks need.", OR_NULL),
    FIELD(sweep_plan, engine_version, STR, NONE, NULL,
          "Its version; null: no engine was found, and tasks do not compare it.", OR_NULL),
    FIELD(sweep_plan, engine_sha256, STR, NONE, NULL,
          "SHA-256 of its library, compared on machines of the same architecture.", OR_NULL),
    FIELD(sweep_plan, architecture, STR, NONE, NULL, "Architecture of that library.", OR_NULL),
    FIELD_ITEMS(sweep_plan, LIST, "models", models, n_models, model_fields, "Models.", ONE_LINE),
    FIELD_ITEMS(sweep_plan, LIST, "settings", settings, n_settings, setting_fields,
                "Options of every measurement.", ONE_LINE),
    FIELD_ITEMS(sweep_plan, LIST, "tasks", tasks, n_tasks, task_fields, "Tasks, by number.",
                ONE_LINE),
};
static const fields plan_fields = FIELDS(sweep_plan, plan_rows);
const result_kind sweep_kind = {.schema = "assay.sweep",
                                .version = 1,
                                .name = "sweep",
                                .what = "the plan of a sweep",
                                .of = &plan_fields};

/* ---- how far it is ---- */

static const char *const state_words[] = {
    [SWEEP_DONE] = "done",       [SWEEP_NOISY] = "noisy",     [SWEEP_RUNNING] = "running",
    [SWEEP_WAITING] = "waiting", [SWEEP_MISSING] = "missing", NULL};

static const field progress_rows[] = {
    FIELD(sweep_progress, task, I64, NONE, "Task", "Number of the task."),
    FIELD(sweep_progress, model, STR, NONE, "Model", "Its model."),
    FIELD(sweep_progress, config, STR, NONE, "Configuration", "Batch, precision and threads."),
    FIELD(sweep_progress, device, STR, NONE, "Device", "Device that the engine runs on."),
    FIELD(sweep_progress, node_class, STR, NONE, "Class", "Class of nodes.", OR_OMIT),
    FIELD(sweep_progress, state, ENUM, NONE, "State",
          "done; noisy: done on a machine that was not quiet; running; waiting: in the queue; "
          "missing: neither measured nor in the queue.",
          .words = state_words),
    FIELD(sweep_progress, machine, STR, NONE, "Machine", "That measured it, or runs it.", OR_OMIT),
    FIELD(sweep_progress, reason, STR, NONE, "Reason", "Why it waits, as the scheduler says.",
          OR_OMIT),
    FIELD(sweep_progress, record, I64, NONE, "Record", "Its record in the history.", OR_OMIT),
};
static const fields progress_fields = FIELDS(sweep_progress, progress_rows);

static const field status_rows[] = {
    FIELD(sweep_status, id, STR, NONE, "Sweep", "The sweep."),
    FIELD(sweep_status, scheduler, STR, NONE, "Scheduler",
          "Scheduler that was asked; null: the history alone.", OR_NULL),
    FIELD(sweep_status, total, U32, COUNT, "Tasks", "Tasks of the plan."),
    FIELD(sweep_status, done, U32, COUNT, "Done", "Tasks with a record, noisy ones included."),
    FIELD(sweep_status, noisy, U32, COUNT, "Noisy", "Of these, on machines that were not quiet."),
    FIELD(sweep_status, running, U32, COUNT, "Running", "Tasks that run."),
    FIELD(sweep_status, waiting, U32, COUNT, "Waiting", "Tasks in the scheduler's queue."),
    FIELD(sweep_status, missing, U32, COUNT, "Missing", "Tasks that are neither."),
    FIELD_AS(sweep_status, "expected_end", expected_end_s, CODEC, NONE, "Expected end",
             "By the pace of the records so far, UTC; omitted: not known.",
             .codec = &history_time_codec, OR_OMIT),
    FIELD_ITEMS(sweep_status, LIST, "tasks", tasks, n_tasks, progress_fields, "Tasks, by number.",
                ONE_LINE),
};
static const fields status_fields = FIELDS(sweep_status, status_rows);
const result_kind sweep_status_kind = {.schema = "assay.sweep_status",
                                       .version = 1,
                                       .name = "sweep_status",
                                       .what = "the status of a sweep",
                                       .of = &status_fields};

/* ---- what came out ---- */

static const field figures_rows[] = {
    FIELD(sweep_figures, p50_ms, F64, MS, "P50", "Median latency.", OR_NULL),
    FIELD(sweep_figures, p95_ms, F64, MS, "P95", "95th percentile of the latency.", OR_NULL),
    FIELD(sweep_figures, mean_ms, F64, MS, "Mean", "Mean latency.", OR_NULL),
    FIELD(sweep_figures, throughput, F64, PER_SECOND, "Throughput", "Samples per second.", OR_NULL),
    FIELD(sweep_figures, memory_bytes, F64, BYTES, "Memory",
          "Peak of resident memory above that before the session.", OR_NULL),
};
static const fields figures_fields = FIELDS(sweep_figures, figures_rows);

static const field row_rows[] = {
    FIELD(sweep_row, task, I64, NONE, "Task", "Number of the task."),
    FIELD(sweep_row, model, STR, NONE, "Model", "Its model."),
    FIELD(sweep_row, device, STR, NONE, "Device", "Device that the engine ran on."),
    FIELD(sweep_row, node_class, STR, NONE, "Class", "Class of nodes.", OR_NULL),
    FIELD(sweep_row, config, STR, NONE, "Configuration", "Batch, precision and threads."),
    FIELD(sweep_row, batch, U64, COUNT, "Batch", "Batch size."),
    FIELD(sweep_row, precision, STR, NONE, "Type", "Precision."),
    FIELD(sweep_row, threads, U64, COUNT, "Threads", "Threads; 0: the engine decides."),
    FIELD(sweep_row, repeat, U64, COUNT, "Repeat", "Number among equal tasks."),
    FIELD(sweep_row, record, I64, NONE, "Record", "Its record in the history; null: none yet.",
          OR_NULL),
    FIELD_AS(sweep_row, "created", created_s, CODEC, NONE, "When", "When it was measured, UTC.",
             .codec = &history_time_codec, OR_OMIT),
    FIELD(sweep_row, machine, STR, NONE, "Machine", "Machine that measured it.", OR_NULL),
    FIELD(sweep_row, noisy, BOOL, NONE, "Noisy", "Whether the machine was not quiet."),
    FIELD_SPLICED(sweep_row, figures, figures_fields),
};
static const fields row_fields = FIELDS(sweep_row, row_rows);

static const field cell_rows[] = {
    FIELD(sweep_cell, model, STR, NONE, "Model", "The model."),
    FIELD(sweep_cell, place, STR, NONE, "Place", "Device, and class of nodes if there is one."),
    FIELD(sweep_cell, device, STR, NONE, "Device", "Device that the engine ran on."),
    FIELD(sweep_cell, node_class, STR, NONE, "Class", "Class of nodes.", OR_NULL),
    FIELD(sweep_cell, config, STR, NONE, "Configuration", "Batch, precision and threads."),
    FIELD(sweep_cell, batch, U64, COUNT, "Batch", "Batch size."),
    FIELD(sweep_cell, precision, STR, NONE, "Type", "Precision."),
    FIELD(sweep_cell, threads, U64, COUNT, "Threads", "Threads; 0: the engine decides."),
    FIELD(sweep_cell, repeats, U64, COUNT, "Tasks", "Equal tasks of the plan."),
    FIELD(sweep_cell, records, U64, COUNT, "Records", "Those with a record."),
    FIELD(sweep_cell, noisy, U64, COUNT, "Noisy", "Of these, on machines that were not quiet."),
    FIELD_SPLICED(sweep_cell, figures, figures_fields),
    FIELD(sweep_cell, best_latency, BOOL, NONE, NULL, "Lowest median latency of its model."),
    FIELD(sweep_cell, best_throughput, BOOL, NONE, NULL, "Highest throughput of its model."),
    FIELD(sweep_cell, best_memory, BOOL, NONE, NULL, "Least memory of its model."),
    FIELD(sweep_cell, pareto, BOOL, NONE, "Pareto",
          "No other of its model is at least as good in latency, throughput and memory and better "
          "in one."),
};
static const fields cell_fields = FIELDS(sweep_cell, cell_rows);

static const char *const goal_words[] = {"latency", "throughput", "memory", NULL};
static const field best_rows[] = {
    FIELD(sweep_best, model, STR, NONE, "Model", "The model."),
    FIELD(sweep_best, goal, WORD, NONE, "Goal", "latency, throughput or memory.",
          .words = goal_words),
    FIELD(sweep_best, place, STR, NONE, "Place", "Device, and class of nodes if there is one."),
    FIELD(sweep_best, config, STR, NONE, "Configuration", "Batch, precision and threads."),
    FIELD(sweep_best, value, F64, NONE, "Value", "The figure of the goal."),
    FIELD(sweep_best, unit, WORD, NONE, NULL, "Its unit: ms, 1/s or bytes."),
};
static const fields best_fields = FIELDS(sweep_best, best_rows);

static const char *const pace_words[] = {[PACE_LIKE_PEERS] = "like its peers",
                                         [PACE_SLOW] = "slow",
                                         [PACE_FAST] = "fast",
                                         [PACE_NOT_COMPARED] = "not compared",
                                         NULL};
static const field machine_rows[] = {
    FIELD(sweep_machine, machine, STR, NONE, "Machine", "Node and fingerprint of its hardware."),
    FIELD(sweep_machine, records, U64, COUNT, "Records", "Records of the sweep."),
    FIELD(sweep_machine, compared, U64, COUNT, "Compared",
          "Of these, such as have equal tasks on other machines."),
    FIELD(sweep_machine, slower, U64, COUNT, "Slower", "Of these, slower than the others."),
    FIELD(sweep_machine, ratio, F64, RATIO, "Latency",
          "Median of its latency divided by that of the others.", OR_NULL),
    FIELD(sweep_machine, p, F64, NONE, "Chance",
          "Probability of so many slower (or faster) ones by chance.", OR_NULL),
    FIELD_AS(sweep_machine, "verdict", pace, ENUM, NONE, "Verdict",
             "slow: more than 10 % above its peers, and not by chance.", .words = pace_words),
};
static const fields machine_fields = FIELDS(sweep_machine, machine_rows);

static const field report_rows[] = {
    FIELD(sweep_report, id, STR, NONE, "Sweep", "The sweep."),
    FIELD_CONCLUSION(sweep_report),
    FIELD(sweep_report, total, U32, COUNT, "Tasks", "Tasks of the plan."),
    FIELD(sweep_report, done, U32, COUNT, "Done", "Tasks with a record."),
    FIELD(sweep_report, noisy, U32, COUNT, "Noisy", "Of these, on machines that were not quiet."),
    FIELD_VALUES(sweep_report, U64S, "missing", missing, n_missing, NONE,
                 "Tasks without a record."),
    FIELD_ITEMS(sweep_report, LIST, "cells", cells, n_cells, cell_fields,
                "Configurations: equal tasks together, with the medians of their records.",
                ONE_LINE),
    FIELD_ITEMS(sweep_report, LIST, "best", best, n_best, best_fields, "Best per model and goal.",
                ONE_LINE),
    FIELD_ITEMS(sweep_report, LIST, "machines", machines, n_machines, machine_fields,
                "Machines, compared with each other.", ONE_LINE),
    FIELD_ITEMS(sweep_report, LIST, "tasks", rows, n_rows, row_fields, "Tasks with their records.",
                ONE_LINE),
};
static const fields report_fields = FIELDS(sweep_report, report_rows);

/* ---- in one sentence ---- */

static void put_slow(const sweep_report *r, sbuf *out)
{
    for (uint32_t i = 0; i < r->n_machines; i++) {
        if (r->machines[i].pace != PACE_SLOW)
            continue;
        sbuf_putc(out, ' ');
        conclude_name(out, r->machines[i].machine);
        sbuf_puts(out, " is slow: ");
        conclude_ratio(out, r->machines[i].ratio);
        sbuf_puts(out, " the latency of its peers.");
    }
}

static void report_conclude(const void *data, sbuf *out)
{
    const sweep_report *r = data;
    sbuf_printf(out, "%u of ", r->done);
    conclude_count(out, r->total, "task");
    sbuf_puts(out, r->total == 1 ? " has a record" : " have a record");
    if (r->noisy)
        sbuf_printf(out, ", %u of them from a busy machine", r->noisy);
    sbuf_putc(out, '.');
    put_slow(r, out);
}

const result_kind sweep_report_kind = {.schema = "assay.sweep_report",
                                       .version = 1,
                                       .name = "sweep_report",
                                       .what = "the report of a sweep",
                                       .of = &report_fields,
                                       .conclude = report_conclude,
                                       .conclusion_at = offsetof(sweep_report, conclusion)};

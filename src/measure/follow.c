/* See follow.h. Totals of a child process come from the kernel when it ends and are complete; those of other
 * processes come from the last sample. */
#include "measure/follow.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/num.h"
#include "base/process.h"
#include "measure/system.h"

#define DEFAULT_INTERVAL_NS 100000000u
#define LOOK_NS             10000000u /* between two questions whether it has ended */
#define GRACE_NS            2000000000u

typedef struct following {
    const follow_request *q;
    const char *root;
    profile_watch *out;
    profile_watch_sample *list; /* [FOLLOW_SAMPLES] */
    uint32_t n;
    uint64_t begin_ns, interval_ns, last_ns, taken;
    uint64_t told_ns, told_cpu_ns; /* time and value of the last CPU time reading */
    double resident_sum;
    system_tree first, last;
    bool ended;
    process_end end;
} following;

static uint64_t time_now(const following *f)
{
    return f->q->now_ns ? f->q->now_ns(f->q->ctx) : clock_mono_ns();
}

static void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                                 .tv_nsec = (long)(ns % 1000000000u)},
              NULL);
}

static void keep_sample(following *f, const profile_watch_sample *s)
{
    if (f->n == FOLLOW_SAMPLES) {
        for (uint32_t i = 0; i < FOLLOW_SAMPLES / 2; i++)
            f->list[i] = f->list[2 * i];
        f->n = FOLLOW_SAMPLES / 2;
        f->interval_ns *= 2;
    }
    f->list[f->n++] = *s;
}

static void raise_to(uint64_t *most, uint64_t v)
{
    *most = v > *most ? v : *most;
}

/* Cumulative values of a tree fall when a child ends without being waited for. */
static uint64_t since(uint64_t now, uint64_t then)
{
    if (now == PROFILE_NOT_TOLD || then == PROFILE_NOT_TOLD)
        return PROFILE_NOT_TOLD;
    return now > then ? now - then : 0;
}

/* CPU time is counted in ticks: samples that are closer together share one value. */
static double cpu_percent_until(following *f, const system_tree *t, uint64_t now)
{
    double wall_s = (double)(now - f->told_ns) / 1e9;
    double percent = system_cpu_percent((double)since(t->cpu_ns, f->told_cpu_ns) / 1e9, wall_s);
    if (isnan(percent))
        return percent;
    f->told_ns = now;
    f->told_cpu_ns = t->cpu_ns;
    return percent;
}

static profile_watch_sample sample_of(following *f, const system_tree *t, uint64_t now)
{
    /* A child of ours is watched from its birth. */
    const system_tree none = {0}, *from = f->q->ours ? &none : &f->first;
    return (profile_watch_sample){
        .time_s = (double)(now - f->begin_ns) / 1e9,
        .cpu_percent = cpu_percent_until(f, t, now),
        .resident = t->resident.total,
        .anon = t->resident.anon,
        .file = t->resident.file,
        .processes = t->processes,
        .threads = t->threads,
        .read_bytes = since(t->io.read_bytes, from->io.read_bytes),
        .written_bytes = since(t->io.written_bytes, from->io.written_bytes),
        .minor_faults = since(t->minor_faults, from->minor_faults),
        .major_faults = since(t->major_faults, from->major_faults)};
}

static bool look_now(const following *f, system_tree *out)
{
    return f->q->cgroup ? system_cgroup_now(f->q->cgroup, out)
                        : system_tree_now(f->root, f->q->pid, out);
}

/* False if it does not exist any more, or the caller has seen enough. */
static bool take_sample(following *f)
{
    system_tree t;
    profile_watch *out = f->out;
    uint64_t now = time_now(f);
    if (!look_now(f, &t))
        return false;
    profile_watch_sample s = sample_of(f, &t, now);
    keep_sample(f, &s);
    f->resident_sum += (double)s.resident;
    f->taken++;
    raise_to(&out->peak_resident, s.resident);
    raise_to(&out->peak_anon, s.anon);
    raise_to(&out->peak_file, s.file);
    raise_to(&out->peak_processes, s.processes);
    raise_to(&out->peak_threads, s.threads);
    f->last = t;
    f->last_ns = now;
    return !f->q->sample || f->q->sample(f->q->ctx, &s, out);
}

static bool has_ended(following *f)
{
    if (f->q->ours)
        f->ended = f->ended || process_ended(f->q->pid, &f->end);
    return f->ended || (!f->q->ours && !f->q->cgroup && !*f->root && !process_exists(f->q->pid));
}

static bool stopped(const following *f)
{
    return f->q->cancelled && f->q->cancelled(f->q->ctx);
}

/* Until the next look is due; true when there is none. */
static bool wait_interval(following *f)
{
    uint64_t until = f->last_ns + f->interval_ns;
    for (uint64_t now = time_now(f); now < until; now = time_now(f)) {
        if (has_ended(f) || stopped(f))
            return true;
        sleep_ns(until - now < LOOK_NS ? until - now : LOOK_NS);
    }
    return has_ended(f) || stopped(f);
}

static void follow(following *f)
{
    const follow_request *q = f->q;
    while (!wait_interval(f) && take_sample(f))
        if (q->duration_ns && time_now(f) - f->begin_ns >= q->duration_ns)
            return;
    f->out->interrupted = stopped(f);
}

/* The child must not be left running: Ctrl-C has reached it as well, other signals have not. */
static void bring_home(following *f)
{
    uint64_t asked = time_now(f);
    if (!f->q->ours || has_ended(f))
        return;
    if (f->out->interrupted)
        process_ask_to_end(f->q->pid);
    while (!has_ended(f) && time_now(f) - asked < GRACE_NS)
        sleep_ns(LOOK_NS);
}

static void take_end(following *f)
{
    profile_watch *out = f->out;
    out->cpu_s = (double)f->end.cpu_ns / 1e9;
    out->minor_faults = f->end.minor_faults;
    out->major_faults = f->end.major_faults;
    out->voluntary_switches = f->end.voluntary;
    out->involuntary_switches = f->end.involuntary;
    raise_to(&out->peak_resident, f->end.max_resident_bytes);
    out->exit_code = f->end.code;
}

static void sum_up(following *f)
{
    profile_watch *out = f->out;
    const system_tree none = {0}, *from = f->q->ours ? &none : &f->first, *t = &f->last;
    out->wall_s = (double)(time_now(f) - f->begin_ns) / 1e9;
    out->cpu_s = (double)since(t->cpu_ns, from->cpu_ns) / 1e9;
    out->minor_faults = since(t->minor_faults, from->minor_faults);
    out->major_faults = since(t->major_faults, from->major_faults);
    out->voluntary_switches = since(t->voluntary, from->voluntary);
    out->involuntary_switches = since(t->involuntary, from->involuntary);
    out->read_bytes = since(t->io.read_bytes, from->io.read_bytes);
    out->written_bytes = since(t->io.written_bytes, from->io.written_bytes);
    out->read_chars = since(t->io.read_chars, from->io.read_chars);
    out->written_chars = since(t->io.written_chars, from->io.written_chars);
    if (f->ended)
        take_end(f);
    out->cpu_percent = system_cpu_percent(out->cpu_s, out->wall_s);
    out->average_resident = f->taken ? (uint64_t)(f->resident_sum / (double)f->taken) : 0;
    out->interval_s = (double)f->interval_ns / 1e9;
}

assay_status follow_process(const follow_request *q, arena *a, profile_watch *out, assay_error *err)
{
    following f = {.q = q, .root = q->root ? q->root : "", .out = out};
    *out = (profile_watch){.pid = (uint64_t)q->pid, .exit_code = INT64_MIN};
    f.list = memory_alloc(sizeof *f.list * FOLLOW_SAMPLES);
    TRY_MEMORY(f.list, err);
    f.interval_ns = q->interval_ns ? q->interval_ns : DEFAULT_INTERVAL_NS;
    f.last_ns = time_now(&f);
    f.begin_ns = f.told_ns = q->begin_ns ? q->begin_ns : f.last_ns;
    bool there = look_now(&f, &f.first);
    f.last = q->ours ? (system_tree){0} : f.first;
    f.told_cpu_ns = f.last.cpu_ns;
    if (there || q->ours) {
        take_sample(&f);
        follow(&f);
        bring_home(&f);
        sum_up(&f);
    }
    out->samples = f.n ? arena_copy(a, f.list, sizeof *f.list * f.n) : NULL;
    out->n_samples = out->samples ? f.n : 0;
    free(f.list);
    if (!there && q->cgroup)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%.200s: no control group (version 2) with cpu.stat and memory.current",
                        q->cgroup);
    if (!there && !q->ours)
        return err_fail(err, ASSAY_ERR_SYSTEM, "no process %lld, or no permission to watch it",
                        (long long)q->pid);
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

/* CPU and memory of a local server while it is loaded, by a thread of its own: the same samples as `assay watch`. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "measure/follow.h"
#include "measure/load_endpoint.h"
#include "measure/system.h"

struct load_watch {
    arena *a; /* of the samples: the thread's own */
    arena *to;
    int64_t pid;
    char cgroup[4096];
    pthread_t thread;
    volatile int stop;
    profile_watch seen;
    assay_status status;
};

static bool is_to_stop(void *ctx)
{
    return __atomic_load_n(&((load_watch *)ctx)->stop, __ATOMIC_RELAXED) != 0;
}

static void *follow_server(void *ctx)
{
    load_watch *w = ctx;
    const follow_request q = {
        .pid = w->pid, .cgroup = *w->cgroup ? w->cgroup : NULL, .cancelled = is_to_stop, .ctx = w};
    w->status = follow_process(&q, w->a, &w->seen, NULL);
    return NULL;
}

/* Before the load: what is not there is said at once. */
static assay_status look_once(const load_watch *w, assay_error *err)
{
    system_tree t;
    if (*w->cgroup && !system_cgroup_now(w->cgroup, &t))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%.200s: no control group (version 2) with cpu.stat and memory.current",
                        w->cgroup);
    if (!*w->cgroup && !system_tree_now("", w->pid, &t))
        return err_fail(err, ASSAY_ERR_USAGE, "no process %lld, or no permission to watch it",
                        (long long)w->pid);
    return ASSAY_OK;
}

assay_status load_watch_begin(const load_options *o, arena *a, load_watch **out, assay_error *err)
{
    *out = NULL;
    if (o->pid && o->cgroup.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--pid and --cgroup exclude each other");
    if (!o->pid && !o->cgroup.n)
        return ASSAY_OK;
    load_watch *w = ARENA_NEW(a, load_watch);
    arena *own = w ? arena_new((size_t)64 << 20) : NULL;
    TRY_MEMORY(own, err);
    *w = (load_watch){.a = own, .to = a, .pid = o->pid};
    snprintf(w->cgroup, sizeof w->cgroup, STR_FMT, STR_ARG(o->cgroup));
    assay_status s = look_once(w, err);
    int code = s == ASSAY_OK ? pthread_create(&w->thread, NULL, follow_server, w) : 0;
    if (code)
        s = err_fail_errno(err, ASSAY_ERR_SYSTEM, code, "cannot start a thread: %s",
                           strerror(code));
    if (s != ASSAY_OK)
        arena_free(own);
    else
        *out = w;
    return s;
}

static str name_of(const load_watch *w)
{
    char name[64];
    if (*w->cgroup)
        return str_copy(w->to, str_of(w->cgroup));
    system_process_name("", w->pid, name, sizeof name);
    return str_copy(w->to, str_of(name));
}

profile_watch *load_watch_end(load_watch *w)
{
    if (!w)
        return NULL;
    __atomic_store_n(&w->stop, 1, __ATOMIC_RELAXED);
    pthread_join(w->thread, NULL);
    profile_watch *seen = w->status == ASSAY_OK ? ARENA_NEW(w->to, profile_watch) : NULL;
    if (seen) {
        *seen = w->seen;
        seen->interrupted = false;
        seen->samples = arena_copy(w->to, w->seen.samples,
                                   sizeof *w->seen.samples * w->seen.n_samples);
        seen->n_samples = seen->samples ? seen->n_samples : 0;
        seen->command = name_of(w);
    }
    arena_free(w->a);
    return seen;
}

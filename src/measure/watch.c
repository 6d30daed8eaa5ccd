/* See watch.h. */
#include <math.h>

#include "measure/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"

#define DEFAULT_INTERVAL_NS 10000000u
#define GPU_INTERVAL_NS     100000000u /* the driver renews its figures no more often */

/* Sums and maxima of the GPU counters. */
typedef struct gpu_sums {
    double percent, memory_percent, power_w;
    uint32_t n_percent, n_memory, n_power;
    profile_gpu_use most;
} gpu_sums;

struct watch {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    watch_options o;
    bool ended, stopped, told;
    uint64_t gpu_next_ns;
    gpu_sums gpu;
    uint32_t n;
    watch_tick ticks[WATCH_TICKS];
};

void watch_look(const char *root, watch_tick *out)
{
    memset(out, 0, sizeof *out);
    out->time_ns = clock_mono_ns();
    system_resident_now(root, &out->resident);
    system_ticks_now(root, &out->ticks);
    out->mhz = system_frequency_mhz(root);
}

/* Under the lock. */
static void keep_tick(watch *w, const watch_tick *t)
{
    if (w->n == WATCH_TICKS) {
        for (uint32_t i = 0; i < WATCH_TICKS / 2; i++)
            w->ticks[i] = w->ticks[2 * i];
        w->n = WATCH_TICKS / 2;
        w->o.interval_ns *= 2;
    }
    w->ticks[w->n++] = *t;
}

static void ask_to_stop(watch *w)
{
    if (w->told || !w->o.cancelled || !w->o.cancelled(w->o.ctx))
        return;
    w->told = true;
    if (w->o.on_cancel && w->o.target)
        w->o.on_cancel(w->o.target);
}

static void raise_f64(double *most, double v)
{
    *most = fmax(*most, v); /* a number wins over NaN */
}

static void raise_size(uint64_t *most, uint64_t v)
{
    if (v != PROFILE_NOT_TOLD && (*most == PROFILE_NOT_TOLD || v > *most))
        *most = v;
}

static void add_f64(double *sum, uint32_t *n, double v)
{
    if (isnan(v))
        return;
    *sum += v;
    ++*n;
}

/* Under the lock. */
static void add_gpu(gpu_sums *s, const gpu_reading *r)
{
    add_f64(&s->percent, &s->n_percent, r->utilisation_percent);
    add_f64(&s->memory_percent, &s->n_memory, r->memory_percent);
    add_f64(&s->power_w, &s->n_power, r->power_w);
    raise_f64(&s->most.percent_max, r->utilisation_percent);
    raise_f64(&s->most.power_max_w, r->power_w);
    raise_f64(&s->most.temperature_max_c, r->temperature_c);
    raise_size(&s->most.memory_peak, r->memory_used);
    raise_size(&s->most.memory_total, r->memory_total);
    raise_size(&s->most.process_peak, r->memory_process);
}

static void look_at_gpu(watch *w)
{
    gpu_reading r;
    uint64_t now = clock_mono_ns();
    if (!w->o.gpu || now < w->gpu_next_ns)
        return;
    w->gpu_next_ns = now + GPU_INTERVAL_NS;
    gpu_monitor_read(w->o.gpu, &r);
    pthread_mutex_lock(&w->lock);
    add_gpu(&w->gpu, &r);
    pthread_mutex_unlock(&w->lock);
}

void watch_gpu(watch *w, profile_gpu_use *out)
{
    pthread_mutex_lock(&w->lock);
    const gpu_sums *s = &w->gpu;
    *out = s->most;
    out->percent = s->n_percent ? s->percent / s->n_percent : NAN;
    out->memory_percent = s->n_memory ? s->memory_percent / s->n_memory : NAN;
    out->power_w = s->n_power ? s->power_w / s->n_power : NAN;
    pthread_mutex_unlock(&w->lock);
}

void watch_gpu_clear(watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->gpu = (gpu_sums){.most = PROFILE_GPU_UNKNOWN};
    pthread_mutex_unlock(&w->lock);
}

static void *watch_thread(void *arg)
{
    watch *w = arg;
    watch_tick t;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        pthread_mutex_unlock(&w->lock);
        watch_look(w->o.root, &t);
        look_at_gpu(w);
        pthread_mutex_lock(&w->lock);
        keep_tick(w, &t);
        ask_to_stop(w);
        if (!w->ended)
            clock_cond_wait(&w->wake, &w->lock, w->o.interval_ns);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void watch_init(watch *w, const watch_options *o)
{
    w->o = *o;
    w->gpu = (gpu_sums){.most = PROFILE_GPU_UNKNOWN};
    if (!w->o.root)
        w->o.root = "";
    if (!w->o.interval_ns)
        w->o.interval_ns = DEFAULT_INTERVAL_NS;
    pthread_mutex_init(&w->lock, NULL);
    clock_cond_init(&w->wake);
}

assay_status watch_start(const watch_options *o, watch **out, assay_error *err)
{
    watch *w = memory_zeroed(1, sizeof *w);
    *out = NULL;
    TRY_MEMORY(w, err);
    watch_init(w, o);
    if (pthread_create(&w->thread, NULL, watch_thread, w) != 0) {
        w->stopped = true;
        watch_free(w);
        return err_fail(err, ASSAY_ERR_SYSTEM, "cannot start the memory watcher thread");
    }
    *out = w;
    return ASSAY_OK;
}

void watch_aim(watch *w, void *target)
{
    pthread_mutex_lock(&w->lock);
    w->o.target = target;
    if (target && w->told && w->o.on_cancel)
        w->o.on_cancel(target);
    pthread_mutex_unlock(&w->lock);
}

void watch_stop(watch *w)
{
    watch_tick t;
    if (w->stopped)
        return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    watch_look(w->o.root, &t);
    keep_tick(w, &t);
    w->stopped = true;
}

void watch_free(watch *w)
{
    if (!w)
        return;
    watch_stop(w);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

const watch_tick *watch_ticks(const watch *w, uint32_t *n)
{
    *n = w->n;
    return w->ticks;
}

static void raise_to(system_resident *most, const system_resident *r)
{
    if (r->total > most->total)
        most->total = r->total;
    if (r->anon > most->anon)
        most->anon = r->anon;
    if (r->file > most->file)
        most->file = r->file;
}

static void add_to(system_resident *sum, const system_resident *r)
{
    sum->total += r->total;
    sum->anon += r->anon;
    sum->file += r->file;
}

bool watch_summarise(const watch_tick *t, uint32_t n, uint64_t from_ns, uint64_t to_ns,
                     watch_summary *out)
{
    const watch_tick *first = NULL, *last = NULL;
    uint32_t count = 0, clocks = 0;
    *out = (watch_summary){.mhz = NAN, .mhz_min = NAN};
    double mhz = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].time_ns < from_ns || t[i].time_ns > to_ns)
            continue;
        first = first ? first : &t[i];
        last = &t[i];
        raise_to(&out->peak, &t[i].resident);
        add_to(&out->average, &t[i].resident);
        count++;
        if (isnan(t[i].mhz))
            continue;
        mhz += t[i].mhz;
        out->mhz_min = clocks++ == 0 || t[i].mhz < out->mhz_min ? t[i].mhz : out->mhz_min;
    }
    if (!count)
        return false;
    out->average.total /= count;
    out->average.anon /= count;
    out->average.file /= count;
    out->steal = last->ticks.steal - first->ticks.steal;
    out->all = last->ticks.all - first->ticks.all;
    out->mhz = clocks ? mhz / clocks : NAN;
    return true;
}

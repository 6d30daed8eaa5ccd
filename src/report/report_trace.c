/* A profile on a time axis, in the JSON form of the Trace Event Format that Perfetto and chrome://tracing
 * open: an object with "traceEvents", each with "ph", "pid", "tid", "ts" in microseconds.
 *
 *   process 1        layers in the order they run (ph "X"), within the modules they belong to; the memory plan
 *                    as a counter (ph "C")
 *   process 2, 3, …  the single runs of each configuration, one after the other, and resident memory
 *
 * Where layers were measured their times are that; where the model was placed on one device, they are the
 * roofline's; else the cost of a layer stands for its time, scaled to the median run when there is one.
 * "otherData" and the name of the process say which.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "base/memory.h"
#include "report/report.h"

enum { DEPTH_MAX = 24, RUNS_MAX = 20000, LAYERS_PID = 1 };
/* Without any clock: so many FLOPs per second, and bytes by the line between compute- and memory-bound. */
#define NOMINAL_FLOPS 1e12

typedef enum time_source { TIME_MEASURED, TIME_PREDICTED, TIME_SCALED, TIME_NOMINAL } time_source;

typedef struct tracing {
    const profile *p;
    json_writer w;
    double *us; /* [n_layers] duration of each */
    time_source source;
} tracing;

/* ---- durations ---- */

static double cost_us(const profile *p, const profile_layer *l)
{
    double line = p->bottlenecks.threshold > 0 ? p->bottlenecks.threshold : 50;
    double by_bytes = (double)l->memory * line, work = (double)l->flops;
    return (by_bytes > work ? by_bytes : work) / NOMINAL_FLOPS * 1e6;
}

static double median_ms(const profile *p)
{
    const profile_measured *m = p->measured;
    return m && m->n_configs && m->configs[0].latency.runs ? m->configs[0].latency.median : 0;
}

static void spread_cost(tracing *t)
{
    double sum = 0, whole = 1000 * median_ms(t->p);
    for (uint32_t i = 0; i < t->p->n_layers; i++)
        sum += t->us[i] = cost_us(t->p, &t->p->layers[i]);
    t->source = whole > 0 && sum > 0 ? TIME_SCALED : TIME_NOMINAL;
    for (uint32_t i = 0; t->source == TIME_SCALED && i < t->p->n_layers; i++)
        t->us[i] *= whole / sum;
}

static void choose_times(tracing *t)
{
    const profile *p = t->p;
    if (p->measured && p->measured->ledger.present) {
        t->source = TIME_MEASURED;
        for (uint32_t i = 0; i < p->n_layers; i++)
            t->us[i] = p->layers[i].time_ms > 0 ? 1000 * p->layers[i].time_ms : 0;
    } else if (report_predicted_ms(p, t->us)) {
        t->source = TIME_PREDICTED;
        for (uint32_t i = 0; i < p->n_layers; i++)
            t->us[i] *= 1000;
    } else {
        spread_cost(t);
    }
}

static const char *source_text(const tracing *t)
{
    static const char *const texts[] = {
        [TIME_MEASURED] = "measured: the median of profiled runs",
        [TIME_PREDICTED] = "predicted: a roofline of the device, not measured",
        [TIME_SCALED] = "not measured by layer: the median run, shared out by cost",
        [TIME_NOMINAL] = "not measured: cost at a nominal 1 TFLOP/s"};
    return texts[t->source];
}

/* ---- events ---- */

static void begin_event(tracing *t, const char *ph, str name, uint64_t pid, uint64_t tid)
{
    json_writer *w = &t->w;
    json_flat_object(w);
    key_cstr(w, "ph", ph);
    key_str(w, "name", name);
    key_u64(w, "pid", pid);
    key_u64(w, "tid", tid);
}

static void put_number(tracing *t, const char *key, double v)
{
    json_key(&t->w, key);
    json_fixed(&t->w, v, 3);
}

/* Names a process or a thread. */
static void name_event(tracing *t, const char *what, str name, uint64_t pid, uint64_t tid)
{
    begin_event(t, "M", str_of(what), pid, tid);
    json_key(&t->w, "args");
    json_flat_object(&t->w);
    json_key(&t->w, "name");
    json_str(&t->w, name);
    json_end(&t->w);
    json_end(&t->w);
}

static void name_text(tracing *t, const char *what, uint64_t pid, sbuf *text)
{
    sbuf_cstr(text);
    name_event(t, what, (str){text->p, (uint32_t)text->n}, pid, 0);
    t->w.out->failed |= text->failed;
    sbuf_free(text);
}

static void counter_event(tracing *t, const char *name, uint64_t pid, double us, uint64_t bytes)
{
    begin_event(t, "C", str_of(name), pid, 0);
    put_number(t, "ts", us);
    json_key(&t->w, "args");
    json_flat_object(&t->w);
    json_key(&t->w, "bytes");
    json_u64(&t->w, bytes);
    json_end(&t->w);
    json_end(&t->w);
}

static void slice(tracing *t, str name, str category, uint64_t pid, double us, double dur)
{
    begin_event(t, "X", name, pid, 1);
    json_key(&t->w, "cat");
    json_str(&t->w, category);
    put_number(t, "ts", us);
    put_number(t, "dur", dur);
}

/* ---- layers within modules ---- */

typedef struct open_module {
    str path; /* "layer1.0" */
    double since;
} open_module;

/* The part of a path up to its n-th dot; all of it when there are fewer. */
static str path_to(str path, uint32_t parts)
{
    for (uint32_t i = 0; i < path.n; i++)
        if (path.p[i] == '.' && --parts == 0)
            return (str){path.p, i};
    return path;
}

static uint32_t parts_of(str path)
{
    uint32_t n = path.n > 0;
    for (uint32_t i = 0; i < path.n; i++)
        n += path.p[i] == '.';
    return n < DEPTH_MAX ? n : DEPTH_MAX;
}

static str last_part(str path)
{
    uint32_t at = path.n;
    while (at > 0 && path.p[at - 1] != '.')
        at--;
    return path.n ? (str){path.p + at, path.n - at} : path;
}

static void close_modules(tracing *t, open_module *stack, uint32_t *n, uint32_t keep, double us)
{
    for (; *n > keep; --*n) {
        const open_module *m = &stack[*n - 1];
        slice(t, last_part(m->path), STR("module"), LAYERS_PID, m->since, us - m->since);
        json_key(&t->w, "args");
        json_flat_object(&t->w);
        json_key(&t->w, "module");
        json_str(&t->w, m->path);
        json_end(&t->w);
        json_end(&t->w);
    }
}

static void enter_modules(tracing *t, open_module *stack, uint32_t *n, str module, double us)
{
    uint32_t parts = parts_of(module), same = 0;
    while (same < *n && same < parts && str_eq(stack[same].path, path_to(module, same + 1)))
        same++;
    close_modules(t, stack, n, same, us);
    for (; *n < parts; ++*n)
        stack[*n] = (open_module){path_to(module, *n + 1), us};
}

static void put_layer(tracing *t, const profile_layer *l, double us, double dur)
{
    json_writer *w = &t->w;
    slice(t, l->name, l->type, LAYERS_PID, us, dur);
    json_key(w, "args");
    json_flat_object(w);
    key_str(w, "op", l->op);
    key_u64(w, "parameters", l->parameters);
    key_u64(w, "macs", l->macs);
    key_u64(w, "flops", l->flops);
    key_u64(w, "memory_bytes", l->memory);
    key_cstr(w, "bottleneck", bound_words[l->compute_bound]);
    json_end(w);
    json_end(w);
}

/* Builders name a layer after its own module, which would stand around it again. */
static str module_around(const profile_layer *l)
{
    str m = l->module, last = last_part(l->module);
    if (!m.n || !str_eq(m, l->name))
        return m;
    return (str){m.p, m.n - last.n - (m.n > last.n)};
}

static void put_layers(tracing *t)
{
    const profile *p = t->p;
    open_module stack[DEPTH_MAX];
    uint32_t n = 0;
    double now = 0;
    sbuf title = {0};
    sbuf_printf(&title, "layers, times %s", source_text(t));
    name_text(t, "process_name", LAYERS_PID, &title);
    name_event(t, "thread_name", STR("one run"), LAYERS_PID, 1);
    for (uint32_t i = 0; i < p->n_layers; i++) {
        enter_modules(t, stack, &n, module_around(&p->layers[i]), now);
        put_layer(t, &p->layers[i], now, t->us[i]);
        counter_event(t, "activations", LAYERS_PID, now, p->layers[i].live_bytes);
        now += t->us[i];
    }
    close_modules(t, stack, &n, 0, now);
    if (p->n_layers)
        counter_event(t, "activations", LAYERS_PID, now, 0);
}

/* ---- runs ---- */

static const char *cause_of(const profile_config *c, uint64_t run)
{
    for (uint32_t i = 0; i < c->n_outliers; i++)
        if (c->outliers[i].run == run)
            return c->outliers[i].cause;
    return NULL;
}

static void put_run(tracing *t, const profile_config *c, uint32_t i, uint64_t pid, double us)
{
    uint64_t run = (uint64_t)i + 1;
    const char *cause = cause_of(c, run);
    slice(t, cause ? STR("outlier") : STR("run"), STR("run"), pid, us, 1000 * c->samples_ms[i]);
    json_key(&t->w, "args");
    json_flat_object(&t->w);
    json_key(&t->w, "run");
    json_u64(&t->w, run);
    if (cause) {
        json_key(&t->w, "cause");
        json_cstr(&t->w, cause);
    }
    json_end(&t->w);
    json_end(&t->w);
}

static void put_config(tracing *t, const profile_config *c, uint64_t pid)
{
    double now = 0;
    sbuf title = {0};
    if (!c->latency.runs)
        return;
    sbuf_printf(&title, "runs of batch %" PRIu64 ", " STR_FMT, c->batch, STR_ARG(c->precision));
    name_text(t, "process_name", pid, &title);
    name_event(t, "thread_name", STR("runs, one behind the other"), pid, 1);
    for (uint32_t i = 0; i < c->n_samples && i < RUNS_MAX; i++) {
        put_run(t, c, i, pid, now);
        now += 1000 * c->samples_ms[i];
    }
    for (uint32_t i = 0; i < c->n_curve; i++)
        counter_event(t, "resident memory, from the session on", pid, 1000 * c->curve[i].ms,
                      c->curve[i].resident);
}

/* ---- all ---- */

static void put_about(tracing *t)
{
    json_key(&t->w, "displayTimeUnit");
    json_cstr(&t->w, "ms");
    json_key(&t->w, "otherData");
    json_object(&t->w);
    json_key(&t->w, "tool");
    json_cstr(&t->w, "assay");
    json_key(&t->w, "version");
    json_str(&t->w, t->p->context.tool_version);
    json_key(&t->w, "model");
    json_str(&t->w, t->p->model);
    json_key(&t->w, "layer_times");
    json_cstr(&t->w, source_text(t));
    json_end(&t->w);
}

assay_status report_trace(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    tracing t = {.p = p, .us = memory_alloc(sizeof *t.us * ((size_t)p->n_layers + 1))};
    (void)o;
    TRY_MEMORY(t.us, err);
    choose_times(&t);
    json_begin(&t.w, out, 1);
    json_object(&t.w);
    put_about(&t);
    json_key(&t.w, "traceEvents");
    json_array(&t.w);
    put_layers(&t);
    for (uint32_t i = 0; p->measured && i < p->measured->n_configs; i++)
        put_config(&t, &p->measured->configs[i], LAYERS_PID + 1 + i);
    json_end(&t.w);
    json_end(&t.w);
    sbuf_putc(out, '\n');
    free(t.us);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

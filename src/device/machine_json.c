/* "assay.machine/1", written and read by one table of fields for each object: what is written can be read, and
 * a new field is one row. Keys that no row knows are skipped. docs/schema/machine-1.schema.json describes it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "device/machine.h"

/* F64 is not below zero; REAL may be anything. */
typedef enum kind { TEXT, U32, U64, F64, REAL, REALS, BOOL, OBJECT, LIST, TEXTS } kind;

typedef struct field {
    const char *key;
    kind kind;
    size_t at;
    size_t room;     /* TEXT: bytes; LIST and TEXTS: items */
    size_t count_at; /* of lists */
    const struct object *of;
    bool null; /* a number that may be unknown: below 0 is null */
} field;

typedef struct object {
    const field *fields;
    size_t n, size;
} object;

#define AT(type, member)   offsetof(type, member)
#define ROOM(type, member) sizeof(((type *)0)->member)
#define F_TEXT(type, key, member)                                       \
    {                                                                   \
        key, TEXT, AT(type, member), ROOM(type, member), 0, NULL, false \
    }
#define F_NUM(type, key, kind_, member)                 \
    {                                                   \
        key, kind_, AT(type, member), 0, 0, NULL, false \
    }
#define F_MAYBE(type, key, member)                   \
    {                                                \
        key, F64, AT(type, member), 0, 0, NULL, true \
    }
#define F_OBJECT(type, key, member, of_)                 \
    {                                                    \
        key, OBJECT, AT(type, member), 0, 0, &of_, false \
    }
#define F_LIST(type, key, member, count, of_)                                                   \
    {                                                                                           \
        key, LIST, AT(type, member), sizeof(((type *)0)->member) / sizeof *((type *)0)->member, \
            AT(type, count), &of_, false                                                        \
    }
#define OF(list, type)                                      \
    {                                                       \
        (list), sizeof(list) / sizeof *(list), sizeof(type) \
    }

static const field figure_fields[] = {
    F_NUM(machine_figure, "value", F64, value), F_NUM(machine_figure, "low", F64, low),
    F_NUM(machine_figure, "high", F64, high), F_NUM(machine_figure, "spread", F64, spread),
    F_NUM(machine_figure, "samples", U32, samples)};
static const object figure_object = OF(figure_fields, machine_figure);

static const field rate_fields[] = {
    F_TEXT(machine_rate, "dtype", dtype), F_TEXT(machine_rate, "isa", isa),
    F_NUM(machine_rate, "threads", U32, threads),
    F_OBJECT(machine_rate, "operations_per_second", ops, figure_object)};
static const object rate_object = OF(rate_fields, machine_rate);

static const field flow_fields[] = {
    F_TEXT(machine_flow, "level", level), F_TEXT(machine_flow, "kind", kind),
    F_NUM(machine_flow, "threads", U32, threads), F_NUM(machine_flow, "set_bytes", U64, set_bytes),
    F_OBJECT(machine_flow, "bytes_per_second", bytes, figure_object)};
static const object flow_object = OF(flow_fields, machine_flow);

static const field point_fields[] = {F_NUM(machine_point, "set_bytes", U64, set_bytes),
                                     F_NUM(machine_point, "read", F64, read),
                                     F_NUM(machine_point, "triad", F64, triad)};
static const object point_object = OF(point_fields, machine_point);

static const field cache_fields[] = {F_NUM(topology_cache, "level", U32, level),
                                     F_TEXT(topology_cache, "kind", kind),
                                     F_NUM(topology_cache, "size_bytes", U64, size_bytes),
                                     F_NUM(topology_cache, "line_bytes", U32, line_bytes),
                                     F_NUM(topology_cache, "ways", U32, ways),
                                     F_NUM(topology_cache, "instances", U32, instances),
                                     F_NUM(topology_cache, "shared_by", U32, shared_by)};
static const object cache_object = OF(cache_fields, topology_cache);

static const field topology_fields[] = {
    F_TEXT(topology, "cpu", cpu),
    F_TEXT(topology, "machine", machine),
    F_TEXT(topology, "host", host),
    F_TEXT(topology, "os", os),
    F_NUM(topology, "sockets", U32, sockets),
    F_NUM(topology, "cores", U32, cores),
    F_NUM(topology, "processors", U32, cpus),
    F_NUM(topology, "threads_per_core", U32, threads_per_core),
    F_NUM(topology, "usable_processors", U32, usable),
    F_MAYBE(topology, "quota_processors", quota_cpus),
    F_NUM(topology, "numa_nodes", U32, numa_nodes),
    F_LIST(topology, "caches", caches, n_caches, cache_object),
    F_NUM(topology, "memory_bytes", U64, memory_bytes),
    F_MAYBE(topology, "mhz", mhz_now),
    F_MAYBE(topology, "mhz_min", mhz_min),
    F_MAYBE(topology, "mhz_max", mhz_max),
    F_MAYBE(topology, "mhz_base", mhz_base),
    F_TEXT(topology, "governor", governor),
    F_TEXT(topology, "clock_driver", driver),
    F_TEXT(topology, "hypervisor", hypervisor),
    F_TEXT(topology, "container", container),
    F_MAYBE(topology, "steal_percent_since_boot", steal_percent),
};
static const object topology_object = OF(topology_fields, topology);

static const field dispatch_fields[] = {
    F_NUM(machine_dispatch, "measured", BOOL, present), F_TEXT(machine_dispatch, "engine", engine),
    F_OBJECT(machine_dispatch, "seconds", seconds, figure_object)};
static const object dispatch_object = OF(dispatch_fields, machine_dispatch);

static const field family_fields[] = {F_TEXT(calibration_family, "name", name),
                                      {"coefficients", REALS, AT(calibration_family, c),
                                       CALIBRATION_TERMS, AT(calibration_family, n_terms), NULL,
                                       false},
                                      F_NUM(calibration_family, "samples", U32, samples),
                                      F_NUM(calibration_family, "median_error", F64, error)};
static const object family_object = OF(family_fields, calibration_family);

static const field fold_fields[] = {F_NUM(calibration_fold, "pair", U32, pair),
                                    F_NUM(calibration_fold, "seen", U32, seen),
                                    F_NUM(calibration_fold, "folded", U32, folded)};
static const object fold_object = OF(fold_fields, calibration_fold);

static const field run_fields[] = {F_TEXT(calibration_run, "model", model),
                                   F_NUM(calibration_run, "batch", U32, batch),
                                   F_NUM(calibration_run, "measured_s", F64, measured_s),
                                   F_NUM(calibration_run, "predicted_s", F64, predicted_s)};
static const object run_object = OF(run_fields, calibration_run);

static const field calibration_fields[] = {
    F_NUM(calibration, "present", BOOL, present),
    F_TEXT(calibration, "engine", engine),
    F_NUM(calibration, "threads", U32, threads),
    F_NUM(calibration, "seconds", F64, seconds),
    F_NUM(calibration, "scale", F64, scale),
    F_NUM(calibration, "kernel_s", REAL, kernel_s),
    F_NUM(calibration, "interval_low", F64, low),
    F_NUM(calibration, "interval_high", F64, high),
    F_NUM(calibration, "median_error", F64, error),
    F_LIST(calibration, "left_out", runs, n_runs, run_object),
    F_LIST(calibration, "families", families, n_families, family_object),
    F_LIST(calibration, "folds", folds, n_folds, fold_object),
};
static const object calibration_object = OF(calibration_fields, calibration);

static const field machine_fields[] = {
    F_TEXT(machine, "timestamp", timestamp),
    F_TEXT(machine, "tool_version", tool_version),
    F_NUM(machine, "quick", BOOL, quick),
    F_NUM(machine, "seconds", F64, seconds),
    F_MAYBE(machine, "steal_percent", steal_percent),
    F_OBJECT(machine, "topology", where, topology_object),
    {"instruction_sets", TEXTS, AT(machine, isas), MACHINE_ISAS, AT(machine, n_isas), NULL, false},
    F_LIST(machine, "compute", rates, n_rates, rate_object),
    F_LIST(machine, "bandwidth", flows, n_flows, flow_object),
    F_LIST(machine, "bandwidth_by_set", curve, n_curve, point_object),
    F_OBJECT(machine, "dispatch", dispatch, dispatch_object),
    F_OBJECT(machine, "calibration", calibrated, calibration_object),
};
static const object machine_object = OF(machine_fields, machine);

/* ---- writing ---- */

static void write_object(json_writer *w, const object *o, const char *base);

static void write_list(json_writer *w, const field *f, const char *base)
{
    uint32_t n;
    memcpy(&n, base + f->count_at, sizeof n);
    if (f->kind == REALS)
        json_flat_array(w);
    else
        json_array(w);
    for (uint32_t i = 0; i < n; i++) {
        if (f->kind == TEXTS) {
            json_cstr(w, base + f->at + i * sizeof(((machine *)0)->isas[0]));
            continue;
        }
        if (f->kind == REALS) {
            double v;
            memcpy(&v, base + f->at + i * sizeof v, sizeof v);
            json_f64(w, v);
            continue;
        }
        json_flat_object(w);
        write_object(w, f->of, base + f->at + i * f->of->size);
        json_end(w);
    }
    json_end(w);
}

static void write_number(json_writer *w, const field *f, const char *base)
{
    double v;
    memcpy(&v, base + f->at, sizeof v);
    if (f->null && v < 0)
        json_null(w);
    else
        json_f64(w, v);
}

static void write_field(json_writer *w, const field *f, const char *base)
{
    uint32_t small;
    uint64_t large;
    json_key(w, f->key);
    switch (f->kind) {
    case TEXT:
        json_cstr(w, base + f->at);
        break;
    case U32:
        memcpy(&small, base + f->at, sizeof small), json_u64(w, small);
        break;
    case U64:
        memcpy(&large, base + f->at, sizeof large), json_u64(w, large);
        break;
    case F64:
    case REAL:
        write_number(w, f, base);
        break;
    case BOOL:
        json_bool(w, *(const bool *)(base + f->at));
        break;
    case OBJECT:
        json_object(w);
        write_object(w, f->of, base + f->at);
        json_end(w);
        break;
    case LIST:
    case REALS:
    case TEXTS:
        write_list(w, f, base);
        break;
    }
}

static void write_object(json_writer *w, const object *o, const char *base)
{
    for (size_t i = 0; i < o->n; i++)
        write_field(w, &o->fields[i], base);
}

void machine_write_json(const machine *m, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    json_key(&w, "schema");
    json_cstr(&w, MACHINE_SCHEMA);
    write_object(&w, &machine_object, (const char *)m);
    json_end(&w);
    sbuf_putc(out, '\n');
}

/* ---- reading ---- */

static bool read_object(json_scan *s, const object *o, char *base);

static bool read_text(json_scan *s, char *to, size_t room)
{
    str v = {0};
    if (!scan_null(s) && !scan_str(s, &v))
        return false;
    snprintf(to, room, STR_FMT, STR_ARG(v));
    return true;
}

static bool read_item(json_scan *s, const field *f, char *list, uint32_t n)
{
    const size_t text = sizeof(((machine *)0)->isas[0]);
    if (f->kind == TEXTS)
        return read_text(s, list + n * text, text);
    if (f->kind == REALS) {
        double v;
        if (!scan_f64(s, &v))
            return false;
        memcpy(list + n * sizeof v, &v, sizeof v);
        return true;
    }
    return scan_open(s, '{') && read_object(s, f->of, list + n * f->of->size);
}

static bool read_list(json_scan *s, const field *f, char *base)
{
    uint32_t n = 0;
    if (!scan_open(s, '['))
        return false;
    while (scan_item(s)) {
        if (n == f->room)
            return scan_fail(s, "There are more of these than a machine has.");
        if (!read_item(s, f, base + f->at, n))
            return false;
        n++;
    }
    memcpy(base + f->count_at, &n, sizeof n);
    return !s->failed;
}

static bool read_number(json_scan *s, const field *f, char *base)
{
    double v = -1;
    if (!(f->null && scan_null(s)) && !scan_f64(s, &v))
        return false;
    if (!f->null && f->kind != REAL && v < 0)
        return scan_fail(s, "A measured figure is not negative.");
    memcpy(base + f->at, &v, sizeof v);
    return true;
}

static bool read_count(json_scan *s, const field *f, char *base)
{
    uint64_t v;
    if (!scan_u64(s, &v))
        return false;
    uint32_t small = (uint32_t)v;
    if (f->kind == U32 && v > UINT32_MAX)
        return scan_fail(s, "The number is too large.");
    if (f->kind == U32)
        memcpy(base + f->at, &small, sizeof small);
    else
        memcpy(base + f->at, &v, sizeof v);
    return true;
}

static bool read_field(json_scan *s, const field *f, char *base)
{
    switch (f->kind) {
    case TEXT:
        return read_text(s, base + f->at, f->room);
    case U32:
    case U64:
        return read_count(s, f, base);
    case F64:
    case REAL:
        return read_number(s, f, base);
    case BOOL:
        return scan_bool(s, (bool *)(base + f->at));
    case OBJECT:
        return scan_open(s, '{') && read_object(s, f->of, base + f->at);
    case LIST:
    case REALS:
    case TEXTS:
        return read_list(s, f, base);
    }
    return false;
}

/* Its bracket is open already. */
static bool read_object(json_scan *s, const object *o, char *base)
{
    str key;
    while (scan_key(s, &key)) {
        const field *f = NULL;
        for (size_t i = 0; i < o->n && !f; i++)
            f = str_is(key, o->fields[i].key) ? &o->fields[i] : NULL;
        if (f ? !read_field(s, f, base) : !scan_skip(s))
            return false;
    }
    return !s->failed;
}

/* The schema that an object says it is of; empty when it says none. */
static str schema_of(str text, arena *a)
{
    assay_error ignored = {0};
    json_scan s = scan_text(text, 0, "", a, &ignored);
    str key, value = {0};
    if (!scan_is(&s, '{') || !scan_open(&s, '{'))
        return value;
    while (scan_key(&s, &key)) {
        if (str_is(key, "schema") && scan_is(&s, '"') && scan_str(&s, &value))
            return value;
        if (!scan_skip(&s))
            break;
    }
    return (str){0};
}

bool machine_is(str text)
{
    arena *a = arena_new((size_t)1 << 20);
    bool is = a && str_starts(schema_of(text, a), "assay.machine/");
    arena_free(a);
    return is;
}

assay_status machine_read_json(str text, const char *shown, machine *out, assay_error *err)
{
    assay_error local = {0};
    arena *a = arena_new((size_t)8 << 20);
    if (!a)
        return err_no_memory(err);
    memset(out, 0, sizeof *out);
    str schema = schema_of(text, a);
    json_scan s = scan_text(text, 0, shown, a, &local);
    assay_status status = ASSAY_OK;
    if (!scan_open(&s, '{') || !read_object(&s, &machine_object, (char *)out) || !scan_end(&s))
        status = err_fail_at(err, ASSAY_ERR_MALFORMED, local.offset, "%s", local.message);
    else if (!str_is(schema, MACHINE_SCHEMA))
        status = err_fail(err, ASSAY_ERR_MALFORMED,
                          "%s: this is not a measured machine of schema " MACHINE_SCHEMA
                          "; run `assay machine` again.",
                          shown);
    arena_free(a);
    return status;
}

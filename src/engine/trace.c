/* ONNX Runtime's profile, read as it is laid out in the file:
 *
 *   [{"cat":"Node","tid":1,"ts":5,"dur":9,"ph":"X","name":"conv1_kernel_time","args":{"op_name":"Conv",
 *     "provider":"CPUExecutionProvider","node_index":"3","output_size":"4096","parameter_size":"64",
 *     "activation_size":"256","output_type_shape":[{"float":[1,32,16,16]}],"mem_bytes_in_use":"…",…}},
 *    {"cat":"Session","name":"model_run",…}, …]
 *
 * Numbers in args are strings. An event is written when it ends: what happened inside of it precedes it in the file,
 * which is how nesting is told (trace_order.c).
 */
#include "engine/trace.h"

#include <stddef.h>

#include "base/json_items.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "engine/trace_impl.h"

#define SCRATCH_BYTES ((size_t)1 << 30)

/* Events of the runtime itself that are of use. */
static const char run_name[] = "model_run", session_name[] = "session_initialization";
static const char node_suffix[] = "_kernel_time";

typedef struct raw_shape {
    char type[24];
    uint32_t first, n; /* in dims */
} raw_shape;

/* Of one event; the storage stays from one to the next. */
typedef struct shape_list {
    VEC(raw_shape) items;
    VEC(int64_t) dims;
} shape_list;

typedef struct reading {
    json_scan in; /* of one event */
    trace_build *build;
    map nodes;
    char cat[16];
    str name, op, provider; /* in buffers below */
    char name_buf[4096], op_buf[256], provider_buf[128];
    uint32_t index;
    raw_event event;
    shape_list inputs, outputs;
} reading;

static str keep_text(char *buf, size_t cap, str s)
{
    uint32_t n = s.n < cap ? s.n : (uint32_t)cap - 1;
    memcpy(buf, s.p, n);
    buf[n] = '\0';
    return (str){buf, n};
}

/* ---- values: those of another kind than expected are skipped -------------------------------- */

static bool enter_bracket(json_scan *s, char bracket)
{
    return scan_is(s, bracket) ? scan_open(s, bracket) : (scan_skip(s), false);
}

static str read_text(json_scan *s)
{
    str text = {"", 0};
    if (scan_is(s, '"'))
        scan_str(s, &text);
    else
        scan_skip(s);
    return text;
}

/* A whole number, also written as a string; a fraction is cut off, everything else is 0. */
static uint64_t read_count(json_scan *s)
{
    uint64_t v = 0;
    bool quoted = scan_is(s, '"');
    const char *from = s->at;
    str text = quoted ? read_text(s) : (scan_skip(s), (str){from, (uint32_t)(s->at - from)});
    str_take_u64(&text, &v);
    return v;
}

/* ---- args ------------------------------------------------------------------------------------ */

static void read_dims(reading *r, shape_list *l, uint32_t *n)
{
    if (!enter_bracket(&r->in, '['))
        return;
    while (scan_item(&r->in)) {
        int64_t *d = VEC_PUSH(r->build->scratch, &l->dims);
        uint64_t v = read_count(&r->in);
        if (d)
            *d = (int64_t)v;
        *n += d != NULL;
    }
}

static void read_shape(reading *r, str type, shape_list *l)
{
    raw_shape *shape = VEC_PUSH(r->build->scratch, &l->items);
    if (!shape) {
        scan_skip(&r->in);
        return;
    }
    keep_text(shape->type, sizeof shape->type, type);
    shape->first = l->dims.n;
    shape->n = 0;
    read_dims(r, l, &shape->n);
}

static void read_shapes(reading *r, shape_list *l)
{
    str type;
    l->items.n = l->dims.n = 0;
    if (!enter_bracket(&r->in, '['))
        return;
    while (scan_item(&r->in)) {
        if (!enter_bracket(&r->in, '{'))
            continue;
        while (scan_key(&r->in, &type))
            read_shape(r, type, l);
    }
}

static const struct number_row {
    const char *key;
    size_t offset;
} number_rows[] = {
    {"output_size", offsetof(trace_event, output_bytes)},
    {"parameter_size", offsetof(trace_event, weight_bytes)},
    {"activation_size", offsetof(trace_event, input_bytes)},
    {"mem_bytes_in_use", offsetof(trace_event, mem_in_use)},
    {"mem_bytes_requested_in_use", offsetof(trace_event, mem_requested)},
    {"mem_in_use_peak", offsetof(trace_event, mem_peak)},
    {"mem_arena_held", offsetof(trace_event, mem_held)},
};

static bool read_number(reading *r, str key)
{
    for (size_t i = 0; i < sizeof number_rows / sizeof *number_rows; i++) {
        if (!str_is(key, number_rows[i].key))
            continue;
        uint64_t v = read_count(&r->in);
        memcpy((char *)&r->event.e + number_rows[i].offset, &v, sizeof v);
        return true;
    }
    return false;
}

/* "main_thread": {"Distribution": 0, "DistributionEnqueue": 0, "Run": 35, "Wait": 1, "WaitRevoke": 1}. */
static void read_main_thread(reading *r)
{
    str key;
    trace_event *e = &r->event.e;
    if (!enter_bracket(&r->in, '{'))
        return;
    while (scan_key(&r->in, &key)) {
        uint64_t *to = str_is(key, "Run")                                 ? &e->own_us
                       : str_is(key, "Wait") || str_is(key, "WaitRevoke") ? &e->wait_us
                       : str_starts(key, "Distribution")                  ? &e->share_us
                                                                          : NULL;
        if (to)
            *to += read_count(&r->in);
        else
            scan_skip(&r->in);
    }
}

static uint32_t worker_index(trace_build *b, uint64_t thread)
{
    uint32_t i = 0;
    while (i < b->n_workers && b->workers[i] != thread)
        i++;
    if (i == b->n_workers && i < TRACE_WORKERS)
        b->workers[b->n_workers++] = thread;
    return i;
}

/* "sub_threads": {"140230122272448": {"num_run": 3, "core": 1}}; 0: it came too late. */
static void read_workers(reading *r)
{
    str id, key;
    uint64_t thread;
    if (!enter_bracket(&r->in, '{'))
        return;
    while (scan_key(&r->in, &id)) {
        uint32_t worker = str_to_u64(id, &thread) ? worker_index(r->build, thread) : TRACE_WORKERS;
        if (!enter_bracket(&r->in, '{'))
            continue;
        while (scan_key(&r->in, &key)) {
            bool ran = str_is(key, "num_run") && read_count(&r->in) > 0;
            if (!str_is(key, "num_run"))
                scan_skip(&r->in);
            else if (ran && worker < TRACE_WORKERS)
                r->event.e.workers |= (uint64_t)1 << worker;
        }
    }
}

static void read_threads(reading *r)
{
    str key;
    if (!enter_bracket(&r->in, '{'))
        return;
    while (scan_key(&r->in, &key))
        if (str_is(key, "main_thread"))
            read_main_thread(r);
        else if (str_is(key, "sub_threads"))
            read_workers(r);
        else
            scan_skip(&r->in);
}

static void read_arg(reading *r, str key)
{
    if (str_is(key, "op_name"))
        r->op = keep_text(r->op_buf, sizeof r->op_buf, read_text(&r->in));
    else if (str_is(key, "provider"))
        r->provider = keep_text(r->provider_buf, sizeof r->provider_buf, read_text(&r->in));
    else if (str_is(key, "node_index"))
        r->index = (uint32_t)read_count(&r->in);
    else if (str_is(key, "thread_scheduling_stats"))
        read_threads(r);
    else if (str_is(key, "output_type_shape"))
        read_shapes(r, &r->outputs);
    else if (str_is(key, "input_type_shape"))
        read_shapes(r, &r->inputs);
    else if (!read_number(r, key))
        scan_skip(&r->in);
}

static void read_field(reading *r, str key)
{
    str arg;
    if (str_is(key, "cat"))
        keep_text(r->cat, sizeof r->cat, read_text(&r->in));
    else if (str_is(key, "name"))
        r->name = keep_text(r->name_buf, sizeof r->name_buf, read_text(&r->in));
    else if (str_is(key, "ts"))
        r->event.e.start_us = read_count(&r->in);
    else if (str_is(key, "dur"))
        r->event.e.dur_us = read_count(&r->in);
    else if (str_is(key, "tid"))
        r->event.tid = read_count(&r->in);
    else if (!str_is(key, "args"))
        scan_skip(&r->in);
    else if (enter_bracket(&r->in, '{'))
        while (scan_key(&r->in, &arg))
            read_arg(r, arg);
}

/* ---- what becomes of an event ---------------------------------------------------------------- */

static const trace_shape *copy_shapes(reading *r, const shape_list *l)
{
    arena *a = r->build->arena;
    trace_shape *out = ARENA_ARRAY(a, trace_shape, l->items.n);
    for (uint32_t i = 0; out && i < l->items.n; i++) {
        uint32_t n = l->items.items[i].n;
        out[i].type = str_copy(a, str_of(l->items.items[i].type));
        out[i].rank = (int)n;
        out[i].dims =
            n ? arena_copy(a, l->dims.items + l->items.items[i].first, n * sizeof(int64_t)) : NULL;
    }
    return out;
}

static void fill_node(reading *r, trace_node *node)
{
    arena *a = r->build->arena;
    node->name = str_copy(a, r->name);
    node->op = str_copy(a, r->op);
    node->provider = str_copy(a, r->provider);
    node->index = r->index;
    node->inputs = copy_shapes(r, &r->inputs);
    node->outputs = copy_shapes(r, &r->outputs);
    node->n_inputs = r->inputs.items.n;
    node->n_outputs = r->outputs.items.n;
}

/* Nodes of different subgraphs may share a name or an index, hardly both and the operator. */
static uint32_t node_id(reading *r)
{
    trace_build *b = r->build;
    char key[sizeof r->name_buf + sizeof r->op_buf + 16];
    memcpy(key, &r->index, sizeof r->index);
    memcpy(key + 4, r->op.p, r->op.n);
    key[4 + r->op.n] = '\0';
    memcpy(key + 5 + r->op.n, r->name.p, r->name.n);
    str k = {key, 5 + r->op.n + r->name.n};
    uint32_t id = map_get(&r->nodes, k);
    if (id != MAP_NONE)
        return id;
    id = b->nodes.n;
    trace_node *node = VEC_PUSH(b->scratch, &b->nodes);
    str kept = str_copy(b->scratch, k);
    if (!node || !kept.p || !map_put(&r->nodes, kept, id))
        return TRACE_NONE;
    fill_node(r, node);
    return id;
}

static void add_node_event(reading *r)
{
    trace_build *b = r->build;
    if (!str_ends(r->name, node_suffix)) /* fences of old versions: no time of a kernel */
        return;
    r->name.n -= (uint32_t)(sizeof node_suffix - 1);
    raw_event *e = VEC_PUSH(b->scratch, &b->events);
    if (!e)
        return;
    *e = r->event;
    e->e.node = node_id(r);
    e->e.run = e->e.parent = TRACE_NONE;
}

static void add_session_event(reading *r)
{
    trace_build *b = r->build;
    if (str_is(r->name, session_name))
        b->session_us = r->event.e.dur_us;
    if (!str_is(r->name, run_name))
        return;
    (void)VEC_ADD(b->scratch, &b->runs,
                  (raw_run){.start_us = r->event.e.start_us,
                            .dur_us = r->event.e.dur_us,
                            .tid = r->event.tid,
                            .after = b->events.n});
}

/* The runtime puts what the device did right after the node that asked for it. */
static void add_kernel(reading *r)
{
    trace_build *b = r->build;
    uint32_t last = b->events.n ? b->events.items[b->events.n - 1].e.node : TRACE_NONE;
    trace_kernel *k = VEC_PUSH(b->scratch, &b->kernels);
    if (!k)
        return;
    bool same = last != TRACE_NONE && r->op.n && str_eq(b->nodes.items[last].op, r->op);
    k->name = str_copy(b->arena, r->name);
    k->node = same ? last : TRACE_NONE;
    k->start_us = r->event.e.start_us;
    k->dur_us = r->event.e.dur_us;
}

static void add_event(reading *r)
{
    r->build->n_read++;
    if (strcmp(r->cat, "Node") == 0)
        add_node_event(r);
    else if (strcmp(r->cat, "Session") == 0)
        add_session_event(r);
    else if (strcmp(r->cat, "Kernel") == 0)
        add_kernel(r);
}

static bool read_event(reading *r)
{
    str key;
    r->event = (raw_event){0};
    r->cat[0] = '\0';
    r->name = r->op = r->provider = (str){"", 0};
    r->index = 0;
    r->inputs.items.n = r->outputs.items.n = 0;
    bool is_event = enter_bracket(&r->in, '{');
    while (is_event && scan_key(&r->in, &key))
        read_field(r, key);
    if (!scan_end(&r->in))
        return false;
    if (is_event)
        add_event(r);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The runtime writes names as they are: what JSON would escape may be in them. */
static bool read_events(trace_build *b, cursor c)
{
    reading *r = ARENA_NEW(b->scratch, reading);
    json_items it = json_items_of(c, b->scratch);
    assay_error why = {0};
    uint64_t offset;
    str text;
    if (!r || !map_init(&r->nodes, b->scratch, 0))
        return false;
    r->build = b;
    while (json_items_next(&it, &text, &offset)) {
        r->in = scan_text(text, offset, source_name(c.src), b->scratch, &why);
        r->in.loose = r->in.nul = true;
        if (!read_event(r)) {
            err_fail_at(c.err, why.code, why.offset, "%s", r->in.what ? r->in.what : why.message);
            return false;
        }
    }
    return cursor_ok(&it.c);
}

/* `broken` is the status of a trace that is not whole. */
static assay_status read_source(source *s, arena *a, trace *out, assay_status broken,
                                assay_error *err)
{
    assay_error why = {0};
    trace_build b = {.arena = a, .scratch = arena_new(SCRATCH_BYTES)};
    bool ok = b.scratch && read_events(&b, cursor_at(s, 0, source_size(s), &why));
    ok = ok && trace_order(&b, out);
    bool full = !b.scratch || arena_failed(b.scratch) || arena_failed(a);
    arena_free(b.scratch);
    if (ok && !full)
        return ASSAY_OK;
    *out = (trace){0};
    if (full)
        return err_no_memory(err);
    return err_fail_at(err, broken, why.offset,
                       "%s: incomplete engine profile: %s. Check the free disk space.",
                       source_name(s), why.message);
}

assay_status trace_read(const char *path, arena *a, trace *out, assay_error *err)
{
    source *s = NULL;
    *out = (trace){0};
    TRY(source_open(path, &s, err));
    /* The engine does not look whether its writes succeed: a cut file is a full disk. */
    assay_status status = read_source(s, a, out, ASSAY_ERR_SYSTEM, err);
    source_close(s);
    return status;
}

assay_status trace_parse(str text, arena *a, trace *out, assay_error *err)
{
    source *s = NULL;
    *out = (trace){0};
    TRY(source_memory(text.p, text.n, &s, err));
    assay_status status = read_source(s, a, out, ASSAY_ERR_ENGINE, err);
    source_close(s);
    return status;
}

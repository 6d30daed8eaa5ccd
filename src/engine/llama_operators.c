/* Times of the operators of a run, by the callback that ggml's scheduler calls before and after a node of its graph.
 *
 * A node for which the callback returns true at first is computed alone, and the callback is called again when it is
 * done. Nodes that compute nothing (views) are left with the next one. In plain runs the callback always returns false:
 * the graph is then computed in one piece, as it is without a callback. So plain and timed runs of one context can take
 * turns, and their difference is what the timing costs (starting the threads for each node).
 */
#include "base/clock.h"
#include "base/memory.h"
#include "engine/llama_run.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 400000, NODES_MOST = 65536, RUNS_MOST = 10000 };

typedef struct op_node {
    char name[LLAMA_NAME], weight[LLAMA_NAME];
    const char *op; /* the library's */
} op_node;

typedef struct op_event {
    uint32_t node, run;
    uint64_t start_ns, ns;
} op_event;

typedef struct op_run {
    uint64_t start_ns, ns;
} op_run;

typedef struct llama_operators {
    const llama_api *api;
    bool on;      /* this run is timed */
    bool unknown; /* the library's tensors are not what they are here */
    uint64_t begun_ns;
    uint32_t at; /* nodes of this run so far */
    op_node *nodes;
    op_event *events;
    op_run *runs;
    uint32_t n_nodes, n_events, n_runs;
} llama_operators;

/* ---- tensors ---- */

static bool computes_nothing(const char *op)
{
    static const char *const views[] = {"NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (strcmp(op, views[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The first two inputs are enough: matrices, biases and norms are among them. */
static const char *weight_of(const ggml_tensor *t)
{
    for (int i = 0; i < 2; i++) {
        const ggml_tensor *s = t->src[i];
        if (s && s->view_src)
            s = s->view_src;
        if (s && (ends_with(s->name, ".weight") || ends_with(s->name, ".bias")))
            return s->name;
    }
    return "";
}

static void copy_name(char *to, const char *from)
{
    size_t n = strnlen(from, LLAMA_NAME - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

/* Runs have the same nodes in the same order; one that differs is a node of its own. */
static uint32_t find_node(llama_operators *o, const ggml_tensor *t)
{
    const char *op = o->api->op_desc(t);
    uint32_t i = o->at++;
    for (; i < o->n_nodes; i++)
        if (o->nodes[i].op == op && strncmp(o->nodes[i].name, t->name, LLAMA_NAME - 1) == 0)
            return i;
    if (i >= NODES_MOST)
        return NODES_MOST - 1;
    i = o->n_nodes++;
    o->nodes[i].op = op;
    copy_name(o->nodes[i].name, t->name);
    copy_name(o->nodes[i].weight, weight_of(t));
    return i;
}

static void record(llama_operators *o, const ggml_tensor *t, uint64_t now)
{
    if (o->n_events < EVENTS_MOST)
        o->events[o->n_events++] = (op_event){.node = find_node(o, t),
                                              .run = o->n_runs,
                                              .start_ns = o->begun_ns,
                                              .ns = now - o->begun_ns};
}

static bool look_at(ggml_tensor *t, bool before, void *ctx)
{
    llama_operators *o = ctx;
    if (o->api->tensor_name(t) != t->name)
        o->unknown = true;
    if (!o->on || o->unknown)
        return !before;
    if (before) {
        o->begun_ns = clock_mono_ns();
        return !computes_nothing(o->api->op_desc(t));
    }
    record(o, t, clock_mono_ns());
    return true;
}

bool llama_operators_make(llama_running *r, llama_context_params *p)
{
    llama_operators *o = memory_zeroed(1, sizeof *o);
    if (!o)
        return false;
    o->api = &r->api;
    o->nodes = memory_zeroed(NODES_MOST, sizeof *o->nodes);
    o->events = memory_zeroed(EVENTS_MOST, sizeof *o->events);
    o->runs = memory_zeroed(RUNS_MOST, sizeof *o->runs);
    r->operators = o;
    p->cb_eval = look_at;
    p->cb_eval_user_data = o;
    return o->nodes && o->events && o->runs;
}

/* ---- runs ---- */

static assay_status run_timed(llama_running *r)
{
    llama_operators *o = r->operators;
    llama_clear(r);
    o->at = 0;
    o->on = true;
    uint64_t begun = clock_mono_ns();
    TRY(llama_put_tokens(r, 0, r->q->prompt));
    o->runs[o->n_runs++] = (op_run){begun, clock_mono_ns() - begun};
    o->on = false;
    return ASSAY_OK;
}

static bool has_room(const llama_operators *o)
{
    uint32_t each = o->n_runs ? o->n_events / o->n_runs + 1 : 1;
    return o->n_runs < RUNS_MOST && o->n_events + each < EVENTS_MOST;
}

static assay_status time_runs(llama_running *r, llama_timing *t)
{
    uint64_t begun = clock_mono_ns();
    TRY(run_timed(r)); /* a first one, to be left out */
    for (uint64_t i = 0; llama_goes_on(r, i, begun) && has_room(r->operators); i++) {
        llama_clear(r);
        llama_calls_begin(r, t);
        TRY(llama_time_tokens(r, 0, r->q->prompt, t));
        llama_calls_end(r, t);
        TRY(run_timed(r));
    }
    return ASSAY_OK;
}

/* ---- the answer ---- */

static void put_nodes(json_writer *w, const llama_operators *o)
{
    json_key(w, "nodes");
    json_flat_array(w);
    for (uint32_t i = 0; i < o->n_nodes; i++) {
        json_cstr(w, o->nodes[i].name);
        json_cstr(w, o->nodes[i].op);
        json_cstr(w, o->nodes[i].weight);
    }
    json_end(w);
}

static void put_times(json_writer *w, const llama_operators *o)
{
    json_key(w, "runs");
    json_flat_array(w);
    for (uint32_t i = 0; i < o->n_runs; i++) {
        json_u64(w, o->runs[i].start_ns);
        json_u64(w, o->runs[i].ns);
    }
    json_end(w);
    json_key(w, "events");
    json_flat_array(w);
    for (uint32_t i = 0; i < o->n_events; i++) {
        json_u64(w, o->events[i].node);
        json_u64(w, o->events[i].run);
        json_u64(w, o->events[i].start_ns);
        json_u64(w, o->events[i].ns);
    }
    json_end(w);
}

assay_status llama_operators_time(llama_running *r)
{
    llama_timing t;
    json_key(r->out, "prefill");
    llama_series_begin(r, 0, &t);
    TRY(time_runs(r, &t));
    llama_series_end(r, &t);
    if (r->operators->unknown)
        return err_fail(r->err, ASSAY_ERR_ENGINE,
                        "%s: tensors of this build are not those of llama.cpp %s: times of "
                        "operators cannot be read",
                        r->api.library, LLAMA_RELEASE);
    json_key(r->out, "operators");
    json_object(r->out);
    put_nodes(r->out, r->operators);
    put_times(r->out, r->operators);
    json_end(r->out);
    return ASSAY_OK;
}

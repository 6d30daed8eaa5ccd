/* Scan: a loop over slices of its inputs, with state whose shape stays the same.
 *
 *   version 8:  inputs  sequence_lens?, states [B, ...], scan inputs [B, T, ...]
 *               outputs states [B, ...], scan outputs [B, T, ...]; the body runs B * T times
 *   version 9+: inputs  states, scan inputs with T at scan_input_axes
 *               outputs states, scan outputs with T at scan_output_axes; the body runs T times
 *
 * The direction of a scan changes neither shapes nor costs.
 */
#include "ops/op_util_info.h"

#include <assert.h>

typedef struct scan {
    ir_id body;
    bool batched;   /* version 8 */
    uint32_t first; /* place of the first state among the inputs */
    uint32_t n_state, n_scan;
    int64_t batch, length; /* -1 unknown */
    op_info *in, *out;     /* of the body */
} scan;

static assay_status open_scan(op_ctx *c, scan *s)
{
    *s = (scan){.body = op_attr_graph(c, "body"), .batched = c->version < 9, .length = -1};
    s->first = s->batched ? 1 : 0;
    s->batch = s->batched ? -1 : 1;
    int64_t n_scan = op_attr_int(c, "num_scan_inputs", -1);
    if (s->body == IR_NONE)
        return op_fail(c, "no 'body' graph");
    if (n_scan < 1 || c->n_in < s->first || n_scan > c->n_in - s->first)
        return op_fail(c, "num_scan_inputs is %lld for %u inputs", (long long)n_scan, c->n_in);
    s->n_scan = (uint32_t)n_scan;
    s->n_state = c->n_in - s->first - s->n_scan;
    const ir_graph *g = ir_graph_at(c->model, s->body);
    if (g->inputs.n != s->n_state + s->n_scan || g->outputs.n != c->n_out || c->n_out < s->n_state)
        return op_fail(c, "its body has %u inputs and %u outputs; the node requires %u and %u",
                       g->inputs.n, g->outputs.n, s->n_state + s->n_scan, c->n_out);
    s->in = ARENA_ARRAY(c->arena, op_info, s->n_state + s->n_scan);
    s->out = ARENA_ARRAY(c->arena, op_info, (size_t)c->n_out + 1);
    return s->in && s->out ? ASSAY_OK : err_no_memory(c->err);
}

/* ---- slices ---- */

/* The k-th entry of an axes list; 0 when there is no such list. */
static int64_t axis_at(const op_ctx *c, const char *name, uint32_t k)
{
    const int64_t *axes = NULL;
    int n = op_attr_ints(c, name, &axes);
    return n > 0 && k < (uint32_t)n ? axes[k] : 0;
}

/* Takes axis `axis` off x; *dim must agree with its size. */
static assay_status slice(op_ctx *c, op_info *x, int64_t axis, const char *what, int64_t *dim)
{
    if (x->rank < 0) {
        *x = op_info_bare(x);
        return ASSAY_OK;
    }
    int place;
    TRY(op_axis(c, axis, x->rank, &place));
    TRY(op_same_dim(c, *dim, x->dims[place], what, dim));
    return op_info_drop_axis(c, x, place, x);
}

static assay_status feed_state(op_ctx *c, scan *s, uint32_t k)
{
    op_info x = op_info_input(c, s->first + k);
    assert(s->in && k < s->n_state);
    s->in[k] = op_info_bare(&x);
    return s->batched ? slice(c, &s->in[k], 0, "the batch", &s->batch) : ASSAY_OK;
}

static assay_status feed_slice(op_ctx *c, scan *s, uint32_t k)
{
    op_info x = op_info_input(c, s->first + s->n_state + k);
    assert(s->in);
    if (s->batched)
        TRY(slice(c, &x, 0, "the batch", &s->batch));
    int64_t axis = s->batched ? 0 : axis_at(c, "scan_input_axes", k);
    TRY(slice(c, &x, axis, "the length of the scanned sequences", &s->length));
    s->in[s->n_state + k] = x;
    return ASSAY_OK;
}

static assay_status feed(op_ctx *c, scan *s)
{
    for (uint32_t k = 0; k < s->n_state; k++)
        TRY(feed_state(c, s, k));
    for (uint32_t k = 0; k < s->n_scan; k++)
        TRY(feed_slice(c, s, k));
    return ASSAY_OK;
}

/* ---- outputs ---- */

/* A state keeps its shape, so what either side knows of it holds. */
static assay_status settle_state(op_ctx *c, const scan *s, uint32_t k)
{
    const op_info *in = &s->in[k];
    op_info *out = &s->out[k];
    if (out->rank < 0 || in->rank < 0) {
        if (out->rank < 0 && in->kind == IR_KIND_TENSOR)
            *out = *in;
        return ASSAY_OK;
    }
    if (in->rank != out->rank)
        return op_fail(c, "state %u changes shape from %s to %s", k,
                       op_dims_text(c, in->rank, in->dims), op_dims_text(c, out->rank, out->dims));
    int64_t *dims = ARENA_ARRAY(c->arena, int64_t, (size_t)in->rank + 1);
    TRY_MEMORY(dims, c->err);
    for (int d = 0; d < in->rank; d++)
        TRY(op_same_dim(c, in->dims[d], out->dims[d], "a size of its state", &dims[d]));
    out->dims = dims;
    return ASSAY_OK;
}

static assay_status put_state(op_ctx *c, const scan *s, uint32_t k)
{
    TRY(settle_state(c, s, k));
    op_info x = op_info_bare(&s->out[k]);
    if (s->batched)
        TRY(op_info_add_axis(c, &x, 0, s->batch, &x));
    op_info_put(c, k, &x);
    return ASSAY_OK;
}

static assay_status put_stacked(op_ctx *c, const scan *s, uint32_t o)
{
    op_info x = op_info_bare(&s->out[o]);
    int place = 0;
    if (!s->batched && x.rank >= 0)
        TRY(op_axis(c, axis_at(c, "scan_output_axes", o - s->n_state), x.rank + 1, &place));
    TRY(op_info_add_axis(c, &x, place, s->length, &x));
    if (s->batched)
        TRY(op_info_add_axis(c, &x, 0, s->batch, &x));
    op_info_put(c, o, &x);
    return ASSAY_OK;
}

/* ---- trips ---- */

/* Sum of the known sequence lengths of version 8; false when they are absent or not known. */
static bool given_lengths(const op_ctx *c, const scan *s, uint64_t *sum)
{
    const op_val *v = s->batched ? op_value(c, 0) : NULL;
    if (!op_val_full(v) || ir_is_float(op_dtype(c, 0)))
        return false;
    assert(v);
    *sum = 0;
    for (int64_t k = 0; k < v->n; k++)
        *sum = sat_add(*sum, v->cells[k].i > 0 ? (uint64_t)v->cells[k].i : 0);
    return true;
}

static void book_trips(op_ctx *c, const scan *s)
{
    uint64_t trips;
    if (given_lengths(c, s, &trips)) {
        c->env->times(c->env, s->body, trips);
    } else if (s->batch < 0 || s->length < 0) {
        c->env->times(c->env, s->body, 1);
        op_assume(c, "the sequence length is unknown; its body was counted once");
    } else {
        c->env->times(c->env, s->body, sat_mul((uint64_t)s->batch, (uint64_t)s->length));
        if (s->batched && op_has(c, 0))
            op_assume(c, "the sequence lengths are unknown; the longest was assumed for each");
    }
}

static assay_status infer_scan(op_ctx *c)
{
    scan s;
    TRY(open_scan(c, &s));
    TRY(feed(c, &s));
    TRY(op_info_run(c, s.body, s.in, s.n_state + s.n_scan, s.out, c->n_out, c->err));
    for (uint32_t o = 0; o < c->n_out; o++)
        TRY(o < s.n_state ? put_state(c, &s, o) : put_stacked(c, &s, o));
    book_trips(c, &s);
    return ASSAY_OK;
}

static const op_row rows[] = {
    {OP_ROW("", "Scan", "scan", "8,9,11,16,19,21,23,24,25",
            "the body's cost * sequence length (* batch in version 8)", infer_scan, op_cost_free),
     OP_SLOTS(1, 255, 1, 255), .flags = OPF_CONTROL | OPF_NO_SHAPES},
};

const op_rows op_scan_rows = OP_ROWS(rows);

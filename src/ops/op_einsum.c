/* Einstein summation. The equation is walked term by term, never stored: each letter is a label, each axis under an
 * ellipsis a separate label, counted from the right so that they broadcast.
 *
 * Counting: operands are combined from left to right. One step over the labels of both sides costs
 * the product of their sizes, as MACs when a label ends there (it is in no later operand and not in
 * the output), as multiplies when none does. A single operand costs adds when it is summed and
 * nothing when it is only permuted.
 */
#include "ops/einsum.h"
#include "ops/op_util_contract.h"

enum { N_LETTERS = 52, N_LABELS = N_LETTERS + IR_MAX_RANK };

typedef struct term {
    int n;                /* letters */
    int ids[IR_MAX_RANK]; /* labels; letters only until expanded */
    int ellipsis;         /* letters before the ellipsis; -1: there is none */
} term;

typedef struct equation {
    const char *at, *end;
    bool arrow;
    int wide;                /* most axes under an ellipsis */
    bool open;               /* an ellipsis over a tensor of unknown rank */
    int64_t size[N_LABELS];  /* -1 unknown */
    uint32_t uses[N_LABELS]; /* in all input terms */
    term out;
} equation;

/* A..Z before a..z: the order in which an implied output lists them. */
static int letter_id(char x)
{
    if (x >= 'A' && x <= 'Z')
        return x - 'A';
    return x >= 'a' && x <= 'z' ? x - 'a' + 26 : -1;
}

static bool take_word(equation *e, const char *word)
{
    size_t n = strlen(word);
    while (e->at < e->end && *e->at == ' ')
        e->at++;
    if ((size_t)(e->end - e->at) < n || memcmp(e->at, word, n) != 0)
        return false;
    e->at += n;
    return true;
}

/* Letters and at most one ellipsis, up to whatever else comes. */
static bool take_term(equation *e, term *t)
{
    *t = (term){.ellipsis = -1};
    for (;;) {
        if (take_word(e, "...")) {
            if (t->ellipsis >= 0)
                return false;
            t->ellipsis = t->n;
            continue;
        }
        int id = e->at < e->end ? letter_id(*e->at) : -1;
        if (id < 0)
            return true;
        if (t->n == IR_MAX_RANK)
            return false;
        t->ids[t->n++] = id;
        e->at++;
    }
}

/* Puts the labels of `wide` ellipsis axes where the ellipsis stands. */
static bool expand(term *t, int wide)
{
    if (t->ellipsis < 0)
        return true;
    if (t->n + wide > IR_MAX_RANK)
        return false;
    memmove(t->ids + t->ellipsis + wide, t->ids + t->ellipsis,
            (size_t)(t->n - t->ellipsis) * sizeof *t->ids);
    for (int d = 0; d < wide; d++)
        t->ids[t->ellipsis + d] = N_LETTERS + wide - 1 - d;
    t->n += wide;
    return true;
}

static assay_status bad_equation(op_ctx *c)
{
    str text = op_attr_str(c, "equation", "");
    return op_fail(c, "invalid equation '%.*s'", text.n > 200 ? 200 : (int)text.n,
                   text.p ? text.p : "");
}

/* A size of 1 gives way to any other. */
static assay_status merge_size(op_ctx *c, equation *e, int id, int64_t size)
{
    int64_t *have = &e->size[id];
    if (*have < 0 || *have == 1)
        *have = size >= 0 ? size : *have;
    else if (size >= 0 && size != 1 && size != *have)
        return op_fail(c, "a label has size %lld in one operand and %lld in another",
                       (long long)*have, (long long)size);
    return ASSAY_OK;
}

static assay_status use_term(op_ctx *c, equation *e, uint32_t i, term *t)
{
    int rank = op_rank(c, i), wide = rank - t->n;
    if (rank >= 0 && (wide < 0 || (wide > 0 && t->ellipsis < 0)))
        return op_fail(c, "operand %u %s and its term differ in the number of axes", i,
                       op_shape_text(c, i));
    if (rank < 0 && t->ellipsis >= 0)
        e->open = true;
    if (rank >= 0 && wide > e->wide)
        e->wide = wide;
    if (rank >= 0 && !expand(t, wide))
        return bad_equation(c);
    for (int d = 0; d < t->n; d++) {
        e->uses[t->ids[d]]++;
        TRY(merge_size(c, e, t->ids[d], op_dim(c, i, d)));
    }
    return ASSAY_OK;
}

static void imply_output(equation *e)
{
    e->out = (term){.ellipsis = 0};
    for (int id = 0; id < N_LETTERS; id++)
        if (e->uses[id] == 1 && e->out.n < IR_MAX_RANK)
            e->out.ids[e->out.n++] = id;
}

static assay_status read_output(op_ctx *c, equation *e)
{
    e->arrow = take_word(e, "->");
    if (!e->arrow)
        imply_output(e);
    else if (!take_term(e, &e->out))
        return bad_equation(c);
    take_word(e, "");
    if (e->at != e->end || !expand(&e->out, e->wide))
        return bad_equation(c);
    for (int d = 0; d < e->out.n; d++)
        if (e->out.ids[d] < N_LETTERS && !e->uses[e->out.ids[d]])
            return bad_equation(c);
    return ASSAY_OK;
}

static void start_terms(const op_ctx *c, equation *e)
{
    str text = op_attr_str(c, "equation", "");
    *e = (equation){.at = text.p ? text.p : "", .end = (text.p ? text.p : "") + text.n};
    for (int id = 0; id < N_LABELS; id++)
        e->size[id] = -1;
}

static assay_status read_equation(op_ctx *c, equation *e)
{
    term t;
    start_terms(c, e);
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (i > 0 && !take_word(e, ","))
            return bad_equation(c);
        if (!take_term(e, &t))
            return bad_equation(c);
        TRY(use_term(c, e, i, &t));
    }
    return read_output(c, e);
}

static assay_status einsum_infer(op_ctx *c)
{
    equation e;
    int64_t dims[IR_MAX_RANK];
    TRY(read_equation(c, &e));
    if (e.open && e.out.ellipsis >= 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    for (int d = 0; d < e.out.n; d++)
        dims[d] = e.size[e.out.ids[d]];
    return op_set(c, 0, op_dtype(c, 0), e.out.n, dims);
}

/* ---- cost ---- */

typedef struct labels {
    bool has[N_LABELS];
} labels;

static void add_labels(labels *s, const term *t)
{
    for (int d = 0; d < t->n; d++)
        s->has[t->ids[d]] = true;
}

static uint64_t space(const equation *e, const labels *s)
{
    uint64_t product = 1;
    for (int id = 0; id < N_LABELS; id++)
        if (s->has[id])
            product = sat_mul(product, e->size[id] < 0 ? 0 : (uint64_t)e->size[id]);
    return product;
}

/* Drops the labels that neither a later operand nor the output needs; whether there were any. */
static bool drop_ended(const equation *e, const labels *out, labels *s)
{
    bool dropped = false;
    for (int id = 0; id < N_LABELS; id++)
        if (s->has[id] && !out->has[id] && !e->uses[id]) {
            s->has[id] = false;
            dropped = true;
        }
    return dropped;
}

/* Reads operand i's term again and takes its labels out of the uses that are still to come. */
static void next_term(const op_ctx *c, equation *e, uint32_t i, labels *into)
{
    term t;
    if (i > 0)
        take_word(e, ",");
    take_term(e, &t);
    expand(&t, op_rank(c, i) - t.n);
    add_labels(into, &t);
    for (int d = 0; d < t.n; d++)
        e->uses[t.ids[d]]--;
}

/* The equation once more, back at its first term; infer accepted it: what could fail did so there. */
static bool read_again(const op_ctx *c, equation *e)
{
    op_ctx again = *c;
    again.err = NULL;
    if (read_equation(&again, e) != ASSAY_OK)
        return false;
    for (uint32_t i = 0; i < c->n_in; i++)
        if (op_rank(c, i) < 0)
            return false;
    str text = op_attr_str(c, "equation", "");
    e->at = text.p ? text.p : "";
    return true;
}

static void einsum_cost(const op_ctx *c, op_cost *k)
{
    equation e;
    labels acc = {{false}}, out = {{false}};
    if (!read_again(c, &e))
        return;
    add_labels(&out, &e.out);
    next_term(c, &e, 0, &acc);
    if (c->n_in == 1) {
        uint64_t elems = space(&e, &acc);
        if (drop_ended(&e, &out, &acc))
            op_count(c, k, &k->add, elems);
        return;
    }
    for (uint32_t i = 1; i < c->n_in; i++) {
        next_term(c, &e, i, &acc);
        uint64_t steps = space(&e, &acc);
        if (drop_ended(&e, &out, &acc))
            op_add_mac(k, steps);
        else
            op_count(c, k, &k->mul, steps);
    }
}

/* ---- for others ---- */

/* A number for every label that is used, in place[]; false when there are too many or a size is unknown. */
static bool number_labels(const equation *e, int *place, einsum_labels *out)
{
    for (int id = 0; id < N_LABELS; id++) {
        if (!e->uses[id])
            continue;
        if (out->n == EINSUM_LABELS || e->size[id] < 0)
            return false;
        place[id] = (int)out->n;
        out->size[out->n++] = (uint64_t)e->size[id];
    }
    return true;
}

static einsum_set numbered(const labels *s, const int *place)
{
    einsum_set set = 0;
    for (int id = 0; id < N_LABELS; id++)
        if (s->has[id])
            set |= UINT64_C(1) << place[id];
    return set;
}

bool einsum_read_labels(const op_ctx *c, einsum_labels *e)
{
    equation q;
    int place[N_LABELS] = {0};
    labels out = {{false}};
    *e = (einsum_labels){.n_in = c->n_in};
    if (c->n_in > EINSUM_OPERANDS || !read_again(c, &q) || !number_labels(&q, place, e))
        return false;
    for (uint32_t i = 0; i < c->n_in; i++) {
        labels own = {{false}};
        next_term(c, &q, i, &own);
        e->in[i] = numbered(&own, place);
    }
    add_labels(&out, &q.out);
    e->out = numbered(&out, place);
    return true;
}

static const op_row rows[] = {
    {OP_ROW("", "Einsum", "einsum", "12",
            "pairwise from the left: product of the label sizes as MACs where a label is "
            "contracted, as mul where none is; one operand: 1 add per element when summed",
            einsum_infer, einsum_cost),
     OP_SLOTS(1, 255, 1, 1), .weights = 0xff, .backward = OP_BW_CONTRACTION,
     .saves = OP_SAVE_INPUTS},
};

const op_rows op_einsum_rows = OP_ROWS(rows);

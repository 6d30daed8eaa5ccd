/* Sizes for the dimensions that a file leaves open.
 *
 * The usual sizes of their roles come first. Where they contradict each other (a mask that must cover the
 * past and the new tokens), the contradiction itself tells what to change: the node that failed is looked at with
 * each open dimension one larger, which gives the slope of every size that it sees; two sizes that differ
 * are then set equal by solving for a dimension they depend on. A solution stands when the walk gets further
 * than before, and the next contradiction is taken up from there. Nothing here knows an operator.
 */
#include <stdlib.h>

#include "analyze/infer.h"

enum {
    FREE_MAX = 64,   /* open dimensions that are looked at */
    INPUTS_MAX = 8,  /* of the node that failed */
    SLOTS_EACH = 16, /* an input's dims, then the integers it holds */
    DIMS_EACH = 8,
    SLOTS = INPUTS_MAX * SLOTS_EACH,
    ROUNDS_MAX = 16,
    REPAIRS_MAX = 48, /* tried per round */
};
#define NODES_BUDGET   UINT64_C(300000) /* walked in all trials together */
#define CONTENT_TRIALS (UINT64_C(1) << 26)
#define SIZE_MOST      INT32_MAX
#define SLOPE_UNKNOWN  INT64_MIN
#define TRIAL_BYTES    ((size_t)1 << 30)

typedef struct budget {
    uint64_t nodes, content;
} budget;

typedef struct fitting {
    const ir_model *m;
    const infer_options *opt;
    int attempt;
    bool relate_only;
    budget *left;
    uint32_t n;                  /* free dimensions */
    infer_free usual[FREE_MAX];  /* as the attempt sets them */
    int64_t size[FREE_MAX];      /* as they are now */
    infer_free chosen[FREE_MAX]; /* those that are not as usual */
} fitting;

/* How a walk with certain sizes went. */
typedef struct outcome {
    assay_status status;
    uint64_t walked;
    ir_id failed_at;
} outcome;

/* Sizes and small integers that a node sees, by slot; negative: there is none that counts. */
typedef struct sights {
    int64_t at[SLOTS];
} sights;

/* ---- one trial ---- */

static infer_trial trial_of(fitting *f, const int64_t *size)
{
    infer_trial t = {.attempt = f->attempt, .chosen = f->chosen};
    for (uint32_t k = 0; k < f->n; k++)
        if (size[k] != f->usual[k].value) {
            f->chosen[t.n_chosen] = f->usual[k];
            f->chosen[t.n_chosen++].value = size[k];
        }
    return t;
}

static int64_t sight_of(int64_t x)
{
    return x <= SIZE_MOST ? x : -1;
}

static void look_at(const infer_result *r, ir_id node, sights *s)
{
    const ir_node *n = ir_node_at(r->model, node);
    for (uint32_t k = 0; k < SLOTS; k++)
        s->at[k] = -1;
    for (uint32_t i = 0; i < n->n_inputs && i < INPUTS_MAX; i++) {
        const op_info *x = n->inputs[i] == IR_NONE ? NULL : &r->info[n->inputs[i]];
        int64_t *slot = &s->at[i * SLOTS_EACH];
        for (int d = 0; x && d < x->rank && d < DIMS_EACH; d++)
            slot[d] = sight_of(x->dims[d]);
        const op_val *v = x && !ir_is_float(x->dtype) ? x->val : NULL;
        for (int64_t k = 0; v && k < v->n && k < SLOTS_EACH - DIMS_EACH; k++)
            slot[DIMS_EACH + k] = op_val_known(v, k) ? sight_of(v->cells[k].i) : -1;
    }
}

static void pay(budget *b, const infer_result *r)
{
    uint64_t nodes = r->walked + 1;
    b->nodes -= nodes < b->nodes ? nodes : b->nodes;
    b->content -= r->content_read < b->content ? r->content_read : b->content;
}

static bool spent(const fitting *f)
{
    return f->left->nodes == 0 || f->left->content == 0;
}

/* Walks with these sizes. What `node` sees goes to *seen, when the walk gets there; false otherwise. */
static bool try_sizes(fitting *f, const int64_t *size, ir_id node, sights *seen, outcome *out)
{
    assay_error ignored;
    err_clear(&ignored);
    infer_result *r = NULL;
    infer_trial t = trial_of(f, size);
    arena *a = arena_new(TRIAL_BYTES);
    *out = (outcome){.status = ASSAY_ERR_SYSTEM, .failed_at = IR_NONE};
    if (!a)
        return false;
    out->status = infer_once(f->m, f->opt, &t, a, &r, &ignored);
    bool there = false;
    if (r) {
        pay(f->left, r);
        out->walked = r->walked;
        out->failed_at = r->failed_at;
        there = node != IR_NONE && (r->state[node] & INFER_REACHED);
        if (there && seen)
            look_at(r, node, seen);
    }
    arena_free(a);
    return there;
}

/* ---- slopes ---- */

typedef struct slopes {
    sights now;
    int64_t of[FREE_MAX][SLOTS]; /* SLOPE_UNKNOWN where one more cannot be tried */
} slopes;

static void find_slopes(fitting *f, ir_id node, slopes *s)
{
    outcome how;
    try_sizes(f, f->size, node, &s->now, &how);
    for (uint32_t k = 0; k < f->n; k++) {
        sights more;
        f->size[k]++;
        bool there = !spent(f) && try_sizes(f, f->size, node, &more, &how);
        f->size[k]--;
        for (uint32_t q = 0; q < SLOTS; q++)
            s->of[k][q] = there && more.at[q] >= 0 && s->now.at[q] >= 0 ? more.at[q] - s->now.at[q]
                                                                        : SLOPE_UNKNOWN;
    }
}

static bool depends(const slopes *s, uint32_t dim, uint32_t slot)
{
    return s->of[dim][slot] != SLOPE_UNKNOWN && s->of[dim][slot] != 0;
}

static uint32_t n_depends(const fitting *f, const slopes *s, uint32_t slot)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->n; k++)
        n += depends(s, k, slot);
    return n;
}

/* ---- repairs ---- */

typedef struct repair {
    int rank; /* smaller is tried earlier */
    uint32_t dim, slot, other;
    bool shared; /* all that slot depends on take their part; else dim alone is set */
    int64_t size;
} repair;

typedef struct repairs {
    repair *list; /* [room] */
    uint32_t n, room;
} repairs;

static uint32_t rank_of(const sights *s, uint32_t input)
{
    uint32_t rank = 0;
    while (rank < DIMS_EACH && s->at[input * SLOTS_EACH + rank] >= 0)
        rank++;
    return rank;
}

/* How likely two sizes are meant to be equal: the same axis from the end, from the start, any, contents. */
static int oddness(const sights *s, uint32_t a, uint32_t b)
{
    uint32_t i = a / SLOTS_EACH, j = b / SLOTS_EACH, p = a % SLOTS_EACH, q = b % SLOTS_EACH;
    if (p >= DIMS_EACH || q >= DIMS_EACH)
        return 3;
    if (rank_of(s, i) - p == rank_of(s, j) - q)
        return 0;
    return p == q ? 1 : 2;
}

static void add_repair(repairs *to, repair r)
{
    if (to->n < to->room)
        to->list[to->n++] = r;
}

/* slot gets the size of other by changing one dimension that alone, or among others, decides it. */
static void add_solutions(const fitting *f, const slopes *s, uint32_t slot, uint32_t other,
                          repairs *to)
{
    int64_t apart = s->now.at[other] - s->now.at[slot];
    for (uint32_t k = 0; k < f->n; k++) {
        int64_t a = s->of[k][slot], b = s->of[k][other];
        if (!depends(s, k, slot) || b == SLOPE_UNKNOWN || a == b || apart % (a - b) != 0)
            continue;
        int64_t size = f->size[k] + apart / (a - b);
        bool alone = n_depends(f, s, slot) == 1 && b == 0;
        if (size < 1 || size > SIZE_MOST)
            continue;
        int rank = oddness(&s->now, slot, other) + (size == 1 ? 4 : 0) + (alone ? 0 : 8);
        add_repair(to, (repair){.rank = rank * FREE_MAX + (int)(f->n - 1 - k),
                                .dim = k,
                                .slot = slot,
                                .other = other,
                                .size = size});
    }
}

static void find_repairs(const fitting *f, const slopes *s, repairs *to)
{
    for (uint32_t a = 0; a < SLOTS; a++)
        for (uint32_t b = 0; b < SLOTS; b++) {
            if (a / SLOTS_EACH == b / SLOTS_EACH || s->now.at[a] < 0 || s->now.at[b] < 0 ||
                s->now.at[a] == s->now.at[b])
                continue;
            uint32_t on = n_depends(f, s, a), other_on = n_depends(f, s, b);
            if (on == 0 || (f->relate_only && other_on == 0))
                continue;
            add_solutions(f, s, a, b, to);
            if (on > 1 && other_on == 0)
                add_repair(to, (repair){.rank = (16 + oddness(&s->now, a, b)) * FREE_MAX,
                                        .slot = a,
                                        .other = b,
                                        .shared = true});
        }
}

static int by_rank(const void *x, const void *y)
{
    const repair *a = x, *b = y;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1)
                              : (a->slot > b->slot) - (a->slot < b->slot);
}

/* What is left of `room` after the parts, which are at least 1 each, goes to the largest of slope 1. */
static bool give_rest(const fitting *f, const slopes *s, uint32_t slot, int64_t room, int64_t *size)
{
    uint32_t largest = FREE_MAX;
    for (uint32_t k = 0; k < f->n; k++) {
        if (!depends(s, k, slot))
            continue;
        room -= s->of[k][slot] * size[k];
        if (s->of[k][slot] == 1 && (largest == FREE_MAX || size[k] > size[largest]))
            largest = k;
    }
    if (largest == FREE_MAX || size[largest] + room < 1)
        return false;
    size[largest] += room;
    return true;
}

/* All dimensions that slot depends on shrink or grow in proportion until it has the size of other. */
static bool share(const fitting *f, const slopes *s, const repair *r, int64_t *size)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        if (!depends(s, k, r->slot))
            continue;
        int64_t part;
        if (s->of[k][r->slot] < 0 || !num_mul(s->of[k][r->slot], size[k], &part) ||
            !num_add(sum, part, &sum))
            return false;
    }
    int64_t room = s->now.at[r->other] - (s->now.at[r->slot] - sum);
    if (room < 1 || room > SIZE_MOST || sum < 1)
        return false;
    for (uint32_t k = 0; k < f->n; k++)
        if (depends(s, k, r->slot)) {
            size[k] = (int64_t)((double)size[k] * (double)room / (double)sum);
            size[k] = size[k] < 1 ? 1 : size[k];
        }
    return give_rest(f, s, r->slot, room, size);
}

/* ---- rounds ---- */

/* Takes up the contradiction at *at; whether it could be got rid of. */
static bool repair_one(fitting *f, slopes *s, repairs *found, outcome *at)
{
    find_slopes(f, at->failed_at, s);
    found->n = 0;
    find_repairs(f, s, found);
    qsort(found->list, found->n, sizeof *found->list, by_rank);
    for (uint32_t k = 0; k < found->n && k < REPAIRS_MAX && !spent(f); k++) {
        const repair *r = &found->list[k];
        int64_t size[FREE_MAX];
        outcome how;
        memcpy(size, f->size, sizeof size);
        if (r->shared ? !share(f, s, r, size) : (size[r->dim] = r->size) < 1)
            continue;
        try_sizes(f, size, IR_NONE, NULL, &how);
        if (how.status != ASSAY_OK && (how.walked <= at->walked || how.failed_at == IR_NONE))
            continue;
        memcpy(f->size, size, sizeof size);
        *at = how;
        return true;
    }
    return false;
}

/* The free dimensions of an attempt, and where it fails. */
static bool open_fitting(fitting *f, arena *a, outcome *at)
{
    assay_error ignored;
    err_clear(&ignored);
    infer_result *r = NULL;
    const infer_trial plain = {.attempt = f->attempt};
    at->status = infer_once(f->m, f->opt, &plain, a, &r, &ignored);
    if (at->status != ASSAY_ERR_UNSUPPORTED || !r || r->failed_at == IR_NONE)
        return false;
    pay(f->left, r);
    at->walked = r->walked;
    at->failed_at = r->failed_at;
    f->n = r->free.n < FREE_MAX ? r->free.n : FREE_MAX;
    for (uint32_t k = 0; k < f->n; k++) {
        f->usual[k] = r->free.items[k];
        f->size[k] = f->usual[k].value;
    }
    return f->n > 0;
}

/* Sizes with which the model does not contradict itself, into *out; false: none were found. */
static bool fit(fitting *f, arena *a, infer_trial *out)
{
    arena *own = arena_new(TRIAL_BYTES);
    slopes *s = own ? ARENA_NEW(own, slopes) : NULL;
    repairs found = {.room = SLOTS * FREE_MAX};
    found.list = s ? ARENA_ARRAY(own, repair, found.room) : NULL;
    outcome at = {0};
    bool going = found.list && open_fitting(f, own, &at);
    for (int round = 0; going && at.status != ASSAY_OK; round++)
        going = round < ROUNDS_MAX && repair_one(f, s, &found, &at);
    if (going) {
        *out = trial_of(f, f->size);
        out->chosen = arena_copy(a, f->chosen, (out->n_chosen + 1) * sizeof *f->chosen);
        going = out->chosen != NULL;
    }
    arena_free(own);
    return going;
}

/* ---- all attempts ---- */

/* The first failure, with the sizes that were only assumed and how to set them. */
static assay_status explain_assumed(const infer_result *r, const assay_error *first,
                                    assay_error *err)
{
    const note *n = NULL;
    for (uint32_t k = 0; k < r->notes.list.n && !n; k++)
        if (strcmp(r->notes.list.items[k].code, "assumed-dim") == 0)
            n = &r->notes.list.items[k];
    err_clear(err);
    return err_fail_node(err, first->code, first->node,
                         "%s. No common input size fits: " STR_FMT " " STR_FMT, first->message,
                         STR_ARG(n ? n->text : (str){0}), STR_ARG(n ? n->advice : (str){0}));
}

/* Whether other sizes may help; r is what failed. */
static bool may_differ(assay_status status, const infer_result *r)
{
    return status == ASSAY_ERR_UNSUPPORTED && r && r->assumed_inputs;
}

typedef struct search {
    const ir_model *m;
    const infer_options *opt;
    budget left;
    arena *arena;
    infer_result **out;
    assay_error *err;
    assay_status status;
} search;

/* Whether this is the answer: sizes that fit, or a failure that no size mends. */
static bool take_trial(search *s, const infer_trial *t)
{
    err_clear(s->err);
    s->status = infer_once(s->m, s->opt, t, s->arena, s->out, s->err);
    return !may_differ(s->status, *s->out);
}

static bool try_usual(search *s, int attempt)
{
    return take_trial(s, &(const infer_trial){.attempt = attempt});
}

static bool try_fitted(search *s, int attempt, bool relate_only)
{
    infer_trial t;
    fitting *f = ARENA_NEW(s->arena, fitting);
    if (!f || s->left.nodes == 0 || s->left.content == 0)
        return false;
    *f = (fitting){
        .m = s->m, .opt = s->opt, .attempt = attempt, .relate_only = relate_only, .left = &s->left};
    return fit(f, s->arena, &t) && take_trial(s, &t);
}

/* The first usual sizes failed. Those among them that follow from others come first, then other usual ones, then
 * what weights and tables ask for. The last attempt has sizes of 1, which fit anything. */
static void other_sizes(search *s)
{
    if (try_fitted(s, 0, true))
        return;
    for (int attempt = 1; attempt < INFER_ATTEMPTS - 1; attempt++)
        if (try_usual(s, attempt))
            return;
    for (int attempt = 0; attempt < INFER_ATTEMPTS - 1; attempt++)
        if (try_fitted(s, attempt, false))
            return;
    if (!try_usual(s, INFER_ATTEMPTS - 1))
        try_fitted(s, INFER_ATTEMPTS - 1, false);
}

/* What readers need of an input without a shape may be too much. Without a rank, what depends on it stays unknown. */
static void without_ranks(search *s)
{
    const ir_graph *g = ir_graph_at(s->m, 0);
    bool open = false;
    for (uint32_t i = 0; i < g->inputs.n; i++)
        open |= ir_value_at(s->m, g->inputs.items[i])->declared.rank < 0;
    if (open)
        take_trial(s, &(const infer_trial){.open_ranks = true});
}

assay_status infer_run(const ir_model *m, const infer_options *opt, arena *a, infer_result **out,
                       assay_error *err)
{
    static const infer_options none = {0};
    const infer_trial usual = {0};
    assay_error local, first;
    if (!err)
        err = &local;
    opt = opt ? opt : &none;
    err_clear(err);
    infer_result *r = NULL;
    assay_status status = infer_once(m, opt, &usual, a, &r, err);
    *out = r;
    if (!may_differ(status, r))
        return status;
    first = *err;
    search s = {.m = m,
                .opt = opt,
                .left = {NODES_BUDGET, CONTENT_TRIALS},
                .arena = a,
                .out = out,
                .err = err,
                .status = status};
    other_sizes(&s);
    if (may_differ(s.status, *out))
        without_ranks(&s);
    return may_differ(s.status, *out) ? explain_assumed(r, &first, err) : s.status;
}

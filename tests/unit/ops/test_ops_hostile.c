/* Every row of the op table against nonsense: random ranks, dims up to 2^63 - 1, contents that are
 * partly known or of the wrong length, attributes of any kind under the names that rules look for,
 * inputs and outputs missing. A rule may fail with a sentence; it may not crash, overflow, hang or
 * leave an output that breaks the promises of op_info. Seeded, so a failure repeats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ir/build.h"
#include "ops/op.h"

#define MAX_PORTS 8
#ifndef ROUNDS
#define ROUNDS 400 /* per row; a deep run takes 30000 */
#endif

typedef struct world {
    op_env env;
    rng r;
    arena *a;
    ir_model *m;
    op_info infos[MAX_PORTS];
    const op_info *in[MAX_PORTS];
    op_info out[MAX_PORTS];
    ir_id ids[MAX_PORTS];
} world;

static uint64_t below(world *w, uint64_t n)
{
    return rng_next(&w->r) % n;
}

static int64_t odd_number(world *w)
{
    static const int64_t odd[] = {-1,
                                  0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  7,
                                  8,
                                  16,
                                  -2,
                                  -3,
                                  1 << 20,
                                  INT32_MAX,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_C(1) << 62,
                                  -100};
    uint64_t n = sizeof odd / sizeof *odd;
    return odd[below(w, below(w, 3) ? 10 : n)];
}

/* ---- the environment ---- */

static const op_val *value(op_env *env, const op_ctx *c, uint32_t i)
{
    (void)env;
    return c->in[i]->val;
}

static assay_status graph(op_env *env, const op_ctx *c, ir_id g, const op_info *in, uint32_t n_in,
                          op_info *out, uint32_t n_out, assay_error *err)
{
    (void)env, (void)c, (void)g, (void)in, (void)n_in, (void)err;
    for (uint32_t o = 0; o < n_out; o++)
        out[o] = (op_info){.rank = -1, .length = -1};
    return ASSAY_OK;
}

static void times(op_env *env, ir_id g, uint64_t n)
{
    (void)env, (void)g, (void)n;
}

static ir_id costlier(op_env *env, ir_id a, ir_id b)
{
    (void)env, (void)b;
    return a;
}

static const ir_type *declared(op_env *env, ir_id value_id)
{
    (void)env, (void)value_id;
    return NULL;
}

static void assume(op_env *env, const op_ctx *c, const char *reason)
{
    (void)env, (void)c;
    assert_non_null(reason);
}

static bool spend(op_env *env, uint64_t n)
{
    (void)env;
    return n < 1u << 20;
}

/* ---- random nodes ---- */

static const op_val *random_val(world *w, int64_t n, ir_dtype t)
{
    op_val *v = ARENA_NEW(w->a, op_val);
    v->n = n;
    v->cells = ARENA_ARRAY(w->a, op_cell, (size_t)n + 1);
    v->known = below(w, 2) ? ARENA_ARRAY(w->a, uint8_t, (size_t)n + 1) : NULL;
    for (int64_t k = 0; k < n; k++) {
        if (ir_is_float(t))
            v->cells[k].f = below(w, 8) ? (double)odd_number(w) / 2 : 0.0 / 0.0;
        else
            v->cells[k].i = odd_number(w);
        if (v->known)
            v->known[k] = below(w, 4) != 0;
    }
    return v;
}

static void random_info(world *w, op_info *x)
{
    int64_t *dims = ARENA_ARRAY(w->a, int64_t, IR_MAX_RANK);
    *x = (op_info){.kind = IR_KIND_TENSOR, .length = -1, .dims = dims};
    x->dtype = (ir_dtype)(below(w, 3) ? IR_INT64 : below(w, IR_N_DTYPES));
    x->dtype = below(w, 3) ? x->dtype : IR_FLOAT32;
    x->rank = below(w, 40) ? (int)below(w, 6) - 1 : IR_MAX_RANK;
    for (int d = 0; d < x->rank; d++) {
        int64_t n = odd_number(w);
        dims[d] = n < -1 ? -1 : n;
    }
    int64_t n = op_numel(x);
    if (below(w, 2) && n >= 0 && n <= 512)
        x->val = random_val(w, n, x->dtype);
    if (below(w, 12) == 0)
        x->kind = (ir_kind)below(w, IR_KIND_OPAQUE + 1);
}

static const char *const attr_names[] = {"axis",
                                         "axes",
                                         "to",
                                         "shape",
                                         "kernel_shape",
                                         "strides",
                                         "pads",
                                         "dilations",
                                         "group",
                                         "auto_pad",
                                         "perm",
                                         "starts",
                                         "ends",
                                         "split",
                                         "num_outputs",
                                         "blocksize",
                                         "scales",
                                         "mode",
                                         "keepdims",
                                         "allowzero",
                                         "start",
                                         "end",
                                         "k",
                                         "dtype",
                                         "sample_size",
                                         "value",
                                         "value_ints",
                                         "value_float",
                                         "batch_dims",
                                         "num_heads",
                                         "hidden_size",
                                         "equation",
                                         "broadcast",
                                         "border",
                                         "scale",
                                         "block_size",
                                         "output_dtype",
                                         "paddings",
                                         "extra_shape",
                                         "K",
                                         "N",
                                         "bits",
                                         "direction",
                                         "transA",
                                         "transB",
                                         "ceil_mode",
                                         "output_padding",
                                         "output_shape",
                                         "kv_num_heads",
                                         "q_num_heads",
                                         "reduction",
                                         "exclusive",
                                         "reverse",
                                         "upper",
                                         "height_scale",
                                         "keep_aspect_ratio_policy",
                                         "body",
                                         "then_branch",
                                         "n_targets_ids"};

static void random_attr(world *w, ir_attr *a)
{
    static const char *const words[] = {"linear", "LEFT",      "VALID",   "SAME_UPPER",
                                        "add",    "ij,jk->ik", "reflect", "not_larger",
                                        "",       "...i->..."};
    int64_t *ints = ARENA_ARRAY(w->a, int64_t, 16);
    double *floats = ARENA_ARRAY(w->a, double, 16);
    *a = (ir_attr){.name = str_of(attr_names[below(w, sizeof attr_names / sizeof *attr_names)])};
    a->n = (uint32_t)below(w, 8);
    for (uint32_t k = 0; k < a->n; k++) {
        ints[k] = odd_number(w);
        floats[k] = (double)odd_number(w) / 3;
    }
    static const ir_attr_kind kinds[] = {IR_ATTR_INT,   IR_ATTR_INT,    IR_ATTR_INTS,  IR_ATTR_INTS,
                                         IR_ATTR_FLOAT, IR_ATTR_FLOATS, IR_ATTR_STRING};
    a->kind = kinds[below(w, sizeof kinds / sizeof *kinds)];
    switch (a->kind) {
    case IR_ATTR_INT:
        a->v.i = odd_number(w);
        break;
    case IR_ATTR_FLOAT:
        a->v.f = (double)odd_number(w) / 2;
        break;
    case IR_ATTR_INTS:
        a->v.ints = ints;
        break;
    case IR_ATTR_FLOATS:
        a->v.floats = floats;
        break;
    default:
        a->v.s = str_of(words[below(w, sizeof words / sizeof *words)]);
        break;
    }
}

static bool promises_kept(const op_ctx *c)
{
    bool kept = true;
    for (uint32_t o = 0; o < c->n_out; o++) {
        const op_info *x = &c->out[o];
        kept &= x->rank >= -1 && x->rank <= IR_MAX_RANK;
        for (int d = 0; d < x->rank; d++)
            kept &= x->dims[d] >= -1;
        kept &= !x->val || x->val->n == op_numel(x);
    }
    return kept;
}

static bool run_rules(op_ctx *c)
{
    uint64_t read[MAX_PORTS] = {0}, written[MAX_PORTS] = {0};
    op_cost k = {.read = read, .written = written};
    if (c->row->infer(c) != ASSAY_OK)
        return c->err->message[0] != '\0';
    bool kept = promises_kept(c);
    if (kept && c->row->value && c->row->value(c) == ASSAY_OK)
        kept = promises_kept(c);
    if (kept && c->row->cost)
        c->row->cost(c, &k);
    return kept;
}

static uint32_t ports(world *w, unsigned min, unsigned max)
{
    unsigned top = max > MAX_PORTS ? MAX_PORTS : max;
    return min >= top ? top : min + (uint32_t)below(w, top - min + 1);
}

static bool torture(world *w, const op_row *row)
{
    assay_error err;
    ir_attr attrs[8];
    err_clear(&err);
    w->a = w->env.arena = arena_new((size_t)1 << 24);
    ir_node node = {.name = STR("n"), .op = str_of(row->name), .domain = str_of(row->domain)};
    node.attrs = attrs;
    node.n_attrs = (uint32_t)below(w, 8);
    for (uint32_t k = 0; k < node.n_attrs; k++)
        random_attr(w, &attrs[k]);
    op_ctx c = {.model = w->m, .node = &node, .row = row, .version = (int)below(w, 29)};
    c.n_in = node.n_inputs = ports(w, row->min_in, row->max_in);
    c.n_out = node.n_outputs = ports(w, row->min_out, row->max_out);
    for (uint32_t i = 0; i < c.n_in; i++) {
        random_info(w, &w->infos[i]);
        w->in[i] = i >= row->min_in && below(w, 4) == 0 ? NULL : &w->infos[i];
        w->ids[i] = IR_NONE;
    }
    for (uint32_t o = 0; o < c.n_out; o++)
        w->out[o] = (op_info){.rank = -1, .length = -1};
    node.inputs = node.outputs = c.in_ids = w->ids;
    c.in = w->in, c.out = w->out, c.arena = w->a, c.env = &w->env, c.err = &err;
    bool kept = run_rules(&c);
    arena_free(w->a);
    return kept;
}

static bool survives(world *w, const op_row *row, uint64_t seed)
{
    bool kept = true;
    rng_seed(&w->r, seed);
    for (int round = 0; round < ROUNDS && kept; round++)
        kept = torture(w, row);
    if (!kept)
        print_error("%s::%s breaks a promise of op_info\n", row->domain, row->name);
    return kept;
}

static void every_row_survives(void **state)
{
    (void)state;
    assay_error err;
    bool all = true;
    world w = {.env = {.value = value,
                       .graph = graph,
                       .times = times,
                       .costlier = costlier,
                       .declared = declared,
                       .assume = assume,
                       .spend = spend}};
    assert_int_equal(ir_model_new((size_t)1 << 20, &w.m, &err), ASSAY_OK);
    for (uint32_t f = 0; f < op_table_n; f++)
        for (uint32_t k = 0; k < op_table[f]->n; k++)
            all &= survives(&w, &op_table[f]->rows[k], f * 1000 + k);
    ir_model_free(w.m);
    assert_true(all);
}

/* What `assay ops`, the planner and the docs rely on. */
static void every_row_is_whole(void **state)
{
    (void)state;
    for (uint32_t f = 0; f < op_table_n; f++)
        for (uint32_t k = 0; k < op_table[f]->n; k++) {
            const op_row *row = &op_table[f]->rows[k];
            assert_non_null(row->domain);
            assert_non_null(row->name);
            assert_non_null(row->type);
            assert_true(row->versions && row->versions[0]);
            assert_true(row->formula && row->formula[0]);
            assert_non_null(row->infer);
            assert_true(row->min_in <= row->max_in && row->min_out <= row->max_out);
            assert_int_equal(row->weights & row->aux, 0);
        }
}

int run_test_ops_hostile(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(every_row_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

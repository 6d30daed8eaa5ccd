/* The graph: element types, building within limits, every invariant that verify guards (each broken
 * on purpose), execution order, and the text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/num.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "support/place.h"

/* ---- helpers ------------------------------------------------------------------------------- */

static ir_model *new_model(void)
{
    ir_model *m;
    assert_int_equal(ir_model_new(256 << 20, &m, NULL), ASSAY_OK);
    return m;
}

static ir_id value(ir_model *m, ir_id graph, const char *name)
{
    ir_id id = ir_add_value(m, graph, str_of(name));
    assert_int_not_equal(id, IR_NONE);
    return id;
}

static ir_id input(ir_model *m, const char *name)
{
    ir_id id = value(m, 0, name);
    assert_true(ir_add_input(m, 0, id));
    return id;
}

/* A node with up to two inputs and one output. */
static ir_id node(ir_model *m, ir_id graph, const char *name, ir_id a, ir_id b, ir_id out)
{
    ir_id in[2] = {a, b};
    ir_node proto = {.name = str_of(name),
                     .op = STR("Add"),
                     .call = IR_NONE,
                     .inputs = in,
                     .outputs = &out,
                     .n_inputs = b == IR_NONE ? 1 : 2,
                     .n_outputs = 1};
    ir_id id = ir_add_node(m, graph, &proto);
    assert_int_not_equal(id, IR_NONE);
    return id;
}

/* A node that holds a subgraph: reads `in`, makes `out`. */
static ir_id holder(ir_model *m, ir_id graph, const char *name, ir_id in, ir_id out, ir_id sub)
{
    ir_attr *attr = ARENA_NEW(m->arena, ir_attr);
    *attr = (ir_attr){.name = STR("body"), .kind = IR_ATTR_GRAPH, .n = 1, .v.graph = sub};
    ir_node proto = {.name = str_of(name),
                     .op = STR("If"),
                     .call = IR_NONE,
                     .inputs = &in,
                     .outputs = &out,
                     .attrs = attr,
                     .n_inputs = 1,
                     .n_outputs = 1,
                     .n_attrs = 1};
    return ir_add_node(m, graph, &proto);
}

static void bad(ir_model *m, const char *place, const char *fact)
{
    assay_error e = {0};
    assert_int_equal(ir_verify(m, &e), ASSAY_ERR_MALFORMED);
    error_is(&e, ASSAY_ERR_MALFORMED, place, fact);
}

static void good(ir_model *m)
{
    assay_error e = {0};
    if (ir_verify(m, &e) != ASSAY_OK)
        fail_msg("%s", e.message);
}

/* x -> a -> y, with the value y as the output. */
typedef struct small {
    ir_model *m;
    ir_id x, w, y, add;
} small;

static small small_model(void)
{
    small s = {.m = new_model()};
    int64_t dims[2] = {2, 3};
    s.x = input(s.m, "x");
    s.w = value(s.m, 0, "w");
    s.y = value(s.m, 0, "y");
    ir_tensor *t = ir_make_tensor(s.m, STR("w"), IR_FLOAT32, 2, dims);
    assert_true(ir_add_constant(s.m, 0, s.w, t));
    s.add = node(s.m, 0, "add", s.x, s.w, s.y);
    assert_true(ir_add_output(s.m, 0, s.y));
    good(s.m);
    return s;
}

/* ---- element types -------------------------------------------------------------------------- */

static void every_dtype_has_a_row(void **state)
{
    (void)state;
    for (int t = IR_UNDEFINED + 1; t < IR_N_DTYPES; t++) {
        const ir_dtype_row *row = ir_dtype_get((ir_dtype)t);
        assert_non_null(row->name);
        assert_true(row->cls != IR_CLASS_NONE);
        assert_true(row->bits > 0 || t == IR_STRING);
        assert_int_equal(ir_dtype_by_name(str_of(row->name)), t);
    }
    assert_ptr_equal(ir_dtype_get((ir_dtype)99), ir_dtype_get(IR_UNDEFINED));
    assert_ptr_equal(ir_dtype_get((ir_dtype)-1), ir_dtype_get(IR_UNDEFINED));
    assert_int_equal(ir_dtype_by_name(STR("fp32")), IR_FLOAT32);
    assert_int_equal(ir_dtype_by_name(STR("bf16")), IR_BFLOAT16);
    assert_int_equal(ir_dtype_by_name(STR("undefined")), IR_UNDEFINED);
    assert_int_equal(ir_dtype_by_name(STR("")), IR_UNDEFINED);
    assert_true(ir_is_float(IR_FLOAT8E5M2) && !ir_is_float(IR_INT8));
    assert_true(ir_is_integer(IR_UINT4) && !ir_is_integer(IR_BOOL));
}

static void sub_byte_types_are_packed(void **state)
{
    (void)state;
    assert_int_equal(ir_dtype_bytes(IR_FLOAT32, 3), 12);
    assert_int_equal(ir_dtype_bytes(IR_COMPLEX128, 2), 32);
    assert_int_equal(ir_dtype_bytes(IR_BOOL, 3), 3);
    assert_int_equal(ir_dtype_bytes(IR_INT4, 3), 2);
    assert_int_equal(ir_dtype_bytes(IR_INT4, 4), 2);
    assert_int_equal(ir_dtype_bytes(IR_UINT2, 5), 2);
    assert_int_equal(ir_dtype_bytes(IR_INT2, 0), 0);
    assert_int_equal(ir_dtype_bytes(IR_STRING, 2), 16);
    assert_int_equal(ir_dtype_bytes(IR_UNDEFINED, 2), 0);
    assert_true(ir_dtype_bytes(IR_FLOAT64, UINT64_MAX) == NUM_SATURATED);
}

/* ---- building ------------------------------------------------------------------------------- */

static void a_model_without_room_is_an_error(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 20000; limit += 100) {
        ir_model *m;
        assay_error e = {0};
        if (ir_model_new(limit, &m, &e) != ASSAY_OK) {
            assert_null(m);
            assert_int_equal(e.code, ASSAY_ERR_SYSTEM);
            continue;
        }
        for (int i = 0; i < 200; i++) {
            ir_id v = ir_add_value(m, 0, STR("value"));
            ir_add_input(m, 0, v);
            ir_add_node(m, 0, &(ir_node){.inputs = &v, .n_inputs = 1, .call = IR_NONE});
            ir_make_tensor(m, STR("t"), IR_FLOAT32, 1, (int64_t[]){4});
            ir_tensor_type(m, IR_FLOAT32, 1, (int64_t[]){4});
            ir_set_opset(m, STR("d"), i);
        }
        assert_true(arena_failed(m->arena));
        ir_model_free(m);
    }
    ir_model_free(NULL);
}

static void ids_out_of_range_are_refused(void **state)
{
    ir_model *m = new_model();
    ir_tensor t = {0};
    (void)state;
    assert_false(ir_add_input(m, 0, 0));
    assert_false(ir_add_output(m, 5, 0));
    assert_false(ir_add_constant(m, 0, IR_NONE, &t));
    assert_int_equal(ir_add_node(m, 7, &(ir_node){0}), IR_NONE);
    ir_model_free(m);
}

static void tensors_that_cannot_be_are_refused(void **state)
{
    ir_model *m = new_model();
    int64_t many[IR_MAX_RANK + 1];
    (void)state;
    for (int i = 0; i <= IR_MAX_RANK; i++)
        many[i] = 1;
    assert_null(ir_make_tensor(m, STR("t"), IR_FLOAT32, IR_MAX_RANK + 1, many));
    assert_non_null(ir_make_tensor(m, STR("t"), IR_FLOAT32, IR_MAX_RANK, many));
    assert_null(ir_make_tensor(m, STR("t"), IR_FLOAT32, -1, NULL));
    assert_null(ir_make_tensor(m, STR("t"), IR_FLOAT32, 1, (int64_t[]){-1}));
    assert_null(ir_make_tensor(m, STR("t"), IR_UINT8, 2, (int64_t[]){INT64_MAX, 2}));
    assert_null(ir_make_tensor(m, STR("t"), IR_FLOAT32, 1, (int64_t[]){INT64_MAX / 2}));
    ir_tensor *t = ir_make_tensor(m, STR("t"), IR_INT4, 2, (int64_t[]){3, 3});
    assert_true(t->n_elems == 9 && t->size_bytes == 5 && t->n_stored == 9);
    t = ir_make_tensor(m, STR("t"), IR_INT4, 3, (int64_t[]){INT64_MAX, INT64_MAX, 0});
    assert_true(t && t->n_elems == 0 && t->size_bytes == 0);
    t = ir_make_tensor(m, STR("scalar"), IR_FLOAT32, 0, NULL);
    assert_true(t && t->n_elems == 1);
    assert_false(arena_failed(m->arena));
    ir_model_free(m);
}

static void opsets_and_attributes_are_found(void **state)
{
    ir_model *m = new_model();
    ir_attr attrs[2] = {{.name = STR("axis")}, {.name = STR("axes")}};
    ir_node n = {.attrs = attrs, .n_attrs = 2};
    (void)state;
    assert_int_equal(ir_opset_version(m, STR("")), 0);
    ir_set_opset(m, STR("ai.onnx"), 13);
    ir_set_opset(m, STR(""), 17);
    ir_set_opset(m, STR("com.microsoft"), 1);
    ir_set_opset(m, STR("wild"), INT64_MAX);
    assert_int_equal(m->opsets.n, 3);
    assert_int_equal(ir_opset_version(m, STR("ai.onnx")), 17);
    assert_int_equal(ir_opset_version(m, STR("")), 17);
    assert_int_equal(ir_opset_version(m, STR("com.microsoft")), 1);
    assert_int_equal(ir_opset_version(m, STR("wild")), 0);
    assert_ptr_equal(ir_attr_find(&n, "axes"), &attrs[1]);
    assert_null(ir_attr_find(&n, "axe"));
    ir_model_free(m);
}

static void closed(void *ctx)
{
    ++*(int *)ctx;
}

static void freeing_closes_the_reader(void **state)
{
    ir_model *m = new_model();
    int times = 0;
    (void)state;
    m->reader = (ir_reader){.ctx = &times, .close = closed};
    ir_model_free(m);
    assert_int_equal(times, 1);
}

/* ---- verify --------------------------------------------------------------------------------- */

static void ids_are_in_range(void **state)
{
    (void)state;
    small s = small_model();
    ir_id one = 99;
    ir_node_at(s.m, s.add)->inputs = &one;
    ir_node_at(s.m, s.add)->n_inputs = 1;
    bad(s.m, "'add'", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_node_at(s.m, s.add)->outputs = &one;
    bad(s.m, "'add'", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_value_at(s.m, s.y)->producer = 77;
    bad(s.m, "'y'", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_value_at(s.m, s.y)->graph = 77;
    bad(s.m, "'y'", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_graph_at(s.m, 0)->outputs.items[0] = IR_NONE;
    bad(s.m, "", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_graph_at(s.m, 0)->inputs.items[0] = 1000;
    bad(s.m, "", NULL);
    ir_model_free(s.m);

    s = small_model();
    ir_graph_at(s.m, 0)->nodes.items[0] = 1000;
    bad(s.m, "", NULL);
    ir_model_free(s.m);
}

static void a_value_is_made_once(void **state)
{
    (void)state;
    small s = small_model();
    node(s.m, 0, "again", s.x, IR_NONE, s.y);
    bad(s.m, "'y'", "'y'");
    ir_model_free(s.m);

    s = small_model();
    node(s.m, 0, "over the input", s.x, IR_NONE, s.x);
    bad(s.m, "'x'", "'x'");
    ir_model_free(s.m);

    s = small_model();
    ir_add_input(s.m, 0, s.w);
    bad(s.m, "'w'", "'w'");
    ir_model_free(s.m);

    s = small_model();
    ir_id twice[2];
    twice[0] = twice[1] = value(s.m, 0, "t");
    ir_add_node(s.m, 0, &(ir_node){.name = STR("two"), .outputs = twice, .n_outputs = 2});
    bad(s.m, "'t'", "'t'");
    ir_model_free(s.m);
}

static void order_is_checked(void **state)
{
    (void)state;
    ir_model *m = new_model();
    ir_id x = input(m, "x"), a = value(m, 0, "a"), b = value(m, 0, "b");
    node(m, 0, "second", a, IR_NONE, b);
    node(m, 0, "first", x, IR_NONE, a);
    bad(m, "'second'", NULL);
    ir_model_free(m);

    m = new_model();
    node(m, 0, "lonely", value(m, 0, "nowhere"), IR_NONE, value(m, 0, "b"));
    bad(m, "'lonely'", "'nowhere'");
    ir_model_free(m);

    m = new_model();
    ir_add_output(m, 0, value(m, 0, "nowhere"));
    bad(m, "'nowhere'", NULL);
    ir_model_free(m);
}

static void scopes_are_checked(void **state)
{
    (void)state;
    ir_model *m = new_model();
    ir_id x = input(m, "x"), out = value(m, 0, "out"), last = value(m, 0, "last");
    ir_id sub = ir_add_graph(m, STR("then"), 0), inner = value(m, sub, "inner");
    node(m, sub, "in", x, IR_NONE, inner); /* an outer value is seen from inside */
    ir_add_output(m, sub, inner);
    holder(m, 0, "if", x, out, sub);
    good(m);
    node(m, 0, "after", inner, IR_NONE, last);
    bad(m, "'after'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    out = value(m, 0, "out");
    sub = ir_add_graph(m, STR("then"), 0);
    node(m, sub, "in", out, IR_NONE, value(m, sub, "inner")); /* its own holder's output */
    holder(m, 0, "if", x, out, sub);
    bad(m, "'in'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    sub = ir_add_graph(m, STR("then"), 0);
    ir_add_output(m, sub, x); /* a branch may hand an outer value through */
    holder(m, 0, "if", x, value(m, 0, "out"), sub);
    good(m);
    ir_model_free(m);
}

static void subgraphs_are_owned_once(void **state)
{
    (void)state;
    ir_model *m = new_model();
    ir_id x = input(m, "x"), sub = ir_add_graph(m, STR("s"), 0);
    holder(m, 0, "one", x, value(m, 0, "a"), sub);
    good(m);
    holder(m, 0, "two", x, value(m, 0, "b"), sub);
    bad(m, "'two'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    holder(m, 0, "self", x, value(m, 0, "a"), 0);
    bad(m, "'self'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    sub = ir_add_graph(m, STR("s"), 0);
    holder(m, 0, "one", x, value(m, 0, "a"), sub);
    holder(m, sub, "inner", x, value(m, sub, "b"), sub); /* holds the graph it stands in */
    bad(m, "'inner'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    holder(m, 0, "one", x, value(m, 0, "a"), 12345);
    bad(m, "'one'", NULL);
    ir_model_free(m);

    m = new_model();
    x = input(m, "x");
    sub = ir_add_graph(m, STR("s"), IR_NONE);
    holder(m, 0, "one", x, value(m, 0, "a"), sub);
    bad(m, "'one'", NULL);
    ir_model_free(m);
}

static void functions_are_walked_too(void **state)
{
    ir_model *m = new_model();
    (void)state;
    ir_id body = ir_add_graph(m, STR("f"), IR_NONE), a = value(m, body, "a");
    ir_function *f = VEC_PUSH(m->arena, &m->functions);
    *f = (ir_function){.name = STR("f"), .body = body};
    ir_add_input(m, body, a);
    node(m, body, "n", a, IR_NONE, value(m, body, "b"));
    good(m);
    node(m, body, "n2", value(m, body, "missing"), IR_NONE, value(m, body, "c"));
    bad(m, "'n2'", "'missing'");
    f->body = 0;
    bad(m, "", "'f'");
    ir_model_free(m);
}

static void bad_tensor(ir_tensor t, const char *part)
{
    small s = small_model();
    ir_attr attr = {.name = STR("value"), .kind = IR_ATTR_TENSOR, .n = 1, .v.tensor = &t};
    const ir_tensor *kept = ir_value_at(s.m, s.w)->constant;
    ir_value_at(s.m, s.w)->constant = &t;
    bad(s.m, NULL, part);
    ir_value_at(s.m, s.w)->constant = kept;
    ir_node_at(s.m, s.add)->attrs = &attr;
    ir_node_at(s.m, s.add)->n_attrs = 1;
    bad(s.m, NULL, part);
    attr.ref = STR("outer"); /* then the value is the caller's */
    good(s.m);
    ir_model_free(s.m);
}

static void tensors_are_sound(void **state)
{
    static const int64_t huge[3] = {INT64_MAX, INT64_MAX, 2}, odd[1] = {-5}, two[1] = {2};
    (void)state;
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32, .rank = 3, .dims = huge}, NULL);
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32, .rank = 1, .dims = odd}, NULL);
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32, .rank = 1, .dims = two, .n_elems = 3}, NULL);
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32, .rank = 65, .dims = two}, "64");
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32, .rank = -1}, "64");
    bad_tensor((ir_tensor){.dtype = IR_FLOAT32,
                           .rank = 1,
                           .dims = two,
                           .n_elems = 2,
                           .size_bytes = 7,
                           .bytes = (const uint8_t *)"1234567",
                           .storage = IR_DATA_INLINE},
               NULL);
}

static void declared_types_are_sound(void **state)
{
    ir_dim dims[1] = {{.value = -2}};
    ir_type loop = {.kind = IR_KIND_SEQUENCE, .rank = -1, .elem = &loop};
    (void)state;
    small s = small_model();
    ir_value_at(s.m, s.x)->declared = (ir_type){.kind = IR_KIND_TENSOR, .rank = 1, .dims = dims};
    bad(s.m, "'x'", NULL);
    dims[0].value = -1;
    good(s.m);
    ir_value_at(s.m, s.x)->declared.rank = 65;
    bad(s.m, "'x'", "64");
    ir_value_at(s.m, s.x)->declared = loop;
    bad(s.m, "'x'", NULL);
    ir_model_free(s.m);
}

static void deep_nesting_needs_no_stack(void **state)
{
    enum { DEPTH = 200000 };
    ir_model *m = new_model();
    (void)state;
    ir_id x = input(m, "x"), graph = 0;
    for (int i = 0; i < DEPTH; i++) {
        ir_id sub = ir_add_graph(m, STR("s"), graph);
        holder(m, graph, "n", x, value(m, graph, "v"), sub);
        graph = sub;
    }
    good(m);
    ir_model_free(m);
}

/* ---- execution order ------------------------------------------------------------------------ */

static assay_status sort(ir_model *m, bool *moved, assay_error *e)
{
    arena *scratch = arena_new(256 << 20);
    *e = (assay_error){0};
    assay_status status = ir_sort_graph(m, 0, scratch, moved, e);
    arena_free(scratch);
    return status;
}

static void a_sorted_graph_takes_no_memory(void **state)
{
    enum { N = 1000 };
    ir_model *m = new_model();
    arena *scratch = arena_new(0);
    bool moved = true;
    (void)state;
    ir_id last = input(m, "x");
    for (int i = 0; i < N; i++) {
        ir_id next = value(m, 0, "v");
        node(m, 0, "n", last, IR_NONE, next);
        last = next;
    }
    assert_int_equal(ir_sort_graph(m, 0, scratch, &moved, NULL), ASSAY_OK);
    assert_false(moved);
    assert_false(arena_failed(scratch));
    arena_free(scratch);
    ir_model_free(m);
}

static void a_reversed_chain_is_turned(void **state)
{
    enum { N = 100000 };
    ir_model *m = new_model();
    assay_error e;
    bool moved;
    (void)state;
    ir_id first = value(m, 0, "v");
    for (int i = 1; i < N; i++)
        value(m, 0, "v");
    ir_id x = input(m, "x");
    for (int i = N - 1; i >= 0; i--)
        node(m, 0, "n", i ? first + (ir_id)i - 1 : x, IR_NONE, first + (ir_id)i);
    assert_int_equal(sort(m, &moved, &e), ASSAY_OK);
    assert_true(moved);
    good(m);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(ir_graph_at(m, 0)->nodes.items[i], N - 1 - i);
    assert_int_equal(sort(m, &moved, &e), ASSAY_OK);
    assert_false(moved);
    ir_model_free(m);
}

static void sorting_is_stable(void **state)
{
    ir_model *m = new_model();
    assay_error e;
    bool moved;
    (void)state;
    ir_id x = input(m, "x"), v[6];
    for (int i = 0; i < 6; i++)
        v[i] = value(m, 0, "v");
    node(m, 0, "0", x, IR_NONE, v[0]);
    node(m, 0, "1", v[4], IR_NONE, v[1]); /* too early */
    node(m, 0, "2", v[0], x, v[2]);
    node(m, 0, "3", x, x, v[3]);
    node(m, 0, "4", v[0], v[0], v[4]);
    node(m, 0, "5", v[1], v[2], v[5]);
    assert_int_equal(sort(m, &moved, &e), ASSAY_OK);
    assert_true(moved);
    const ir_id expected[6] = {0, 2, 3, 4, 1, 5};
    assert_memory_equal(ir_graph_at(m, 0)->nodes.items, expected, sizeof expected);
    good(m);
    ir_model_free(m);
}

static void subgraphs_make_dependencies(void **state)
{
    (void)state;
    for (int through_output = 0; through_output < 2; through_output++) {
        ir_model *m = new_model();
        assay_error e;
        bool moved;
        ir_id x = input(m, "x"), late = value(m, 0, "late");
        ir_id outer = ir_add_graph(m, STR("outer"), 0),
              inner = ir_add_graph(m, STR("inner"), outer);
        ir_id hold = holder(m, 0, "hold", x, value(m, 0, "out"), outer);
        holder(m, outer, "deeper", x, value(m, outer, "o"), inner);
        if (through_output)
            ir_add_output(m, inner, late);
        else
            node(m, inner, "reader", late, IR_NONE, value(m, inner, "i"));
        ir_id maker = node(m, 0, "maker", x, IR_NONE, late);
        bad(m, NULL, NULL);
        assert_int_equal(sort(m, &moved, &e), ASSAY_OK);
        assert_true(moved);
        assert_int_equal(ir_graph_at(m, 0)->nodes.items[0], maker);
        assert_int_equal(ir_graph_at(m, 0)->nodes.items[1], hold);
        good(m);
        ir_model_free(m);
    }
}

static void a_cycle_names_a_node_on_it(void **state)
{
    ir_model *m = new_model();
    assay_error e;
    bool moved;
    (void)state;
    ir_id x = input(m, "x"), a = value(m, 0, "a"), b = value(m, 0, "b"), c = value(m, 0, "c");
    ir_id d = value(m, 0, "d"), o = value(m, 0, "o");
    node(m, 0, "downstream", d, IR_NONE, value(m, 0, "end"));
    node(m, 0, "before", x, IR_NONE, o);
    node(m, 0, "A", o, c, a);
    node(m, 0, "B", a, IR_NONE, b);
    node(m, 0, "C", b, IR_NONE, c);
    node(m, 0, "after", c, IR_NONE, d);
    assert_int_equal(sort(m, &moved, &e), ASSAY_ERR_MALFORMED);
    assert_false(moved);
    assert_true(strcmp(e.node, "A") == 0 || strcmp(e.node, "B") == 0 || strcmp(e.node, "C") == 0);
    assert_non_null(strstr(e.message, "cycle"));
    ir_model_free(m);

    m = new_model();
    a = value(m, 0, "a");
    node(m, 0, "self", a, IR_NONE, a);
    assert_int_equal(sort(m, &moved, &e), ASSAY_ERR_MALFORMED);
    assert_string_equal(e.node, "self");
    ir_model_free(m);
}

static void a_cycle_through_a_subgraph_is_found(void **state)
{
    ir_model *m = new_model();
    assay_error e;
    bool moved;
    (void)state;
    ir_id x = input(m, "x"), out = value(m, 0, "out"), sub = ir_add_graph(m, STR("s"), 0);
    holder(m, 0, "hold", x, out, sub);
    node(m, sub, "inner", out, IR_NONE, value(m, sub, "i"));
    assert_int_equal(sort(m, &moved, &e), ASSAY_ERR_MALFORMED);
    assert_string_equal(e.node, "hold");
    ir_model_free(m);
}

static void graphs_that_hold_one_another_are_an_error(void **state)
{
    ir_model *m = new_model();
    assay_error e;
    bool moved;
    (void)state;
    ir_id x = input(m, "x"), sub = ir_add_graph(m, STR("s"), 0);
    holder(m, 0, "hold", x, value(m, 0, "out"), sub);
    holder(m, sub, "inner", x, value(m, sub, "i"), sub);
    assert_int_equal(sort(m, &moved, &e), ASSAY_ERR_MALFORMED);
    assert_non_null(strstr(e.message, "nested"));
    ir_model_free(m);
}

static void sorting_without_room_is_a_system_error(void **state)
{
    ir_model *m = new_model();
    bool moved;
    (void)state;
    ir_id x = input(m, "x"), a = value(m, 0, "a");
    node(m, 0, "late", a, IR_NONE, value(m, 0, "b"));
    node(m, 0, "early", x, IR_NONE, a);
    for (size_t limit = 0; limit < 144; limit += 16) {
        arena *scratch = arena_new(limit);
        assay_status status = ir_sort_graph(m, 0, scratch, &moved, NULL);
        assert_true(status == ASSAY_ERR_SYSTEM || (status == ASSAY_OK && moved));
        arena_free(scratch);
        if (status == ASSAY_OK)
            break;
    }
    ir_model_free(m);
}

int run_test_ir(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_has_a_row),
        cmocka_unit_test(sub_byte_types_are_packed),
        cmocka_unit_test(a_model_without_room_is_an_error),
        cmocka_unit_test(ids_out_of_range_are_refused),
        cmocka_unit_test(tensors_that_cannot_be_are_refused),
        cmocka_unit_test(opsets_and_attributes_are_found),
        cmocka_unit_test(freeing_closes_the_reader),
        cmocka_unit_test(ids_are_in_range),
        cmocka_unit_test(a_value_is_made_once),
        cmocka_unit_test(order_is_checked),
        cmocka_unit_test(scopes_are_checked),
        cmocka_unit_test(subgraphs_are_owned_once),
        cmocka_unit_test(functions_are_walked_too),
        cmocka_unit_test(tensors_are_sound),
        cmocka_unit_test(declared_types_are_sound),
        cmocka_unit_test(deep_nesting_needs_no_stack),
        cmocka_unit_test(a_sorted_graph_takes_no_memory),
        cmocka_unit_test(a_reversed_chain_is_turned),
        cmocka_unit_test(sorting_is_stable),
        cmocka_unit_test(subgraphs_make_dependencies),
        cmocka_unit_test(a_cycle_names_a_node_on_it),
        cmocka_unit_test(a_cycle_through_a_subgraph_is_found),
        cmocka_unit_test(graphs_that_hold_one_another_are_an_error),
        cmocka_unit_test(sorting_without_room_is_a_system_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

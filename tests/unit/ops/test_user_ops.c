/* Operators that the user describes: what expressions are worth, what is refused, and that a rule counts as a built-in
 * row does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "analyze/count.h"
#include "ops/user_ops.h"
#include "support/net.h"

#define FILE_OF(rules) "{\"schema\": \"assay.ops/1\", \"operators\": [" rules "]}"

typedef struct described {
    arena *arena;
    const op_rows *ops;
    assay_error err;
    assay_status status;
} described;

static described describe(const char *text)
{
    described d = {.arena = arena_new((size_t)64 << 20)};
    d.status = user_ops_parse(str_of(text), "rules.json", d.arena, &d.ops, &d.err);
    return d;
}

/* A rule with one cost, "mac". */
static described with_cost(const char *expression)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        FILE_OF(
            "{\"op\": \"my::Op\", \"inputs\": [\"x\", \"w?\"], \"outputs\": [{\"shape\": \"x\"}],"
            "\"let\": {\"two\": 2, \"four\": \"two * two\"}, \"cost\": {\"mac\": \"%s\"}}"),
        expression);
    return describe(text);
}

/* x is float32 [2, 3, 5], the attributes are k = 7, f = 4.0 and list = [11, 13]. */
static assay_status apply(described *d, uint64_t *mac)
{
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(2, 3, 5));
    const int64_t list[] = {11, 13};
    ir_id y = net_op(&n, 0, "my:Op", IDS(x), ATTRS(at_int("k", 7), at_ints("list", 2, list)));
    net_outputs(&n, 0, IDS(y));
    const infer_options opt = {.user_ops = d->ops};
    profile *p = profile_new((size_t)16 << 20);
    counted of;
    d->status = infer_run(n.m, &opt, n.scratch, &n.r, &d->err);
    if (d->status == ASSAY_OK)
        d->status = count_run(n.r, NULL, p, &of, &d->err);
    *mac = p->total_macs;
    profile_free(p);
    net_close(&n);
    return d->status;
}

static void expressions_are_worth_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t worth;
    } rows[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5},
        {"7 / 2", 3},
        {"-7 / 2 + 4", 0},
        {"-7 % 4", 1},
        {"0 - -3", 3},
        {"ceil_div(7, 2)", 4},
        {"min(3, 8) + max(3, 8)", 11},
        {"size(x)", 30},
        {"bytes(y)", 120},
        {"rank(x)", 3},
        {"dim(x, 1) * 100 + dim(x, -1)", 305},
        {"product(x, 1)", 15},
        {"product(x, 0, 2)", 6},
        {"product(x, 3)", 1},
        {"present(w) + present(x)", 1},
        {"size(w)", 0},
        {"attr(k)", 7},
        {"attr(absent, 9)", 9},
        {"item(list, 1)", 13},
        {"item(list, 5, 3)", 3},
        {"count(list)", 2},
        {"four * 10 + two", 42},
        {"2 < 3 ? 1 == 1 ? 5 : 6 : 7", 5},
        {"(3 >= 3) + (3 > 3) * 10 + (3 != 4) * 100 + (4 <= 3) * 1000", 101},
        {"9223372036854775807 - 9223372036854775807", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        described d = with_cost(rows[i].text);
        uint64_t mac = UINT64_MAX;
        if (d.status != ASSAY_OK || apply(&d, &mac) != ASSAY_OK)
            fail_msg("%s: %s", rows[i].text, d.err.message);
        if (mac != rows[i].worth)
            fail_msg("%s is %llu", rows[i].text, (unsigned long long)mac);
        arena_free(d.arena);
    }
}

/* What only a node can show: the place is the rule, the key, the node and the character. */
static void what_cannot_be_computed_is_an_error(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "1 / (rank(x) - 3)",
        "1 % (rank(x) - 3)",
        "ceil_div(1, 0)",
        "9223372036854775807 + 1",
        "0 - 9223372036854775807 - 2",
        "9223372036854775807 * 2",
        "(-9223372036854775807 - 1) / -1",
        "-1",
        "dim(x, 3)",
        "dim(w, 0)",
        "product(x, 2, 1)",
        "attr(absent)",
        "attr(list)",
        "item(list, 2)",
        "value(w)",
        "value(x, 30)",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        described d = with_cost(rows[i]);
        uint64_t mac;
        assert_int_equal(d.status, ASSAY_OK);
        if (apply(&d, &mac) != ASSAY_ERR_MALFORMED)
            fail_msg("%s: %d %s", rows[i], d.status, d.err.message);
        assert_non_null(strstr(d.err.message, "rules.json: my::Op, cost.mac: node '"));
        assert_non_null(strstr(d.err.message, "(character "));
        assert_true(d.err.node[0] != '\0');
        arena_free(d.arena);
    }
}

static void what_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",         "1 +",     "(1",         "1)",     "1 2",      "nobody",
        "size(n)",  "size()",  "size(x, x)", "dim(x)", "later(1)", "1 < 2 < 3",
        "1 ? 2",    "value(x", "attr(1)",    "--1",    "\\u00e9",  "99999999999999999999",
        "min(1 2)",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        described d = with_cost(rows[i]);
        if (d.status != ASSAY_ERR_MALFORMED)
            fail_msg("%s: %d %s", rows[i], d.status, d.err.message);
        assert_non_null(strstr(d.err.message, "rules.json: my::Op, cost.mac: "));
        assert_non_null(strstr(d.err.message, "(character "));
        arena_free(d.arena);
    }
}

#define RULE(more) \
    "{\"op\": \"my::Op\", \"outputs\": [{\"shape\": [], \"dtype\": \"bool\"}]" more "}"

static void files_are_checked(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "[]",
        "{\"schema\": \"assay.ops/2\", \"operators\": []}",
        FILE_OF("{}"),
        FILE_OF("{\"op\": 3}"),
        FILE_OF("{\"op\": \"my::\"}"),
        FILE_OF("{\"op\": \"my::Op\"}"),
        FILE_OF("{\"op\": \"my::Op\", \"outputs\": []}"),
        FILE_OF("{\"op\": \"my::Op\", \"outputs\": [{\"shape\": []}]}"),
        FILE_OF("{\"op\": \"my::Op\", \"outputs\": [{\"shape\": [], \"dtype\": \"float33\"}]}"),
        FILE_OF("{\"op\": \"my::Op\", \"outputs\": [{\"shape\": [1.5], \"dtype\": \"bool\"}]}"),
        FILE_OF(
            "{\"op\": \"my::Op\", \"outputs\": [{\"shape\": [\"size(y)\"], \"dtype\": \"bool\"}]}"),
        FILE_OF("{\"op\": \"If\", \"outputs\": [{\"shape\": [], \"dtype\": \"bool\"}]}"),
        FILE_OF(
            "{\"op\": \"ai.onnx::Constant\", \"outputs\": [{\"shape\": [], \"dtype\": \"bool\"}]}"),
        FILE_OF(RULE("") ", " RULE("")),
        FILE_OF(RULE(", \"unheard\": 1")),
        FILE_OF(RULE(", \"type\": \"Not a word\"")),
        FILE_OF(RULE(", \"inputs\": [\"a\", \"a\"]")),
        FILE_OF(RULE(", \"inputs\": [\"a?\", \"b\"]")),
        FILE_OF(RULE(", \"inputs\": [\"1a\"]")),
        FILE_OF(RULE(", \"let\": {\"a\": \"a\"}")),
        FILE_OF(RULE(", \"let\": {\"a\": \"b\", \"b\": \"1\"}")),
        FILE_OF(RULE(", \"let\": {\"a\": true}")),
        FILE_OF(RULE(", \"cost\": {\"macs\": 1}")),
        FILE_OF(RULE(", \"cost\": {\"read\": {\"y\": 1}}")),
        FILE_OF(RULE(", \"cost\": {\"written\": 1}")),
        FILE_OF(RULE(", \"weights\": [\"a\"]")),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        described d = describe(rows[i]);
        if (d.status != ASSAY_ERR_MALFORMED)
            fail_msg("%s: %d", rows[i], d.status);
        assert_non_null(strstr(d.err.message, "rules.json"));
        arena_free(d.arena);
    }
    described d = describe(FILE_OF(RULE("")));
    assert_int_equal(d.status, ASSAY_OK);
    arena_free(d.arena);
}

static char *repeat(char *to, const char *what, size_t times)
{
    size_t n = strlen(what);
    for (size_t i = 0; i < times; i++, to += n)
        memcpy(to, what, n);
    *to = '\0';
    return to;
}

static void limits_hold(void **state)
{
    (void)state;
    char text[2048];
    for (int more = 0; more < 2; more++) {
        /* The expression itself is the first level. */
        char *end = repeat(text, "(", (size_t)(31 + more));
        end = repeat(end, "1", 1);
        repeat(end, ")", (size_t)(31 + more));
        described deep = with_cost(text);
        assert_int_equal(deep.status, more ? ASSAY_ERR_MALFORMED : ASSAY_OK);
        arena_free(deep.arena);
        end = repeat(text, "1+", 511);
        repeat(end, "1", (size_t)(2 + more));
        described wide = with_cost(text);
        assert_int_equal(wide.status, more ? ASSAY_ERR_MALFORMED : ASSAY_OK);
        arena_free(wide.arena);
    }
    size_t size = 1002 * 80;
    char *many = malloc(size), *end = many;
    for (int more = 0; more < 2; more++) {
        end = many + sprintf(many, "{\"schema\": \"assay.ops/1\", \"operators\": [");
        for (int i = 0; i < USER_RULES + more; i++)
            end += sprintf(end,
                           "%s{\"op\":\"a::O%d\",\"outputs\":[{\"shape\":[],\"dtype\":\"bool\"}]}",
                           i ? "," : "", i);
        memcpy(end, "]}", 3);
        described d = describe(many);
        assert_int_equal(d.status, more ? ASSAY_ERR_MALFORMED : ASSAY_OK);
        arena_free(d.arena);
    }
    free(many);
}

/* ---- as exact as a built-in row ---- */

#define QUANT                                                                                 \
    "{\"op\": \"my.quantisers::Quant\", \"inputs\": [\"x\", \"scale\", \"zero\", \"bits\"],"  \
    "\"let\": {\"n\": \"size(x)\"}, \"outputs\": [{\"shape\": \"x\"}], \"weights\": [\"x\"]," \
    "\"not_weights\": [\"scale\", \"zero\", \"bits\"],"                                       \
    "\"cost\": {\"div\": \"n\", \"add\": \"2*n\", \"special\": \"n\", \"cmp\": \"2*n\", \"mul\": \"n\"}}"

static ir_id quantise(net *n, const char *op, ir_id x)
{
    ir_id one = net_weight(n, 0, DIMS(1));
    return net_op(n, 0, op, IDS(x, one, one, one), NO_ATTRS);
}

static net quantised_net(const char *op, bool convolution)
{
    net n = net_open(17);
    ir_id x = convolution ? net_input(&n, 0, "x", IR_FLOAT32, DIMS(1, 3, 8, 8))
                          : net_input(&n, 0, "x", IR_FLOAT32, DIMS(4, 8));
    ir_id w = convolution ? net_weight(&n, 0, DIMS(5, 3, 3, 3)) : net_weight(&n, 0, DIMS(8, 16));
    ir_id y = net_op(&n, 0, convolution ? "Conv" : "MatMul",
                     IDS(quantise(&n, op, x), quantise(&n, op, w)), NO_ATTRS);
    net_outputs(&n, 0, IDS(quantise(&n, op, y)));
    return n;
}

static profile *count_with(net *n, const op_rows *ops)
{
    const infer_options opt = {.user_ops = ops};
    profile *p = profile_new((size_t)16 << 20);
    counted of;
    assert_int_equal(infer_run(n->m, &opt, n->scratch, &n->r, &n->err), ASSAY_OK);
    assert_int_equal(count_run(n->r, NULL, p, &of, &n->err), ASSAY_OK);
    return p;
}

static void quantised_graphs_count_as_with_the_built_in_rule(void **state)
{
    (void)state;
    described d = describe(FILE_OF(QUANT));
    assert_int_equal(d.status, ASSAY_OK);
    for (int convolution = 0; convolution < 2; convolution++) {
        net known = quantised_net("qonnx.custom_op.general:Quant", convolution);
        net own = quantised_net("my.quantisers:Quant", convolution);
        profile *a = count_with(&known, NULL), *b = count_with(&own, d.ops);
        assert_int_equal(a->accounting.exact, 3);
        assert_int_equal(b->accounting.exact, 1);
        assert_int_equal(b->accounting.user_defined, 2);
        assert_int_equal(b->accounting.unknown + b->accounting.assumed, 0);
        assert_false(b->anything_assumed);
        assert_int_equal(b->layers[0].certainty, PROFILE_USER_DEFINED);
        assert_int_equal(b->n_user_operators, 1);
        assert_int_equal(b->user_operators[0].nodes, 3);
        assert_true(str_is(b->user_operators[0].file, "rules.json"));
        assert_int_equal(a->total_flops, b->total_flops);
        assert_int_equal(a->total_memory, b->total_memory);
        assert_int_equal(a->total_parameters, b->total_parameters);
        assert_int_equal(a->load_time.flops, b->load_time.flops);
        profile_free(a);
        profile_free(b);
        net_close(&known);
        net_close(&own);
    }
    arena_free(d.arena);
}

/* A rule comes before a built-in one; sizes, types and bytes are its own. */
static void a_rule_replaces_a_row(void **state)
{
    (void)state;
    described d = describe(
        FILE_OF("{\"op\": \"ai.onnx::Relu\", \"inputs\": [\"x\"], \"outputs\": [{\"shape\": "
                "[\"dim(x, 0)\", 4], \"dtype\": \"int8\"}], \"cost\": {\"int_ops\": 9, "
                "\"read\": {\"x\": \"bytes(x) / 2\"}, \"written\": {\"y\": 3}}}"));
    assert_int_equal(d.status, ASSAY_OK);
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(6, 8));
    ir_id y = net_op(&n, 0, "Relu", IDS(x), NO_ATTRS);
    net_outputs(&n, 0, IDS(y));
    profile *p = count_with(&n, d.ops);
    net_is(&n, y, IR_INT8, DIMS(6, 4));
    assert_int_equal(p->ops.int_ops, 9);
    assert_int_equal(p->ops.cmp, 0);
    assert_int_equal(p->layers[0].read_bytes, 6 * 8 * 4 / 2);
    assert_int_equal(p->layers[0].written_bytes, 3);
    profile_free(p);
    net_close(&n);
    arena_free(d.arena);
}

/* Unknown content is neither zero nor exact. */
static void unknown_content_is_said(void **state)
{
    (void)state;
    described d = describe(FILE_OF(
        "{\"op\": \"my::Op\", \"inputs\": [\"x\", \"k\"], \"outputs\": [{\"shape\": \"x\"}],"
        "\"cost\": {\"mac\": \"value(k)\"}}"));
    net n = net_open(17);
    ir_id x = net_input(&n, 0, "x", IR_FLOAT32, DIMS(6, 8));
    ir_id k = net_input(&n, 0, "k", IR_INT64, DIMS(1));
    net_outputs(&n, 0, IDS(net_op(&n, 0, "my:Op", IDS(x, k), NO_ATTRS)));
    profile *p = count_with(&n, d.ops);
    assert_int_equal(p->accounting.assumed, 1);
    assert_int_equal(p->accounting.user_defined, 0);
    assert_true(p->anything_assumed);
    profile_free(p);
    net_close(&n);
    arena_free(d.arena);
}

int run_test_user_ops(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_worth_what_they_say),
        cmocka_unit_test(what_cannot_be_computed_is_an_error),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
        cmocka_unit_test(files_are_checked),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(quantised_graphs_count_as_with_the_built_in_rule),
        cmocka_unit_test(a_rule_replaces_a_row),
        cmocka_unit_test(unknown_content_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

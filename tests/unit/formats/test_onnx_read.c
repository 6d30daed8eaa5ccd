/* The ONNX reader on models that are written byte by byte here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "rewrite/inline.h"
#include "support/onnx_writer.h"
#include "support/place.h"

enum {
    F32 = 1,
    U8 = 2,
    I8 = 3,
    I32 = 6,
    I64 = 7,
    STR_ = 8,
    BOOL = 9,
    F16 = 10,
    F64 = 11,
    U32 = 12
};

#define DIMS(...)                                                                \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) \
    {                                                                            \
        __VA_ARGS__                                                              \
    }

/* ---- helpers ---- */

typedef struct loaded {
    ww bytes; /* outlives the model */
    ir_model *m;
    assay_error err;
    assay_status status;
} loaded;

static loaded load_with(ww bytes, const onnx_read_options *opt)
{
    loaded l = {.bytes = bytes};
    err_clear(&l.err);
    l.status = onnx_read_bytes(bytes.p, bytes.n, opt, &l.m, &l.err);
    assert_int_equal(l.status, l.err.code);
    assert_true((l.status == ASSAY_OK) == (l.m != NULL));
    return l;
}

static loaded load(ww bytes)
{
    return load_with(bytes, NULL);
}

static void unload(loaded *l)
{
    ir_model_free(l->m);
    ww_free(&l->bytes);
}

static loaded load_good(ww bytes)
{
    loaded l = load(bytes);
    if (l.status != ASSAY_OK)
        fail_msg("%s", l.err.message);
    if (ir_verify(l.m, &l.err) != ASSAY_OK)
        fail_msg("verify: %s", l.err.message);
    return l;
}

static void refuse(ww bytes, assay_status status, const char *place, const char *fact)
{
    loaded l = load(bytes);
    error_is(&l.err, status, place, fact);
    unload(&l);
}

static ir_id value_named(const ir_model *m, const char *name)
{
    for (ir_id i = 0; i < m->values.n; i++)
        if (str_is(m->values.items[i].name, name))
            return i;
    return IR_NONE;
}

static const ir_value *value_of(const loaded *l, const char *name)
{
    ir_id id = value_named(l->m, name);
    assert_true(id != IR_NONE);
    return ir_value_at(l->m, id);
}

static const ir_tensor *tensor_of(const loaded *l, const char *name)
{
    assert_non_null(value_of(l, name)->constant);
    return value_of(l, name)->constant;
}

static const ir_node *node_of(const loaded *l, const char *name)
{
    for (ir_id i = 0; i < l->m->nodes.n; i++)
        if (str_is(l->m->nodes.items[i].name, name))
            return &l->m->nodes.items[i];
    fail_msg("no node %s", name);
    return NULL;
}

static bool has_note(const loaded *l, const char *code)
{
    for (uint32_t i = 0; i < l->m->notes.list.n; i++)
        if (strcmp(l->m->notes.list.items[i].code, code) == 0)
            return true;
    return false;
}

static void check_bytes(const loaded *l, const ir_tensor *t, const void *want, size_t n)
{
    assay_error err;
    err_clear(&err);
    assert_int_equal(t->size_bytes, n);
    uint8_t *got = malloc(n + 1);
    if (l->m->reader.read(l->m->reader.ctx, t, got, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_memory_equal(got, want, n);
    free(got);
}

/* x -> Relu -> y, with whatever the caller adds. */
static ww small_graph(void)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node("Relu", "relu", NAMES("x"), NAMES("y")));
    ww_str(&g, 2, "g");
    ww_sub(&g, 11, ow_info("x", F32, DIMS(1, 3)));
    ww_sub(&g, 12, ow_info("y", F32, -1, NULL));
    return g;
}

static ww with_init(ww tensor)
{
    ww g = small_graph();
    ww_sub(&g, 5, tensor);
    return ow_model(g);
}

/* ---- models ---- */

static void test_basic(void **state)
{
    (void)state;
    ww g = small_graph(), extra = {0};
    ww_str(&extra, 1, "y2");
    ww_sub(&g, 13, extra); /* value_info of nothing */
    ww_str(&g, 10, "doc");
    loaded l = load_good(ow_model(g));
    assert_true(str_is(l.m->producer, "test 1"));
    assert_true(str_is(l.m->format, "onnx"));
    assert_int_equal(l.m->ir_version, 8);
    assert_int_equal(l.m->file_size_bytes, l.bytes.n);
    assert_int_equal(l.m->values.n, 2);
    assert_int_equal(l.m->graphs.n, 1);
    const ir_node *n = node_of(&l, "relu");
    assert_int_equal(n->version, 17);
    assert_true(n->inputs[0] == value_named(l.m, "x"));
    assert_int_equal(value_of(&l, "x")->flags, IR_VALUE_INPUT);
    assert_int_equal(value_of(&l, "y")->flags, IR_VALUE_OUTPUT);
    assert_int_equal(value_of(&l, "y")->declared.rank, -1);
    assert_int_equal(value_of(&l, "y")->declared.dtype, F32);
    unload(&l);
}

static void test_dims(void **state)
{
    (void)state;
    ww g = small_graph(), tensor = {0}, type = {0}, shape = {0}, named = {0}, none = {0}, neg = {0},
       zero = {0};
    ww_str(&named, 2, "batch");
    ww_int(&neg, 1, -1);
    ww_int(&zero, 1, 0);
    ww_sub(&shape, 1, named);
    ww_sub(&shape, 1, none);
    ww_sub(&shape, 1, neg);
    ww_sub(&shape, 1, zero);
    ww_int(&tensor, 1, F16);
    ww_sub(&tensor, 2, shape);
    ww_sub(&type, 1, tensor);
    ww_sub(&g, 11, ow_info_of("z", type));
    loaded l = load_good(ow_model(g));
    const ir_type *t = &value_of(&l, "z")->declared;
    assert_int_equal(t->rank, 4);
    assert_true(str_is(t->dims[0].symbol, "batch") && t->dims[0].value == -1);
    assert_true(str_empty(t->dims[1].symbol) && t->dims[1].value == -1);
    assert_int_equal(t->dims[2].value, -1);
    assert_int_equal(t->dims[3].value, 0);
    unload(&l);
}

static ww wrapped_type(unsigned field, ww inner, int key)
{
    ww kind = {0}, type = {0};
    if (key)
        ww_int(&kind, 1, key);
    ww_sub(&kind, key ? 2 : 1, inner);
    ww_sub(&type, field, kind);
    return type;
}

static void test_types(void **state)
{
    (void)state;
    ww g = small_graph(), opaque = {0}, sparse = {0}, s = {0};
    ww_sub(&g, 11, ow_info_of("seq", wrapped_type(4, ow_tensor_type(I64, DIMS(2)), 0)));
    ww_sub(
        &g, 11,
        ow_info_of("opt", wrapped_type(9, wrapped_type(4, ow_tensor_type(F32, -1, NULL), 0), 0)));
    ww_sub(&g, 11, ow_info_of("map", wrapped_type(5, ow_tensor_type(F32, -1, NULL), STR_)));
    ww_sub(&opaque, 7, (ww){0});
    ww_sub(&g, 11, ow_info_of("opaque", opaque));
    ww_int(&s, 1, F64);
    ww_sub(&sparse, 8, s);
    ww_sub(&g, 11, ow_info_of("sparse", sparse));
    loaded l = load_good(ow_model(g));
    assert_int_equal(value_of(&l, "seq")->declared.kind, IR_KIND_SEQUENCE);
    assert_int_equal(value_of(&l, "seq")->declared.elem->rank, 1);
    assert_int_equal(value_of(&l, "opt")->declared.kind, IR_KIND_OPTIONAL);
    assert_int_equal(value_of(&l, "opt")->declared.elem->elem->kind, IR_KIND_TENSOR);
    assert_int_equal(value_of(&l, "map")->declared.kind, IR_KIND_MAP);
    assert_int_equal(value_of(&l, "map")->declared.dtype, STR_);
    assert_int_equal(value_of(&l, "opaque")->declared.kind, IR_KIND_OPAQUE);
    assert_int_equal(value_of(&l, "sparse")->declared.kind, IR_KIND_SPARSE);
    unload(&l);

    g = small_graph();
    ww deep = ow_tensor_type(F32, -1, NULL);
    for (int i = 0; i < 30; i++)
        deep = wrapped_type(4, deep, 0);
    ww_sub(&g, 11, ow_info_of("deep", deep));
    refuse(ow_model(g), ASSAY_ERR_UNSUPPORTED, "@148", NULL);
    g = small_graph();
    ww_sub(&g, 11, ow_info("odd", 27, -1, NULL));
    refuse(ow_model(g), ASSAY_ERR_UNSUPPORTED, "@79", "27");
    g = small_graph();
    int64_t many[65] = {0};
    ww_sub(&g, 11, ow_info("wide", F32, 65, many));
    refuse(ow_model(g), ASSAY_ERR_UNSUPPORTED, "@345", "64");
}

/* ---- versions ---- */

static ww bare_model(int64_t ir_version, bool opset)
{
    ww w = {0};
    if (ir_version)
        ww_int(&w, 1, ir_version);
    ww_sub(&w, 7, small_graph());
    if (opset)
        ww_sub(&w, 8, ow_opset("", 9));
    return w;
}

static void test_versions(void **state)
{
    (void)state;
    loaded l = load_good(bare_model(2, false));
    assert_true(has_note(&l, "opset-assumed"));
    assert_int_equal(node_of(&l, "relu")->version, 1);
    unload(&l);
    refuse(bare_model(3, false), ASSAY_ERR_MALFORMED, "", "opset_import");
    refuse(bare_model(-4, true), ASSAY_ERR_MALFORMED, "", "-4");
    for (int v = 3; v <= 15; v++) {
        l = load_good(bare_model(v, true));
        assert_true(has_note(&l, "ir-version") == (v == 15));
        assert_int_equal(node_of(&l, "relu")->version, 9);
        unload(&l);
    }
    l = load_good(bare_model(0, true));
    assert_true(has_note(&l, "ir-version"));
    unload(&l);

    ww g = small_graph(), n = ow_node("Odd", "odd", NAMES("x"), NAMES("o"));
    ww a = ow_node("Abs", "abs", NAMES("x"), NAMES("p")),
       k = ow_node("Ms", "ms", NAMES("x"), NAMES("q"));
    ww_str(&n, 7, "some.where");
    ww_str(&a, 7, "ai.onnx");
    ww_str(&k, 7, "com.microsoft");
    ww_sub(&g, 1, n);
    ww_sub(&g, 1, a);
    ww_sub(&g, 1, k);
    ww m = ow_model(g);
    ww_sub(&m, 8, ow_opset("com.microsoft", 1));
    l = load_good(m);
    assert_int_equal(node_of(&l, "odd")->version, 0);
    assert_int_equal(node_of(&l, "abs")->version, 17);
    assert_true(str_empty(node_of(&l, "abs")->domain));
    assert_int_equal(node_of(&l, "ms")->version, 1);
    unload(&l);

    m = ow_model(small_graph());
    ww_sub(&m, 8, ow_opset("x", -1));
    refuse(m, ASSAY_ERR_MALFORMED, "@72", "-1");
    m = ow_model(small_graph());
    for (int i = 0; i < 300; i++) {
        char d[16];
        snprintf(d, sizeof d, "d%d", i);
        ww_sub(&m, 8, ow_opset(d, 1));
    }
    refuse(m, ASSAY_ERR_UNSUPPORTED, "@2512", NULL);
}

/* ---- tensors ---- */

typedef struct typed_case {
    int dtype;
    unsigned field;
    uint8_t n, n_values, n_bytes; /* elements, scalars in the field, bytes they are */
    int64_t values[4];
    uint8_t bytes[32];
} typed_case;

static const typed_case typed_cases[] = {
    {F32, 4, 2, 2, 8, {0x3f800000, 0xc0000000}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
    {14, 4, 1, 2, 8, {0x3f800000, 0xc0000000}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
    {F64, 10, 1, 1, 8, {0x3ff0000000000000}, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
    {15, 10, 1, 2, 16, {0x3ff0000000000000, 0}, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
    {U8, 5, 2, 2, 2, {200, 1}, {200, 1}},
    {I8, 5, 2, 2, 2, {-1, 3}, {0xff, 3}},
    {4, 5, 1, 1, 2, {0xfedc}, {0xdc, 0xfe}},
    {5, 5, 1, 1, 2, {-2}, {0xfe, 0xff}},
    {I32, 5, 1, 1, 4, {-2}, {0xfe, 0xff, 0xff, 0xff}},
    {I64, 7, 1, 1, 8, {-2}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    {BOOL, 5, 3, 3, 3, {1, 0, 7}, {1, 0, 1}},
    {F16, 5, 2, 2, 4, {0x3c00, 0xbc00}, {0, 0x3c, 0, 0xbc}},
    {16, 5, 1, 1, 2, {0x3f80}, {0x80, 0x3f}},
    {U32, 11, 1, 1, 4, {0xfffffffe}, {0xfe, 0xff, 0xff, 0xff}},
    {13, 11, 1, 1, 8, {-1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    {17, 5, 1, 1, 1, {0x38}, {0x38}},
    {18, 5, 1, 1, 1, {0x38}, {0x38}},
    {19, 5, 1, 1, 1, {0x38}, {0x38}},
    {20, 5, 1, 1, 1, {0x38}, {0x38}},
    {24, 5, 1, 1, 1, {0x7f}, {0x7f}},
    {21, 5, 3, 2, 2, {0x21, 0x03}, {0x21, 0x03}},
    {22, 5, 4, 2, 2, {0xf1, 0x8e}, {0xf1, 0x8e}},
    {23, 5, 2, 1, 1, {0x21}, {0x21}},
    {25, 5, 5, 2, 2, {0xe4, 0x01}, {0xe4, 0x01}},
    {26, 5, 4, 1, 1, {0xe4}, {0xe4}},
};

static void put_scalar(ww *w, unsigned field, int64_t v)
{
    if (field == 4)
        ww_fixed(w, (uint64_t)v, 4);
    else if (field == 10)
        ww_fixed(w, (uint64_t)v, 8);
    else
        ww_varint(w, (uint64_t)v);
}

static ww typed_tensor(const typed_case *c, bool packed)
{
    int64_t n = c->n;
    ww t = ow_tensor("t", c->dtype, 1, &n), list = {0};
    for (int i = 0; i < c->n_values; i++) {
        if (!packed)
            ww_tag(&t, c->field, c->field == 4 ? 5 : c->field == 10 ? 1 : 0);
        put_scalar(packed ? &list : &t, c->field, c->values[i]);
    }
    if (packed)
        ww_sub(&t, c->field, list);
    return t;
}

static void test_typed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof typed_cases / sizeof *typed_cases; i++) {
        const typed_case *c = &typed_cases[i];
        for (int packed = 0; packed < 2; packed++) {
            loaded l = load_good(with_init(typed_tensor(c, packed)));
            const ir_tensor *t = tensor_of(&l, "t");
            assert_int_equal(t->storage, IR_DATA_INLINE);
            assert_int_equal(t->dtype, c->dtype);
            assert_int_equal(t->n_elems, c->n);
            assert_int_equal(t->size_bytes, c->n_bytes);
            assert_memory_equal(t->bytes, c->bytes, c->n_bytes);
            check_bytes(&l, t, c->bytes, c->n_bytes);
            unload(&l);
        }
        typed_case fewer = *c;
        fewer.n = (uint8_t)(c->n + 8);
        refuse(with_init(typed_tensor(&fewer, true)), ASSAY_ERR_MALFORMED, "'t'", "'t'");
        fewer = *c;
        fewer.field = c->field == 5 ? 7 : 5;
        refuse(with_init(typed_tensor(&fewer, true)), ASSAY_ERR_MALFORMED, "'t'", NULL);
    }
}

static void test_raw(void **state)
{
    (void)state;
    uint8_t big[400];
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (uint8_t)i;
    loaded l = load_good(with_init(ow_raw("w", F32, DIMS(10, 10), big, 400)));
    const ir_tensor *t = tensor_of(&l, "w");
    assert_int_equal(t->storage, IR_DATA_SLICE);
    assert_int_equal(t->encoding, 0);
    assert_int_equal(t->length, 400);
    assert_memory_equal(l.bytes.p + t->offset, big, 400);
    check_bytes(&l, t, big, 400);
    assert_int_equal(l.m->graphs.items[0].constants.n, 1);
    unload(&l);

    l = load_good(with_init(ow_raw("w", 21, DIMS(3), "\x21\x03", 2)));
    check_bytes(&l, tensor_of(&l, "w"), "\x21\x03", 2);
    unload(&l);
    l = load_good(with_init(ow_raw("w", F32, DIMS(4, 0), "", 0)));
    assert_int_equal(tensor_of(&l, "w")->storage, IR_DATA_INLINE);
    assert_int_equal(tensor_of(&l, "w")->size_bytes, 0);
    assert_false(has_note(&l, "weights-absent"));
    unload(&l);
    l = load_good(with_init(ow_raw("w", F32, DIMS(256), "", 0)));
    assert_int_equal(tensor_of(&l, "w")->storage, IR_DATA_NONE);
    assert_int_equal(tensor_of(&l, "w")->size_bytes, 1024);
    assert_true(has_note(&l, "weights-absent"));
    assay_error err;
    err_clear(&err);
    assert_int_equal(l.m->reader.read(l.m->reader.ctx, tensor_of(&l, "w"), big, &err),
                     ASSAY_ERR_MALFORMED);
    unload(&l);
}

static void test_long_typed(void **state)
{
    (void)state;
    enum { N = 300 };
    uint8_t want[N * 8] = {0};
    int64_t values[N];
    ww list = {0};
    for (int i = 0; i < N; i++) {
        values[i] = (int64_t)i * 1000 - 7;
        for (int k = 0; k < 8; k++)
            want[i * 8 + k] = (uint8_t)((uint64_t)values[i] >> (8 * k));
    }
    /* one by one, with a foreign record between, then packed in two parts */
    ww t = ow_tensor("t", I64, DIMS(N));
    for (int i = 0; i < N; i++) {
        ww_int(&t, 7, values[i]);
        if (i == 5)
            ww_str(&t, 12, "doc");
    }
    loaded l = load_good(with_init(t));
    assert_int_equal(tensor_of(&l, "t")->storage, IR_DATA_SLICE);
    assert_int_equal(tensor_of(&l, "t")->encoding, 7);
    check_bytes(&l, tensor_of(&l, "t"), want, sizeof want);
    unload(&l);

    t = ow_tensor("t", I64, DIMS(N));
    ww_packed(&t, 7, values, 100);
    ww_packed(&t, 7, values + 100, N - 100);
    l = load_good(with_init(t));
    check_bytes(&l, tensor_of(&l, "t"), want, sizeof want);
    unload(&l);

    t = ow_tensor("f", F32, DIMS(N));
    for (int i = 0; i < N; i++)
        ww_fixed(&list, 0x3f800000u + (unsigned)i, 4);
    uint8_t floats[N * 4];
    memcpy(floats, list.p, sizeof floats);
    ww_sub(&t, 4, list);
    l = load_good(with_init(t));
    assert_int_equal(tensor_of(&l, "f")->encoding, 4);
    check_bytes(&l, tensor_of(&l, "f"), floats, sizeof floats);
    unload(&l);
}

static void test_strings(void **state)
{
    (void)state;
    ww t = ow_tensor("s", STR_, DIMS(3));
    ww_str(&t, 6, "ab");
    ww_str(&t, 6, "");
    ww_str(&t, 6, "cde");
    loaded l = load_good(with_init(t));
    assert_int_equal(tensor_of(&l, "s")->size_bytes, 5);
    check_bytes(&l, tensor_of(&l, "s"), "abcde", 5);
    unload(&l);
    t = ow_tensor("s", STR_, DIMS(3));
    ww_str(&t, 6, "ab");
    refuse(with_init(t), ASSAY_ERR_MALFORMED, "'s'", "3");
    refuse(with_init(ow_raw("s", STR_, DIMS(1), "ab", 2)), ASSAY_ERR_MALFORMED, "'s'", NULL);
}

static void test_bad_tensors(void **state)
{
    (void)state;
    refuse(with_init(ow_raw("w", F32, DIMS(2), "abcdefg", 7)), ASSAY_ERR_MALFORMED, "'w'",
           "float32");
    refuse(with_init(ow_raw("w", F32, DIMS(-1), "abcd", 4)), ASSAY_ERR_MALFORMED, "'w'", "-1");
    refuse(with_init(ow_raw("w", F32, DIMS(INT64_MAX, INT64_MAX), "abcd", 4)), ASSAY_ERR_MALFORMED,
           "'w'", "63");
    refuse(with_init(ow_raw("w", F32, DIMS((int64_t)1 << 40, (int64_t)1 << 21), "", 0)),
           ASSAY_ERR_MALFORMED, "'w'", "63");
    refuse(with_init(ow_raw("w", 27, DIMS(1), "a", 1)), ASSAY_ERR_UNSUPPORTED, "'w'", "27");
    refuse(with_init(ow_raw("w", 0, DIMS(1), "a", 1)), ASSAY_ERR_MALFORMED, "'w'", NULL);
    int64_t ones[65];
    for (int i = 0; i < 65; i++)
        ones[i] = 1;
    refuse(with_init(ow_raw("w", F32, 65, ones, "abcd", 4)), ASSAY_ERR_UNSUPPORTED, "", "64");
    ww t = ow_raw("w", I64, DIMS(1), "12345678", 8);
    ww_int(&t, 7, 1);
    refuse(with_init(t), ASSAY_ERR_MALFORMED, "'w'", NULL);
    refuse(with_init(ow_raw("", F32, DIMS(1), "abcd", 4)), ASSAY_ERR_MALFORMED, "@68", NULL);
}

static ww sparse_tensor(int64_t n_indices)
{
    ww s = {0}, i = ow_tensor("", I64, DIMS(n_indices));
    ww_sub(&s, 1, ow_raw("sp", F32, DIMS(2), "abcdefgh", 8));
    for (int64_t k = 0; k < n_indices; k++)
        ww_int(&i, 7, 3 * k);
    ww_sub(&s, 2, i);
    ww_int(&s, 3, 4);
    ww_int(&s, 3, 5);
    return s;
}

static void test_sparse(void **state)
{
    (void)state;
    ww g = small_graph();
    ww_sub(&g, 15, sparse_tensor(2));
    loaded l = load_good(ow_model(g));
    const ir_tensor *t = tensor_of(&l, "sp");
    assert_true(t->sparse);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->n_elems, 20);
    assert_int_equal(t->n_stored, 2);
    check_bytes(&l, t, "abcdefgh", 8);
    unload(&l);
    g = small_graph();
    ww_sub(&g, 15, sparse_tensor(3));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "", NULL);
    g = small_graph();
    ww_sub(&g, 15, (ww){0});
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "", NULL);
}

static void test_overridable(void **state)
{
    (void)state;
    ww g = small_graph();
    ww_sub(&g, 11, ow_info("w", F32, DIMS(1)));
    ww_sub(&g, 5, ow_raw("w", F32, DIMS(1), "abcd", 4));
    loaded l = load_good(ow_model(g));
    assert_int_equal(l.m->graphs.items[0].inputs.n, 1);
    assert_int_equal(value_of(&l, "w")->flags, IR_VALUE_OVERRIDABLE);
    assert_non_null(value_of(&l, "w")->constant);
    unload(&l);
}

/* ---- external data ---- */

static ww external_tensor(const char *location, const char *offset, const char *length)
{
    ww t = ow_tensor("e", F32, DIMS(100));
    ww_sub(&t, 13, ow_external("location", location));
    if (offset)
        ww_sub(&t, 13, ow_external("offset", offset));
    if (length)
        ww_sub(&t, 13, ow_external("length", length));
    ww_int(&t, 14, 1);
    return t;
}

static void test_external_paths(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "/etc/passwd", "../w.bin",  "a/../../w.bin", "a/..", "..",    "",
        ".",           "..\\w.bin", "a\\b",          "//x",  "./../x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(with_init(external_tensor(bad[i], NULL, NULL)), ASSAY_ERR_MALFORMED, "'e'", NULL);
    ww t = ow_tensor("e", F32, DIMS(100)), entry = {0};
    ww_str(&entry, 1, "location");
    ww_data(&entry, 2, "a\0b", 3);
    ww_sub(&t, 13, entry);
    ww_int(&t, 14, 1);
    refuse(with_init(t), ASSAY_ERR_MALFORMED, "'e'", NULL);
    t = ow_tensor("e", F32, DIMS(100));
    ww_int(&t, 14, 1);
    refuse(with_init(t), ASSAY_ERR_MALFORMED, "'e'", NULL);
    refuse(with_init(external_tensor("w.bin", "x", NULL)), ASSAY_ERR_MALFORMED, "'e'", NULL);
    refuse(with_init(external_tensor("w.bin", "0", "399")), ASSAY_ERR_MALFORMED, "'e'", "400");
    refuse(with_init(external_tensor("w.bin", "99999999999999999999", NULL)), ASSAY_ERR_MALFORMED,
           "'e'", NULL);

    loaded l = load_good(with_init(external_tensor("..w/.x/a..b", NULL, NULL)));
    assert_true(has_note(&l, "external-missing"));
    assert_int_equal(tensor_of(&l, "e")->storage, IR_DATA_NONE);
    assert_int_equal(tensor_of(&l, "e")->size_bytes, 400);
    unload(&l);
    l = load_with(with_init(external_tensor("w.bin", NULL, NULL)),
                  &(onnx_read_options){.external_required = true});
    assert_int_equal(l.status, ASSAY_ERR_MALFORMED);
    unload(&l);
}

static void write_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
}

static void rename_tensor(ww *t, const char *name)
{
    ww_str(t, 8, name); /* the last one counts */
}

static void test_external_files(void **state)
{
    (void)state;
    char dir[] = P_tmpdir "/assay-onnx-XXXXXX", path[128], data[128];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/m.onnx", dir);
    snprintf(data, sizeof data, "%s/w.bin", dir);
    uint8_t bytes[900];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    ww g = small_graph(), b = external_tensor("./w.bin", "480", NULL);
    ww c = external_tensor("w.bin", "501", NULL), d = external_tensor("gone.bin", NULL, NULL);
    rename_tensor(&b, "b");
    rename_tensor(&c, "c");
    rename_tensor(&d, "d");
    ww_sub(&g, 5, external_tensor("w.bin", "16", "400"));
    ww_sub(&g, 5, b);
    ww_sub(&g, 5, c);
    ww_sub(&g, 5, d);
    ww bytes_of_model = ow_model(g);
    write_file(path, bytes_of_model.p, bytes_of_model.n);
    write_file(data, bytes, sizeof bytes);

    loaded l = {.bytes = bytes_of_model};
    err_clear(&l.err);
    if (onnx_read_file(path, NULL, &l.m, &l.err) != ASSAY_OK)
        fail_msg("%s", l.err.message);
    assert_int_equal(l.m->file_size_bytes, bytes_of_model.n + sizeof bytes);
    assert_int_equal(tensor_of(&l, "e")->storage, IR_DATA_EXTERNAL);
    check_bytes(&l, tensor_of(&l, "e"), bytes + 16, 400);
    check_bytes(&l, tensor_of(&l, "b"), bytes + 480, 400);
    assert_int_equal(tensor_of(&l, "c")->storage, IR_DATA_NONE);
    assert_int_equal(tensor_of(&l, "d")->storage, IR_DATA_NONE);
    assert_int_equal(l.m->notes.list.n, 2);
    assert_true(has_note(&l, "external-short") && has_note(&l, "external-missing"));
    assert_true(l.m->notes.list.items[0].advice.n > 0);
    unload(&l);
    unlink(path);
    unlink(data);
    rmdir(dir);

    ir_model *none;
    assay_error err;
    err_clear(&err);
    assert_int_equal(onnx_read_file(path, NULL, &none, &err), ASSAY_ERR_SYSTEM);
    assert_null(none);
}

/* ---- constants ---- */

static void test_constants(void **state)
{
    (void)state;
    ww g = small_graph();
    ww value = ow_attr("value", 4), sparse = ow_attr("sparse_value", 11),
       f = ow_attr("value_float", 1);
    ww fs = ow_attr("value_floats", 6), is = ow_attr("value_ints", 7);
    ww s = ow_attr("value_string", 3), ss = ow_attr("value_strings", 8);
    ww_sub(&value, 5, ow_raw("", F32, DIMS(1), "abcd", 4));
    ww_sub(&sparse, 22, sparse_tensor(2));
    ww_float(&f, 2, 1.0f);
    ww_float(&fs, 7, 1.0f);
    ww_float(&fs, 7, 2.0f);
    ww_packed(&is, 8, (int64_t[]){1, -1, 3}, 3);
    ww_str(&s, 4, "hello");
    ww_str(&ss, 9, "a");
    ww_str(&ss, 9, "bc");
    ww attrs[] = {value, sparse, f, fs, ow_attr_int("value_int", -2), is, s, ss};
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        ww_sub(&g, 1, ow_with(ow_node("Constant", name, NO_NAMES, NAMES(name)), attrs[i]));
    }
    loaded l = load_good(ow_model(g));
    assert_int_equal(l.m->graphs.items[0].nodes.n, 1);
    assert_int_equal(l.m->graphs.items[0].constants.n, 8); /* read as initialisers */
    assert_int_equal(l.m->n_constant_nodes, 8);
    assert_int_equal(tensor_of(&l, "c0")->rank, 1);
    assert_true(tensor_of(&l, "c1")->sparse);
    assert_int_equal(tensor_of(&l, "c2")->rank, 0);
    check_bytes(&l, tensor_of(&l, "c2"), "\0\0\x80\x3f", 4);
    check_bytes(&l, tensor_of(&l, "c3"), "\0\0\x80\x3f\0\0\0\x40", 8);
    check_bytes(&l, tensor_of(&l, "c4"), "\xfe\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_int_equal(tensor_of(&l, "c5")->dims[0], 3);
    assert_int_equal(tensor_of(&l, "c6")->dtype, STR_);
    check_bytes(&l, tensor_of(&l, "c7"), "abc", 3);
    unload(&l);
}

static void test_attributes(void **state)
{
    (void)state;
    ww n = ow_node("Odd", "n", NAMES("x"), NAMES("o")), g = small_graph();
    ww t = ow_attr("tensors", 9), tp = ow_attr("type", 13), tps = ow_attr("types", 14),
       sp = ow_attr("sparses", 12);
    ww untyped = {0}, gs = ow_attr("graphs", 10);
    ww_sub(&t, 10, ow_raw("a", F32, DIMS(1), "abcd", 4));
    ww_sub(&t, 10, ow_raw("b", F32, DIMS(1), "abcd", 4));
    ww_sub(&tp, 14, ow_tensor_type(F32, DIMS(3)));
    ww_sub(&tps, 15, ow_tensor_type(F32, DIMS(3)));
    ww_sub(&sp, 23, sparse_tensor(2));
    ww_str(&untyped, 1, "old");
    ww_int(&untyped, 8, 5);
    ww_int(&untyped, 8, 6);
    ww_sub(&gs, 11, (ww){0});
    ww_sub(&gs, 11, (ww){0});
    n = ow_with(ow_with(ow_with(ow_with(n, t), tp), tps), sp);
    n = ow_with(ow_with(ow_with(ow_with(n, untyped), gs), ow_attr("zero", 2)), ow_attr("empty", 7));
    ww_sub(&g, 1, n);
    loaded l = load_good(ow_model(g));
    const ir_node *odd = node_of(&l, "n");
    assert_int_equal(odd->n_attrs, 8);
    assert_int_equal(ir_attr_find(odd, "tensors")->n, 2);
    assert_true(str_is(ir_attr_find(odd, "tensors")->v.tensors[1]->name, "b"));
    assert_int_equal(ir_attr_find(odd, "type")->v.type->rank, 1);
    assert_int_equal(ir_attr_find(odd, "types")->v.types[0]->rank, 1);
    assert_true(ir_attr_find(odd, "sparses")->v.tensors[0]->sparse);
    assert_int_equal(ir_attr_find(odd, "old")->kind, IR_ATTR_INTS);
    assert_int_equal(ir_attr_find(odd, "old")->v.ints[1], 6);
    assert_int_equal(ir_attr_find(odd, "graphs")->n, 2);
    assert_int_equal(ir_attr_find(odd, "zero")->v.i, 0);
    assert_int_equal(ir_attr_find(odd, "empty")->n, 0);
    assert_int_equal(l.m->graphs.n, 3);
    unload(&l);

    g = small_graph();
    ww_sub(&g, 1, ow_with(ow_node("Odd", "n", NAMES("x"), NAMES("o")), ow_attr("a", 15)));
    refuse(ow_model(g), ASSAY_ERR_UNSUPPORTED, "@84", "15");
    g = small_graph();
    ww_sub(&g, 1, ow_with(ow_node("Odd", "n", NAMES("x"), NAMES("o")), ow_attr("a", 5)));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "", NULL);
}

/* A graph without inputs: out = op(in). */
static ww branch(const char *op, const char *in, const char *out)
{
    ww g = {0};
    ww_sub(&g, 1, ow_node(op, "", NAMES(in), NAMES(out)));
    ww_sub(&g, 12, ow_value(out));
    return g;
}

static ww if_node(const char *name, const char *cond, const char *out, ww a, ww b)
{
    ww n = ow_node("If", name, NAMES(cond), NAMES(out));
    return ow_with(ow_with(n, ow_attr_graph("then_branch", a)), ow_attr_graph("else_branch", b));
}

static ww constant_node(const char *name, ww tensor)
{
    ww value = ow_attr("value", 4);
    ww_sub(&value, 5, tensor);
    return ow_with(ow_node("Constant", name, NO_NAMES, NAMES(name)), value);
}

/* An attribute that is written twice is read once; what hangs on its place is not shared. */
static void test_repeated_attributes(void **state)
{
    (void)state;
    ww g = small_graph();
    ww branches[] = {branch("Neg", "x", "p"), branch("Neg", "x", "p"), branch("Neg", "x", "p"),
                     branch("Neg", "x", "p")};
    ww_sub(&g, 1, constant_node("a", ow_raw("", F32, DIMS(1), "abcd", 4)));
    ww_sub(&g, 1, constant_node("b", ow_raw("", F32, DIMS(1), "abce", 4)));
    ww_sub(&g, 1, constant_node("c", ow_raw("", F32, DIMS(1), "abcd", 4)));
    ww_sub(&g, 1, constant_node("d", ow_raw("", F32, DIMS(7), "", 0)));
    ww_sub(&g, 1, constant_node("e", ow_raw("", F32, DIMS(7), "", 0)));
    ww_sub(&g, 1, if_node("if1", "x", "i", branches[0], branches[1]));
    ww_sub(&g, 1, if_node("if2", "x", "j", branches[2], branches[3]));
    loaded l = load_good(ow_model(g));
    assert_ptr_equal(tensor_of(&l, "a"), tensor_of(&l, "c"));
    check_bytes(&l, tensor_of(&l, "b"), "abce", 4);
    assert_int_equal(tensor_of(&l, "d")->storage, IR_DATA_NONE);
    assert_ptr_not_equal(tensor_of(&l, "d"), tensor_of(&l, "e"));
    assert_int_equal(l.m->graphs.n, 5);
    unload(&l);
}

/* Names with the same end are not the same. */
static void test_similar_names(void **state)
{
    (void)state;
    ww g = small_graph();
    ww_sub(&g, 1, ow_node("Neg", "n", NAMES("x"), NAMES("first/a/long/name_output_0")));
    ww_sub(&g, 1, ow_node("Abs", "a", NAMES("x"), NAMES("other/a/long/name_output_0")));
    ww_sub(&g, 1,
           ow_node("Add", "add", NAMES("first/a/long/name_output_0", "other/a/long/name_output_0"),
                   NAMES("z")));
    loaded l = load_good(ow_model(g));
    assert_int_equal(node_of(&l, "add")->inputs[0], node_of(&l, "n")->outputs[0]);
    assert_int_equal(node_of(&l, "add")->inputs[1], node_of(&l, "a")->outputs[0]);
    unload(&l);
}

/* ---- scopes ---- */

static void test_subgraphs(void **state)
{
    (void)state;
    ww inner = {0}, g = small_graph();
    ww_sub(&inner, 1,
           if_node("", "x", "deep", branch("Neg", "later", "p"), branch("Abs", "local", "p")));
    ww_sub(&inner, 1, ow_node("Exp", "", NAMES("x"), NAMES("local")));
    ww_sub(&inner, 12, ow_value("deep"));
    ww_sub(&g, 1, if_node("if", "x", "z", inner, branch("Neg", "x", "y")));
    ww_sub(&g, 1, ow_node("Sqrt", "sqrt", NAMES("x"), NAMES("later")));
    loaded l = load_good(ow_model(g));
    assert_int_equal(l.m->graphs.n, 5);
    assert_true(has_note(&l, "unsorted"));
    const ir_graph *main_graph = &l.m->graphs.items[0];
    assert_true(str_is(ir_node_at(l.m, main_graph->nodes.items[2])->op, "If")); /* needs `later` */
    const ir_node *neg = node_of(&l, "if/then_branch/If_0/then_branch/Neg_0");
    assert_true(neg->inputs[0] == value_named(l.m, "later"));
    assert_int_equal(neg->version, 17);
    const ir_node *shadow = node_of(&l, "if/else_branch/Neg_0");
    assert_true(ir_value_at(l.m, shadow->outputs[0])->graph != 0);
    assert_true(shadow->outputs[0] != value_named(l.m, "y"));
    unload(&l);

    g = small_graph();
    ww_sub(&g, 1, if_node("if", "x", "z", branch("Neg", "nowhere", "p"), branch("Neg", "x", "p")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "", "'nowhere'");
    g = small_graph();
    ww_sub(&g, 1, if_node("if", "x", "z", branch("Neg", "x", "p"), branch("Neg", "p", "q")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "", "'p'");
    g = small_graph(); /* a graph that needs its owner's output */
    ww_sub(&g, 1, if_node("if", "x", "z", branch("Neg", "z", "p"), branch("Neg", "x", "p")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'if'", NULL);

    ww deep = branch("Neg", "x", "p");
    for (int i = 0; i < 40; i++) {
        ww outer = {0};
        ww_sub(&outer, 1, if_node("", "x", "p", deep, branch("Neg", "x", "q")));
        ww_sub(&outer, 12, ow_value("p"));
        deep = outer;
    }
    ww_sub(&deep, 11, ow_value("x"));
    refuse(ow_model(deep), ASSAY_ERR_UNSUPPORTED, "@1169", "32");
}

static void test_names(void **state)
{
    (void)state;
    ww g = small_graph();
    ww_sub(&g, 1, ow_node("Conv", "", NAMES("x", "", "x"), NAMES("a", "")));
    ww_sub(&g, 1, ow_node("Conv", "", NAMES("a"), NAMES("b")));
    ww_sub(&g, 1, ow_node("Abs", "Conv_2", NAMES("b"), NAMES("c")));
    loaded l = load_good(ow_model(g));
    const ir_node *n = node_of(&l, "Conv_1");
    assert_int_equal(n->n_inputs, 3);
    assert_true(n->inputs[1] == IR_NONE && n->outputs[1] == IR_NONE);
    assert_true(str_is(node_of(&l, "Conv_2_1")->op, "Conv"));
    assert_true(str_is(node_of(&l, "Conv_2")->op, "Abs"));
    unload(&l);

    /* A Constant that is read as an initialiser counts: names and numbers are those of the file. */
    ww constant = ow_node("Constant", "", NO_NAMES, NAMES("k"));
    g = small_graph();
    ww_sub(&g, 1, ow_with(constant, ow_attr_int("value_int", 1)));
    ww_sub(&g, 1, ow_node("Abs", "", NAMES("x"), NAMES("c")));
    l = load_good(ow_model(g));
    assert_true(str_is(node_of(&l, "Abs_2")->op, "Abs"));
    assert_int_equal(l.m->n_constant_nodes, 1);
    assert_int_equal(l.m->nodes.n, l.m->graphs.items[0].nodes.n);
    unload(&l);
    g = small_graph();
    constant = ow_node("Constant", "", NO_NAMES, NAMES("k"));
    ww_sub(&g, 1, ow_with(constant, ow_attr_int("value_int", 1)));
    ww_sub(&g, 1, ow_node("Abs", "abs", NAMES("missing"), NAMES("c")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'abs'", "number 2");

    g = small_graph();
    ww_sub(&g, 1, ow_node("Abs", "abs", NAMES("missing"), NAMES("c")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'abs'", "'missing'");
    g = small_graph();
    ww_sub(&g, 12, ow_value("missing"));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'missing'", "'missing'");
    g = small_graph();
    ww_sub(&g, 1, ow_node("Abs", "abs", NAMES("x"), NAMES("y")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'y'", "'y'");
    g = small_graph();
    ww_sub(&g, 11, ow_value("x"));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'x'", "'x'");
    g = small_graph();
    ww_sub(&g, 11, ow_value("y"));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'y'", "'y'");
    g = small_graph();
    ww_sub(&g, 5, ow_raw("y", F32, DIMS(1), "abcd", 4));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'y'", "'y'");
    g = small_graph();
    ww_sub(&g, 1, ow_node("", "n", NAMES("x"), NAMES("c")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@68", NULL);
}

static void test_order(void **state)
{
    (void)state;
    ww g = {0};
    ww_sub(&g, 1, ow_node("Abs", "last", NAMES("b"), NAMES("c")));
    ww_sub(&g, 1, ow_node("Neg", "middle", NAMES("a"), NAMES("b")));
    ww_sub(&g, 1, ow_node("Exp", "first", NAMES("x"), NAMES("a")));
    ww_sub(&g, 11, ow_value("x"));
    ww_sub(&g, 12, ow_value("c"));
    loaded l = load_good(ow_model(g));
    assert_true(has_note(&l, "unsorted"));
    assert_true(str_is(ir_node_at(l.m, l.m->graphs.items[0].nodes.items[0])->name, "first"));
    unload(&l);
    g = small_graph();
    ww_sub(&g, 1, ow_node("Add", "p", NAMES("x", "q"), NAMES("r")));
    ww_sub(&g, 1, ow_node("Abs", "q", NAMES("r"), NAMES("q")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'p'", NULL);
    g = small_graph();
    ww_sub(&g, 1, ow_node("Abs", "self", NAMES("r"), NAMES("r")));
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "'self'", NULL);
}

/* ---- bytes that are not models ---- */

static void test_sniff(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        assay_status status;
        const char *part;
    } rows[] = {
        {"", 0, ASSAY_ERR_MALFORMED, NULL},
        {"hello world\n", 12, ASSAY_ERR_MALFORMED, "text"},
        {"{\"a\": 1}", 8, ASSAY_ERR_MALFORMED, "text"},
        {"PK\3\4abc", 7, ASSAY_ERR_UNSUPPORTED, "torch.onnx.export"},
        {"\x89HDF\r\n\x1a\n", 8, ASSAY_ERR_UNSUPPORTED, "keras"},
        {"\x1c\0\0\0TFL3", 8, ASSAY_ERR_UNSUPPORTED, "tflite"},
        {"GGUF\3\0\0\0", 8, ASSAY_ERR_UNSUPPORTED, "GGUF"},
        {"\2\0\0\0\0\0\0\0{}", 10, ASSAY_ERR_UNSUPPORTED, "safetensors"},
        {"\x80\2}q\0", 5, ASSAY_ERR_UNSUPPORTED, "pickle"},
        {"version https://git-lfs.x/spec/v1\n", 33, ASSAY_ERR_UNSUPPORTED, "git lfs"},
        {"<!DOCTYPE html>", 15, ASSAY_ERR_UNSUPPORTED, NULL},
        {"\x08\x08", 2, ASSAY_ERR_MALFORMED, "graph"},
        {"\xff\xff\xff\xff", 4, ASSAY_ERR_MALFORMED, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ww w = {0};
        ww_bytes(&w, rows[i].bytes, rows[i].n);
        refuse(w, rows[i].status, "", rows[i].part);
        assert_true(onnx_looks_like(rows[i].bytes, rows[i].n) == (i == 11));
    }
    ww m = ow_model(small_graph());
    assert_true(onnx_looks_like(m.p, m.n));
    ww_free(&m);
}

static void test_wire(void **state)
{
    (void)state;
    ww g = small_graph(), m;
    ww_tag(&g, 99, 3); /* a group with a group and scalars inside */
    ww_int(&g, 1, 5);
    ww_tag(&g, 7, 3);
    ww_str(&g, 3, "x");
    ww_tag(&g, 7, 4);
    ww_tag(&g, 99, 4);
    ww_tag(&g, 50, 5);
    ww_fixed(&g, 1, 4);
    ww_tag(&g, 51, 1);
    ww_fixed(&g, 1, 8);
    m = ow_model(g);
    ww_int(&m, 1000, 1);
    loaded l = load_good(m);
    unload(&l);

    g = small_graph();
    ww_tag(&g, 9, 4);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@69", NULL);
    g = small_graph();
    ww_tag(&g, 9, 3);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@69", NULL);
    g = small_graph();
    for (int i = 0; i < 100; i++)
        ww_tag(&g, 9, 3);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@102", "32");
    g = small_graph();
    ww_tag(&g, 9, 3);
    ww_tag(&g, 8, 4);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@70", NULL);
    g = small_graph();
    ww_int(&g, 1, 5);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@68", "GraphProto");
    g = small_graph();
    ww_tag(&g, 0, 0);
    ww_varint(&g, 0);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@69", NULL);
    g = small_graph();
    ww_tag(&g, 60, 2);
    ww_varint(&g, UINT64_MAX);
    refuse(ow_model(g), ASSAY_ERR_MALFORMED, "@80", NULL);
    m = ow_model(small_graph());
    ww_sub(&m, 7, small_graph());
    refuse(m, ASSAY_ERR_MALFORMED, "@72", NULL);
    m = (ww){0};
    ww_int(&m, 1, 8);
    ww_sub(&m, 8, ow_opset("", 17));
    refuse(m, ASSAY_ERR_MALFORMED, "", NULL);
}

/* Every kind of thing in one small model. */
static ww rich_model(void)
{
    ww g = small_graph(), f = ow_function("my", "F", NAMES("a", "b"), NAMES("c"));
    ww call = ow_with(ow_node("F", "call", NAMES("x"), NAMES("fy")), ow_attr_int("alpha", 3));
    ww t = ow_tensor("t", I64, DIMS(2));
    ww_packed(&t, 7, (int64_t[]){1, -2}, 2);
    ww_str(&call, 7, "my");
    ww_sub(&g, 1, call);
    ww_sub(&g, 1, if_node("", "x", "z", branch("Neg", "x", "p"), branch("Abs", "fy", "q")));
    ww_sub(&g, 5, t);
    ww_sub(&g, 5, external_tensor("w.bin", "8", "400"));
    ww_sub(&g, 5, ow_raw("r", F32, DIMS(2), "abcdefgh", 8));
    ww_sub(&g, 15, sparse_tensor(2));
    ww_sub(&g, 13, ow_info("fy", F32, DIMS(1, 3)));
    ww_sub(&f, 7,
           ow_with(ow_node("LeakyRelu", "", NAMES("a"), NAMES("h")),
                   ow_attr_ref("alpha", 2, "alpha")));
    ww_sub(&f, 7, if_node("i", "h", "c", branch("Neg", "a", "p"), branch("Abs", "h", "q")));
    ww_str(&f, 6, "alpha");
    ww m = ow_model(g);
    ww_sub(&m, 8, ow_opset("my", 1));
    ww_sub(&m, 25, f);
    return m;
}

/* Must end in a status, whatever it is; what is accepted must hold together. */
static void survive(const uint8_t *p, size_t n)
{
    ir_model *m;
    assay_error err;
    err_clear(&err);
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, p, n);
    if (onnx_read_bytes(exact, n, NULL, &m, &err) == ASSAY_OK) {
        assert_int_equal(ir_verify(m, &err), ASSAY_OK);
        if (rewrite_inline(m, &err) == ASSAY_OK && ir_verify(m, &err) != ASSAY_OK)
            fail_msg("inlined: %s", err.message);
        ir_model_free(m);
    } else {
        assert_true(err.message[0] != '\0');
        assert_true(err.code == ASSAY_ERR_MALFORMED || err.code == ASSAY_ERR_UNSUPPORTED);
    }
    free(exact);
}

static void test_damage(void **state)
{
    (void)state;
    ww m = rich_model();
    loaded l = load_good(rich_model());
    unload(&l);
    for (size_t n = 0; n <= m.n; n++)
        survive(m.p, n);
    for (size_t i = 0; i < m.n; i++) {
        uint8_t was = m.p[i];
        for (int bit = 0; bit < 8; bit++) {
            m.p[i] = (uint8_t)(was ^ (1 << bit));
            survive(m.p, m.n);
        }
        m.p[i] = (uint8_t)~was;
        survive(m.p, m.n);
        m.p[i] = was;
    }
    ww_free(&m);
}

static void test_memory_limit(void **state)
{
    (void)state;
    ww g = small_graph();
    for (int i = 0; i < 2000; i++) {
        char out[16];
        snprintf(out, sizeof out, "v%d", i);
        ww_sub(&g, 1, ow_node("Abs", "", NAMES("x"), NAMES(out)));
    }
    loaded l = load_with(ow_model(g), &(onnx_read_options){.memory_limit = 100000});
    assert_int_equal(l.status, ASSAY_ERR_SYSTEM);
    unload(&l);
}

int run_test_onnx_read(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basic),          cmocka_unit_test(test_dims),
        cmocka_unit_test(test_types),          cmocka_unit_test(test_versions),
        cmocka_unit_test(test_typed),          cmocka_unit_test(test_raw),
        cmocka_unit_test(test_long_typed),     cmocka_unit_test(test_strings),
        cmocka_unit_test(test_bad_tensors),    cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_overridable),    cmocka_unit_test(test_external_paths),
        cmocka_unit_test(test_external_files), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_attributes),     cmocka_unit_test(test_repeated_attributes),
        cmocka_unit_test(test_similar_names),  cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_order),
        cmocka_unit_test(test_sniff),          cmocka_unit_test(test_wire),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Described structs: written, read back, found by path; and what a malformed file is told. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/fields.h"
#include "base/result.h"

typedef enum colour { RED, GREEN } colour;
static const char *const colour_words[] = {"red", "green", NULL};

typedef struct part {
    str name;
    double share;
    uint64_t bytes;
} part;

typedef struct spliced {
    uint64_t inner;
    bool finished;
} spliced;

typedef struct axis_size {
    str axis;
    uint64_t size;
} axis_size;

typedef struct inner {
    const char *kind;
    uint64_t count;
} inner;

typedef struct extra {
    bool present;
    double ms;
} extra;

typedef struct sample {
    uint64_t u, size;
    uint32_t small;
    int64_t i;
    int n;
    double d, rounded, tiny;
    bool flag, detailed, kind;
    str text;
    const char *word;
    colour colour;
    char chars[8];
    const double *reals;
    uint32_t n_reals;
    const uint32_t *smalls;
    uint32_t n_smalls;
    const uint64_t *wholes;
    uint32_t n_wholes;
    const str *texts;
    uint32_t n_texts;
    const part *parts;
    uint32_t n_parts;
    const part *by_name;
    uint32_t n_by_name;
    const axis_size *sizes;
    uint32_t n_sizes;
    part fixed[2];
    uint32_t n_fixed;
    extra extra;
    const extra *pointed;
    double hidden;
    const spliced *joined;
    field_number exact, near;
    const str *sentences;
    uint32_t n_sentences;
    const field_result *inside;
    uint32_t n_inside;
} sample;

static const field part_rows[] = {
    FIELD(part, name, STR, NONE, "Name", "Its name."),
    FIELD(part, share, F64, PERCENT, "Share", "Of all.", .absent = FIELD_NULL),
    FIELD(part, bytes, U64, BYTES, "Size", "In memory.", .absent = FIELD_OMIT),
};
static const fields part_fields = FIELDS(part, part_rows);

static const field keyed_rows[] = {FIELD(part, bytes, U64, BYTES, "Size", "In memory.")};
static const fields keyed_fields = FIELDS(part, keyed_rows, .key_at = offsetof(part, name));

static const field size_rows[] = {FIELD(axis_size, size, U64, COUNT, "Size", "Along the axis.")};
static const fields size_fields = FIELDS(axis_size, size_rows, .key_at = offsetof(axis_size, axis),
                                         .bare = true);

static const field extra_rows[] = {FIELD(extra, ms, F64, MS, "Time", "How long.")};
static const fields extra_fields = FIELDS(extra, extra_rows,
                                          .present_at = 1 + offsetof(extra, present));

static bool finish_spliced(field_reader *r, void *base)
{
    (void)r;
    ((spliced *)base)->finished = true;
    return true;
}
static const field spliced_rows[] = {FIELD(spliced, inner, U64, COUNT, NULL, "Of another struct.")};
static const fields spliced_fields = FIELDS(spliced, spliced_rows, .finish = finish_spliced);

static const field inner_rows[] = {
    FIELD(inner, kind, WORD, NONE, NULL, "What it is.", .absent = FIELD_NULL),
    FIELD(inner, count, U64, COUNT, NULL, "A count."),
};
static const field other_rows[] = {
    FIELD(inner, kind, WORD, NONE, NULL, "What it is.", .absent = FIELD_NULL),
    FIELD_AS(inner, "n", count, U64, COUNT, NULL, "A count."),
};
static const fields inner_fields = FIELDS(inner, inner_rows);
static const fields other_fields = FIELDS(inner, other_rows);
static const result_kind other_kind = {
    .schema = "assay.inner", .version = 2, .word = "other", .of = &other_fields};
static const result_kind inner_kind = {.schema = "assay.inner", .version = 2, .of = &inner_fields};
static const result_kind *const inner_kinds[] = {&other_kind, &inner_kind, NULL};
static const field inside_rows[] = {
    {.kind = FIELD_RESULT, .results = inner_kinds, .about = "A result."}};
static const fields inside_fields = FIELDS(field_result, inside_rows, .bare = true);

static const field sample_rows[] = {
    FIELD_SPLICED(sample, joined, spliced_fields, .by_pointer = true),
    FIELD(sample, u, U64, COUNT, "Count", "A count."),
    FIELD(sample, size, U64, BYTES, "Size", "A size.", .absent = FIELD_NULL),
    FIELD(sample, small, U32, COUNT, NULL, "Small.", .absent = FIELD_OMIT_ZERO),
    FIELD(sample, i, I64, NONE, NULL, "Signed."),
    FIELD(sample, n, INT, NONE, NULL, "Signed and small."),
    FIELD(sample, d, F64, MS, "Time", "A time.", .absent = FIELD_OMIT),
    FIELD(sample, rounded, F64, MS, NULL, "A time.", .decimals = 1 + 2),
    FIELD(sample, tiny, F64, MS, NULL, "A time.", .decimals = 1 + 2, .absent = FIELD_OMIT_ZERO),
    FIELD(sample, flag, BOOL, NONE, NULL, "Whether."),
    FIELD(sample, text, STR, NONE, NULL, "Text."),
    FIELD(sample, word, WORD, NONE, NULL, "A word.", .words = colour_words, .absent = FIELD_NULL),
    FIELD(sample, colour, ENUM, NONE, NULL, "A colour.", .words = colour_words),
    FIELD(sample, kind, EITHER, NONE, NULL, "A kind.", .words = colour_words),
    FIELD_VALUES(sample, U32S, "smalls", smalls, n_smalls, COUNT, "Small ones."),
    FIELD(sample, chars, CHARS, NONE, NULL, "Characters.", .size = 8),
    FIELD_VALUES(sample, F64S, "reals", reals, n_reals, MS, "Times.", .flags = FIELD_HOLES),
    FIELD_VALUES(sample, U64S, "wholes", wholes, n_wholes, BYTES, "Sizes."),
    FIELD_VALUES(sample, STRS, "texts", texts, n_texts, NONE, "Texts."),
    FIELD_ITEMS(sample, LIST, "parts", parts, n_parts, part_fields, "Parts.", .flags = FIELD_FLAT),
    FIELD_ITEMS(sample, MAP, "by_name", by_name, n_by_name, keyed_fields, "By name."),
    FIELD_ITEMS(sample, MAP, "sizes", sizes, n_sizes, size_fields, "By axis."),
    FIELD_ITEMS(sample, LIST, "fixed", fixed, n_fixed, part_fields, "At most two.", .size = 2),
    FIELD_STRUCT(sample, "extra", extra, extra_fields, "Sometimes."),
    FIELD_STRUCT(sample, "pointed", pointed, extra_fields, "Elsewhere.", .by_pointer = true),
    FIELD(sample, hidden, F64, MS, NULL, "Only in detail.",
          .when_at = 1 + offsetof(sample, detailed)),
    FIELD(sample, exact, NUMBER, COUNT, "Exact", "A count or not.", .absent = FIELD_OMIT),
    FIELD(sample, near, NUMBER, MS, NULL, "A time or not.", .absent = FIELD_NULL),
    FIELD_VALUES(sample, STRS, "sentences", sentences, n_sentences, NONE, "Sentences.",
                 .flags = FIELD_LINES),
    FIELD_ITEMS(sample, LIST, "inside", inside, n_inside, inside_fields, "Results."),
};
static const fields sample_fields = FIELDS(sample, sample_rows);

static sample filled(void)
{
    static const double reals[] = {1.5, NAN, -2};
    static const uint64_t wholes[] = {0, UINT64_MAX - 1};
    static const uint32_t smalls[] = {3, 0};
    static const str texts[] = {{"a", 1}, {"\"b\0", 3}};
    static const part parts[] = {{{"x", 1}, 50, 7}, {{"y", 1}, NAN, FIELD_UNKNOWN}};
    static const axis_size sizes[] = {{{"batch", 5}, 4}, {{"height", 6}, FIELD_UNKNOWN}};
    static const spliced joined = {.inner = 9};
    static const extra pointed = {true, 2.25};
    static const inner first = {.kind = "other", .count = 1}, second = {.kind = NULL, .count = 2};
    static const field_result inside[] = {{&other_kind, &first}, {&inner_kind, &second}};
    return (sample){.exact = {.v = 1e19, .whole = true, .n = 10000000000000000001u},
                    .near = {.v = 2.5},
                    .sentences = texts,
                    .n_sentences = 2,
                    .inside = inside,
                    .n_inside = 2,
                    .u = UINT64_MAX - 1,
                    .size = FIELD_UNKNOWN,
                    .i = INT64_MIN + 1,
                    .n = -5,
                    .d = 0.1,
                    .rounded = 1.23456,
                    .tiny = 0.004, /* which the file would have as 0 */
                    .flag = true,
                    .text = STR("hé\n"),
                    .word = "green",
                    .colour = GREEN,
                    .chars = "seven77",
                    .kind = true,
                    .smalls = smalls,
                    .n_smalls = 2,
                    .reals = reals,
                    .n_reals = 3,
                    .wholes = wholes,
                    .n_wholes = 2,
                    .texts = texts,
                    .n_texts = 2,
                    .parts = parts,
                    .n_parts = 2,
                    .by_name = parts,
                    .n_by_name = 1,
                    .sizes = sizes,
                    .n_sizes = 2,
                    .fixed = {{{"z", 1}, 1, 2}},
                    .n_fixed = 1,
                    .extra = {true, 3},
                    .pointed = &pointed,
                    .joined = &joined};
}

static void put(const sample *s, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 0);
    fields_write(&w, &sample_fields, s);
    assert_false(out->failed);
}

static assay_status parse(const char *json, sample *out, arena *a, assay_error *err)
{
    return fields_parse(str_of(json), "x.json", &sample_fields, out, a, err);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    sample s = filled(), back;
    sbuf first = {0}, second = {0};
    arena *a = arena_new(1 << 20);
    put(&s, &first);
    str text = {first.p, (uint32_t)first.n};
    assay_error err = {0};
    assert_int_equal(fields_parse(text, "x.json", &sample_fields, &back, a, &err), ASSAY_OK);
    put(&back, &second);
    assert_string_equal(sbuf_cstr(&first), sbuf_cstr(&second));
    assert_true(back.i == INT64_MIN + 1 && back.u == UINT64_MAX - 1 && back.n == -5);
    assert_true(isnan(back.reals[1]) && back.size == FIELD_UNKNOWN && back.small == 0);
    assert_true(back.texts[1].n == 3 && back.colour == GREEN && back.pointed->ms == 2.25);
    assert_true(back.rounded == 1.23 && back.kind && back.smalls[0] == 3);
    assert_true(back.joined && back.joined->inner == 9 && back.joined->finished);
    assert_true(back.exact.whole && back.exact.n == 10000000000000000001u && !back.near.whole);
    assert_true(back.near.v == 2.5 && back.n_inside == 2 && back.inside[1].kind == &inner_kind);
    assert_true(back.inside[0].kind == &other_kind);
    assert_int_equal(((const inner *)back.inside[1].data)->count, 2);
    assert_true(back.sizes[0].size == 4 && back.sizes[1].size == FIELD_UNKNOWN);
    assert_null(strstr(sbuf_cstr(&first), "tiny"));
    assert_non_null(strstr(sbuf_cstr(&first), "\"sizes\":{\"batch\":4,\"height\":null}"));
    sbuf_free(&first);
    sbuf_free(&second);
    arena_free(a);
}

static void sentences_stand_on_lines(void **state)
{
    (void)state;
    sample s = filled();
    sbuf out = {0};
    json_writer w;
    json_begin(&w, &out, 1);
    fields_write(&w, &sample_fields, &s);
    assert_non_null(strstr(sbuf_cstr(&out), "\"texts\": [\"a\", "));
    assert_non_null(strstr(sbuf_cstr(&out), "\"sentences\": [\n  \"a\",\n"));
    assert_non_null(
        strstr(sbuf_cstr(&out), "\"inside\": [\n  {\n   \"schema\": \"assay.inner/2\""));
    sbuf_free(&out);
}

/* Of an empty object everything is unknown, and stays so when it is written again. */
static void what_is_absent_is_unknown(void **state)
{
    (void)state;
    sample s;
    arena *a = arena_new(1 << 20);
    sbuf out = {0};
    assert_int_equal(parse("{\"newer\":[{}]}", &s, a, NULL), ASSAY_OK);
    assert_true(isnan(s.d) && s.size == FIELD_UNKNOWN && isnan(s.rounded));
    assert_true(s.u == 0 && s.i == 0 && s.n == 0); /* required */
    assert_true(isnan(s.exact.v) && isnan(s.near.v) && !s.n_inside);
    assert_false(s.detailed);
    assert_int_equal(parse("{\"hidden\":1}", &s, a, NULL), ASSAY_OK);
    assert_true(s.detailed);
    assert_int_equal(parse("{}", &s, a, NULL), ASSAY_OK);
    assert_true(!s.extra.present && !s.pointed && !s.n_parts && !s.joined);
    put(&s, &out);
    assert_null(strstr(sbuf_cstr(&out), "\"d\""));
    assert_null(strstr(sbuf_cstr(&out), "\"extra\""));
    assert_non_null(strstr(sbuf_cstr(&out), "\"size\":null"));
    sbuf_free(&out);
    arena_free(a);
}

static void values_by_path(void **state)
{
    (void)state;
    sample s = filled();
    field_value root = fields_root(&sample_fields, &s);
    field_value v = fields_get(&root, "parts.0.bytes");
    assert_true(v.type == VALUE_WHOLE && v.u == 7 && v.row->unit == UNIT_BYTES);
    v = fields_get(&root, "by_name.x.bytes");
    assert_true(v.type == VALUE_WHOLE && v.u == 7);
    v = fields_get(&root, "inner");
    assert_true(v.type == VALUE_WHOLE && v.u == 9);
    v = fields_get(&root, "reals.2");
    assert_true(v.type == VALUE_REAL && v.d == -2);
    v = fields_get(&root, "texts.1");
    assert_true(v.type == VALUE_TEXT && v.text.n == 3);
    v = fields_get(&root, "i");
    assert_true(v.type == VALUE_INTEGER && v.i == INT64_MIN + 1);
    assert_true(fields_get(&root, "pointed.ms").d == 2.25);
    v = fields_get(&root, "exact");
    assert_true(v.type == VALUE_WHOLE && v.u == 10000000000000000001u);
    v = fields_get(&root, "inside.0.n");
    assert_true(v.type == VALUE_WHOLE && v.u == 1);
    assert_ptr_equal(fields_get(&root, "inside.0").result, &other_kind);
    v = fields_get(&root, "sizes.batch");
    assert_true(v.type == VALUE_WHOLE && v.u == 4 && v.row->unit == UNIT_COUNT);
    static const char *const none[] = {"parts.2", "parts.x",   "parts.1.share", "reals.1",
                                       "size",    "by_name.y", "hidden",        "nothing",
                                       "u.v",     "parts.-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(fields_get(&root, none[i]).type, VALUE_NONE);
}

static void malformed_files_are_told_where(void **state)
{
    (void)state;
    static const struct {
        const char *json, *place;
    } cases[] = {
        {"{\"u\":-1}", "u:"},
        {"{\"u\":1.5}", "u:"},
        {"{\"inner\":1,\"inner\":1}", "inner:"},
        {"{\"d\":-1}", "d:"},
        {"{\"u\":1,\"u\":1}", "u:"},
        {"{\"colour\":\"blue\"}", "colour:"},
        {"{\"word\":\"blue\"}", "word:"},
        {"{\"chars\":\"12345678\"}", "chars:"},
        {"{\"parts\":[{},{\"share\":\"x\"}]}", "parts[1].share:"},
        {"{\"fixed\":[{},{},{}]}", "fixed[2]:"},
        {"{\"by_name\":{\"x\":{},\"x\":{}}}", "by_name.x:"},
        {"{\"n\":2147483648}", "n:"},
        {"{\"near\":-1}", "near:"},
        {"{\"exact\":\"1\"}", "exact:"},
        {"{\"inside\":[{\"schema\":\"assay.inner/1\"}]}", "inside[0]:"},
        {"{\"inside\":[{\"kind\":\"other\"}]}", "inside[0]:"},
        {"{\"inside\":[{\"schema\":\"assay.inner/2\",\"count\":-1}]}", "inside[0].count:"},
        {"{\"flag\":null}", "flag:"},
        {"{\"wholes\":[1,null]}", "wholes[1]:"},
        {"[]", "x.json:"},
        {"{} {}", "x.json:"},
        {"{\"i\":1", "x.json:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s;
        assay_error err = {0};
        arena *a = arena_new(1 << 20);
        assert_int_equal(parse(cases[i].json, &s, a, &err), ASSAY_ERR_MALFORMED);
        assert_non_null(strstr(err.message, cases[i].place));
        arena_free(a);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    sample s = filled();
    sbuf out = {0};
    put(&s, &out);
    size_t failures = 0;
    for (size_t limit = 0; limit < 4096; limit += 16) {
        sample back;
        assay_error err = {0};
        arena *a = arena_new(limit);
        str text = {out.p, (uint32_t)out.n};
        assay_status status = fields_parse(text, "x.json", &sample_fields, &back, a, &err);
        assert_true(status == ASSAY_OK || status == ASSAY_ERR_SYSTEM);
        failures += status != ASSAY_OK;
        arena_free(a);
    }
    assert_true(failures > 0);
    sbuf_free(&out);
}

int run_test_fields(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(what_is_absent_is_unknown),
        cmocka_unit_test(values_by_path),          cmocka_unit_test(malformed_files_are_told_where),
        cmocka_unit_test(memory_runs_out),         cmocka_unit_test(sentences_stand_on_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Documents for people: patterns and conditions, the rows of every kind, and views in every format of
 * documents by hand, hostile ones among them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <assay/assay.h>

#include "profile/result_kinds.h"
#include "report/view.h"

#define LIMIT ((size_t)64 << 20)

/* ---- patterns ---- */

typedef struct sample_item {
    uint64_t v;
} sample_item;

typedef struct sample {
    uint64_t n, zero, bytes, close, best;
    int64_t below;
    double ms, small, half, one, no;
    str t, when, unit, path;
    const sample_item *list;
    const str *words;
    uint32_t n_list, n_words;
} sample;

static const field item_rows[] = {FIELD(sample_item, v, U64, NONE, NULL, "")};
static const fields item_fields = FIELDS(sample_item, item_rows);
static const field sample_rows[] = {
    FIELD(sample, n, U64, MACS, NULL, ""),
    FIELD(sample, zero, U64, COUNT, NULL, ""),
    FIELD(sample, bytes, U64, BYTES, NULL, ""),
    FIELD(sample, close, U64, BYTES, NULL, ""),
    FIELD(sample, below, I64, BYTES, NULL, ""),
    FIELD(sample, one, F64, NONE, NULL, ""),
    FIELD(sample, path, STR, NONE, NULL, ""),
    FIELD(sample, best, U64, NONE, NULL, ""),
    FIELD(sample, ms, F64, MS, NULL, ""),
    FIELD(sample, small, F64, NONE, NULL, ""),
    FIELD(sample, half, F64, NONE, NULL, ""),
    FIELD(sample, no, F64, NONE, NULL, ""),
    FIELD(sample, t, STR, NONE, NULL, ""),
    FIELD(sample, when, STR, NONE, NULL, ""),
    FIELD(sample, unit, STR, NONE, NULL, ""),
    FIELD_ITEMS(sample, LIST, "list", list, n_list, item_fields, ""),
    FIELD_VALUES(sample, STRS, "words", words, n_words, NONE, ""),
};
static const fields sample_fields = FIELDS(sample, sample_rows);

static view sample_view(void)
{
    static const sample_item items[] = {{7}, {8}};
    static const str words[] = {{"a", 1}, {"b", 1}};
    static sample s = {.n = 4089184256,
                       .bytes = 102228128,
                       .close = 102228129,
                       .below = -1024,
                       .one = 1,
                       .best = 1,
                       .ms = 12.3456,
                       .small = 0.0042,
                       .half = 0.5,
                       .list = items,
                       .n_list = 2,
                       .words = words,
                       .n_words = 2};
    static const report_options o = {.width = 80};
    s.no = NAN;
    s.t = STR("<b>");
    s.when = STR("2026-11-15T19:06:00Z");
    s.unit = STR("ms");
    s.path = STR("/a/b");
    return (view){.o = &o, .root = fields_root(&sample_fields, &s)};
}

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *text;
    } cases[] = {
        {"{n} MACs", "4.09 G MACs"},
        {"{bytes}, {ms}, {zero}", "97.49 MiB, 12.35 ms, 0"},
        {"{n:si} MACs", "4.09 G MACs"},
        {"{n:whole}", "4,089,184,256"},
        {"{bytes:bytes}", "97.49 MiB"},
        {"{ms:ms}, {small:ms}, {zero:ms}", "12.35 ms, 4.20 µs, 0 ms"},
        {"{half:s}", "500.0 ms"},
        {"{half:share} {half:percent2} {half:ratio}", "50 % 0.50 % 0.50×"},
        {"{small:si}", "4.2e-3"},
        {"{t:text}", "<b>"},
        {"{when:day}", "2026-11-15 19:06 UTC"},
        {"{when:minute}", "2026-11-15 19:06"},
        {"{best:whole run}, {zero:whole run}, {list.@count:whole item}", "1 run, 0 runs, 2 items"},
        {"{list.@last.v:text}", "8"},
        {"{words:joined} {words:list} {words:shape}", "a,b a, b a×b"},
        {"{n/bytes:fixed1} {n/zero:si}", "40.0 0"},
        {"{n:si2}", "4.09 G"},
        {"[{?no:x}][{?n:y: z}]", "y: z"},
        {"{?+zero:x}|{?best=1:one}|none", "one"},
        {"{?+zero:x}|none", "none"},
        {"{half:change} {best:change} {small:chance} {zero:chance}", "−50.0 % 0 % 0.4 % exact"},
        {"{absent:si}", "–"},
        {"{no:text}", "–"},
        {"a[, {no:si}]b[, {ms:ms}]", "ab, 12.35 ms"},
        {"{no:si} x|{+zero:si} y|{ms:fixed1} z", "12.3 z"},
        {"{no:si} x|{no:si} y", "– y"},
        {"{list.@best.v:text}", "8"},
        {"{ms*half:fixed2} {ms*no:fixed2}", "6.17 12.35"},
        {"{ms:unit}", "12.35 ms"},
        {"{words:text}", "a, b"},
        {"{list.0:text}", "v 7"},
        {"{n:+si} {zero:+si} {below:+bytes}", "+4.09 G 0 −1.00 KiB"},
        {"{half:change} {ms:change} {one:change}", "−50.0 % +1134.6 % 0 %"},
        {"{half..ms:fixed1}[ {ms..ms:fixed1}]", "0.5 to 12.3"},
        {"{bytes:bytes~close}, {close:bytes~bytes}", "102,228,128, 102,228,129"},
        {"{bytes:bytes~n}", "97.49 MiB"},
        {"{path:name}", "a/b"},
        {"{ms/half:fixed2} {ms/zero:fixed2}[ {ms/no:fixed2}]", "24.69 0.00"},
        {"{n:si2} {n:macs} {zero:flops}", "4.09 G 4.09 GMACs 0 FLOPs"},
        {"{small:joule} {ms:joule} {half:less}", "4.20 mJ 12.35 J -0.5 %"},
        {"{small:digits} {small:digits%} {half:cosine}", "0.0042 0.42 % 0.500000"},
        {"{small:small2} {ms:small2} {one:short} {half:short}", "0.0042 12.35 1 0.50"},
        {"{n:B/s} {ms:watt} {ms:fixed0}", "4.09 GB/s 12 W 12"},
        {"", ""},
    };
    view v = sample_view();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf b = {0};
        view_put(&v, &b, &v.root, cases[i].pattern);
        assert_string_equal(sbuf_cstr(&b), cases[i].text);
        sbuf_free(&b);
    }
}

static void test_conditions(void **state)
{
    static const struct {
        const char *conditions;
        bool holds;
    } cases[] = {
        {NULL, true},           {"n", true},         {"no", false},       {"+zero", false},
        {"zero", true},         {"!no", true},       {"!n", false},       {"++list", true},
        {"++best", false},      {"t=<b>", true},     {"t!=<b>", false},   {"absent=x", true},
        {"n,no", false},        {"no/n", true},      {"n,no/zero", true}, {"absent!=x", false},
        {"list.@best.v", true}, {"n>zero", true},    {"zero>n", false},   {"no>n", false},
        {"n>1", true},          {"1>n", false},      {"n=^n", true},      {"n=^zero", false},
        {"$verbose", false},    {"!$verbose", true}, {"$top", false}};
    view v = sample_view();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (view_holds(&v, &v.root, cases[i].conditions) != cases[i].holds)
            fail_msg("%s", cases[i].conditions);
}

/* ---- the rows ---- */

static void check_unit(const char *from, const char *to)
{
    static const char *const units[] = {
        "si",     "whole",   "bytes",     "ms",     "s",      "percent", "percent0", "percent2",
        "share",  "ratio",   "rate",      "fixed1", "fixed2", "fixed3",  "per-s",    "text",
        "day",    "unit",    "intensity", "name",   "change", "minute",  "exact",    "joined",
        "list",   "share1",  "chance",    "mib",    "si2",    "macs",    "flops",    "joule",
        "digits", "digits%", "cosine",    "small2", "short",  "B/s",     "less",     "watt",
        "fixed0", "sizes",   "shape"};
    const char *tilde = memchr(from, '~', (size_t)(to - from));
    to = tilde ? tilde : to;
    const char *noun = memchr(from, ' ', (size_t)(to - from));
    to = noun ? noun : to;
    from += *from == '+';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == (size_t)(to - from) &&
            memcmp(units[i], from, (size_t)(to - from)) == 0)
            return;
    fail_msg("no unit: %.*s", (int)(to - from), from);
}

static void check_pattern(const char *p)
{
    for (const char *at = p; at && (at = strchr(at, '{')); at++) {
        if (at[1] == '?')
            continue;
        const char *end = strchr(at, '}'), *colon = strchr(at, ':');
        if (!end)
            fail_msg("a brace without end: %s", p);
        if (colon && colon < end)
            check_unit(colon + 1, end);
    }
}

static void check_table(const view_table_row *t)
{
    check_pattern(t->title);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        if (!t->columns[c].bar)
            check_pattern(t->columns[c].cell);
        assert_true(t->columns[c].title || t->columns[c].each);
    }
}

static void check_section(const view_section_row *s)
{
    for (uint32_t i = 0; s->of && i < s->of->n; i++)
        check_section(&s->of->rows[i]);
    check_pattern(s->title);
    check_pattern(s->remark);
    if (s->items) {
        check_pattern(s->items->title);
        check_pattern(s->items->text);
        check_pattern(s->items->note);
    }
    for (uint32_t i = 0; i < s->n_facts; i++) {
        check_pattern(s->facts[i].name);
        check_pattern(s->facts[i].value);
        check_pattern(s->facts[i].note);
    }
    for (uint32_t i = 0; i < s->n_tables; i++)
        check_table(&s->tables[i]);
    for (uint32_t i = 0; i < s->n_lines; i++)
        check_pattern(s->lines[i].text);
}

static void test_rows(void **state)
{
    (void)state;
    for (uint32_t i = 0; result_kinds[i]; i++)
        if (!view_kind_of(result_kinds[i]))
            fail_msg("no view of %s", result_kinds[i]->name);
    for (uint32_t i = 0; view_kinds[i]; i++) {
        check_pattern(view_kinds[i]->title);
        check_pattern(view_kinds[i]->under);
        for (uint32_t k = 0; k < view_kinds[i]->n_sections; k++)
            check_section(&view_kinds[i]->sections[k]);
    }
}

/* ---- views ---- */

static assay_status write_document(const char *json, const char *format, const assay_options *o,
                                   char **text, size_t *n, assay_error *err)
{
    assay_result *of = NULL;
    *text = NULL;
    assay_status s = assay_result_from_json(json, strlen(json), "t.json", NULL, &of, err);
    if (s == ASSAY_OK)
        s = assay_result_write(of, format, o, text, n, err);
    assay_result_free(of);
    return s;
}

static char *shown(const char *json, const char *format)
{
    assay_error err = {0};
    char *text = NULL;
    size_t n;
    if (write_document(json, format, NULL, &text, &n, &err))
        fail_msg("%s: %s", format, err.message);
    assert_int_equal(strlen(text), n);
    return text;
}

static void has(const char *json, const char *format, const char *part)
{
    char *text = shown(json, format);
    if (!strstr(text, part))
        fail_msg("'%s' is not in the %s: %s", part, format, text);
    assay_free(text);
}

static const char scaling[] =
    "{\"schema\": \"assay.scaling/1\", \"model\": \"m\", \"evaluations\": 2, \"axes\": [{\"name\": "
    "\"batch\"}], \"points\": [{\"sizes\": {\"batch\": 1}, \"macs\": 1000}, {\"sizes\": {\"batch\": 2}, "
    "\"macs\": 2000}], \"forms\": {\"macs\": {\"form\": \"1000*b\", \"exact\": true, \"error_percent\": 0, "
    "\"exponents\": {\"batch\": {\"fitted\": 1}}}}, \"answers\": []}";

static void test_scaling(void **state)
{
    (void)state;
    has(scaling, "md", "| batch | MACs |");
    has(scaling, "md", "| 2 | 2.00 k |");
    has(scaling, "md", "1,000·b");
    has(scaling, "console", "Closed forms");
    has(scaling, "summary-html", "1,000·b");
    has(scaling, "json", "\"evaluations\": 2");
}

static const char machine[] =
    "{\"schema\": \"assay.machine/1\", \"bandwidth_by_set\": [{\"set_bytes\": 4096, \"read\": 1e9, "
    "\"triad\": 2e9}]}";

static void test_csv_rows(void **state)
{
    assay_options *o = assay_options_new();
    assay_error err;
    char *text;
    size_t n;
    (void)state;
    assert_non_null(o);
    assert_int_equal(assay_options_set(o, "rows", "layers", &err), ASSAY_OK);
    assert_int_equal(write_document(machine, "csv", o, &text, &n, &err), ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "layers"));
    assay_options_free(o);
    text = shown(machine, "csv");
    assert_string_equal(text, "set_bytes,read,triad\r\n4096,1000000000,2000000000\r\n");
    assay_free(text);
}

/* Nothing that a terminal obeys: no control byte but the end of a line, no DEL, no C1 (U+0080 to U+009F). */
static void stays_on_the_screen(const char *json)
{
    char *text = shown(json, "console");
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p < 0x20 && *p != '\n') || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
            fail_msg("byte %02x at %zu of: %s", *p, (size_t)(p - (unsigned char *)text), text);
    assay_free(text);
}

static void test_hostile(void **state)
{
    static const char json[] =
        "{\"schema\": \"assay.check/1\", \"model\": \"</div><script>x</script>\\\"'&\", \"verdict\": "
        "\"regression\", \"checks\": [{\"metric\": \"<img onerror=1>\", \"unit\": \"ms\", \"verdict\": "
        "\"regression\", \"value\": 1e300, \"why\": \"a\\u0000b\\u001b[31m\"}], \"notes\": "
        "[\"@everyone https://x.y www.x.y\"]}";
    (void)state;
    char *html = shown(json, "summary-html");
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<img"));
    assert_non_null(strstr(html, "&lt;/div&gt;&lt;script&gt;"));
    assay_free(html);
    char *md = shown(json, "md");
    assert_null(strstr(md, "@e"));
    assert_null(strstr(md, "<script"));
    assert_null(strstr(md, "<img"));
    assert_null(strstr(md, "://"));
    assert_null(strstr(md, "www.x"));
    assay_free(md);
    char *xml = shown(json, "junit");
    assert_null(strstr(xml, "<script"));
    assert_null(strstr(xml, "<img"));
    assay_free(xml);
    stays_on_the_screen(json);
}

/* Titles of tables that are the document's own words: of each model, and of a kind that has no rows. */
static void test_hostile_titles(void **state)
{
    (void)state;
    stays_on_the_screen("{\"schema\": \"assay.capacity/1\", \"model\": \"\\u001b[2J\", "
                        "\"sweeps\": [{\"over\": \"\\u001b[2J\", \"points\": [{\"value\": 1}]}]}");
    stays_on_the_screen("{\"schema\": \"assay.profile/1\", \"model\": \"\\u001bc\", \"watch\": "
                        "{\"command\": \"\\u001b[2J\"}}");
}

/* ---- long tables ---- */

static void test_cut_tables_say_so(void **state)
{
    sbuf b = {0};
    (void)state;
    sbuf_puts(&b, "{\"schema\": \"assay.scaling/1\", \"model\": \"m\", \"evaluations\": 2, "
                  "\"axes\": [{\"name\": \"batch\"}], \"points\": [{\"sizes\": {\"batch\": 0}}");
    for (int i = 1; i < 107; i++)
        sbuf_printf(&b, ", {\"sizes\": {\"batch\": %d}}", i);
    sbuf_puts(&b, "]}");
    has(sbuf_cstr(&b), "md", "48 of 107 rows");
    sbuf_free(&b);
}

static void refused(const char *json, assay_status code, const char *part)
{
    assay_error err;
    char *text;
    size_t n;
    assert_int_equal(write_document(json, "md", NULL, &text, &n, &err), code);
    assert_null(text);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in: %s", part, err.message);
}

static void test_refused(void **state)
{
    (void)state;
    refused("{\"a\": 1}", ASSAY_ERR_MALFORMED, "schema");
    refused("{\"schema\": \"other/1\"}", ASSAY_ERR_MALFORMED, "other");
    refused("{\"schema\": \"assay.history/1\"}", ASSAY_ERR_UNSUPPORTED, "history import");
    refused("{\"schema\": \"assay.model/1\"}", ASSAY_ERR_UNSUPPORTED, "graph");
    refused("{\"schema\": \"assay.check/1\", \"x\": }", ASSAY_ERR_MALFORMED, "byte");
    refused("nonsense", ASSAY_ERR_MALFORMED, "JSON");
}

/* ---- the summary of a profile ---- */

static void test_summary_of_profile(void **state)
{
    assay_error err;
    assay_model *m = NULL;
    assay_result *p = NULL;
    char *text;
    size_t n;
    (void)state;
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assert_int_equal(assay_result_write(p, "summary-html", NULL, &text, &n, &err), ASSAY_OK);
    const char *const parts[] = {"resnet18", "Exact: ", "Parameters", "11.7 M",
                                 "3.64 G",   "light",   "balanced",   "Planned peak memory",
                                 "small GPU"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is not in: %s", parts[i], text);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assay_free(text);
    assay_result_free(p);
    assay_model_free(m);
}

int run_test_view(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),       cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_csv_rows),       cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_titles), cmocka_unit_test(test_cut_tables_say_so),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_summary_of_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

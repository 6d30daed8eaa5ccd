/* Documents for people: patterns and conditions, the rows of every kind, and views in every format of
 * documents by hand, hostile ones among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <assay/assay.h>

#include "report/view.h"

#define LIMIT ((size_t)64 << 20)

static json_value tree_of(const char *text, arena *a)
{
    assay_error err = {0};
    json_value d;
    if (json_tree_parse(str_of(text), "t.json", NULL, a, &d, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return d;
}

/* ---- patterns ---- */

static const char values[] =
    "{\"n\": 4089184256, \"zero\": 0, \"ms\": 12.3456, \"small\": 0.0042, \"half\": 0.5, \"bytes\": "
    "102228128, \"t\": \"<b>\", \"no\": null, \"when\": \"2026-11-15T19:06:00Z\", \"best\": 1, "
    "\"unit\": \"ms\", \"list\": [{\"v\": 7}, {\"v\": 8}], \"words\": [\"a\", \"b\"]}";

static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *text;
    } cases[] = {
        {"{n:si} MACs", "4.09 G MACs"},
        {"{n:whole}", "4,089,184,256"},
        {"{bytes:bytes}", "97.49 MiB"},
        {"{ms:ms}, {small:ms}, {zero:ms}", "12.35 ms, 4.20 µs, 0 ms"},
        {"{half:s}", "500.0 ms"},
        {"{half:share} {half:percent2} {half:ratio}", "50 % 0.50 % 0.50×"},
        {"{small:si}", "4.2e-3"},
        {"{t:text}", "<b>"},
        {"{when:day}", "2026-11-15 19:06 UTC"},
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
        {"", ""},
    };
    arena *a = arena_new(LIMIT);
    json_value d = tree_of(values, a);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sbuf b = {0};
        view_put(&b, &d, &d, cases[i].pattern);
        assert_string_equal(sbuf_cstr(&b), cases[i].text);
        sbuf_free(&b);
    }
    arena_free(a);
}

static void test_conditions(void **state)
{
    static const struct {
        const char *conditions;
        bool holds;
    } cases[] = {{NULL, true},          {"n", true},     {"no", false},       {"+zero", false},
                 {"zero", true},        {"!no", true},   {"!n", false},       {"++list", true},
                 {"++best", false},     {"t=<b>", true}, {"t!=<b>", false},   {"absent=x", true},
                 {"n,no", false},       {"no/n", true},  {"n,no/zero", true}, {"absent!=x", false},
                 {"list.@best.v", true}};
    arena *a = arena_new(LIMIT);
    json_value d = tree_of(values, a);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (view_holds(&d, &d, cases[i].conditions) != cases[i].holds)
            fail_msg("%s", cases[i].conditions);
    arena_free(a);
}

/* ---- the rows ---- */

static void check_unit(const char *from, const char *to)
{
    static const char *const units[] = {"si",      "whole",    "bytes",    "ms",       "s",
                                        "percent", "percent0", "percent2", "share",    "ratio",
                                        "rate",    "fixed1",   "fixed2",   "fixed3",   "per-s",
                                        "text",    "day",      "unit",     "intensity"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == (size_t)(to - from) &&
            memcmp(units[i], from, (size_t)(to - from)) == 0)
            return;
    fail_msg("no unit: %.*s", (int)(to - from), from);
}

static void check_pattern(const char *p)
{
    for (const char *at = p; at && (at = strchr(at, '{')); at++) {
        const char *end = strchr(at, '}'), *colon = strchr(at, ':');
        if (!end || !colon || colon > end)
            fail_msg("a brace without end or unit: %s", p);
        check_unit(colon + 1, end);
    }
}

static void check_kind(const view_kind *k)
{
    assert_true(strncmp(k->schema, "assay.", 6) == 0);
    check_pattern(k->title);
    check_pattern(k->under);
    for (uint32_t g = 0; g < k->n_groups; g++)
        for (uint32_t i = 0; i < k->groups[g].n; i++) {
            const view_fact_row *f = &k->groups[g].facts[i];
            check_pattern(f->name);
            check_pattern(f->value);
            check_pattern(f->note);
            assert_true(!f->judge || f->judged);
        }
    for (uint32_t t = 0; t < k->n_tables; t++)
        for (uint32_t c = 0; c < k->tables[t].n_columns; c++) {
            check_pattern(k->tables[t].columns[c].cell);
            assert_true(k->tables[t].columns[c].title || k->tables[t].columns[c].each);
        }
}

static void test_rows(void **state)
{
    (void)state;
    check_kind(&view_profile_kind);
    for (uint32_t i = 0; i < view_kinds_n; i++)
        check_kind(&view_kinds[i]);
}

/* ---- views ---- */

static char *shown(const char *json, const char *format)
{
    assay_error err = {0};
    char *text = NULL;
    size_t n;
    if (assay_document_report(json, strlen(json), "t.json", format, NULL, &text, &n, &err))
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
    has(scaling, "md", "1000\\*b");
    has(scaling, "console", "Closed forms");
    has(scaling, "summary-html", "1000*b");
    has(scaling, "json", "\"evaluations\": 2");
    char *csv = shown(scaling, "csv");
    assert_string_equal(csv, "name,form,exact,error_percent,exponents.batch.fitted\r\n"
                             "macs,1000*b,true,0,1\r\n");
    assay_free(csv);
}

static void test_csv_rows(void **state)
{
    assay_options *o = assay_options_new();
    assay_error err;
    char *text;
    size_t n;
    (void)state;
    assert_non_null(o);
    assert_int_equal(assay_options_set(o, "rows", "layers", &err), ASSAY_OK);
    assert_int_equal(
        assay_document_report(scaling, strlen(scaling), "t.json", "csv", o, &text, &n, &err),
        ASSAY_ERR_USAGE);
    assert_non_null(strstr(err.message, "layers"));
    assay_options_free(o);
}

/* A later kind of document is shown by its keys. */
static void test_unknown_kind(void **state)
{
    static const char json[] =
        "{\"schema\": \"assay.later/3\", \"model\": \"<i>m</i>\", \"figure\": 12, \"rows\": [{\"a\": 1, "
        "\"b\": \"x|y\"}, {\"a\": 2}]}";
    (void)state;
    has(json, "md", "| figure | 12 |");
    has(json, "md", "x\\|y");
    has(json, "summary-html", "&lt;i&gt;m&lt;/i&gt;");
    has(json, "csv", "a,b\r\n1,x|y\r\n2,\r\n");
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
        "\"regression\", \"checks\": [{\"metric\": \"<img onerror=1>\", \"unit\": \"<b>\", \"verdict\": "
        "\"regression\", \"value\": 1e300, \"why\": \"a\\u0000b\\u001b[31m\"}], \"notes\": "
        "[\"@everyone\"]}";
    (void)state;
    char *html = shown(json, "summary-html");
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<img"));
    assert_non_null(strstr(html, "&lt;/div&gt;&lt;script&gt;"));
    assay_free(html);
    char *md = shown(json, "md");
    assert_null(strstr(md, "<script"));
    assert_null(strstr(md, "@e"));
    assay_free(md);
    stays_on_the_screen(json);
}

/* Titles of tables that are the document's own words: of each model, and of a kind that has no rows. */
static void test_hostile_titles(void **state)
{
    (void)state;
    stays_on_the_screen("{\"schema\": \"assay.later/1\", \"model\": \"m\\u009bm\", "
                        "\"a\\u001b]0;x\\u0007\": [{\"b\\u001b[2J\": \"c\\r\\u001b[1A\"}], "
                        "\"d\\u001b[31m\": 1, \"warnings\": [{\"text\": \"\\u001bc\"}], "
                        "\"remarks\": [\"\\u001bc\"]}");
    stays_on_the_screen("{\"schema\": \"assay.capacity/1\", \"model\": \"\\u001b[2J\", "
                        "\"sweeps\": [{\"over\": \"\\u001b[2J\", \"points\": [{\"value\": 1}]}]}");
    stays_on_the_screen("{\"schema\": \"assay.profile/1\", \"model\": \"\\u001bc\", \"watch\": "
                        "{\"command\": \"\\u001b[2J\"}}");
    has("{\"schema\": \"assay.later/1\", \"a\\u001b.b\": [{\"c\": 1}]}", "console", "a\\x1b.b\n");
}

/* ---- long tables ---- */

static void page_has(const char *json, const char *part)
{
    arena *a = arena_new(LIMIT);
    assay_error err = {0};
    sbuf page = {0};
    view v;
    assert_int_equal(view_make(str_of(json), "t.json", a, &v, &err), ASSAY_OK);
    view_write_json(&v, &page);
    assert_non_null(strstr(sbuf_cstr(&page), part));
    sbuf_free(&page);
    arena_free(a);
}

static void test_cut_tables_say_so(void **state)
{
    sbuf b = {0};
    (void)state;
    sbuf_puts(&b, "{\"schema\": \"assay.later/1\", \"rows\": [{\"a\": 0}");
    for (int i = 1; i < 10007; i++)
        sbuf_printf(&b, ", {\"a\": %d}", i);
    sbuf_puts(&b, "]}");
    has(sbuf_cstr(&b), "md", "rows: 50 of 10007");
    has(sbuf_cstr(&b), "console", "  9967 more; JSON has all\n");
    page_has(sbuf_cstr(&b), "rows: the first 10000 of 10007 rows");
    has(sbuf_cstr(&b), "csv", "\r\n10006\r\n");
    sbuf_free(&b);
}

/* ---- csv ---- */

static void test_csv_keys_and_lists(void **state)
{
    (void)state;
    char *csv = shown(
        "{\"schema\": \"assay.later/1\", \"rows\": [{\"a.b\": 1, \"c\": {\"d.e\": -2}, "
        "\"l\": [true, 3, \"x\", false]}, {\"a\": {\"b\": 4}, \"l\": [[1]]}]}",
        "csv");
    assert_string_equal(csv, "a.b,c.d.e,l,a.b\r\n"
                             "1,-2,true;3;x;false,\r\n"
                             ",,,4\r\n");
    assay_free(csv);
}

/* Documents whose members are of other kinds than the rows expect: shown as far as it goes. */
static void test_other_kinds(void **state)
{
    static const char *const odd[] = {"\"models\": 3",
                                      "\"models\": [1, null, []]",
                                      "\"points\": {\"a\": 1}",
                                      "\"checks\": [{}]",
                                      "\"plans\": [], \"best\": 99",
                                      "\"plans\": [{}], \"best\": 0.5",
                                      "\"model\": [[[]]]",
                                      "\"forms\": {\"a\": 1}",
                                      "\"topology\": \"x\"",
                                      "\"components\": [{\"attention\": 1}]",
                                      "\"warnings\": [{}], \"warnings_dropped\": -3",
                                      "\"kind\": 7",
                                      "\"sweeps\": [{\"points\": [1]}]"};
    static const char *const formats[] = {"md", "console", "summary-html"};
    (void)state;
    for (uint32_t k = 0; k < view_kinds_n; k++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            for (size_t f = 0; f < 3; f++) {
                char json[300];
                snprintf(json, sizeof json, "{\"schema\": \"%s/1\", %s}", view_kinds[k].schema,
                         odd[i]);
                assay_free(shown(json, formats[f]));
            }
}

static void refused(const char *json, assay_status code, const char *part)
{
    assay_error err;
    char *text;
    size_t n;
    assert_int_equal(
        assay_document_report(json, strlen(json), "t.json", "md", NULL, &text, &n, &err), code);
    assert_null(text);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in: %s", part, err.message);
}

static void test_refused(void **state)
{
    (void)state;
    refused("{\"a\": 1}", ASSAY_ERR_MALFORMED, "schema");
    refused("{\"schema\": \"other/1\"}", ASSAY_ERR_UNSUPPORTED, "other");
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
    assay_profile *p = NULL;
    char *text;
    size_t n;
    (void)state;
    assert_int_equal(assay_model_open("resnet18", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assert_int_equal(assay_report(p, "summary-html", NULL, &text, &n, &err), ASSAY_OK);
    const char *const parts[] = {"resnet18", "Exact: ", "Parameters", "11.7 M",
                                 "3.64 G",   "light",   "balanced",   "Planned peak memory",
                                 "small GPU"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is not in: %s", parts[i], text);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assay_free(text);
    assay_profile_free(p);
    assay_model_free(m);
}

/* Verdicts are the bands of the document. */
static void test_verdicts_are_bands(void **state)
{
    static const char json[] =
        "{\"schema\": \"assay.profile/1\", \"memory_plan\": {\"peak_bytes\": 2100000000, "
        "\"activations_peak_bytes\": 1}, \"bands\": {\"memory\": {\"word\": \"medium GPU\", "
        "\"tone\": \"fair\", \"range\": \"2 to 8 GB\"}}}";
    arena *a = arena_new(LIMIT);
    assay_error err = {0};
    view v;
    (void)state;
    assert_int_equal(view_make(str_of(json), "t.json", a, &v, &err), ASSAY_OK);
    assert_int_equal(v.groups.n, 1);
    const view_fact *f = &v.groups.items[0].facts.items[v.groups.items[0].facts.n - 1];
    assert_true(str_is(f->verdict, "medium GPU"));
    assert_int_equal(f->tone, TONE_FAIR);
    arena_free(a);
}

int run_test_view(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_csv_rows),
        cmocka_unit_test(test_unknown_kind),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_hostile_titles),
        cmocka_unit_test(test_cut_tables_say_so),
        cmocka_unit_test(test_csv_keys_and_lists),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_summary_of_profile),
        cmocka_unit_test(test_verdicts_are_bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Documents into results and back; see result.h. */
#include "base/result.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

/* ---- what it is ---- */

/* "assay.machine/1"; a version that is no number is 0, which no kind has. */
static void split_schema(str s, result_identity *out)
{
    out->schema = str_cut(&s, '/');
    str_take_u64(&s, &out->version);
}

/* The text of a key of the document, in the arena; empty when there is none. */
static str read_word(json_scan *s, const char *wanted)
{
    str key, value = {0};
    scan_open(s, '{');
    while (scan_key(s, &key)) {
        if (!str_is(key, wanted)) {
            scan_skip(s);
            continue;
        }
        return scan_str(s, &value) ? str_copy(s->arena, value) : (str){0};
    }
    return (str){0};
}

assay_status result_identify(str text, const char *shown, arena *a, result_identity *out,
                             assay_error *err)
{
    assay_error own = {0};
    json_scan s = scan_text(text, 0, shown, a, &own);
    *out = (result_identity){0};
    s.nul = true;
    if (!scan_is(&s, '{'))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: not a JSON object", shown);
    str schema = read_word(&s, "schema");
    if (schema.n)
        split_schema(schema, out);
    TRY_MEMORY(!arena_failed(a), err);
    if (s.failed)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, own.offset, "%s: invalid JSON: %s", shown,
                           s.what ? s.what : "");
    return ASSAY_OK;
}

/* Whether the word of its key "kind" is that of the kind. */
static bool has_word(const result_kind *kind, str text, arena *scratch)
{
    assay_error ignored = {0};
    json_scan s = scan_text(text, 0, "", scratch, &ignored);
    s.nul = true;
    return !kind->word || str_is(read_word(&s, "kind"), kind->word);
}

const result_kind *result_choose(const result_kind *const *kinds, str text, arena *scratch)
{
    result_identity is;
    if (result_identify(text, "", scratch, &is, NULL) != ASSAY_OK)
        return NULL;
    for (; *kinds; kinds++)
        if (str_is(is.schema, (*kinds)->schema) && is.version == (*kinds)->version &&
            has_word(*kinds, text, scratch))
            return *kinds;
    return NULL;
}

/* ---- reading ---- */

static assay_status check_identity(const result_identity *is, const result_kind *wanted,
                                   const char *shown, assay_error *err)
{
    char name[40];
    text_safe_into(name, sizeof name, is->schema);
    if (!is->schema.n)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: not an assay result: no \"schema\". Save results with -o FILE.json.",
                        shown);
    if (!str_is(is->schema, wanted->schema))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: this is '%s', not %s ('%s')", shown, name,
                        wanted->what, wanted->schema);
    if (is->version == wanted->version)
        return ASSAY_OK;
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "%s: version %" PRIu64
                    " of '%s' is not supported; this version of assay reads version %u",
                    shown, is->version, name, wanted->version);
}

/* A byte order mark is no part of the text. */
static str without_mark(str text)
{
    bool marked = text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0;
    return marked ? (str){text.p + 3, text.n - 3} : text;
}

bool result_is(const result_kind *kind, str text)
{
    result_identity is = {0};
    arena *scratch = arena_new((size_t)1 << 20);
    bool yes = scratch && result_identify(without_mark(text), "", scratch, &is, NULL) == ASSAY_OK &&
               str_is(is.schema, kind->schema);
    arena_free(scratch);
    return yes;
}

assay_status result_read_as(const result_kind *kind, str text, const char *shown, arena *a,
                            void *data, assay_error *err)
{
    result_identity is;
    arena *scratch = arena_new((size_t)1 << 20);
    TRY_MEMORY(scratch, err);
    text = without_mark(text);
    assay_status status = result_identify(text, shown, scratch, &is, err);
    if (status == ASSAY_OK)
        status = check_identity(&is, kind, shown, err);
    arena_free(scratch);
    return status == ASSAY_OK ? fields_parse(text, shown, kind->of, data, a, err) : status;
}

/* ---- writing ---- */

void result_write_inside(json_writer *w, const result_kind *kind, const void *data)
{
    char schema[64];
    snprintf(schema, sizeof schema, "%s/%u", kind->schema, kind->version);
    json_object(w);
    key_cstr(w, "schema", schema);
    fields_write_rows(w, kind->of, data);
    json_end(w);
}

void result_write(const result_kind *kind, const void *data, int indent, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, indent);
    result_write_inside(&w, kind, data);
    sbuf_putc(out, '\n');
}

/* ---- conclusions ---- */

static str *conclusion_of(const result_kind *kind, void *data)
{
    return (str *)(void *)((char *)data + kind->conclusion_at);
}

bool result_conclude(const result_kind *kind, void *data, arena *a)
{
    sbuf text = {0};
    if (!kind->conclude)
        return true;
    kind->conclude(data, &text);
    str *to = conclusion_of(kind, data);
    const str said = str_trim((str){text.p, (uint32_t)text.n});
    *to = said.n ? str_copy(a, said) : (str){0};
    bool whole = !text.failed && (to->p || !said.n);
    sbuf_free(&text);
    return whole;
}

bool result_conclude_read(const result_kind *kind, void *data, arena *a)
{
    return !kind->conclude || conclusion_of(kind, data)->n || result_conclude(kind, data, a);
}

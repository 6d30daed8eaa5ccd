/* Documents of every kind, in every format: what a command's own writer does not know (md, html, the summary) is
 * made of its JSON, and a document that was kept in a file is shown again by the same route. */
#include <stdlib.h>

#include "api/api.h"
#include "api/document.h"
#include "base/file.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"
#include "report/page.h"
#include "report/view.h"

/* ---- a view in place of the JSON ---- */

static bool is_view(const char *format, bool own_md)
{
    return strcmp(format, "html") == 0 || strcmp(format, "summary-html") == 0 ||
           (strcmp(format, "md") == 0 && !own_md);
}

static report_options screen_of(const assay_options *o)
{
    report_options how = api_screen(o);
    how.rows = o->view.rows.n ? o->view.rows.p : NULL;
    return how;
}

static assay_status put_view(str document, const char *shown, const char *format,
                             const assay_options *o, sbuf *out, assay_error *err)
{
    const report_options how = screen_of(o);
    result r;
    TRY(result_read(document, shown, VIEW_BYTES, &r, err));
    assay_status s = report_result(r.kind, r.data, str_of(format), &how, out, err);
    result_free(&r);
    return s;
}

static assay_status view_of(const api_document *d, const char *format, const assay_options *o,
                            sbuf *text, assay_error *err)
{
    sbuf out = {0};
    if (strcmp(format, "html") == 0)
        return api_page_around(d->profiles, d->n_profiles, o, text, err);
    assay_status s = put_view((str){text->p, (uint32_t)text->n}, "the result", format, o, &out,
                              err);
    sbuf_free(text);
    *text = out;
    return s;
}

assay_status api_document_report(const api_document *d, const char *format,
                                 const assay_options *options, char **out, size_t *n,
                                 assay_error *err)
{
    const assay_options none = api_default_options();
    const assay_options *o = options ? options : &none;
    bool made = is_view(format, d->own_md);
    const report_options how = screen_of(o);
    sbuf text = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    assay_status s = d->write(d->of, str_of(made ? "json" : format), &how, &text, err);
    if (s == ASSAY_OK && text.failed)
        s = err_no_memory(err);
    if (s == ASSAY_OK && made)
        s = view_of(d, format, o, &text, err);
    return api_hand_text(s, &text, out, n, err);
}

/* ---- documents that were kept ---- */

enum { DOCUMENTS_MOST = 64 };

typedef struct kept {
    arena *a;
    str texts[DOCUMENTS_MOST];
    const char *paths[DOCUMENTS_MOST];
    size_t n;
} kept;

/* What is no document to look at, and what is done with it instead. */
static assay_status refuse(str name, const char *shown, assay_error *err)
{
    static const struct {
        const char *schema, *advice;
    } others[] = {
        {"assay.history", "`assay history import` reads it"},
        {"assay.model", "`assay graph` shows it"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is(name, others[i].schema))
            return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "'%s' is %s (\"%s\"), not a result that can be shown: %s.", shown,
                            result_what(name), others[i].schema, others[i].advice);
    return ASSAY_OK;
}

static assay_status take(kept *k, str text, const char *path, result_identity *is, assay_error *err)
{
    char shown[FILE_SHOWN];
    TRY(result_identify(text, file_shown(path, shown), k->a, is, err));
    k->texts[k->n] = text;
    k->paths[k->n++] = path;
    return refuse(is->schema, shown, err);
}

static assay_status load(kept *k, const char *path, result_identity *is, assay_error *err)
{
    str text;
    TRY(file_read_all(path, PROFILE_FILE_BYTES, k->a, &text, err));
    return take(k, text, path, is, err);
}

/* Every document is read to its end before any of it stands in a page. */
static assay_status check(const kept *k, assay_error *err)
{
    for (size_t i = 0; i < k->n; i++) {
        char shown[FILE_SHOWN];
        result r;
        TRY(result_read(k->texts[i], file_shown(k->paths[i], shown), VIEW_BYTES, &r, err));
        result_free(&r);
    }
    return ASSAY_OK;
}

static assay_status put_page(const kept *k, const assay_options *o, sbuf *out, assay_error *err)
{
    const page_how how = api_page_how(o);
    TRY(check(k, err));
    return report_page(k->texts, k->n, &how, out, err);
}

static assay_status put_kept(const kept *k, const char *format, const assay_options *o, sbuf *out,
                             assay_error *err)
{
    bool apart = strcmp(format, "json") == 0 || strcmp(format, "csv") == 0;
    if (strcmp(format, "html") == 0)
        return put_page(k, o, out, err);
    if (apart && k->n > 1)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s holds one document, and there are %zu: write them one by one, or as md "
                        "or html.",
                        format, k->n);
    if (strcmp(format, "json") == 0) {
        TRY(check(k, err));
        sbuf_str(out, k->texts[0]);
        return ASSAY_OK;
    }
    for (size_t i = 0; i < k->n; i++) {
        char shown[FILE_SHOWN];
        sbuf_puts(out, i ? "\n" : "");
        TRY(put_view(k->texts[i], file_shown(k->paths[i], shown), format, o, out, err));
    }
    return ASSAY_OK;
}

/* A result of a model has writers of its own, which know more. */
static assay_status report_profile(str text, const char *path, const char *format,
                                   const assay_options *o, char **out, size_t *n, assay_error *err)
{
    assay_profile *p = NULL;
    TRY(assay_profile_from_json(text.p, text.n, path, &p, err));
    assay_status s = assay_report(p, format, o, out, n, err);
    assay_profile_free(p);
    return s;
}

static assay_status report_kept(const kept *k, const result_identity *is, const char *format,
                                const assay_options *options, char **out, size_t *n,
                                assay_error *err)
{
    const assay_options none = api_default_options();
    sbuf text = {0};
    if (k->n == 1 && str_is(is->schema, "assay.profile"))
        return report_profile(k->texts[0], k->paths[0], format, options, out, n, err);
    return api_hand_text(put_kept(k, format, options ? options : &none, &text, err), &text, out, n,
                         err);
}

assay_status assay_documents_report(const char *const *paths, size_t n_paths, const char *format,
                                    const assay_options *options, char **out, size_t *n,
                                    assay_error *err)
{
    kept k = {.a = NULL};
    result_identity is = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    if (n_paths < 1 || n_paths > DOCUMENTS_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "From 1 to %d documents can be shown.",
                        DOCUMENTS_MOST);
    k.a = arena_new(4 * PROFILE_FILE_BYTES);
    assay_status s = k.a ? ASSAY_OK : err_no_memory(err);
    while (s == ASSAY_OK && k.n < n_paths)
        s = load(&k, paths[k.n], &is, err);
    if (s == ASSAY_OK)
        s = report_kept(&k, &is, format, options, out, n, err);
    arena_free(k.a);
    return s;
}

assay_status assay_document_report(const void *json, size_t json_bytes, const char *name,
                                   const char *format, const assay_options *options, char **out,
                                   size_t *n, assay_error *err)
{
    kept k = {.a = NULL};
    result_identity is = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    if (json_bytes > PROFILE_FILE_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' is larger than any result: %zu bytes.",
                        name, json_bytes);
    k.a = arena_new(PROFILE_FILE_BYTES);
    assay_status s = k.a ? take(&k, (str){json, (uint32_t)json_bytes}, name, &is, err)
                         : err_no_memory(err);
    if (s == ASSAY_OK)
        s = report_kept(&k, &is, format, options, out, n, err);
    arena_free(k.a);
    return s;
}

/* Writes any result in any format. Console, Markdown, CSV and the HTML summary come from its view, JSON from its
 * fields, the page from its JSON. Formats of a single kind are rows of a table. */
#include "base/result.h"

#include <assert.h>

#include "profile/pipeline.h"
#include "profile/profile_fields.h"
#include "profile/profile_read.h"
#include "profile/verdicts.h"
#include "report/page.h"
#include "report/view.h"

/* ---- views ---- */

static assay_status write_view(const view *v, str format, sbuf *out, assay_error *err)
{
    static const struct {
        const char *name;
        void (*write)(const view *v, sbuf *out);
    } writers[] = {{"console", view_write_console},
                   {"md", view_write_md},
                   {"summary-html", view_write_summary},
                   {"view", view_write_json}};
    if (str_is(format, "csv"))
        return view_write_csv(v, out, err);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (str_is(format, writers[i].name)) {
            writers[i].write(v, out);
            return ASSAY_OK;
        }
    assert(v->kind);
    return err_fail(err, ASSAY_ERR_USAGE,
                    "%s can be written as console, json, csv, md, html, summary-html%s%s, not as "
                    "'" STR_FMT "'",
                    v->what, v->kind->formats ? ", " : "", v->kind->formats ? v->kind->formats : "",
                    STR_ARG(format));
}

/* The summary is a separate view. Markdown folds long tables, so there is room for more of their rows. */
static report_options options_for(str format, const report_options *o)
{
    report_options how = *o;
    if (str_in_list(format, "summary-html view", ' '))
        how.view = "summary";
    if (str_is(format, "view"))
        how.verbose = true;
    if (str_is(format, "md") && how.top > 0 && how.top < VIEW_MD_ROWS)
        how.top = VIEW_MD_ROWS;
    return how;
}

assay_status report_view(const result_kind *kind, const void *data, str format,
                         const report_options *o, sbuf *out, assay_error *err)
{
    const report_options how = options_for(format, o);
    arena *a = arena_new(VIEW_BYTES);
    view v = {0};
    assay_status s = a ? view_make(kind, data, &how, a, &v, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        s = write_view(&v, format, out, err);
    arena_free(a);
    return s == ASSAY_OK && out->failed ? err_no_memory(err) : s;
}

/* ---- formats of one kind ---- */

typedef assay_status kind_writer_fn(const void *data, str format, const report_options *o,
                                    sbuf *out, assay_error *err);

static assay_status write_profile(const void *data, str format, const report_options *o, sbuf *out,
                                  assay_error *err)
{
    return report_find(format)->write(data, o, out, err);
}

static const struct {
    const result_kind *kind;
    const char *formats;
    kind_writer_fn *write;
} own_writers[] = {
    {&profile_kind, "trace netron modelexplorer html", write_profile},
    {&check_kind, "junit github", report_check_ci},
};

static kind_writer_fn *own_writer(const result_kind *kind, str format)
{
    for (size_t i = 0; i < sizeof own_writers / sizeof *own_writers; i++)
        if (own_writers[i].kind == kind && str_in_list(format, own_writers[i].formats, ' '))
            return own_writers[i].write;
    return NULL;
}

/* ---- which part ---- */

/* A command shows the part of a result that it is about, and everything when it failed to make that part; not so when
 * the user stopped it before. */
static bool has_part(const field_value *root, const char *part)
{
    static const struct {
        const char *view, *needs;
    } parts[] = {{"profile", "configurations"},
                 {"bench", "configurations"},
                 {"layers", "configurations"},
                 {"memory", "memory_plan"},
                 {"map", "devices"},
                 {"fuse", "fusion"},
                 {"watch", "watch"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i].view) == 0)
            return fields_get(root, parts[i].needs).n > 0 || fields_get(root, "interrupted").b;
    return false; /* "all" */
}

static report_options with_part(const result_kind *kind, const void *data, const report_options *o)
{
    const field_value root = fields_root(kind->of, data);
    const str recorded = fields_get(&root, "context.view").text;
    report_options own = *o;
    own.view = o->view ? o->view : recorded.n ? recorded.p : "all";
    if (!has_part(&root, own.view))
        own.view = NULL;
    return own;
}

/* ---- the whole ---- */

static assay_status write_page(const result_kind *kind, const void *data, const report_options *o,
                               sbuf *out, assay_error *err)
{
    const page_how how = {.no_graphs = o->no_graphs, .no_details = o->no_details};
    sbuf json = {0};
    result_write(kind, data, 0, &json);
    const str text = {json.p, (uint32_t)json.n};
    assay_status s = json.failed ? err_no_memory(err) : report_page(&text, 1, &how, out, err);
    sbuf_free(&json);
    return s;
}

assay_status report_result(const result_kind *kind, const void *data, str format,
                           const report_options *given, sbuf *out, assay_error *err)
{
    const report_options own_options = with_part(kind, data, given), *o = &own_options;
    kind_writer_fn *own = own_writer(kind, format);
    assay_status s = ASSAY_OK;
    if (own)
        s = own(data, format, o, out, err);
    else if (str_is(format, "json"))
        result_write(kind, data, 2, out);
    else if (str_is(format, "html"))
        s = write_page(kind, data, o, out, err);
    else
        s = report_view(kind, data, format, o, out, err);
    return s == ASSAY_OK && out->failed ? err_no_memory(err) : s;
}

/* ---- formats of several ---- */

assay_status report_json(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    (void)o;
    profile_write_json(p, out, 2);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

/* The record of a run over several models. Nothing was generated: the cost is counted, not run. */
void report_generation(const pipeline_result *const *list, uint32_t n, const report_run *run,
                       sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    key_str(&w, "timestamp", run->timestamp);
    key_str(&w, "prompt", run->prompt);
    json_key(&w, "models");
    json_array(&w);
    for (uint32_t i = 0; i < n; i++) {
        json_object(&w);
        key_str(&w, "model_id", list[i]->model);
        key_str(&w, "model_name", list[i]->title);
        json_key(&w, "image_path");
        json_null(&w);
        json_key(&w, "compute_profile");
        result_write_inside(&w, &diffusion_kind, list[i]);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
}

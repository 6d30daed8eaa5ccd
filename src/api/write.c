/* Writes results as text in every format. report/ writes one result; this file adds what needs more: JSON that was
 * read from a file, a page of several results, pipelines side by side. */
#include <assert.h>
#include <stdlib.h>

#include "api/result.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "jobs/race.h"
#include "profile/pipeline.h"
#include "report/page.h"
#include "report/report.h"

enum { RESULTS_MOST = 64 };

report_options api_screen(const assay_options *o)
{
    return (report_options){
        .width = o->view.columns ? (int)o->view.columns : REPORT_WIDTH,
        .color = o->view.color,
        .ascii = o->view.ascii,
        .verbose = o->view.verbose,
        .no_graphs = o->view.no_graphs,
        .no_details = o->view.no_details,
        .top = (int)o->view.top,
        .depth = (int)o->view.depth,
        .view = o->view.part.n ? o->view.part.p : NULL,
        .rows = o->view.rows.n ? o->view.rows.p : NULL,
        .layer_patterns = o->measure.layer_patterns.n ? o->measure.layer_patterns.p : NULL};
}

assay_status api_hand_text(assay_status s, sbuf *text, char **out, size_t *n, assay_error *err)
{
    sbuf_cstr(text);
    if (s == ASSAY_OK && (text->failed || memory_lacked()))
        s = err_no_memory(err);
    if (s != ASSAY_OK) {
        sbuf_free(text);
        return s;
    }
    *out = text->p;
    *n = text->n;
    return ASSAY_OK;
}

static const void *data_of(const assay_result *of)
{
    return of->p ? (const void *)of->p : of->data;
}

assay_status api_result_json(const assay_result *of, int indent, sbuf *out, assay_error *err)
{
    assert(out);
    api_describe_host(of);
    if (of->text.n && !of->p) {
        sbuf_str(out, of->text);
        if (of->text.p[of->text.n - 1] != '\n')
            sbuf_putc(out, '\n');
    } else {
        result_write(of->kind, data_of(of), indent, out);
    }
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

/* ---- one result ---- */

typedef struct writing {
    const assay_result *of;
    str format;
    const assay_options *o;
    report_options how;
} writing;

static assay_status put_page(const assay_result *const *list, size_t n, const assay_options *o,
                             sbuf *out, assay_error *err)
{
    const page_how how = {.no_graphs = o->view.no_graphs, .no_details = o->view.no_details};
    sbuf *texts = memory_zeroed(n, sizeof *texts);
    str *documents = memory_zeroed(n, sizeof *documents);
    assay_status s = texts && documents ? ASSAY_OK : err_no_memory(err);
    for (size_t i = 0; s == ASSAY_OK && i < n; i++) {
        assert(texts && documents);
        s = api_result_json(list[i], 0, &texts[i], err);
        documents[i] = (str){texts[i].p, (uint32_t)texts[i].n};
    }
    if (s == ASSAY_OK)
        s = report_page(documents, n, &how, out, err);
    for (size_t i = 0; texts && i < n; i++)
        sbuf_free(&texts[i]);
    free(texts);
    free(documents);
    return s;
}

/* The page of a comparison shows its profiles beside it. */
static assay_status put_own_page(const writing *w, sbuf *out, assay_error *err)
{
    const job_comparison *c = w->of->comparison;
    const assay_result *list[COMPARISON_MAX + 1];
    uint32_t n = 0;
    for (; c && n < c->c.n_models; n++)
        list[n] = c->given[n];
    list[n++] = w->of;
    return put_page(list, n, w->o, out, err);
}

/* The record of a run over image pipelines, which only they have. */
static assay_status write_generation(const writing *w, sbuf *out, assay_error *err)
{
    const field_result one = {w->of->kind, w->of->data};
    const pipelines_result *all = w->of->data;
    bool several = w->of->kind == &pipelines_kind;
    const field_result *list = several ? all->list : &one;
    const pipeline_result *images[PIPELINES_MAX];
    uint32_t n = several ? all->n : 1;
    char now[32];
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].kind != &diffusion_kind || n > PIPELINES_MAX)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "generation-config is the record of 1 to %d image pipelines",
                            PIPELINES_MAX);
        images[i] = list[i].data;
    }
    clock_timestamp(now);
    const report_run run = {.timestamp = str_of(now), .prompt = w->o->pipeline.prompt};
    report_generation(images, n, &run, out);
    return ASSAY_OK;
}

static assay_status unknown_format(str format, assay_error *err)
{
    const char *names[16];
    uint32_t n = 0;
    sbuf hint = {0};
    for (; n < report_table_n && n < 16; n++)
        names[n] = report_table[n].name;
    text_did_you_mean(&hint, format, names, n);
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(&hint, "%s%s", i == 0 ? " The formats are: " : ", ", names[i]);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "unknown report format '" STR_FMT "'.%s.",
                              STR_ARG(format), sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

static assay_status write_one(const writing *w, sbuf *out, assay_error *err)
{
    bool for_page = str_is(w->format, "view"); /* of any kind, and no format for users */
    if (w->of->p && !report_find(w->format) && !for_page)
        return unknown_format(w->format, err);
    if (str_is(w->format, "json"))
        return api_result_json(w->of, 2, out, err);
    if (str_is(w->format, "html"))
        return put_own_page(w, out, err);
    if (str_is(w->format, "generation-config"))
        return write_generation(w, out, err);
    return report_result(w->of->kind, data_of(w->of), w->format, &w->how, out, err);
}

/* ---- the public functions ---- */

assay_status assay_result_write(const assay_result *of, const char *format,
                                const assay_options *options, char **text, size_t *n,
                                assay_error *err)
{
    assay_options none;
    const assay_options *o = options_or_default(options, &none);
    const writing w = {of, str_of(format), o, api_screen(o)};
    sbuf out = {0};
    api_begin(err);
    *text = NULL;
    *n = 0;
    return api_hand_text(write_one(&w, &out, err), &out, text, n, err);
}

static assay_status write_each(const assay_result *const *results, size_t n, writing *w, sbuf *out,
                               assay_error *err)
{
    if (str_is(w->format, "json") || str_is(w->format, "csv"))
        return err_fail(err, ASSAY_ERR_USAGE,
                        STR_FMT
                        " can hold one result, got %zu. Write them one by one, or as md or html.",
                        STR_ARG(w->format), n);
    for (size_t i = 0; i < n; i++) {
        w->of = results[i];
        sbuf_puts(out, i ? "\n" : "");
        TRY(report_result(w->of->kind, data_of(w->of), w->format, &w->how, out, err));
    }
    return ASSAY_OK;
}

assay_status assay_results_write(const assay_result *const *results, size_t n_results,
                                 const char *format, const assay_options *options, char **text,
                                 size_t *n, assay_error *err)
{
    assay_options none;
    const assay_options *o = options_or_default(options, &none);
    writing w = {NULL, str_of(format), o, api_screen(o)};
    sbuf out = {0};
    api_begin(err);
    *text = NULL;
    *n = 0;
    if (n_results < 1 || n_results > RESULTS_MOST)
        return err_fail(err, ASSAY_ERR_USAGE, "a report needs 1 to %d results", RESULTS_MOST);
    if (n_results == 1)
        return assay_result_write(results[0], format, options, text, n, err);
    assay_status s = str_is(w.format, "html") ? put_page(results, n_results, o, &out, err)
                                              : write_each(results, n_results, &w, &out, err);
    return api_hand_text(s, &out, text, n, err);
}

assay_status assay_dashboard(char **text, size_t *n, assay_error *err)
{
    const page_how how = {.dashboard = true};
    sbuf out = {0};
    api_begin(err);
    *text = NULL;
    *n = 0;
    return api_hand_text(report_page(NULL, 0, &how, &out, err), &out, text, n, err);
}

const char *assay_page_licenses(void)
{
    return report_page_licenses();
}

const char *assay_sbom(void)
{
    return report_sbom();
}

const char *assay_format_of(const char *path)
{
    const report_row *row = report_by_suffix(str_of(path));
    return row ? row->name : NULL;
}

bool assay_format_at(size_t index, assay_format_info *out)
{
    if (index >= report_table_n)
        return false;
    const report_row *row = &report_table[index];
    assay_format_info info = {.name = row->name, .suffix = row->suffix, .about = row->about};
    return HAND_OUT(out, info);
}

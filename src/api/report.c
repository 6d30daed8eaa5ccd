/* Reports into memory, and outputs that appear whole or not at all. */
#include <stdlib.h>

#include "api/api.h"
#include "base/file.h"
#include "base/text.h"
#include "device/host.h"

struct assay_output {
    file_out *file;
};

const char *assay_report_format(const char *path)
{
    const report_row *row = report_by_suffix(str_of(path));
    return row ? row->name : NULL;
}

bool assay_report_at(size_t index, assay_format_info *out)
{
    if (index >= report_table_n)
        return false;
    const report_row *row = &report_table[index];
    assay_format_info info = {.name = row->name, .suffix = row->suffix, .about = row->about};
    HAND_OUT(out, info);
    return true;
}

static assay_status unknown_format(const char *format, assay_error *err)
{
    const char *names[16];
    uint32_t n = 0;
    sbuf hint = {0};
    for (; n < report_table_n && n < 16; n++)
        names[n] = report_table[n].name;
    text_did_you_mean(&hint, str_of(format), names, n);
    for (uint32_t i = 0; i < n; i++)
        sbuf_printf(&hint, "%s%s", i == 0 ? " There are: " : ", ", names[i]);
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "There is no report format '%s'.%s.", format,
                              sbuf_cstr(&hint));
    sbuf_free(&hint);
    return s;
}

/* Only files that leave this machine say what it is, so the question is not asked before. */
profile api_with_host(const assay_profile *of, host_info *h)
{
    profile_settle(of->p); /* out of memory is sticky in its arena */
    profile copy = *of->p;
    if (of->saved)
        return copy;
    host_describe(h);
    copy.context.os = str_of(h->os);
    copy.context.machine = str_of(h->machine);
    copy.context.cpu = str_of(h->cpu);
    copy.context.cores = h->cores;
    copy.context.memory_bytes = h->memory_bytes;
    return copy;
}

assay_status assay_report(const assay_profile *of, const char *format, const assay_options *options,
                          char **out, size_t *n, assay_error *err)
{
    const assay_options none = api_default_options();
    const assay_options *o = options ? options : &none;
    const report_options how = {
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
    const report_row *row = report_find(str_of(format));
    host_info host;
    sbuf text = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    if (!row)
        return unknown_format(format, err);
    if (!profile_settle(of->p))
        return err_no_memory(err);
    bool for_keeps = row->write == report_json || row->write == report_html;
    profile p = for_keeps ? api_with_host(of, &host) : *of->p;
    assay_status s = row->write(&p, &how, &text, err);
    sbuf_cstr(&text);
    if (s == ASSAY_OK && text.failed)
        s = err_no_memory(err);
    if (s != ASSAY_OK) {
        sbuf_free(&text);
        return s;
    }
    *out = text.p;
    *n = text.n;
    return ASSAY_OK;
}

assay_status assay_output_open(const char *path, assay_output **out, assay_error *err)
{
    err_clear(err);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_no_memory(err);
    assay_status s = file_out_open(path, &(*out)->file, err);
    if (s != ASSAY_OK) {
        free(*out);
        *out = NULL;
    }
    return s;
}

assay_status assay_output_commit(assay_output *output, const void *p, size_t n, assay_error *err)
{
    err_clear(err);
    assay_status s = file_out_write(output->file, p, n, err);
    if (s == ASSAY_OK)
        s = file_out_commit(output->file, err);
    else
        file_out_abandon(output->file);
    free(output);
    return s;
}

void assay_output_abandon(assay_output *output)
{
    if (!output)
        return;
    file_out_abandon(output->file);
    free(output);
}

assay_status assay_output_append(const char *path, const void *p, size_t n, assay_error *err)
{
    err_clear(err);
    return file_append(path, p, n, err);
}

assay_status assay_file_read(const char *path, size_t max_bytes, char **out, size_t *n,
                             assay_error *err)
{
    sbuf text = {0};
    str whole;
    err_clear(err);
    *out = NULL;
    *n = 0;
    arena *a = arena_new(max_bytes + ((size_t)1 << 16));
    assay_status s = a ? file_read_all(path, max_bytes, a, &whole, err) : err_no_memory(err);
    if (s == ASSAY_OK)
        sbuf_str(&text, whole);
    arena_free(a);
    return api_hand_text(s, &text, out, n, err);
}

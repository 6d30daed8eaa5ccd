/* The page with its data. web/ makes it one file of HTML with two places to fill in:
 *
 *   @ASSAY_CONNECT@   of the content security policy: 'none' in a report, 'self' in the dashboard
 *   @ASSAY_DATA@      the element that holds {"mode", "graphs", "details", "tool", "documents": [...],
 *                     "views": [...]}; a view (view.h) for each document
 *
 * The data is JSON, compressed by gzip and written as base64: names of a model cannot end the element they
 * stand in, and ten thousand layers take some hundred kilobytes.
 */
#include <string.h>
#include <zlib.h>

#include "base/embedded.h"
#include "profile/comparison.h"
#include "profile/profile_read.h"
#include "profile/result_kinds.h"
#include "report/page.h"
#include "report/report.h"
#include "report/view.h"

#define PAGE_CONNECT "@ASSAY_CONNECT@"
#define PAGE_DATA    "@ASSAY_DATA@"

static const embedded_file *part(const char *name)
{
    for (const embedded_file *f = embedded_page; f->name; f++)
        if (strcmp(f->name, name) == 0 && f->size)
            return f;
    return NULL;
}

bool report_page_exists(void)
{
    return part("page.html") != NULL;
}

const char *report_page_licenses(void)
{
    const embedded_file *f = part("licenses.txt");
    return f ? f->data : "";
}

const char *report_sbom(void)
{
    const embedded_file *f = part("sbom.json");
    return f ? f->data : "";
}

/* ---- the data ---- */

/* A comparison together with its profiles has no view: the page shows it with them. */
static bool has_view(const result_kind *kind, size_t n_documents)
{
    return n_documents == 1 || kind != &comparison_kind;
}

static void put_view(str document, size_t n_documents, sbuf *out)
{
    static const report_options plain = {0};
    assay_error ignored = {0};
    result r = {0};
    if (result_read(document, "", VIEW_BYTES, &r, &ignored) != ASSAY_OK ||
        !has_view(r.kind, n_documents) ||
        report_view(r.kind, r.data, STR("view"), &plain, out, &ignored) != ASSAY_OK)
        sbuf_puts(out, "null");
    result_free(&r);
}

static void put_views(const str *documents, size_t n, sbuf *out)
{
    sbuf_puts(out, "],\"views\":[");
    for (size_t i = 0; i < n; i++) {
        sbuf_puts(out, i ? "," : "");
        put_view(documents[i], n, out);
    }
}

static void put_envelope(const str *documents, size_t n, const page_how *how, sbuf *out)
{
    sbuf_printf(out,
                "{\"mode\":\"%s\",\"graphs\":%s,\"details\":%s,\"tool\":\"%s\",\"documents\":[",
                how->dashboard ? "dashboard" : "report", how->no_graphs ? "false" : "true",
                how->no_details ? "false" : "true", assay_version());
    for (size_t i = 0; i < n; i++) {
        if (i)
            sbuf_putc(out, ',');
        sbuf_str(out, documents[i]);
    }
    put_views(documents, n, out);
    sbuf_puts(out, "]}");
}

static void put_base64(const unsigned char *p, size_t n, sbuf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)p[i] << 16;
        if (i + 1 < n)
            v |= (unsigned)p[i + 1] << 8;
        if (i + 2 < n)
            v |= p[i + 2];
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
                              i + 1 < n ? digits[v >> 6 & 63] : '=',
                              i + 2 < n ? digits[v & 63] : '='};
        sbuf_put(out, four, 4);
    }
}

/* The header's time is left at 0: the same data gives the same bytes. */
static bool compress_gzip(const sbuf *json, sbuf *out)
{
    z_stream z = {0};
    unsigned char block[1 << 14];
    int state = Z_OK;
    if (json->n > UINT32_MAX || deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY))
        return false;
    z.next_in = (Bytef *)json->p;
    z.avail_in = (uInt)json->n;
    while (state == Z_OK) {
        z.next_out = block;
        z.avail_out = sizeof block;
        state = deflate(&z, Z_FINISH);
        sbuf_put(out, block, sizeof block - z.avail_out);
    }
    deflateEnd(&z);
    return state == Z_STREAM_END;
}

static bool put_data(const sbuf *json, sbuf *out)
{
    sbuf packed = {0};
    bool good = compress_gzip(json, &packed) && !packed.failed;
    if (good) {
        sbuf_puts(out, "<script type=\"text/plain\" id=\"assay-data\" data-encoding=\"gzip\">");
        put_base64((const unsigned char *)packed.p, packed.n, out);
        sbuf_puts(out, "</script>");
    }
    sbuf_free(&packed);
    return good;
}

/* ---- the page ---- */

/* Copies up to the mark and steps behind it; false if it does not exist. */
static bool copy_to(str *rest, const char *mark, sbuf *out)
{
    const char *at = memmem(rest->p, rest->n, mark, strlen(mark));
    if (!at)
        return false;
    sbuf_put(out, rest->p, (size_t)(at - rest->p));
    uint32_t used = (uint32_t)(at - rest->p) + (uint32_t)strlen(mark);
    *rest = (str){rest->p + used, rest->n - used};
    return true;
}

static bool put_page(const embedded_file *page, const sbuf *json, const page_how *how, sbuf *out)
{
    str rest = {page->data, (uint32_t)page->size};
    if (!copy_to(&rest, PAGE_CONNECT, out))
        return false;
    sbuf_puts(out, how->dashboard ? "'self'" : "'none'");
    if (!copy_to(&rest, PAGE_DATA, out))
        return false;
    if (!put_data(json, out))
        return false;
    sbuf_str(out, rest);
    return true;
}

assay_status report_page(const str *documents, size_t n, const page_how *how, sbuf *out,
                         assay_error *err)
{
    const embedded_file *page = part("page.html");
    sbuf json = {0};
    if (!page)
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "this assay was built without HTML. Install node and npm and build it again (make clean; "
            "make), or write JSON and use another build for `assay report`.");
    put_envelope(documents, n, how, &json);
    bool whole = !json.failed && put_page(page, &json, how, out);
    /* tools/web has seen to the marks: what can fail is memory. */
    sbuf_free(&json);
    return whole && !out->failed ? ASSAY_OK : err_no_memory(err);
}

assay_status report_html(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    const page_how how = {.no_graphs = o->no_graphs, .no_details = o->no_details};
    sbuf json = {0};
    profile_write_json(p, &json, 0);
    const str text = {json.p, (uint32_t)json.n};
    assay_status s = json.failed ? err_no_memory(err) : report_page(&text, 1, &how, out, err);
    sbuf_free(&json);
    return s;
}

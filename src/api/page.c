/* The page with several results, and the dashboard's. */
#include <stdlib.h>

#include "api/api.h"
#include "device/host.h"
#include "profile/profile_read.h"
#include "report/page.h"

const char *assay_page_licenses(void)
{
    return report_page_licenses();
}

page_how api_page_how(const assay_options *o)
{
    return (page_how){.no_graphs = o->view.no_graphs, .no_details = o->view.no_details};
}

static assay_status write_profiles(const assay_profile *const *profiles, size_t n, sbuf *texts,
                                   assay_error *err)
{
    for (size_t i = 0; i < n; i++) {
        host_info host;
        profile p = api_with_host(profiles[i], &host);
        profile_write_json(&p, &texts[i], 0);
        if (texts[i].failed)
            return err_no_memory(err);
    }
    return ASSAY_OK;
}

static assay_status page_of(const sbuf *texts, size_t n, const page_how *how, sbuf *out,
                            assay_error *err)
{
    str *documents = calloc(n + 1, sizeof *documents);
    if (!documents)
        return err_no_memory(err);
    for (size_t i = 0; i < n; i++)
        documents[i] = (str){texts[i].p, (uint32_t)texts[i].n};
    assay_status s = report_page(documents, n, how, out, err);
    free(documents);
    return s;
}

assay_status api_page(const assay_profile *const *profiles, size_t n, const str *more,
                      const page_how *how, sbuf *out, assay_error *err)
{
    sbuf *texts = calloc(n + 1, sizeof *texts);
    if (!texts)
        return err_no_memory(err);
    assay_status s = write_profiles(profiles, n, texts, err);
    if (more)
        sbuf_str(&texts[n], *more);
    if (s == ASSAY_OK)
        s = page_of(texts, more ? n + 1 : n, how, out, err);
    for (size_t i = 0; i <= n; i++)
        sbuf_free(&texts[i]);
    free(texts);
    return s;
}

assay_status api_page_around(const assay_profile *const *profiles, size_t n, const assay_options *o,
                             sbuf *text, assay_error *err)
{
    const page_how how = api_page_how(o);
    const str document = {text->p, (uint32_t)text->n};
    sbuf page = {0};
    assay_status s = api_page(profiles, n, &document, &how, &page, err);
    sbuf_free(text);
    *text = page;
    return s;
}

assay_status assay_page(const assay_profile *const *profiles, size_t n_profiles, const char *mode,
                        const assay_options *options, char **out, size_t *n, assay_error *err)
{
    const assay_options none = api_default_options();
    page_how how = api_page_how(options ? options : &none);
    sbuf text = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    how.dashboard = strcmp(mode, "dashboard") == 0;
    if (!how.dashboard && strcmp(mode, "report") != 0)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "There is no page '%s'. There are: report, dashboard.", mode);
    assay_status s = api_page(profiles, n_profiles, NULL, &how, &text, err);
    return api_hand_text(s, &text, out, n, err);
}

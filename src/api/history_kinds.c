/* Results of other kinds than a profile in a history: pipelines and machines are kept as the documents they are
 * written as, with the context of the run beside what they say. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/history.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "device/host.h"
#include "jobs/measure.h"
#include "profile/profile_fields.h"

/* ---- the context of a run that has no profile ---- */

static void describe_engine(const assay_options *o, profile *p)
{
    assay_engine_info e = {.size = sizeof e};
    profile_measured *m = ARENA_NEW(p->arena, profile_measured);
    if (!m || assay_engine_find(o, &e, NULL) != ASSAY_OK)
        return;
    const engine_info about = {
        .name = e.name, .title = e.title, .version = e.version, .library = e.library};
    m->engine = job_engine_used(o, &about, p->arena);
    m->engine.device = o->engine.device.n ? o->engine.device : STR("cpu");
    m->concurrency = 1;
    m->seed = (uint64_t)o->model.seed;
    p->measured = m;
}

/* Before the last brace of the document: `,"context":{...}`. */
static assay_status put_context(sbuf *text, const assay_options *o, bool measured, assay_error *err)
{
    host_info host;
    json_writer w;
    sbuf inner = {0};
    assay_profile holder = {.p = profile_new((size_t)1 << 20)};
    if (!holder.p)
        return err_no_memory(err);
    job_describe_context(o, holder.p);
    if (measured)
        describe_engine(o, holder.p);
    profile p = api_with_host(&holder, &host);
    inner.failed = !profile_settle(&p);
    json_begin(&w, &inner, 0);
    json_object(&w);
    json_key(&w, "context");
    fields_write(&w, &context_fields, &p);
    json_end(&w);
    while (text->n && text->p[text->n - 1] != '}')
        text->n--;
    text->n -= text->n > 0;
    sbuf_putc(text, ',');
    sbuf_put(text, inner.p ? inner.p + 1 : "",
             inner.n ? inner.n - 1 : 0); /* its own brace ends it */
    bool failed = inner.failed || text->failed || arena_failed(holder.p->arena);
    sbuf_free(&inner);
    profile_free(holder.p);
    return failed ? err_no_memory(err) : ASSAY_OK;
}

typedef struct keeping {
    assay_store *store;
    const assay_options *o;
    const char *const *tags;
    size_t n_tags;
    int64_t *id;
} keeping;

/* Takes the text. */
static assay_status keep(const keeping *k, char *text, size_t n, bool measured, const char *name,
                         assay_error *err)
{
    sbuf b = {0};
    sbuf_put(&b, text, n);
    assay_free(text);
    assay_status s = put_context(&b, k->o, measured, err);
    if (s == ASSAY_OK)
        s = assay_store_add(k->store, b.p, b.n, name, k->tags, k->n_tags, k->id, err);
    sbuf_free(&b);
    return s;
}

assay_status assay_store_save_pipeline(assay_store *db, const assay_pipeline *of,
                                       const assay_options *options, const char *const *tags,
                                       size_t n_tags, int64_t *id, assay_error *err)
{
    const assay_options none = api_default_options();
    const keeping k = {db, options ? options : &none, tags, n_tags, id};
    assay_pipeline_info info = {.size = sizeof info};
    char *text;
    size_t n;
    assay_pipeline_totals(of, &info);
    TRY(assay_pipeline_report(&of, 1, "json", NULL, &text, &n, err));
    bool measured = info.inference_time_s >= 0 || info.time_to_first_token_s >= 0;
    return keep(&k, text, n, measured, "the pipeline", err);
}

assay_status assay_store_save_machine(assay_store *db, const assay_machine *of,
                                      const assay_options *options, const char *const *tags,
                                      size_t n_tags, int64_t *id, assay_error *err)
{
    const assay_options none = api_default_options();
    const keeping k = {db, options ? options : &none, tags, n_tags, id};
    char *text;
    size_t n;
    TRY(assay_machine_report(of, &text, &n, err));
    return keep(&k, text, n, false, "the machine", err);
}

/* ---- shown again ---- */

assay_status assay_store_report(assay_store *db, int64_t id, const char *format,
                                const assay_options *options, char **out, size_t *n,
                                assay_error *err)
{
    char name[32], *text;
    size_t n_text;
    sbuf line = {0};
    err_clear(err);
    *out = NULL;
    *n = 0;
    TRY(assay_store_document(db, id, &text, &n_text, err));
    sbuf_put(&line, text, n_text);
    sbuf_putc(&line, '\n');
    assay_free(text);
    snprintf(name, sizeof name, "run %lld", (long long)id);
    assay_status s = line.failed ? err_no_memory(err)
                                 : assay_document_report(line.p, line.n, name, format, options, out,
                                                         n, err);
    sbuf_free(&line);
    return s;
}

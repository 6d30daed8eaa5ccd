/* Stores results in a history. Pipelines and machines are stored as their JSON documents, with a `context` section
 * added. */
#include <assay/history.h>

#include <assay/measure.h>

#include <stdio.h>
#include <stdlib.h>

#include "api/history.h"
#include "api/result.h"
#include "base/json_write.h"
#include "jobs/measure.h"
#include "profile/profile_fields.h"

/* ---- the context of a record that has no profile ---- */

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
    json_writer w;
    sbuf inner = {0};
    assay_result holder = {.p = profile_new((size_t)1 << 20)};
    if (!holder.p)
        return err_no_memory(err);
    job_describe_context(o, holder.p);
    if (measured)
        describe_engine(o, holder.p);
    api_describe_host(&holder);
    inner.failed = !profile_settle(holder.p);
    json_begin(&w, &inner, 0);
    json_object(&w);
    json_key(&w, "context");
    fields_write(&w, &context_fields, holder.p);
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

/* ---- saving ---- */

static bool was_measured(const assay_result *of)
{
    field_value root = api_result_root(of);
    field_value time = fields_get(&root, "inference_time_s"), all = fields_get(&root, "measured");
    return time.type != VALUE_NONE || all.type == VALUE_OBJECT;
}

/* The document to store. A result that was read from a file is stored unchanged. */
static assay_status put_document(const assay_result *of, const assay_options *o, sbuf *out,
                                 assay_error *err)
{
    if (of->text.n) {
        sbuf_str(out, of->text);
        return ASSAY_OK;
    }
    bool has_context = fields_find(of->kind->of, STR("context")) != NULL;
    TRY(api_result_json(of, of->p ? 0 : 2, out, err));
    return has_context ? ASSAY_OK : put_context(out, o, was_measured(of), err);
}

static assay_status make_document(const assay_result *of, const assay_record_options *o, sbuf *out,
                                  assay_error *err)
{
    assay_options none;
    TRY(put_document(of, api_options(o->options, &none), out, err));
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status assay_store_save(assay_store *db, const assay_result *of,
                              const assay_record_options *options, int64_t *id, assay_error *err)
{
    assay_record_options o;
    char name[64];
    sbuf text = {0};
    api_begin(err);
    TRY(TAKE(options, o, err));
    snprintf(name, sizeof name, "the %s", of->kind->name);
    o.size = sizeof o;
    o.name = o.name ? o.name : name;
    assay_status s = make_document(of, &o, &text, err);
    if (s == ASSAY_OK)
        s = assay_store_add(db, text.p, text.n, &o, id, err);
    sbuf_free(&text);
    return s;
}

assay_status assay_record_lines(const assay_result *of, const assay_record_options *options,
                                char **out, size_t *n, assay_error *err)
{
    assay_record_options o;
    sbuf text = {0}, small = {0}, lines = {0};
    api_begin(err);
    *out = NULL;
    TRY(TAKE(options, o, err));
    assay_status s = make_document(of, &o, &text, err);
    if (s == ASSAY_OK)
        store_squeeze((str){text.p, (uint32_t)text.n}, &small);
    if (s == ASSAY_OK && small.failed)
        s = err_no_memory(err);
    if (s == ASSAY_OK)
        s = api_record_lines(&o, (str){small.p, (uint32_t)small.n}, &lines, err);
    sbuf_free(&text);
    sbuf_free(&small);
    return api_hand_text(s, &lines, out, n, err);
}

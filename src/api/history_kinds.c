/* Stores results in a history. Pipelines and machines are stored as their JSON documents, with a `context` section
 * added. */
#include <assay/history.h>

#include <stdio.h>

#include "api/history.h"
#include "api/result.h"
#include "jobs/record.h"

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
    return has_context ? ASSAY_OK : job_put_context(out, o, was_measured(of), err);
}

static assay_status make_document(const assay_result *of, const assay_record_options *o, sbuf *out,
                                  assay_error *err)
{
    assay_options none;
    TRY(put_document(of, options_or_default(o->options, &none), out, err));
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

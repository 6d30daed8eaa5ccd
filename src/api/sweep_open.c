/* Files of sweeps: a plan as it was written, or a request that a plan is made from.
 *
 * A request is a JSON object: "models" (a list of names), and options of assay_sweep_plan() with '_' for '-'; a list of
 * values is the same as a text with commas. Keys that are neither are refused.
 */
#include <stdlib.h>

#include "api/sweep.h"
#include "base/file.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct reading {
    const char *path;
    arena *arena;
    const assay_options *given; /* options that replace those of the request; may be NULL */
    assay_options *options;
    VEC(const char *) models;
    assay_error *err;
} reading;

/* ---- the request ---- */

static bool put_scalar(const json_value *v, sbuf *b)
{
    if (v->kind == JSON_TEXT || json_is_number(v))
        sbuf_str(b, v->s);
    else if (v->kind == JSON_BOOL)
        sbuf_puts(b, v->i ? "true" : "false");
    else
        return false;
    return true;
}

/* [1, 8] as "1,8". */
static bool put_value(const json_value *v, sbuf *b)
{
    if (v->kind != JSON_LIST)
        return put_scalar(v, b);
    for (uint32_t i = 0; i < v->n; i++) {
        sbuf_puts(b, i ? "," : "");
        if (!put_scalar(&v->items[i], b))
            return false;
    }
    return v->n > 0;
}

static const char *find_name(str key)
{
    const char *const *const lists[] = {sweep_axes, sweep_settings};
    for (size_t l = 0; l < 2; l++)
        for (const char *const *n = lists[l]; *n; n++) {
            bool same = strlen(*n) == key.n;
            for (uint32_t i = 0; same && i < key.n; i++)
                same = (key.p[i] == '_' ? '-' : key.p[i]) == (*n)[i];
            if (same)
                return *n;
        }
    return NULL;
}

static assay_status refuse_key(const reading *r, str key)
{
    return err_fail(r->err, ASSAY_ERR_MALFORMED,
                    "%s: unknown key '" STR_FMT "'. A request has models, sweep_name, batch_sizes, "
                    "precisions, threads, device, node_class, repeat and options of measuring "
                    "such as num_runs.",
                    FILE_NAME(r->path), STR_ARG(key));
}

static assay_status take_option(reading *r, const json_value *v)
{
    const char *name = find_name(v->key);
    sbuf text = {0};
    if (!name)
        return refuse_key(r, v->key);
    if (!put_value(v, &text)) {
        sbuf_free(&text);
        return err_fail(r->err, ASSAY_ERR_MALFORMED,
                        "%s: '" STR_FMT "' must be a text, a number or a list of them",
                        FILE_NAME(r->path), STR_ARG(v->key));
    }
    assay_status s = assay_options_set(r->options, name, sbuf_cstr(&text), r->err);
    sbuf_free(&text);
    if (s != ASSAY_OK)
        err_name_file(r->err, r->path);
    return s;
}

static assay_status take_models(reading *r, const json_value *v)
{
    for (uint32_t i = 0; v->kind == JSON_LIST && i < v->n; i++) {
        const json_value *m = &v->items[i];
        if (m->kind != JSON_TEXT || !m->s.n)
            break;
        if (!VEC_ADD(r->arena, &r->models, str_copy(r->arena, m->s).p))
            return err_no_memory(r->err);
    }
    return v->kind == JSON_LIST && r->models.n == v->n
               ? ASSAY_OK
               : err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: 'models' must be a list of names",
                          FILE_NAME(r->path));
}

static assay_status take_given(reading *r)
{
    const char *const *const lists[] = {sweep_axes, sweep_settings};
    for (size_t l = 0; l < 2; l++)
        for (const char *const *n = lists[l]; *n; n++) {
            const char *value = assay_options_get(r->given, *n);
            if (value)
                TRY(assay_options_set(r->options, *n, value, r->err));
        }
    const char *library = assay_options_get(r->given, "engine-lib");
    return library ? assay_options_set(r->options, "engine-lib", library, r->err) : ASSAY_OK;
}

static assay_status take_request(reading *r, str text, assay_result **out)
{
    json_value root;
    TRY(json_tree_parse(text, FILE_NAME(r->path), NULL, r->arena, &root, r->err));
    if (root.kind != JSON_OBJECT)
        return err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: a request of a sweep must be an object",
                        FILE_NAME(r->path));
    for (uint32_t i = 0; i < root.n; i++)
        TRY(str_is(root.items[i].key, "models") ? take_models(r, &root.items[i])
                                                : take_option(r, &root.items[i]));
    TRY(take_given(r));
    const assay_sweep_request q = {.size = sizeof q,
                                   .models = r->models.items,
                                   .n_models = r->models.n,
                                   .options = r->options};
    return assay_sweep_plan(&q, out, r->err);
}

/* ---- the plan ---- */

static assay_status check_tasks(const sweep_plan *plan, const char *path, assay_error *err)
{
    bool good = plan->n_tasks > 0 && plan->n_tasks <= SWEEP_TASKS;
    for (uint32_t i = 0; good && i < plan->n_tasks; i++)
        good = plan->tasks[i].task == (int64_t)i;
    return good ? ASSAY_OK
                : err_fail(err, ASSAY_ERR_MALFORMED,
                           "%s: the tasks of a plan must be numbered from 0, at most %d",
                           FILE_NAME(path), SWEEP_TASKS);
}

static assay_status take_plan(reading *r, str text, assay_result **out)
{
    sweep_hex hex;
    const sweep_plan *plan;
    const char *const *const lists[] = {sweep_axes, sweep_settings};
    for (size_t l = 0; l < 2; l++)
        for (const char *const *n = lists[l]; *n; n++)
            if (assay_options_get(r->given, *n))
                return err_fail(r->err, ASSAY_ERR_USAGE,
                                "--%s has no effect: the tasks of %s are fixed", *n,
                                FILE_NAME(r->path));
    TRY(api_result_read(text, FILE_NAME(r->path), "sweep", out, r->err));
    plan = (*out)->data;
    TRY(check_tasks(plan, r->path, r->err));
    TRY(sweep_digest_plan(plan, hex, r->err));
    return str_is(plan->digest, hex)
               ? ASSAY_OK
               : err_fail(r->err, ASSAY_ERR_MALFORMED,
                          "%s: the digest does not match: the plan was changed after it was made",
                          FILE_NAME(r->path));
}

static assay_status open_file(reading *r, assay_result **out)
{
    str text;
    TRY(file_read_limited(r->path, LIMIT_DOCUMENT, r->arena, &text, r->err));
    assay_status s = result_is(&sweep_kind, text) ? take_plan(r, text, out)
                                                  : take_request(r, text, out);
    if (s != ASSAY_OK) {
        assay_result_free(*out);
        *out = NULL;
    }
    return s;
}

assay_status assay_sweep_open(const char *path, const assay_options *options, assay_result **out,
                              assay_error *err)
{
    assay_error own;
    err = err ? err : &own;
    api_begin(err);
    *out = NULL;
    reading r = {.path = path,
                 .given = options,
                 .arena = arena_new(SWEEP_BYTES),
                 .options = assay_options_new(),
                 .err = err};
    assay_status s = r.arena && r.options ? open_file(&r, out) : err_no_memory(err);
    assay_options_free(r.options);
    arena_free(r.arena);
    return s;
}

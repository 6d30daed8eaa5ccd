/* Files of sweeps: a plan as it was written, or a request that a plan is made from.
 *
 * A request is a JSON object: "models" (a list of names), and options of assay_sweep_plan() with '_' for '-'; a list of
 * values is the same as a text with commas. Keys that are neither are refused.
 */
#include "study/sweep_request.h"

#include "base/file.h"
#include "base/json_tree.h"
#include "base/vec.h"

const char *const sweep_settings[] = {"num-runs",  "warmup-runs", "duration",     "concurrency",
                                      "opt-level", "no-spin",     "memory-limit", "seed",
                                      "engine",    NULL};
const char *const sweep_axes[] = {"sweep-name", "batch-sizes", "precisions", "threads",
                                  "device",     "node-class",  "repeat",     NULL};

typedef struct reading {
    const char *path;
    arena *arena;
    VEC(sweep_setting) options;
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
    bool kept = VEC_ADD(
        r->arena, &r->options,
        (sweep_setting){str_of(name), str_copy(r->arena, str_of(sbuf_cstr(&text)))});
    sbuf_free(&text);
    return kept && !arena_failed(r->arena) ? ASSAY_OK : err_no_memory(r->err);
}

static assay_status take_models(reading *r, const json_value *v)
{
    for (uint32_t i = 0; v->kind == JSON_LIST && i < v->n; i++) {
        const json_value *m = &v->items[i];
        if (m->kind != JSON_TEXT || !m->s.n)
            break;
        TRY_MEMORY(VEC_ADD(r->arena, &r->models, str_copy(r->arena, m->s).p), r->err);
    }
    return v->kind == JSON_LIST && r->models.n == v->n
               ? ASSAY_OK
               : err_fail(r->err, ASSAY_ERR_MALFORMED, "%s: 'models' must be a list of names",
                          FILE_NAME(r->path));
}

assay_status sweep_request_read(str text, const char *path, arena *a, sweep_file *out,
                                assay_error *err)
{
    reading r = {.path = path, .arena = a, .err = err};
    json_value root;
    TRY(json_tree_parse(text, FILE_NAME(path), NULL, a, &root, err));
    if (root.kind != JSON_OBJECT)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: a request of a sweep must be an object",
                        FILE_NAME(path));
    for (uint32_t i = 0; i < root.n; i++)
        TRY(str_is(root.items[i].key, "models") ? take_models(&r, &root.items[i])
                                                : take_option(&r, &root.items[i]));
    *out = (sweep_file){r.models.items, r.models.n, r.options.items, r.options.n};
    return ASSAY_OK;
}

/* ---- the plan ---- */

assay_status sweep_digest_plan(const sweep_plan *plan, digest_hex out, assay_error *err)
{
    sweep_plan bare = *plan;
    sbuf text = {0};
    bare.id = bare.digest = (str){"", 0};
    result_write(&sweep_kind, &bare, 0, &text);
    return digest_text(&text, out, err);
}

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

assay_status sweep_plan_check(const sweep_plan *plan, const char *path, assay_error *err)
{
    digest_hex hex;
    TRY(check_tasks(plan, path, err));
    TRY(sweep_digest_plan(plan, hex, err));
    return str_is(plan->digest, hex)
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_MALFORMED,
                          "%s: the digest does not match: the plan was changed after it was made",
                          FILE_NAME(path));
}

/* Values of a result by path, found in the field tables. */
#include "api/result.h"

#include <assert.h>

#include "jobs/record.h"
#include "profile/load.h"

/* ---- the root ---- */

void api_describe_host(const assay_result *of)
{
    profile *p = of->p ? of->p : of->kind == &load_kind ? ((load_result *)of->data)->about : NULL;
    if (p && !of->saved)
        job_describe_host(p);
}

field_value api_result_root(const assay_result *of)
{
    return fields_root(of->kind->of, of->p ? (const void *)of->p : of->data);
}

static field_value value_at(const assay_result *of, const char *path)
{
    if (strncmp(path, "context", 7) == 0)
        api_describe_host(of);
    field_value root = api_result_root(of);
    return fields_get(&root, path);
}

/* Members of an object: those of splices are its own. */
static uint32_t members_count(const field_value *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        field_value m = fields_item(v, i);
        n += m.row->kind == FIELD_SPLICE ? members_count(&m) : 1;
    }
    return n;
}

static field_value member_at(const field_value *v, uint32_t *index)
{
    for (uint32_t i = 0; i < v->n; i++) {
        field_value m = fields_item(v, i);
        if (m.row->kind == FIELD_SPLICE)
            m = member_at(&m, index);
        else if ((*index)-- > 0)
            continue;
        if (m.row)
            return m;
    }
    return (field_value){0};
}

/* ---- one value ---- */

static const char *word(const char *s)
{
    return s ? s : "";
}

/* Texts of a result are copies with a NUL behind them, or literals. */
static const char *text_of(str s)
{
    return s.n ? s.p : "";
}

/* What only its codec can write, as in the file; without the quotes of a string. */
static const char *codec_text(const assay_result *of, const field_value *v)
{
    sbuf b = {0};
    json_writer w;
    assert(v->row && v->row->codec);
    json_begin(&w, &b, 0);
    v->row->codec->write(&w, v->at);
    str s = {b.p, (uint32_t)b.n};
    if (s.n >= 2 && s.p[0] == '"')
        s = (str){s.p + 1, s.n - 2};
    str copy = b.failed ? (str){0} : str_copy(of->p ? of->p->arena : of->arena, s);
    sbuf_free(&b);
    return text_of(copy);
}

static assay_type type_of(const field_value *v)
{
    static const assay_type types[] = {
        [VALUE_NONE] = ASSAY_NONE,       [VALUE_BOOL] = ASSAY_BOOL, [VALUE_WHOLE] = ASSAY_WHOLE,
        [VALUE_INTEGER] = ASSAY_INTEGER, [VALUE_REAL] = ASSAY_REAL, [VALUE_TEXT] = ASSAY_TEXT,
        [VALUE_OBJECT] = ASSAY_OBJECT,   [VALUE_LIST] = ASSAY_LIST, [VALUE_CODEC] = ASSAY_TEXT,
    };
    assert(v->type != VALUE_CODEC || (v->row && v->row->codec));
    bool numbers = v->type == VALUE_CODEC && v->row->codec->item;
    return numbers ? ASSAY_LIST : types[v->type];
}

static size_t count_of(const field_value *v)
{
    assert(v->type != VALUE_CODEC || (v->row && v->row->codec));
    if (v->type == VALUE_CODEC)
        return v->row->codec->count ? v->row->codec->count(v->at) : 0;
    return v->type == VALUE_OBJECT ? members_count(v) : v->n;
}

static assay_value public_value(const assay_result *of, const field_value *v)
{
    const char *unit = v->row ? fields_unit(v->row) : NULL;
    return (assay_value){.type = type_of(v),
                         .truth = v->type == VALUE_BOOL && v->b,
                         .whole = v->type == VALUE_WHOLE ? v->u : 0,
                         .integer = v->type == VALUE_INTEGER ? v->i : 0,
                         .real = fields_number(v),
                         .text = v->type == VALUE_TEXT    ? text_of(v->text)
                                 : v->type == VALUE_CODEC ? codec_text(of, v)
                                                          : "",
                         .count = count_of(v),
                         .key = text_of(v->key),
                         .unit = word(unit),
                         .label = word(v->row ? v->row->label : NULL),
                         .about = word(v->row ? v->row->about : NULL)};
}

/* ---- the public functions ---- */

assay_status assay_result_get(const assay_result *of, const char *path, assay_value *out,
                              assay_error *err)
{
    api_begin(err);
    field_value v = value_at(of, path);
    if (v.type == VALUE_NONE && *path && !fields_find(of->kind->of, str_of(path)))
        return err_fail(err, ASSAY_ERR_USAGE, "no '%s' in %s", path, of->kind->what);
    const assay_value x = public_value(of, &v);
    return GIVE(out, x, err);
}

bool assay_result_item(const assay_result *of, const char *path, size_t index, assay_value *out)
{
    field_value v = value_at(of, path);
    uint32_t at = (uint32_t)index;
    if (index >= count_of(&v))
        return false;
    field_value item = v.type == VALUE_OBJECT ? member_at(&v, &at) : fields_item(&v, at);
    const assay_value x = public_value(of, &item);
    return HAND_OUT(out, x);
}

size_t assay_result_count(const assay_result *of, const char *path)
{
    field_value v = value_at(of, path);
    return count_of(&v);
}

double assay_result_number(const assay_result *of, const char *path)
{
    field_value v = value_at(of, path);
    return fields_number(&v);
}

const char *assay_result_text(const assay_result *of, const char *path)
{
    field_value v = value_at(of, path);
    return v.type == VALUE_CODEC ? codec_text(of, &v) : v.type == VALUE_TEXT ? text_of(v.text) : "";
}

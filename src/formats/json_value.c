/* From jansson's tree to ours. jansson checks syntax, UTF-8 and numbers; the limits are ours. */
#include "formats/json_value.h"

#include <jansson.h>

#include "base/file.h"

#define FILE_BYTES_MAX ((uint64_t)16 << 20)
enum { DEPTH_MAX = 64 };

static assay_status convert(const json_t *j, int depth, arena *a, zoo_value *out, assay_error *err);

static assay_status convert_list(const json_t *j, int depth, arena *a, zoo_value *out,
                                 assay_error *err)
{
    size_t n = json_array_size(j);
    zoo_value *items = ARENA_ARRAY(a, zoo_value, n + 1);
    if (!items)
        return err_no_memory(err);
    for (size_t i = 0; i < n; i++)
        TRY(convert(json_array_get(j, i), depth + 1, a, &items[i], err));
    *out = (zoo_value){.kind = ZOO_LIST, .items = items, .n = (uint32_t)n};
    return ASSAY_OK;
}

/* jansson's iterators need a pointer that is not const although they only read. */
static assay_status convert_object(json_t *j, int depth, arena *a, zoo_value *out, assay_error *err)
{
    size_t n = json_object_size(j), i = 0;
    zoo_value *items = ARENA_ARRAY(a, zoo_value, n + 1);
    str *keys = ARENA_ARRAY(a, str, n + 1);
    if (!items || !keys)
        return err_no_memory(err);
    for (void *at = json_object_iter(j); at; at = json_object_iter_next(j, at), i++) {
        keys[i] = str_copy(a, str_of(json_object_iter_key(at)));
        if (!keys[i].p)
            return err_no_memory(err);
        TRY(convert(json_object_iter_value(at), depth + 1, a, &items[i], err));
    }
    *out = (zoo_value){.kind = ZOO_OBJECT, .items = items, .keys = keys, .n = (uint32_t)n};
    return ASSAY_OK;
}

static assay_status convert_text(const json_t *j, arena *a, zoo_value *out, assay_error *err)
{
    str s = {json_string_value(j), (uint32_t)json_string_length(j)};
    *out = (zoo_value){.kind = ZOO_STR, .s = str_copy(a, s)};
    return out->s.p ? ASSAY_OK : err_no_memory(err);
}

static assay_status convert(const json_t *j, int depth, arena *a, zoo_value *out, assay_error *err)
{
    if (depth > DEPTH_MAX)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "The JSON is nested deeper than %d levels, which nothing here needs.",
                        DEPTH_MAX);
    switch (json_typeof(j)) {
    case JSON_ARRAY:
        return convert_list(j, depth, a, out, err);
    case JSON_OBJECT:
        return convert_object((json_t *)(uintptr_t)j, depth, a, out, err);
    case JSON_STRING:
        return convert_text(j, a, out, err);
    case JSON_INTEGER:
        *out = (zoo_value){.kind = ZOO_INT, .i = json_integer_value(j)};
        out->f = (double)out->i;
        return ASSAY_OK;
    case JSON_REAL:
        *out = (zoo_value){.kind = ZOO_REAL, .f = json_real_value(j)};
        return ASSAY_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = (zoo_value){.kind = ZOO_BOOL, .i = json_is_true(j), .f = json_is_true(j)};
        return ASSAY_OK;
    case JSON_NULL:
        break;
    }
    *out = (zoo_value){.kind = ZOO_NULL};
    return ASSAY_OK;
}

assay_status json_value_parse(str text, const char *shown, arena *a, zoo_value *out,
                              assay_error *err)
{
    json_error_t e;
    json_t *j = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &e);
    if (!j && json_error_code(&e) == json_error_out_of_memory)
        return err_no_memory(err);
    if (!j)
        return err_fail_at(err, ASSAY_ERR_MALFORMED, (uint64_t)(e.position > 0 ? e.position : 0),
                           "'%s' is not valid JSON: line %d, column %d: %s.", shown, e.line,
                           e.column, e.text);
    assay_status s = convert(j, 0, a, out, err);
    json_decref(j);
    return s;
}

assay_status json_value_read(const char *path, arena *a, zoo_value *out, assay_error *err)
{
    char shown[FILE_SHOWN];
    str text;
    TRY(file_read_all(path, FILE_BYTES_MAX, a, &text, err));
    /* A byte order mark is no part of the text. */
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
        text = (str){text.p + 3, text.n - 3};
    return json_value_parse(text, file_shown(path, shown), a, out, err);
}

const zoo_value *json_value_get(const zoo_value *object, const char *key)
{
    if (!object || object->kind != ZOO_OBJECT)
        return NULL;
    for (uint32_t i = 0; i < object->n; i++)
        if (str_is(object->keys[i], key))
            return &object->items[i];
    return NULL;
}

const char *json_value_kind(const zoo_value *v)
{
    static const char *const words[] = {
        [ZOO_NULL] = "null",        [ZOO_BOOL] = "true or false", [ZOO_INT] = "a whole number",
        [ZOO_REAL] = "a number",    [ZOO_STR] = "a text",         [ZOO_LIST] = "a list",
        [ZOO_OBJECT] = "an object",
    };
    return words[v->kind];
}

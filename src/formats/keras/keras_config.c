/* Settings of layers. Keras 1 has other names for many of them, and Keras 3 writes tuples and types as objects. */
#include <math.h>

#include "formats/keras/keras_impl.h"

const json_value *keras_get(const json_value *config, const char *keys)
{
    str rest = str_of(keys), key;
    while (str_split(&rest, '|', &key)) {
        const json_value *v = json_member(config, key);
        if (v && v->kind != JSON_NULL)
            return v;
    }
    return NULL;
}

static bool whole_of(const json_value *v, int64_t *out)
{
    if (v->kind == JSON_INT || v->kind == JSON_BOOL)
        *out = v->i;
    else if (v->kind == JSON_REAL && v->f == floor(v->f) && fabs(v->f) < 9e15)
        *out = (int64_t)v->f;
    else
        return false;
    return true;
}

int64_t keras_int(const json_value *config, const char *keys, int64_t def)
{
    const json_value *v = keras_get(config, keys);
    int64_t n;
    return v && whole_of(v, &n) ? n : def;
}

double keras_number(const json_value *config, const char *keys, double def)
{
    const json_value *v = keras_get(config, keys);
    if (v && v->kind == JSON_OBJECT) /* a number of numpy, as Keras 2 writes it */
        v = keras_get(v, "value");
    return v && json_is_number(v) ? v->f : def;
}

bool keras_bool(const json_value *config, const char *keys, bool def)
{
    const json_value *v = keras_get(config, keys);
    int64_t n;
    return v && whole_of(v, &n) ? n != 0 : def;
}

str keras_word(const json_value *config, const char *keys, const char *def)
{
    const json_value *v = keras_get(config, keys);
    return v && v->kind == JSON_TEXT ? v->s : str_of(def);
}

const json_value *keras_items(const json_value *v, uint32_t *n)
{
    *n = 0;
    if (v && v->kind == JSON_OBJECT && str_is(keras_word(v, "class_name", ""), "__tuple__"))
        v = json_get(v, "items");
    if (!v || v->kind != JSON_LIST)
        return NULL;
    *n = v->n;
    return v->items;
}

int keras_list(const json_value *v, int64_t *list, int max)
{
    uint32_t n;
    const json_value *items = keras_items(v, &n);
    if (v && !items && v->kind != JSON_LIST)
        return max > 0 && whole_of(v, list) ? 1 : -1;
    if (!v || n > (uint32_t)max)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        if (items[i].kind == JSON_NULL)
            list[i] = -1;
        else if (!whole_of(&items[i], &list[i]))
            return -1;
    }
    return (int)n;
}

bool keras_ints(const json_value *config, const char *keys, int64_t *list, int n)
{
    int64_t found[KERAS_LIST];
    const json_value *v = keras_get(config, keys);
    int count = v ? keras_list(v, found, KERAS_LIST) : -1;
    if (count != 1 && count != n)
        return false;
    for (int i = 0; i < n; i++)
        list[i] = found[count == 1 ? 0 : i];
    return true;
}

bool keras_channels_first(const json_value *config)
{
    str s = keras_word(config, "data_format|dim_ordering", "channels_last");
    return str_is(s, "channels_first") || str_is(s, "th");
}

str keras_object(const json_value *v, const json_value **config)
{
    *config = NULL;
    if (v && v->kind == JSON_TEXT)
        return v->s;
    if (!v || v->kind != JSON_OBJECT)
        return (str){0};
    *config = keras_get(v, "config");
    return keras_word(v, "class_name", "");
}

/* "float32", or a policy: {"class_name": "Policy", "config": {"name": "mixed_float16"}}. */
ir_dtype keras_dtype(const json_value *config, const char *key, ir_dtype def)
{
    const json_value *v = keras_get(config, key), *inner;
    str name = keras_object(v, &inner);
    if (inner)
        name = keras_word(inner, "name", "");
    if (str_starts(name, "mixed_"))
        return IR_FLOAT32;
    ir_dtype t = str_is(name, "string") ? IR_STRING : ir_dtype_by_name(name);
    return t == IR_UNDEFINED ? def : t;
}

ir_t keras_shape_of(const json_value *v, ir_dtype t)
{
    ir_t x = keras_unknown_shape(t);
    int n = v ? keras_list(v, x.d, IR_KIT_RANK) : -1;
    if (n < 0 || (v->kind != JSON_LIST && v->kind != JSON_OBJECT))
        return x;
    for (int d = 0; d < n; d++)
        if (x.d[d] < 0 || x.d[d] > KERAS_MAX_SIZE)
            x.d[d] = -1;
    x.rank = n;
    return x;
}

/* Parameters by key. Text becomes a value by its looks: a comma or brackets make a list, digits a number, true and
 * false a flag, none and null nothing, everything else is a word. Lists are short, so the search is linear.
 */
#include "zoo/args.h"

enum { ARGS_MAX = 1000, ITEMS_MAX = 10000, NUMBER_TEXT_MAX = 63 };

void zoo_args_init(zoo_args *a, arena *in)
{
    *a = (zoo_args){.arena = in};
}

static zoo_arg *find_arg(const zoo_args *a, str key)
{
    for (uint32_t i = 0; i < a->list.n; i++)
        if (str_eq(a->list.items[i].key, key))
            return &a->list.items[i];
    return NULL;
}

zoo_arg *zoo_args_get(const zoo_args *a, const char *key)
{
    return find_arg(a, str_of(key));
}

bool zoo_args_put(zoo_args *a, str key, json_value value, bool is_default)
{
    zoo_arg *arg = find_arg(a, key);
    if (!arg && a->list.n >= ARGS_MAX)
        return false;
    if (!arg && (arg = VEC_PUSH(a->arena, &a->list)) != NULL)
        arg->key = str_copy(a->arena, key);
    if (!arg)
        return false;
    arg->value = value;
    arg->is_default = is_default;
    arg->lenient = arg->silent = false;
    return arg->key.p != NULL;
}

bool zoo_args_put_int(zoo_args *a, const char *key, int64_t value)
{
    return zoo_args_put(a, str_of(key), json_of_int(value), false);
}

static bool put_all(zoo_args *a, const zoo_args *from, bool forgiven)
{
    for (uint32_t i = 0; from && i < from->list.n; i++) {
        const zoo_arg *arg = &from->list.items[i];
        if (!zoo_args_put(a, arg->key, arg->value, false))
            return false;
        zoo_arg *there = find_arg(a, arg->key);
        there->lenient = forgiven || arg->lenient;
        there->silent = forgiven || arg->silent;
    }
    return true;
}

bool zoo_args_copy(zoo_args *a, const zoo_args *from)
{
    return put_all(a, from, false);
}

bool zoo_args_add(zoo_args *a, const zoo_args *from)
{
    return put_all(a, from, true);
}

/* ---- text to value ---- */

static bool parse_number(str text, json_value *out)
{
    bool plus = text.n > 1 && text.p[0] == '+' && text.p[1] != '-';
    str digits = {text.p + plus, text.n - plus};
    int64_t whole;
    double real;
    if (text.n > NUMBER_TEXT_MAX)
        return false;
    if (str_to_i64(digits, &whole))
        *out = json_of_int(whole);
    else if (str_to_f64(digits, &real))
        *out = (json_value){.kind = JSON_REAL, .f = real};
    else
        return false;
    return true;
}

static assay_status parse_scalar(arena *a, str text, json_value *out, assay_error *err)
{
    bool yes = str_is(text, "true") || str_is(text, "True");
    if (yes || str_is(text, "false") || str_is(text, "False")) {
        *out = json_of_bool(yes);
    } else if (str_is(text, "none") || str_is(text, "None") || str_is(text, "null")) {
        *out = (json_value){.kind = JSON_NULL};
    } else if (!parse_number(text, out)) {
        *out = json_of_text(str_copy(a, text));
        TRY_MEMORY(out->s.p, err);
    }
    return ASSAY_OK;
}

static assay_status parse_list(arena *a, str text, json_value *out, assay_error *err)
{
    uint32_t n = 1, k = 0;
    for (uint32_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    if (n > ITEMS_MAX)
        return err_fail(err, ASSAY_ERR_USAGE, "list of %u items is longer than the limit of %d", n,
                        ITEMS_MAX);
    json_value *items = ARENA_ARRAY(a, json_value, n);
    TRY_MEMORY(items, err);
    for (str item; str_split(&text, ',', &item);)
        if ((item = str_trim(item)).n)
            TRY(parse_scalar(a, item, &items[k++], err));
    *out = (json_value){.kind = JSON_LIST, .items = items, .n = k};
    return ASSAY_OK;
}

assay_status zoo_value_parse(arena *a, str text, json_value *out, assay_error *err)
{
    text = str_trim(text);
    bool bracketed = text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']';
    if (bracketed)
        text = (str){text.p + 1, text.n - 2};
    if (bracketed || (text.n && memchr(text.p, ',', text.n)))
        return parse_list(a, text, out, err);
    return parse_scalar(a, text, out, err);
}

/* ---- "key=value key=value" ---- */

static assay_status parse_pair(zoo_args *a, str pair, bool is_default, assay_error *err)
{
    json_value value;
    const char *eq = memchr(pair.p, '=', pair.n);
    if (!eq || eq == pair.p)
        return err_fail(err, ASSAY_ERR_USAGE, "'" STR_FMT "' is not of the form key=value",
                        STR_ARG(pair));
    uint32_t n = (uint32_t)(eq - pair.p);
    TRY(zoo_value_parse(a->arena, (str){eq + 1, pair.n - n - 1}, &value, err));
    if (zoo_args_put(a, (str){pair.p, n}, value, is_default))
        return ASSAY_OK;
    return a->list.n >= ARGS_MAX
               ? err_fail(err, ASSAY_ERR_USAGE, "more than %d parameters", ARGS_MAX)
               : err_no_memory(err);
}

assay_status zoo_args_parse(zoo_args *a, str text, bool is_default, assay_error *err)
{
    for (str pair; str_split(&text, ' ', &pair);)
        if (pair.n)
            TRY(parse_pair(a, pair, is_default, err));
    return ASSAY_OK;
}

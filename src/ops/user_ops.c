/* Reads a file of operator rules: JSON to rows of the operator table. Everything is checked here that does not depend on
 * a node: names, functions, arguments, recursion, limits. */
#include "ops/user_ops.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "ops/user_rule.h"

#define SCHEMA "assay.ops/1"

typedef struct rule_reader {
    str file;  /* as messages show it */
    str place; /* "rules.json: my::Op" */
    arena *arena;
    assay_error *err;
    user_rule *rule;
    op_row *row;
} rule_reader;

static assay_status refuse_rule(const rule_reader *x, const char *fmt, ...) ASSAY_PRINTF(2, 3);
static assay_status refuse_rule(const rule_reader *x, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return err_fail(x->err, ASSAY_ERR_MALFORMED, STR_FMT ": %s", STR_ARG(x->place), what);
}

/* ---- keys ---- */

static bool is_listed(const char *const *keys, str key)
{
    while (*keys && !str_is(key, *keys))
        keys++;
    return *keys != NULL;
}

static assay_status check_keys(const rule_reader *x, const json_value *v, const char *what,
                               const char *const *keys)
{
    if (v->kind != JSON_OBJECT)
        return refuse_rule(x, "%s must be an object", what);
    for (uint32_t i = 0; i < v->n; i++)
        if (!is_listed(keys, v->items[i].key)) {
            char shown[80];
            text_safe_into(shown, sizeof shown, v->items[i].key);
            return refuse_rule(x, "%s has no key '%s'", what, shown);
        }
    return ASSAY_OK;
}

static assay_status list_of(const rule_reader *x, const json_value *v, const char *key,
                            uint32_t most, const json_value **out)
{
    const json_value *list = json_get(v, key);
    *out = list ? list : &json_absent;
    if (list && (list->kind != JSON_LIST || list->n > most))
        return refuse_rule(x, "'%s' must be a list of at most %u", key, most);
    return ASSAY_OK;
}

/* ---- names ---- */

static bool is_taken(const user_names *n, str name)
{
    for (uint32_t i = 0; i < USER_TENSORS; i++)
        if (str_eq(n->inputs[i], name) || str_eq(n->outputs[i], name))
            return true;
    for (uint32_t i = 0; i < n->n_lets; i++)
        if (str_eq(n->lets[i], name))
            return true;
    return false;
}

static assay_status add_name(const rule_reader *x, str name, str *list, uint32_t *n)
{
    if (!user_is_name(name) || is_taken(&x->rule->names, name)) {
        char shown[80];
        text_safe_into(shown, sizeof shown, name);
        return refuse_rule(x, "'%s' is not a name, or is used twice", shown);
    }
    list[(*n)++] = name;
    return ASSAY_OK;
}

/* "x", or "x?" for one that may be left out; those come last. */
static assay_status read_inputs(rule_reader *x, const json_value *v)
{
    user_names *names = &x->rule->names;
    const json_value *list;
    bool optional = false;
    TRY(list_of(x, v, "inputs", USER_TENSORS, &list));
    for (uint32_t i = 0; i < list->n; i++) {
        str name = list->items[i].s;
        bool may_miss = name.n && name.p[name.n - 1] == '?';
        if (list->items[i].kind != JSON_TEXT || (optional && !may_miss))
            return refuse_rule(x, "'inputs' must list names, those with '?' last");
        name.n -= may_miss;
        optional = may_miss;
        TRY(add_name(x, name, names->inputs, &names->n_inputs));
        x->row->min_in = (uint8_t)(x->row->min_in + !may_miss);
    }
    x->row->max_in = (uint8_t)list->n;
    return ASSAY_OK;
}

static int input_named(const user_names *n, str name)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (str_eq(n->inputs[i], name))
            return (int)i;
    return -1;
}

/* ---- formulas ---- */

static assay_status read_formula(const rule_reader *x, const json_value *v, const char *section,
                                 str key, user_formula *f)
{
    f->where = str_printf(x->arena, STR_FMT ", %s" STR_FMT, STR_ARG(x->place), section,
                          STR_ARG(key));
    TRY_MEMORY(f->where.p, x->err);
    if (v->kind == JSON_INT) {
        f->is = user_expr_number(v->i, x->arena);
        return f->is ? ASSAY_OK : err_no_memory(x->err);
    }
    if (v->kind != JSON_TEXT)
        return err_fail(x->err, ASSAY_ERR_MALFORMED,
                        STR_FMT ": must be a whole number or a text with an expression",
                        STR_ARG(f->where));
    return user_expr_parse(v->s, f->where, &x->rule->names, x->arena, &f->is, x->err);
}

static assay_status read_lets(rule_reader *x, const json_value *v)
{
    const json_value *lets = json_get(v, "let");
    user_names *names = &x->rule->names;
    if (!lets)
        return ASSAY_OK;
    if (lets->kind != JSON_OBJECT || lets->n > USER_LETS)
        return refuse_rule(x, "'let' must be an object of at most %d definitions", USER_LETS);
    for (uint32_t i = 0; i < lets->n; i++)
        TRY(add_name(x, lets->items[i].key, names->lets, &names->n_lets));
    for (uint32_t i = 0; i < lets->n; i++) {
        names->lets_before = i;
        TRY(read_formula(x, &lets->items[i], "let.", lets->items[i].key, &x->rule->lets[i]));
    }
    names->lets_before = lets->n;
    return ASSAY_OK;
}

/* ---- outputs ---- */

static assay_status read_shape(rule_reader *x, const json_value *v, user_output *u)
{
    const json_value *shape = json_get(v, "shape");
    u->like = shape && shape->kind == JSON_TEXT ? input_named(&x->rule->names, shape->s) : -1;
    if (u->like >= 0)
        return ASSAY_OK;
    if (!shape || shape->kind != JSON_LIST || shape->n > IR_MAX_RANK)
        return refuse_rule(x, "'shape' must be an input's name or a list of at most %d sizes",
                           IR_MAX_RANK);
    u->rank = (int)shape->n;
    u->dims = ARENA_ARRAY(x->arena, user_formula, shape->n + (size_t)1);
    for (uint32_t d = 0; u->dims && d < shape->n; d++)
        TRY(read_formula(x, &shape->items[d], "shape", (str){0}, &u->dims[d]));
    return u->dims ? ASSAY_OK : err_no_memory(x->err);
}

static assay_status read_dtype(rule_reader *x, const json_value *v, user_output *u)
{
    const json_value *t = json_get(v, "dtype");
    u->dtype_of = t ? input_named(&x->rule->names, t->s) : x->rule->names.n_inputs ? 0 : -1;
    u->dtype = t && u->dtype_of < 0 ? ir_dtype_by_name(t->s) : IR_UNDEFINED;
    if (u->dtype_of < 0 && (!t || t->kind != JSON_TEXT || u->dtype == IR_UNDEFINED))
        return refuse_rule(x, "'dtype' must be an input's name or a type such as float32");
    return ASSAY_OK;
}

static assay_status read_outputs(rule_reader *x, const json_value *v)
{
    static const char *const keys[] = {"name", "shape", "dtype", NULL};
    static const char *const plain[] = {"y", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
    user_names *names = &x->rule->names;
    str found[USER_TENSORS] = {{0}};
    const json_value *list;
    TRY(list_of(x, v, "outputs", USER_TENSORS, &list));
    if (list->n == 0)
        return refuse_rule(x, "'outputs' must list at least one output");
    x->rule->outputs = ARENA_ARRAY(x->arena, user_output, list->n);
    TRY_MEMORY(x->rule->outputs, x->err);
    for (uint32_t i = 0; i < list->n; i++) {
        TRY(check_keys(x, &list->items[i], "an output", keys));
        TRY(read_shape(x, &list->items[i], &x->rule->outputs[i]));
        TRY(read_dtype(x, &list->items[i], &x->rule->outputs[i]));
        const json_value *name = json_get(&list->items[i], "name");
        if (!name && i >= sizeof plain / sizeof *plain)
            return refuse_rule(x, "output %u needs a 'name'", i);
        found[i] = name ? name->s : str_of(plain[i]);
    }
    /* Shapes are read: from now on outputs may be named. */
    for (uint32_t i = 0; i < list->n; i++)
        TRY(add_name(x, found[i], names->outputs, &names->n_outputs));
    x->row->min_out = 1;
    x->row->max_out = (uint8_t)list->n;
    return ASSAY_OK;
}

/* ---- costs ---- */

static assay_status read_bytes(rule_reader *x, const json_value *cost, const char *key,
                               user_formula *to)
{
    const user_names *names = &x->rule->names;
    bool input = strcmp(key, "read") == 0;
    const json_value *v = json_get(cost, key);
    if (!v)
        return ASSAY_OK;
    if (v->kind != JSON_OBJECT)
        return refuse_rule(x, "'cost.%s' must be an object of tensors and bytes", key);
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t n = input ? names->n_inputs : names->n_outputs, k = 0;
        while (k < n && !str_eq((input ? names->inputs : names->outputs)[k], v->items[i].key))
            k++;
        if (k == n)
            return refuse_rule(x, "'cost.%s' names a tensor that is not an %s", key,
                               input ? "input" : "output");
        TRY(read_formula(x, &v->items[i], input ? "cost.read." : "cost.written.", v->items[i].key,
                         &to[k]));
    }
    return ASSAY_OK;
}

static assay_status read_costs(rule_reader *x, const json_value *v)
{
    static const char *const keys[] = {"mac", "add",     "mul",  "div",     "special",
                                       "cmp", "int_ops", "read", "written", NULL};
    const json_value *cost = json_get(v, "cost");
    if (!cost)
        return ASSAY_OK;
    TRY(check_keys(x, cost, "'cost'", keys));
    for (uint32_t i = 0; i < USER_COSTS; i++) {
        const json_value *f = json_get(cost, user_cost_keys[i].key);
        if (f)
            TRY(read_formula(x, f, "cost.", f->key, &x->rule->costs[i]));
    }
    TRY(read_bytes(x, cost, "read", x->rule->read));
    return read_bytes(x, cost, "written", x->rule->written);
}

/* Inputs of which a constant is (not) a parameter, as a mask. */
static assay_status read_mask(rule_reader *x, const json_value *v, const char *key, uint32_t *out)
{
    const json_value *list;
    TRY(list_of(x, v, key, USER_TENSORS, &list));
    for (uint32_t i = 0; i < list->n; i++) {
        int slot = input_named(&x->rule->names, list->items[i].s);
        if (list->items[i].kind != JSON_TEXT || slot < 0)
            return refuse_rule(x, "'%s' must list inputs", key);
        *out |= UINT32_C(1) << slot;
    }
    return ASSAY_OK;
}

/* ---- rules ---- */

static bool is_word(str s)
{
    bool good = s.n > 0 && s.n <= 32;
    for (uint32_t i = 0; good && i < s.n; i++)
        good = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
               s.p[i] == '_' || s.p[i] == '-';
    return good;
}

/* "domain::Name", or "Name" of ai.onnx. */
static assay_status read_op(rule_reader *x, const json_value *v)
{
    const json_value *op = json_get(v, "op"), *type = json_get(v, "type");
    if (!op || op->kind != JSON_TEXT || op->s.n == 0 || op->s.n > 128)
        return refuse_rule(x, "every operator needs an 'op': domain::Name");
    char shown[160];
    text_safe_into(shown, sizeof shown, op->s);
    x->place = str_printf(x->arena, STR_FMT ": %s", STR_ARG(x->file), shown);
    const char *colons = strstr(op->s.p, "::");
    uint32_t n = colons ? (uint32_t)(colons - op->s.p) : 0;
    x->row->domain = str_copy(x->arena, (str){op->s.p, n}).p;
    x->row->name = colons ? colons + 2 : op->s.p;
    if (type && (type->kind != JSON_TEXT || !is_word(type->s)))
        return refuse_rule(x, "'type' must be a word of a-z, 0-9, '_' and '-'");
    x->row->type = type ? type->s.p : "custom";
    TRY_MEMORY(x->place.p && x->row->domain, x->err);
    return *x->row->name ? ASSAY_OK : refuse_rule(x, "'op' has no name");
}

static assay_status read_rule(rule_reader *x, const json_value *v)
{
    static const char *const keys[] = {"op",      "type", "about",   "inputs",      "let",
                                       "outputs", "cost", "weights", "not_weights", NULL};
    TRY(check_keys(x, v, "an operator", keys));
    TRY(read_op(x, v));
    TRY(read_inputs(x, v));
    TRY(read_lets(x, v));
    TRY(read_outputs(x, v));
    TRY(read_costs(x, v));
    TRY(read_mask(x, v, "weights", &x->row->weights));
    TRY(read_mask(x, v, "not_weights", &x->row->aux));
    bool contracts = x->rule->costs[0].is != NULL;
    x->row->versions = "1";
    x->row->formula = "as the file of rules says";
    x->row->infer = user_rule_infer;
    x->row->cost = user_rule_cost;
    x->row->flags = OPF_USER;
    x->row->backward = contracts ? OP_BW_CONTRACTION : OP_BW_SAME;
    x->row->saves = OP_SAVE_INPUTS;
    x->row->with = x->rule;
    return ASSAY_OK;
}

/* Not twice the same, and no operator whose meaning is in its subgraphs or content. */
static assay_status check_rules(rule_reader *x, const op_rows *all)
{
    const op_index *table = op_index_new(x->arena, NULL);
    const op_index *with = op_index_new(x->arena, all);
    TRY_MEMORY(table && with, x->err);
    for (uint32_t i = 0; i < all->n; i++) {
        op_row row = all->rows[i];
        rule_reader at = *x;
        at.row = &row;
        at.place = str_printf(x->arena, STR_FMT ": %s%s%s", STR_ARG(x->file), row.domain,
                              row.domain[0] ? "::" : "", row.name);
        const op_row *last = op_find(with, str_of(row.domain), str_of(row.name));
        const op_row *known = op_find(table, str_of(row.domain), str_of(row.name));
        if (last != &all->rows[i])
            return refuse_rule(&at, "the operator is described twice");
        if (known && known->flags & (OPF_CONTROL | OPF_CONSTANT))
            return refuse_rule(&at, "control flow and constants cannot be described by a rule");
    }
    return ASSAY_OK;
}

static assay_status read_rules(rule_reader *x, const json_value *root, op_rows *out)
{
    static const char *const keys[] = {"schema", "operators", NULL};
    TRY(check_keys(x, root, "the file", keys));
    const json_value *schema = json_get(root, "schema"), *list;
    if (!schema || schema->kind != JSON_TEXT || !str_is(schema->s, SCHEMA))
        return refuse_rule(x, "'schema' must be \"%s\"", SCHEMA);
    TRY(list_of(x, root, "operators", USER_RULES, &list));
    op_row *rows = ARENA_ARRAY(x->arena, op_row, list->n + (size_t)1);
    for (uint32_t i = 0; rows && i < list->n; i++) {
        x->row = &rows[i];
        x->rule = ARENA_NEW(x->arena, user_rule);
        x->place = str_printf(x->arena, STR_FMT ": operator %u", STR_ARG(x->file), i + 1);
        TRY_MEMORY(x->rule && x->place.p, x->err);
        x->rule->file = x->file;
        TRY(read_rule(x, &list->items[i]));
    }
    *out = (op_rows){rows, list->n};
    return rows ? check_rules(x, out) : err_no_memory(x->err);
}

assay_status user_ops_parse(str text, const char *shown, arena *a, const op_rows **out,
                            assay_error *err)
{
    json_value root;
    op_rows *rows = ARENA_NEW(a, op_rows);
    rule_reader x = {.file = str_copy(a, str_of(shown)), .arena = a, .err = err};
    x.place = x.file;
    TRY_MEMORY(rows && x.file.p, err);
    TRY(json_tree_parse(text, shown, NULL, a, &root, err));
    TRY(read_rules(&x, &root, rows));
    *out = rows;
    return ASSAY_OK;
}

assay_status user_ops_read(const char *path, arena *a, const op_rows **out, assay_error *err)
{
    char shown[FILE_SHOWN];
    str text;
    TRY(file_read_all(path, USER_FILE_BYTES, a, &text, err));
    return user_ops_parse(text, file_shown(path, shown), a, out, err);
}

str user_ops_file(const op_row *row)
{
    const user_rule *rule = row && row->flags & OPF_USER ? row->with : NULL;
    return rule ? rule->file : (str){0};
}

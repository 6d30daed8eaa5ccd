/* StableHLO text: the file, its functions, and operators in their order; see stablehlo.h. */
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"
#include "formats/stablehlo/stablehlo.h"
#include "ir/made.h"

/* ---- values ---- */

hlo_scope *hlo_scope_new(hlo_reader *r, hlo_scope *outer)
{
    hlo_scope *s = ARENA_NEW(r->f.scratch, hlo_scope);
    if (!s || !map_init(&s->names, r->f.scratch, 16))
        return NULL;
    s->outer = outer;
    return s;
}

/* "%0#0" is "%0". */
hlo_value *hlo_find(hlo_reader *r, const hlo_scope *s, str name)
{
    if (name.n > 2 && name.p[name.n - 1] == '0' && name.p[name.n - 2] == '#')
        name.n -= 2;
    for (; s; s = s->outer) {
        uint32_t at = map_get(&s->names, name);
        if (at != MAP_NONE)
            return &r->values.items[at];
    }
    return NULL;
}

bool hlo_define(hlo_reader *r, hlo_scope *s, str name, ir_id id, const hlo_type *t)
{
    return map_put(&s->names, name, r->values.n) &&
           VEC_ADD(r->f.scratch, &r->values, (hlo_value){id, *t});
}

/* Names of the text without '%'. */
ir_id hlo_declare(hlo_reader *r, str name, const hlo_type *t)
{
    str plain = name.n && name.p[0] == '%' ? (str){name.p + 1, name.n - 1} : name;
    str own = str_copy(r->f.m->arena, plain);
    ir_id id = own.p ? foreign_value(&r->f, own, t->dtype, t->rank, t->dims) : IR_NONE;
    hlo_set_quant(r, id, t);
    return id;
}

bool hlo_scalar(const hlo_reader *r, const hlo_value *v, int64_t *out)
{
    const ir_tensor *t = v && v->id != IR_NONE ? ir_value_at(r->f.m, v->id)->constant : NULL;
    unsigned size = t ? ir_dtype_get(t->dtype)->bits / 8u : 0;
    int64_t x = 0;
    if (!t || t->storage != IR_DATA_INLINE || t->n_elems != 1 || size < 1 || size > 8 ||
        !(ir_is_integer(t->dtype) || t->dtype == IR_BOOL))
        return false;
    memcpy(&x, t->bytes, size);
    if (ir_dtype_get(t->dtype)->cls == IR_CLASS_INT && size < 8 && x >> (8 * size - 1) & 1)
        x |= (int64_t)(~(uint64_t)0 << 8 * size);
    *out = x;
    return true;
}

/* The name of result i: "%0", or "%0#1" of several. */
static str result_name(const hlo_op *o, uint32_t i)
{
    uint32_t k = 0;
    while (k < o->counts.n && i >= o->counts.items[k])
        i -= o->counts.items[k++];
    if (k >= o->results.n)
        return (str){0};
    str name = o->results.items[k];
    return i == 0 ? name : str_printf(o->r->f.scratch, STR_FMT "#%u", STR_ARG(name), i);
}

bool hlo_stand(hlo_op *o, uint32_t i, const hlo_value *v)
{
    str name = result_name(o, i);
    return v && name.p &&
           hlo_define(o->r, o->s, name, v->id, v->id == IR_NONE ? hlo_out(o, i) : &v->type);
}

/* ---- operators ---- */

static bool is_silent(str name)
{
    return str_starts(name, "check.") || str_starts(name, "sdy.mesh");
}

static assay_status open_op(hlo_op *o)
{
    hlo_reader *r = o->r;
    hlo_value *values = ARENA_ARRAY(r->f.scratch, hlo_value, (size_t)o->operands.n + 1);
    o->in = ARENA_ARRAY(r->f.scratch, ir_id, (size_t)o->operands.n + 1);
    TRY_MEMORY(values && o->in, r->f.err);
    for (uint32_t i = 0; i < o->operands.n; i++) {
        const hlo_value *v = hlo_find(r, o->s, o->operands.items[i]);
        values[i] = v ? *v : (hlo_value){IR_NONE, {.rank = -1}};
        o->in[i] = values[i].id;
    }
    o->values = values;
    str name = o->results.n ? o->results.items[0] : o->name;
    name = name.n && name.p[0] == '%' ? (str){name.p + 1, name.n - 1} : name;
    /* "3" says little: the operator is put in front of numbers */
    bool number = name.n && name.p[0] >= '0' && name.p[0] <= '9';
    str shown = number ? str_printf(r->f.m->arena, STR_FMT "_" STR_FMT, STR_ARG(hlo_short(o->name)),
                                    STR_ARG(name))
                       : str_copy(r->f.m->arena, name);
    o->l = (foreign_layer){.f = &r->f, .name = shown, .in = o->in, .n_in = o->operands.n};
    return shown.p ? ASSAY_OK : err_no_memory(r->f.err);
}

/* Values of the results, as declared; only for rows that make nodes. */
static bool make_results(hlo_op *o)
{
    ir_id *out = ARENA_ARRAY(o->r->f.scratch, ir_id, (size_t)o->n_results + 1);
    if (!out)
        return false;
    for (uint32_t i = 0; i < o->n_results; i++) {
        str name = i ? str_printf(o->r->f.m->arena, STR_FMT "_%u", STR_ARG(o->l.name), i)
                     : o->l.name;
        const hlo_type *t = hlo_out(o, i);
        out[i] = foreign_value(&o->r->f, name, t->dtype, t->rank, t->dims);
        hlo_set_quant(o->r, out[i], t);
        if (out[i] == IR_NONE || !hlo_define(o->r, o->s, result_name(o, i), out[i], t))
            return false;
    }
    o->l.out = out;
    o->l.n_out = o->n_results;
    return true;
}

static bool is_standing(const hlo_row *row)
{
    return row->map == hlo_constant || row->map == hlo_barrier || row->map == hlo_func_call ||
           row->map == hlo_composite || row->map == hlo_custom_call;
}

static bool map_op(hlo_op *o)
{
    const hlo_row *row = o->row;
    if (!row || o->l.n_in < row->least_in)
        return false;
    for (uint32_t i = 0; i < row->least_in; i++)
        if (o->in[i] == IR_NONE)
            return false;
    if (row->map)
        return row->map(o);
    bool logic = row->logic && hlo_in(o, 0)->dtype == IR_BOOL;
    return layer_node_of(&o->l, NULL, logic ? row->logic : row->onnx, o->in, o->l.n_in, NULL, 1) !=
           IR_NONE;
}

static bool add_unknown(hlo_op *o)
{
    char *name = arena_printf(o->r->f.m->arena, STR_FMT, STR_ARG(o->name));
    if (!name || (!o->l.out && !make_results(o)))
        return false;
    if (o->n_results)
        layer_unknown(&o->l, name);
    return true;
}

static assay_status failed(hlo_reader *r)
{
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    return arena_failed(r->f.scratch) || arena_failed(r->f.m->arena) ? err_no_memory(r->f.err)
                                                                     : ASSAY_OK;
}

static assay_status add_op(hlo_op *o)
{
    TRY(open_op(o));
    o->row = hlo_row_of(o->name);
    if (is_silent(o->name))
        return ASSAY_OK;
    if (!(o->row && is_standing(o->row)) && !make_results(o))
        return err_no_memory(o->r->f.err);
    if (!map_op(o)) {
        TRY(failed(o->r));
        add_unknown(o);
    }
    return failed(o->r);
}

static bool is_return(str name)
{
    return str_is(name, "return") || str_ends(name, ".return") || str_ends(name, ".yield");
}

assay_status hlo_read_region(hlo_reader *r, hlo_scope *s, str region, hlo_results *out)
{
    const char *p = region.p, *end = region.p + region.n;
    bool found = true;
    hlo_op *o = ARENA_NEW(r->f.scratch, hlo_op);
    TRY_MEMORY(o, r->f.err);
    while (found) {
        TRY(hlo_read_op(r, &p, end, o, &found));
        if (!found)
            break;
        o->s = s;
        if (!is_return(o->name)) {
            TRY(add_op(o));
            continue;
        }
        TRY(open_op(o));
        for (uint32_t i = 0; i < o->operands.n; i++)
            TRY_MEMORY(VEC_ADD(r->f.scratch, &out->list, o->values[i]), r->f.err);
        break;
    }
    return failed(r);
}

int hlo_region_args(str *region, str *names, int max)
{
    const char *p = hlo_skip(region->p, region->p + region->n), *end = region->p + region->n;
    int n = 0;
    if (p >= end || *p != '^')
        return 0;
    p += 1 + hlo_word(p + 1, end).n;
    const char *close = p < end && *p == '(' ? hlo_close(p, end) : NULL;
    for (; close && p < close; p++)
        if (*p == '%' && n < max) {
            str word = hlo_word(p + 1, close);
            names[n++] = (str){p, word.n + 1};
        }
    p = close ? close : p;
    p = hlo_skip(p, end);
    p += p < end && *p == ':';
    *region = (str){p, (uint32_t)(end - p)};
    return n;
}

/* ---- functions ---- */

/* Blanks over comments, which may hold anything. */
static void blank_comments(char *p, char *end)
{
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"' && *p != '\n'; p++)
                p += *p == '\\' && p + 1 < end;
            p += p < end;
        } else if (*p == '/' && p + 1 < end && p[1] == '/') {
            while (p < end && *p != '\n')
                *p++ = ' ';
        } else {
            p++;
        }
    }
}

/* "func.func public @name(args) -> types attributes {...} {body}"; *p moves behind it. */
static bool read_function(hlo_reader *r, const char **at, hlo_function *fn)
{
    const char *p = hlo_skip(*at, r->end), *end = r->end;
    str word = hlo_word(p, end);
    fn->is_private = str_is(word, "private");
    p = hlo_skip(p + word.n, end);
    if (p >= end || *p != '@')
        return false;
    fn->name = p + 1 < end && p[1] == '"' ? (str){p + 2, 0} : hlo_word(p + 1, end);
    p = memchr(p, '(', (size_t)(end - p));
    const char *close = p ? hlo_close(p, end) : NULL;
    if (!close)
        return false;
    fn->args = (str){p + 1, (uint32_t)(close - 1 - p - 1)};
    p = hlo_skip(close, end);
    if (end - p > 1 && p[0] == '-' && p[1] == '>') {
        p = hlo_skip(p + 2, end);
        hlo_type t;
        close = p < end && *p == '(' ? hlo_close(p, end) : hlo_next_type(&p, end, &t) ? p : NULL;
        if (!close)
            return false;
        p = hlo_skip(close, end);
    }
    word = hlo_word(p, end);
    if (str_is(word, "attributes")) {
        p = hlo_skip(p + word.n, end);
        p = p < end && *p == '{' ? hlo_close(p, end) : NULL;
        if (!p)
            return false;
        p = hlo_skip(p, end);
    }
    *at = p;
    if (p >= end || *p != '{') /* a declaration */
        return true;
    close = hlo_close(p, end);
    if (!close)
        return false;
    fn->body = (str){p + 1, (uint32_t)(close - 1 - p - 1)};
    *at = close;
    return true;
}

static bool is_function_word(str word)
{
    return str_is(word, "func.func") || str_is(word, "func") || str_is(word, "util.func");
}

/* All functions of all modules; of two of the same name the first counts. */
static assay_status list_functions(hlo_reader *r)
{
    for (const char *p = r->text; p < r->end;) {
        if (*p == '"') {
            const char *q = memchr(p + 1, '"', (size_t)(r->end - p - 1));
            p = q ? q + 1 : r->end;
            continue;
        }
        str word = hlo_word(p, r->end);
        if (word.n == 0 || !is_function_word(word)) {
            p += word.n ? word.n : 1;
            continue;
        }
        const char *begin = p;
        hlo_function fn = {.calls = 0};
        p += word.n;
        if (!read_function(r, &p, &fn))
            return hlo_fail(r, begin, "cannot parse this function");
        bool is_new;
        if (fn.body.p && (!map_at(&r->by_name, fn.name, r->functions.n, &is_new) ||
                          !VEC_ADD(r->f.scratch, &r->functions, fn)))
            return err_no_memory(r->f.err);
    }
    return ASSAY_OK;
}

static const hlo_function *main_function(hlo_reader *r)
{
    uint32_t at = map_get(&r->by_name, STR("main"));
    if (at != MAP_NONE)
        return &r->functions.items[at];
    for (uint32_t i = 0; i < r->functions.n; i++)
        if (!r->functions.items[i].is_private)
            return &r->functions.items[i];
    return r->functions.n ? &r->functions.items[0] : NULL;
}

/* "%arg0: tensor<2xf32> {attributes}, ..." */
typedef bool argument_fn(hlo_reader *r, hlo_scope *s, str name, const hlo_type *t, uint32_t i,
                         void *ctx);

static bool each_argument(hlo_reader *r, hlo_scope *s, str args, argument_fn *take, void *ctx)
{
    const char *p = args.p, *end = args.p + args.n;
    for (uint32_t i = 0; i < HLO_MAX_PORTS; i++) {
        hlo_type t;
        p = hlo_skip(p, end);
        if (p >= end || *p != '%')
            return true;
        str word = hlo_word(p + 1, end), name = {p, word.n + 1};
        p = hlo_skip(p + name.n, end);
        if (p >= end || *p != ':')
            return false;
        p++;
        if (!hlo_next_type(&p, end, &t) || !take(r, s, name, &t, i, ctx))
            return false;
        while (p < end && *p != ',') {
            const char *close = *p == '{' || *p == '(' || *p == '<' ? hlo_close(p, end) : p + 1;
            if (!close)
                return false;
            p = close;
        }
        p += p < end;
    }
    return true;
}

static bool add_input(hlo_reader *r, hlo_scope *s, str name, const hlo_type *t, uint32_t i,
                      void *ctx)
{
    (void)i;
    (void)ctx;
    if (t->dtype == IR_UNDEFINED)
        return hlo_define(r, s, name, IR_NONE, t);
    ir_id id = hlo_declare(r, name, t);
    return id != IR_NONE && ir_add_input(r->f.m, 0, id) && hlo_define(r, s, name, id, t);
}

static bool bind_argument(hlo_reader *r, hlo_scope *s, str name, const hlo_type *t, uint32_t i,
                          void *ctx)
{
    const hlo_op *o = ctx;
    (void)t;
    return i < o->operands.n && hlo_define(r, s, name, o->values[i].id, &o->values[i].type);
}

bool hlo_call(hlo_op *o, str function, bool *called)
{
    hlo_reader *r = o->r;
    uint32_t at = map_get(&r->by_name, function);
    hlo_results out = {.list = {0}};
    *called = false;
    if (at == MAP_NONE || r->depth >= HLO_MAX_DEPTH)
        return true;
    hlo_function *fn = &r->functions.items[at];
    hlo_scope *s = hlo_scope_new(r, NULL);
    if (!s || !each_argument(r, s, fn->args, bind_argument, o))
        return false;
    r->depth++;
    assay_status status = hlo_read_region(r, s, fn->body, &out);
    r->depth--;
    if (status != ASSAY_OK || out.list.n != o->n_results)
        return false;
    for (uint32_t i = 0; i < o->n_results; i++)
        if (!hlo_stand(o, i, &out.list.items[i]))
            return false;
    *called = true;
    return true;
}

/* ---- the file ---- */

static assay_status read_main(hlo_reader *r)
{
    const hlo_function *fn = main_function(r);
    hlo_results out = {.list = {0}};
    hlo_scope *s = hlo_scope_new(r, NULL);
    if (!fn)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "the module has no function with a body");
    TRY_MEMORY(s, r->f.err);
    ir_graph_at(r->f.m, 0)->name = str_copy(r->f.m->arena, fn->name);
    if (!each_argument(r, s, fn->args, add_input, NULL))
        return failed(r) == ASSAY_OK ? hlo_fail(r, fn->args.p, "cannot parse the arguments")
                                     : failed(r);
    TRY(hlo_read_region(r, s, fn->body, &out));
    for (uint32_t i = 0; i < out.list.n; i++)
        if (out.list.items[i].id != IR_NONE && !foreign_output(&r->f, out.list.items[i].id))
            return err_no_memory(r->f.err);
    if (r->functions.n > 1 && !str_is(fn->name, "main"))
        notes_add(&r->f.m->notes, "functions-other", fn->name, NULL,
                  "The file has no function @main and %u other functions. This result is of the "
                  "first.",
                  r->functions.n - 1);
    return failed(r);
}

static assay_status read_file(hlo_reader *r)
{
    uint64_t n = source_size(r->f.src);
    if (n > HLO_MAX_TEXT)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "the text is larger than %d MiB",
                        HLO_MAX_TEXT >> 20);
    char *text = arena_alloc(r->f.scratch, (size_t)n + 1);
    if (!text || !map_init(&r->by_name, r->f.scratch, 16) ||
        !map_init(&r->constants, r->f.scratch, 64))
        return err_no_memory(r->f.err);
    TRY(source_read(r->f.src, 0, text, n, r->f.err));
    r->text = text;
    r->end = text + n;
    blank_comments(text, text + n);
    TRY(list_functions(r));
    TRY(read_main(r));
    if (r->absent)
        notes_add(&r->f.m->notes, "weights-absent", STR(""), NULL,
                  "Constants that the text does not hold are counted by their types.");
    return ASSAY_OK;
}

assay_status stablehlo_read(source *src, const char *path, size_t limit, ir_model **out,
                            assay_error *err)
{
    hlo_reader r = {.depth = 0};
    (void)path;
    assay_status status = foreign_new(&r.f, HLO_DOMAIN, src, limit, err);
    if (status == ASSAY_OK)
        status = read_file(&r);
    status = foreign_done(&r.f, status, out);
    if (status == ASSAY_OK && (status = ir_reader_wrap(*out, err)) != ASSAY_OK) {
        (*out)->reader = (ir_reader){0};
        ir_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* Recognising the architecture of a file of weights; see recognise.h. */
#include "formats/recognise.h"

#include "base/sbuf.h"
#include "formats/recognise_impl.h"

#define SCRATCH_BYTES ((size_t)512 << 20)
#define BUILD_BYTES   ((size_t)256 << 20)
enum { PREFIXES_MAX = 8, TENSORS_MAX = 1 << 16 };

/* ---- one try ---- */

static weight_item *find_tensor(const search *s, str name)
{
    uint32_t at = map_get(&s->by_name, name);
    return at == MAP_NONE ? NULL : s->tensors[at].item;
}

/* Where dimension d of a constant is in a file, which may hold matrices the other way round. */
static int place_of(const ir_value *v, int d)
{
    int rank = v->constant->rank;
    bool turned = v->flags & IR_VALUE_TRANSPOSED && rank >= 2;
    return !turned || d < rank - 2 ? d : 2 * rank - 3 - d;
}

static bool same_shape(const search *s, const ir_value *v, const weight_item *x)
{
    const ir_tensor *t = v->constant;
    bool loose = s->loose && !x->strides, same = t->rank == x->rank || loose;
    for (int d = 0; same && d < t->rank; d++) {
        int at = place_of(v, d);
        same = t->dims[d] == (at < x->rank ? x->dims[at] : 1);
    }
    for (int d = t->rank; same && d < x->rank; d++)
        same = x->dims[d] == 1;
    return same;
}

/* Tensors that differ in ones at the end of their shapes get the shapes of the model. */
static bool take_shapes(search *s, const attempt *t)
{
    for (ir_id id = 0; id < t->m->values.n; id++) {
        const ir_value *v = ir_value_at(t->m, id);
        weight_item *x = v->constant ? find_tensor(s, v->name) : NULL;
        if (!x || x->rank == v->constant->rank || !same_shape(s, v, x))
            continue;
        int64_t *dims = ARENA_ARRAY(s->arena, int64_t, (size_t)v->constant->rank + 1);
        if (!dims)
            return false;
        for (int d = 0; d < v->constant->rank; d++)
            dims[place_of(v, d)] = v->constant->dims[d];
        x->dims = dims;
        x->rank = v->constant->rank;
    }
    return true;
}

static void compare(const search *s, attempt *t)
{
    uint32_t found = 0, missing = 0, reshaped = 0;
    for (ir_id id = 0; id < t->m->values.n; id++) {
        const ir_value *v = ir_value_at(t->m, id);
        if (!v->constant || !(v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER)) ||
            !zoo_name_counts(v->name))
            continue;
        weight_item *x = find_tensor(s, v->name);
        missing += !x;
        found += x != NULL;
        if (!x || same_shape(s, v, x))
            continue;
        reshaped++;
        if (t->n_reshaped < RECOGNISE_WRONG) {
            t->reshaped[t->n_reshaped].value = id;
            t->reshaped[t->n_reshaped++].item = x;
        }
    }
    t->names_differ = missing || found != s->n;
    t->wrong = missing + (s->n > found ? s->n - found : 0) + reshaped;
}

bool recognise_try(search *s, const zoo_row *row, const zoo_args *args, attempt *out)
{
    *out = (attempt){
        .row = row, .args = *args, .asked = {.arena = s->scratch, .library = s->library}};
    err_clear(&s->said);
    const zoo_request q = {
        .row = row, .set = args, .memory_limit = BUILD_BYTES, .asked = &out->asked};
    if (++s->builds > RECOGNISE_BUILDS || zoo_build(&q, &out->m, &s->said) != ASSAY_OK)
        return false;
    compare(s, out);
    return true;
}

void recognise_drop(attempt *t)
{
    ir_model_free(t->m);
    t->m = NULL;
}

/* ---- the names of the file ---- */

static bool is_of_model(const weight_item *x)
{
    return x->role != WEIGHT_ROLE_TRAINING && x->role != WEIGHT_ROLE_OTHER;
}

/* "_orig_mod." stands before every part that torch.compile was called for. */
static str without_compiled(arena *a, str name)
{
    static const char word[] = "_orig_mod.";
    enum { N = sizeof word - 1 };
    char *copy = str_contains(name, word) ? arena_copy(a, name.p, name.n + 1) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; copy && i < name.n;) {
        bool starts = i + N <= name.n && memcmp(name.p + i, word, N) == 0;
        if (starts)
            i += N;
        else
            copy[n++] = name.p[i++];
    }
    return copy ? (str){copy, n} : name;
}

static str first_part(str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    return (str){name.p, dot ? (uint32_t)(dot - name.p) + 1 : 0};
}

/* Takes the first part off all names if they share it. */
static bool strip_prefix(named *list, uint32_t n)
{
    str prefix = n ? first_part(list[0].name) : (str){0};
    for (uint32_t i = 0; i < n; i++)
        if (!prefix.n || !str_eq(first_part(list[i].name), prefix))
            return false;
    for (uint32_t i = 0; i < n; i++)
        list[i].name = (str){list[i].name.p + prefix.n, list[i].name.n - prefix.n};
    return n > 0;
}

/* ---- rows ---- */

typedef struct pass {
    bool plain, usual; /* names without numbers; only usual parameters */
} pass;

static bool solve(search *s, const zoo_row *row, const zoo_args *start, pass p, attempt *out)
{
    if (!recognise_try(s, row, start, out))
        return false;
    bool named_alike = !out->names_differ || (p.plain && recognise_depths(s, out));
    bool done = named_alike && recognise_shapes(s, out, true);
    if (named_alike && !done && !p.usual)
        done = recognise_shapes(s, out, false) || recognise_shapes(s, out, true);
    if (!done)
        recognise_drop(out);
    return done;
}

/* The other rows whose weights are the same with the same arguments. */
static str others_of(search *s, const zoo_row *const *rows, uint32_t n, const attempt *of)
{
    sbuf list = {0};
    for (uint32_t i = 0; i < n; i++) {
        attempt t;
        if (rows[i] == of->row || !recognise_try(s, rows[i], &of->args, &t))
            continue;
        if (!t.wrong)
            sbuf_printf(&list, list.n ? ", %s" : "%s", rows[i]->name);
        recognise_drop(&t);
    }
    str names = list.n ? str_copy(s->arena, (str){list.p, (uint32_t)list.n}) : (str){0};
    sbuf_free(&list);
    return names;
}

static bool accept(search *s, const zoo_row *const *rows, uint32_t n, attempt *t, recognised *out)
{
    out->row = t->row;
    if (s->loose && !take_shapes(s, t))
        return false;
    zoo_args_init(&out->args, s->arena);
    out->others = others_of(s, rows, n, t);
    recognise_drop(t);
    for (uint32_t i = 0; i < t->args.list.n; i++) {
        const zoo_arg *arg = &t->args.list.items[i];
        json_value v = arg->value;
        if (v.kind == JSON_LIST)
            v.items = arena_copy(s->arena, v.items, v.n * sizeof *v.items);
        if (!zoo_args_put(&out->args, arg->key, v, false))
            return false;
    }
    return true;
}

/* A second head that a row runs and a file may not have. */
static void drop_auxiliary(search *s, attempt *t)
{
    bool there = false;
    attempt without;
    zoo_args args;
    for (ir_id id = 0; id < t->m->values.n; id++) {
        const ir_value *v = ir_value_at(t->m, id);
        there |= v->constant && v->flags & IR_VALUE_PARAM && zoo_name_is_auxiliary(v->name);
    }
    zoo_args_init(&args, s->scratch);
    if (!there || s->auxiliary || !zoo_args_copy(&args, &t->args) ||
        !zoo_args_put(&args, STR("aux_loss"), json_of_bool(false), false) ||
        !recognise_try(s, t->row, &args, &without))
        return;
    if (without.wrong == 0) {
        recognise_drop(t);
        *t = without;
    } else {
        recognise_drop(&without);
    }
}

static bool index_names(search *s)
{
    if (!map_init(&s->by_name, s->scratch, s->n))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!map_put(&s->by_name, s->tensors[i].name, i))
            return false;
    return true;
}

/* With the names as they are now. */
static assay_status find_rows(search *s, pass p, recognised *out, assay_error *err)
{
    const zoo_row *rows[RECOGNISE_ROWS];
    str *names = ARENA_ARRAY(s->scratch, str, (size_t)s->n + 1);
    zoo_names sum;
    zoo_args none;
    attempt *t = ARENA_NEW(s->scratch, attempt);
    zoo_args_init(&none, s->scratch);
    for (uint32_t i = 0; names && i < s->n; i++)
        names[i] = s->tensors[i].name;
    TRY_MEMORY(names && t && zoo_names_sum(names, s->n, s->scratch, &sum), err);
    uint32_t n = zoo_by_names(&sum, p.plain, rows, RECOGNISE_ROWS);
    if (n && !index_names(s))
        return err_no_memory(err);
    for (uint32_t i = 0; i < n && !out->row; i++)
        if (solve(s, rows[i], &none, p, t)) {
            drop_auxiliary(s, t);
            TRY_MEMORY(accept(s, rows, n, t, out), err);
        }
    return ASSAY_OK;
}

/* ---- the whole ---- */

static named *collect(weight_set *w, arena *scratch, uint32_t *n)
{
    named *list = w->items.n <= TENSORS_MAX ? ARENA_ARRAY(scratch, named, (size_t)w->items.n + 1)
                                            : NULL;
    *n = 0;
    for (uint32_t i = 0; list && i < w->items.n; i++) {
        weight_item *x = &w->items.items[i];
        if (is_of_model(x) && !x->integer)
            list[(*n)++] = (named){without_compiled(scratch, x->as.n ? x->as : x->name), x};
    }
    return list;
}

/* Of the collected tensors, those that count; prefixes go off before that is decided. */
static uint32_t keep_counted(search *s, const named *all, uint32_t n, named *out)
{
    uint32_t kept = 0;
    s->auxiliary = false;
    for (uint32_t i = 0; i < n; i++) {
        s->auxiliary |= zoo_name_is_auxiliary(all[i].name);
        if (zoo_name_counts(all[i].name))
            out[kept++] = all[i];
    }
    return kept;
}

static assay_status search_prefixes(search *s, recognise_names in, pass p, recognise_found *out,
                                    assay_error *err)
{
    named *list = arena_copy(s->scratch, in.list, (in.n + 1) * sizeof *in.list);
    named *kept = ARENA_ARRAY(s->scratch, named, (size_t)in.n + 1);
    TRY_MEMORY(list && kept, err);
    s->tensors = kept;
    for (int level = 0; level < PREFIXES_MAX && !out->found->row; level++) {
        s->n = keep_counted(s, list, in.n, kept);
        TRY(find_rows(s, p, out->found, err));
        if (out->found->row) {
            uint32_t cut = (uint32_t)(list[0].name.p - in.list[0].name.p);
            out->found->prefix = str_copy(s->arena, (str){in.list[0].name.p, cut});
            out->names = (recognise_names){list, in.n};
        } else if (!strip_prefix(list, in.n)) {
            break;
        }
    }
    return ASSAY_OK;
}

assay_status recognise_names_as(search *s, recognise_names in, recognise_found *out,
                                assay_error *err)
{
    static const pass passes[] = {{false, true}, {false, false}, {true, false}};
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !out->found->row; i++)
        TRY(search_prefixes(s, in, passes[i], out, err));
    return ASSAY_OK;
}

assay_status recognise_row(search *s, const zoo_row *row, const zoo_args *start, bool any,
                           recognise_names in, recognise_found *out, assay_error *err)
{
    named *kept = ARENA_ARRAY(s->scratch, named, (size_t)in.n + 1);
    attempt *t = ARENA_NEW(s->scratch, attempt);
    TRY_MEMORY(kept && t, err);
    s->tensors = kept;
    s->n = keep_counted(s, in.list, in.n, kept);
    TRY_MEMORY(index_names(s), err);
    if (!solve(s, row, start, (pass){any, !any}, t))
        return ASSAY_OK;
    TRY_MEMORY(accept(s, &row, 1, t, out->found), err);
    out->names = in;
    return ASSAY_OK;
}

/* With each prefix taken off. */
static assay_status search_others(search *s, recognise_names in, recognise_found *out,
                                  assay_error *err)
{
    named *list = arena_copy(s->scratch, in.list, (in.n + 1) * sizeof *in.list);
    TRY_MEMORY(list, err);
    for (int level = 0; level < PREFIXES_MAX && !out->found->row; level++) {
        const recognise_names here = {list, in.n};
        s->builds = 0;
        s->loose = true;
        TRY(recognise_schemes(s, here, out, err));
        s->loose = false;
        if (!out->found->row)
            TRY(recognise_heads(s, here, out, err));
        uint32_t cut = (uint32_t)(list[0].name.p - in.list[0].name.p);
        if (out->found->row)
            out->found->prefix = str_copy(s->arena, (str){in.list[0].name.p, cut});
        else if (!strip_prefix(list, in.n))
            break;
    }
    return ASSAY_OK;
}

/* Matching works with the names that the row has. */
static assay_status rename_items(weight_set *w, const recognised *r, assay_error *err)
{
    for (uint32_t i = 0; i < w->items.n; i++) {
        weight_item *x = &w->items.items[i];
        str name = without_compiled(w->arena, x->as.n ? x->as : x->name);
        bool starts = r->prefix.n && name.n > r->prefix.n &&
                      memcmp(name.p, r->prefix.p, r->prefix.n) == 0;
        if (!starts && str_eq(name, x->name))
            continue;
        x->as = starts ? str_copy(w->arena, (str){name.p + r->prefix.n, name.n - r->prefix.n})
                       : str_copy(w->arena, name);
        TRY_MEMORY(x->as.p, err);
    }
    return ASSAY_OK;
}

static assay_status search_all(search *s, weight_set *w, recognised *out, assay_error *err)
{
    recognise_found found = {.found = out};
    recognise_names in = {0};
    in.list = collect(w, s->scratch, &in.n);
    if (!in.list || !in.n)
        return ASSAY_OK;
    TRY(recognise_names_as(s, in, &found, err));
    if (!out->row)
        TRY(search_others(s, in, &found, err));
    if (!out->row)
        return ASSAY_OK;
    TRY(rename_items(w, out, err));
    for (uint32_t i = 0; i < found.names.n; i++) {
        const named *x = &found.names.list[i];
        if (str_eq(x->name, x->item->name))
            continue;
        x->item->as = str_copy(w->arena, x->name);
        TRY_MEMORY(x->item->as.p, err);
    }
    return ASSAY_OK;
}

assay_status weights_recognise(weight_set *w, arena *a, recognised *out, assay_error *err)
{
    search s = {.arena = a, .scratch = arena_new(SCRATCH_BYTES)};
    *out = (recognised){0};
    TRY_MEMORY(s.scratch, err);
    assay_status status = search_all(&s, w, out, err);
    arena_free(s.scratch);
    return status;
}

/* ---- a given row ---- */

typedef struct given {
    const zoo_row *row;
    const zoo_args *args;
    str why; /* of the prefix with the fewest differences */
    uint32_t wrong;
} given;

/* A tensor of the file that the model does not have; else one of the model that the file does not have. */
static str first_stranger(const search *s, const attempt *t)
{
    map names;
    str missing = {0};
    if (!map_init(&names, s->scratch, t->m->values.n))
        return missing;
    for (ir_id id = 0; id < t->m->values.n; id++) {
        const ir_value *v = ir_value_at(t->m, id);
        if (!v->constant || !(v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER)))
            continue;
        (void)map_put(&names, v->name, id);
        if (!missing.n && zoo_name_counts(v->name) && !find_tensor(s, v->name))
            missing = v->name;
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (map_get(&names, s->tensors[i].name) == MAP_NONE)
            return s->tensors[i].name;
    return missing;
}

static str say_wrong(const search *s, const attempt *t)
{
    if (t->n_reshaped) {
        const ir_value *v = ir_value_at(t->m, t->reshaped[0].value);
        return str_printf(s->arena, "%u tensors differ, the first in its shape: '" STR_FMT "'",
                          t->wrong, STR_ARG(v->name));
    }
    return str_printf(s->arena, "%u names are in one of the two only, the first is '" STR_FMT "'",
                      t->wrong, STR_ARG(first_stranger(s, t)));
}

static assay_status fit_given(search *s, given *g, named *list, uint32_t n, recognised *out,
                              assay_error *err)
{
    named *kept = ARENA_ARRAY(s->scratch, named, (size_t)n + 1);
    attempt *t = ARENA_NEW(s->scratch, attempt);
    str first = n ? list[0].name : (str){0};
    TRY_MEMORY(kept && t, err);
    s->tensors = kept;
    for (int level = 0; level < PREFIXES_MAX && !out->row; level++) {
        s->n = keep_counted(s, list, n, kept);
        TRY_MEMORY(index_names(s), err);
        if (!recognise_try(s, g->row, g->args, t)) {
            g->why = s->said.message[0] ? str_copy(s->arena, str_of(s->said.message)) : STR("");
            return ASSAY_OK;
        }
        if (!g->why.n || t->wrong < g->wrong)
            g->why = say_wrong(s, t);
        g->wrong = g->wrong && g->wrong < t->wrong ? g->wrong : t->wrong;
        bool fits = t->wrong == 0 && n > 0;
        if (fits)
            out->prefix = str_copy(s->arena, (str){first.p, (uint32_t)(list[0].name.p - first.p)});
        if (fits && !accept(s, &g->row, 1, t, out))
            return err_no_memory(err);
        recognise_drop(t);
        if (!fits && !strip_prefix(list, n))
            break;
    }
    return ASSAY_OK;
}

assay_status weights_recognise_as(weight_set *w, const zoo_row *row, const zoo_args *args, arena *a,
                                  recognised *out, str *why, assay_error *err)
{
    search s = {.arena = a, .scratch = arena_new(SCRATCH_BYTES)};
    given g = {row, args, {0}, 0};
    uint32_t n = 0;
    *out = (recognised){0};
    named *all = s.scratch ? collect(w, s.scratch, &n) : NULL;
    assay_status status = all ? fit_given(&s, &g, all, n, out, err) : err_no_memory(err);
    if (status == ASSAY_OK && out->row)
        status = rename_items(w, out, err);
    *why = g.why;
    arena_free(s.scratch);
    return status;
}

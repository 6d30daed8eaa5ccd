/* Giving every input of the main graph a full shape.
 *
 * In this order: --batch; --input-shape; the numbers the file declares; --dim and
 * symbols that an --input-shape already bound; sums of bound symbols ("past_sequence_length + 1");
 * what the input's first consumer demands (the channels a Conv's weight has); and last a default by
 * the role that name and place suggest, each of which is a warning that names the option to set it.
 */

#include "analyze/axis_roles.h"
#include "analyze/infer_needs.h"
#include "base/text.h"

/* ---- symbols ---- */

static int64_t bound(const infer_result *r, str symbol)
{
    uint32_t at = map_get(&r->symbol_at, symbol);
    return at == MAP_NONE ? -1 : r->symbols.items[at].value;
}

static void bind(infer_result *r, str symbol, int64_t value, bool assumed)
{
    if (symbol.n == 0 || bound(r, symbol) >= 0)
        return;
    infer_dim *d = VEC_PUSH(r->arena, &r->symbols);
    if (d && map_put(&r->symbol_at, symbol, r->symbols.n - 1))
        *d = (infer_dim){symbol, value, assumed};
}

static bool is_assumed(const infer_result *r, str symbol)
{
    uint32_t at = map_get(&r->symbol_at, symbol);
    return at != MAP_NONE && r->symbols.items[at].assumed;
}

static int64_t term_value(const infer_result *r, str term)
{
    int64_t v;
    term = str_trim(term);
    return term.n <= 15 && term.n && term.p[0] != '-' && str_to_i64(term, &v) ? v : bound(r, term);
}

/* The same with whether a part of it was assumed. */
static int64_t symbol_value(const infer_result *r, str symbol, bool *assumed)
{
    *assumed = is_assumed(r, symbol);
    if (symbol.n == 0)
        return -1;
    int64_t whole = bound(r, symbol), sum = 0;
    if (whole >= 0)
        return whole;
    for (uint32_t from = 0, k = 0; k <= symbol.n; k++) {
        if (k < symbol.n && symbol.p[k] != '+')
            continue;
        str term = {symbol.p + from, k - from};
        int64_t v = term_value(r, term);
        if (v < 0 || !num_add(sum, v, &sum))
            return -1;
        *assumed |= is_assumed(r, str_trim(term));
        from = k + 1;
    }
    return sum;
}

int64_t infer_symbol(const infer_result *r, str symbol)
{
    bool assumed;
    return symbol_value(r, symbol, &assumed);
}

/* ---- models with a cache ---- */

/* A decoder that is handed the keys and values of earlier tokens. */
static bool has_cache(const infer_result *r)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++)
        if (axis_names_cache(ir_value_at(r->model, g->inputs.items[i])->name))
            return true;
    return false;
}

/* A mask covers what is cached and what is new, so it comes after both. */
static bool covers_all(const infer_result *r, const ir_value *v)
{
    return axis_names_mask(v->name) && !str_contains_any_case(v->name, "encoder") && has_cache(r);
}

/* Tokens in the cache, or that an input of ids brings; -1 when no input says. */
static int64_t length_of(const infer_result *r, bool cached)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const ir_value *v = ir_value_at(r->model, g->inputs.items[i]);
        const op_info *x = &r->info[g->inputs.items[i]];
        axis_input in = {v->name, v->declared.dtype, x->rank, x->dims};
        int axis = axis_names_mask(v->name) ? -1 : axis_of_ids(in.dtype, in.rank, AXIS_NO_BATCH);
        int64_t tokens = cached ? axis_cached_tokens(&in) : axis >= 0 ? x->dims[axis] : -1;
        if (tokens >= 0)
            return tokens;
    }
    return -1;
}

static int64_t covered(const infer_result *r)
{
    int64_t past = length_of(r, true), new = length_of(r, false), all;
    return past >= 0 && new >= 0 && num_add(past, new, &all) ? all : -1;
}

/* ---- what the consumer demands ---- */

static bool needed(infer_result *r, ir_id id, op_need *need)
{
    const infer_need *needs = infer_needs(r);
    if (!needs || !needs[id].strength)
        return false;
    *need = needs[id].need;
    return true;
}

/* Size of `axis` of input `id` that its first contraction needs, or -1. */
static int64_t demanded(infer_result *r, ir_id id, int rank, int axis)
{
    op_need need;
    if (!needed(r, id, &need) || (!need.any_rank && rank != need.rank))
        return -1;
    return axis == (need.axis < 0 ? rank + need.axis : need.axis) ? need.size : -1;
}

/* A switch is one number. */
static int demanded_rank(infer_result *r, ir_id id)
{
    op_need need;
    if (needed(r, id, &need))
        return need.rank;
    return ir_value_at(r->model, id)->declared.dtype == IR_BOOL ? 0 : -1;
}

/* ---- one input ---- */

static void warn_default(infer_result *r, const ir_value *v, int axis, const char *as,
                         int64_t value)
{
    str symbol = v->declared.dims ? v->declared.dims[axis].symbol : (str){0};
    sbuf name = {0}, option = {0};
    text_safe(&name, v->name);
    if (symbol.n) {
        sbuf_puts(&option, "Set it with --dim ");
        text_safe(&option, symbol);
        sbuf_puts(&option, "=N.");
    } else {
        sbuf_printf(&option, "Set it with --input-shape %s:...", sbuf_cstr(&name));
    }
    r->assumed_inputs = true;
    notes_add(&r->notes, "assumed-dim", v->name, sbuf_cstr(&option),
              "Dimension %d%s" STR_FMT
              "%s of input '%s' is not set in the file. Assumed: %lld (%s).",
              axis, symbol.n ? " (" : "", STR_ARG(symbol), symbol.n ? ")" : "", sbuf_cstr(&name),
              (long long)value, as);
    sbuf_free(&name);
    sbuf_free(&option);
}

/* The size that was chosen to fit, or -1. */
static int64_t chosen_dim(const infer_result *r, const infer_free *f)
{
    const infer_trial *t = &r->trial;
    for (uint32_t k = 0; k < t->n_chosen; k++)
        if (f->symbol.n ? str_eq(t->chosen[k].symbol, f->symbol)
                        : t->chosen[k].input == f->input && t->chosen[k].axis == f->axis)
            return t->chosen[k].value;
    return -1;
}

static axis_role role_of(const infer_result *r, const ir_value *v, int rank, int axis, str symbol)
{
    axis_role by_name = axis_role_by_name(symbol);
    axis_role as = by_name == AXIS_NONE ? axis_role_by_place(v, rank, axis) : by_name;
    bool step = as == AXIS_SEQUENCE && ir_is_integer(v->declared.dtype) && has_cache(r) &&
                !axis_names_mask(v->name);
    return step ? AXIS_STEP : as;
}

/* A size that the trial chose, that the cache and the new tokens give, or that is usual for its role. */
static int64_t free_dim(infer_result *r, ir_id id, const ir_value *v, int axis)
{
    int rank = v->declared.rank;
    str symbol = v->declared.dims ? v->declared.dims[axis].symbol : (str){0};
    infer_free f = {.input = id, .axis = axis, .symbol = symbol};
    axis_role role = role_of(r, v, rank, axis, symbol);
    const char *as = axis_role_name(role);
    f.value = chosen_dim(r, &f);
    if (f.value >= 0)
        as = "derived from other sizes";
    else if (axis == rank - 1 && rank >= 2 && covers_all(r, v) && (f.value = covered(r)) >= 0)
        as = NULL;
    else
        f.value = axis_role_size(role, r->trial.attempt);
    if (as)
        warn_default(r, v, axis, as, f.value);
    (void)VEC_ADD(r->arena, &r->free, f);
    return f.value;
}

/* Two options that disagree about one dimension must not pass in silence. */
static void note_conflict(infer_result *r, const ir_value *v, str symbol, int64_t size)
{
    int64_t before = symbol.n ? bound(r, symbol) : -1;
    if (before >= 0 && before != size)
        notes_add(&r->notes, "conflict", v->name, "Set the dimension to one size.",
                  "Dimension '" STR_FMT
                  "' was set to %lld, but the shape of this input has %lld, which is used here.",
                  STR_ARG(symbol), (long long)before, (long long)size);
}

int infer_batch_axis(const int *axes, uint32_t input, int rank)
{
    int axis = axes ? axes[input] : INFER_FIRST;
    if (axis == INFER_FIRST)
        return rank >= 2 ? 0 : INFER_NO_BATCH;
    return axis < rank ? axis : INFER_NO_BATCH;
}

/* Where --batch goes in it; a size that the file or an option fixes there is replaced as well. */
static int takes_batch(const infer_options *opt, uint32_t input, int rank)
{
    return opt->batch > 0 ? infer_batch_axis(opt->batch_axes, input, rank) : INFER_NO_BATCH;
}

static assay_status shape_given(infer_result *r, uint32_t input, const infer_shape *s,
                                const infer_options *opt, assay_error *err)
{
    ir_id id = ir_graph_at(r->model, 0)->inputs.items[input];
    const ir_value *v = ir_value_at(r->model, id);
    int batch_axis = takes_batch(opt, input, s->rank);
    char name[128];
    text_safe_into(name, sizeof name, v->name);
    if (v->declared.rank >= 0 && v->declared.rank != s->rank)
        return err_fail_node(err, ASSAY_ERR_UNSUPPORTED, name,
                             "input '%s' has %d dimensions, but its --input-shape has %d", name,
                             v->declared.rank, s->rank);
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, (size_t)s->rank + 1);
    TRY_MEMORY(dims, err);
    for (int d = 0; d < s->rank; d++) {
        dims[d] = d == batch_axis ? opt->batch : s->dims[d];
        if (!v->declared.dims)
            continue;
        note_conflict(r, v, v->declared.dims[d].symbol, dims[d]);
        bind(r, v->declared.dims[d].symbol, dims[d], false);
        r->resized |= v->declared.dims[d].value >= 0 && v->declared.dims[d].value != dims[d];
    }
    r->info[id].rank = s->rank;
    r->info[id].dims = dims;
    return ASSAY_OK;
}

/* The value with the shape that it has as far as the file and its readers tell. False: out of memory. */
static bool seen_shape(infer_result *r, ir_id id, int rank, ir_value *seen)
{
    ir_dim *dims = ARENA_ARRAY(r->arena, ir_dim, (size_t)rank + 1);
    for (int d = 0; dims && d < rank; d++) {
        dims[d] = seen->declared.dims ? seen->declared.dims[d] : (ir_dim){.value = -1};
        if (dims[d].value < 0)
            dims[d].value = demanded(r, id, rank, d);
    }
    seen->declared.rank = rank;
    seen->declared.dims = dims;
    return dims != NULL;
}

static assay_status shape_declared(infer_result *r, uint32_t input, const infer_options *opt,
                                   assay_error *err)
{
    ir_id id = ir_graph_at(r->model, 0)->inputs.items[input];
    const ir_value *v = ir_value_at(r->model, id);
    ir_value seen = *v;
    int rank = v->declared.rank >= 0 ? v->declared.rank
               : r->trial.open_ranks ? -1
                                     : demanded_rank(r, id);
    op_info *x = &r->info[id];
    if (rank < 0) {
        notes_add(&r->notes, "unknown-rank", v->name,
                  "Set its shape with --input-shape NAME:d0,d1,...",
                  "An input has no declared shape. Layers that depend on it are not counted.");
        return ASSAY_OK;
    }
    if (v->declared.rank < 0 && rank == 0) {
        r->assumed_inputs = true;
        notes_add(&r->notes, "assumed-rank", v->name,
                  "Set its shape with --input-shape NAME:d0,d1,...",
                  "An input has no declared shape. A scalar is assumed, as its readers need one.");
    }
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, (size_t)rank + 1);
    TRY_MEMORY(dims && seen_shape(r, id, rank, &seen), err);
    int batch_axis = takes_batch(opt, input, rank);
    for (int d = 0; d < rank; d++) {
        const ir_dim *declared = v->declared.dims ? &v->declared.dims[d] : NULL;
        dims[d] = declared ? declared->value : -1;
        if (d == batch_axis) {
            r->resized |= dims[d] >= 0 && dims[d] != opt->batch;
            dims[d] = opt->batch;
        }
        bool assumed = false;
        if (dims[d] < 0 && declared)
            dims[d] = symbol_value(r, declared->symbol, &assumed);
        if (dims[d] < 0)
            dims[d] = seen.declared.dims[d].value;
        if (dims[d] < 0) {
            dims[d] = free_dim(r, id, &seen, d);
            assumed = true;
        }
        if (declared)
            bind(r, declared->symbol, dims[d], assumed);
        x->defaulted |= assumed;
    }
    x->rank = rank;
    x->dims = dims;
    return ASSAY_OK;
}

static assay_status one_input(infer_result *r, uint32_t input, const infer_options *opt,
                              const infer_shape *given, assay_error *err)
{
    ir_id id = ir_graph_at(r->model, 0)->inputs.items[input];
    const ir_value *v = ir_value_at(r->model, id);
    if (v->declared.kind != IR_KIND_TENSOR && v->declared.kind != IR_KIND_NONE)
        return infer_describe(r, &v->declared, &r->info[id], err);
    r->info[id].kind = IR_KIND_TENSOR;
    r->info[id].dtype = v->declared.dtype;
    return given ? shape_given(r, input, given, opt, err) : shape_declared(r, input, opt, err);
}

/* ---- who gets which --input-shape ---- */

static assay_status no_such_input(const infer_result *r, str wanted, assay_error *err)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    sbuf names = {0};
    for (uint32_t i = 0; i < g->inputs.n && i < 8; i++) {
        sbuf_puts(&names, i ? ", " : "");
        text_safe(&names, ir_value_at(r->model, g->inputs.items[i])->name);
    }
    assay_status status =
        wanted.n ? err_fail(err, ASSAY_ERR_USAGE, "no input '" STR_FMT "'. The inputs are: %s.",
                            STR_ARG(wanted), sbuf_cstr(&names))
                 : err_fail(err, ASSAY_ERR_USAGE,
                            "more --input-shape options than inputs. The inputs are: %s.",
                            sbuf_cstr(&names));
    sbuf_free(&names);
    return status;
}

static uint32_t input_named(const infer_result *r, str name)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    for (uint32_t i = 0; i < g->inputs.n; i++)
        if (str_eq(name, ir_value_at(r->model, g->inputs.items[i])->name))
            return i;
    return IR_NONE;
}

/* chosen[input]: named shapes to their input, unnamed ones in order to the inputs left over. */
static assay_status choose_shapes(const infer_result *r, const infer_options *opt,
                                  const infer_shape **chosen, assay_error *err)
{
    uint32_t n_inputs = ir_graph_at(r->model, 0)->inputs.n, next = 0;
    for (uint32_t k = 0; k < opt->n_shapes; k++) {
        uint32_t i = opt->shapes[k].input.n ? input_named(r, opt->shapes[k].input) : 0;
        if (i >= n_inputs)
            return no_such_input(r, opt->shapes[k].input, err);
        if (opt->shapes[k].input.n)
            chosen[i] = &opt->shapes[k];
    }
    for (uint32_t k = 0; k < opt->n_shapes; k++) {
        if (opt->shapes[k].input.n)
            continue;
        while (next < n_inputs && chosen[next])
            next++;
        if (next == n_inputs)
            return no_such_input(r, (str){0}, err);
        chosen[next] = &opt->shapes[k];
    }
    return ASSAY_OK;
}

/* The names that dimensions of the inputs have, each once, in order; "" when all are fixed. */
static void list_symbols(const infer_result *r, str slip, sbuf *names, str *near)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    unsigned least = slip.n < 4 ? 1 : slip.n < 8 ? 2 : 3;
    map seen;
    if (!map_init(&seen, r->arena, 16))
        return;
    for (uint32_t i = 0; i < g->inputs.n; i++) {
        const ir_type *t = &ir_value_at(r->model, g->inputs.items[i])->declared;
        for (int d = 0; t->dims && d < t->rank; d++) {
            str symbol = t->dims[d].symbol;
            if (!symbol.n || map_get(&seen, symbol) != MAP_NONE || !map_put(&seen, symbol, 0))
                continue;
            sbuf_puts(names, names->n ? ", " : "");
            text_safe(names, symbol);
            unsigned apart = str_distance(slip, symbol, least);
            if (apart <= least && (!near->n || apart < least)) {
                *near = symbol;
                least = apart;
            }
        }
    }
}

static void tell_symbols(const infer_result *r, str slip, sbuf *out)
{
    sbuf names = {0};
    str near = {0};
    list_symbols(r, slip, &names, &near);
    if (near.n) {
        sbuf_puts(out, "Did you mean '");
        text_safe(out, near);
        sbuf_puts(out, "'? ");
    }
    if (names.n)
        sbuf_printf(out, "The dimensions of its inputs are: %s.", sbuf_cstr(&names));
    else
        sbuf_puts(out,
                  "All input sizes are fixed numbers. Change them with --input-shape or --batch.");
    sbuf_free(&names);
}

/* A slip would be a count for other sizes than those asked for. Models that are compared share the option: there it
 * is for those that have the name. */
static assay_status unused_dim(infer_result *r, str symbol, bool may_miss, assay_error *err)
{
    sbuf advice = {0};
    assay_status s = ASSAY_OK;
    tell_symbols(r, symbol, &advice);
    if (may_miss)
        notes_add(&r->notes, "unused-dim", symbol, NULL,
                  "The model has no dimension '" STR_FMT "'. Its --dim has no effect.",
                  STR_ARG(symbol));
    else
        s = err_fail(err, ASSAY_ERR_USAGE, "the model has no dimension '" STR_FMT "'. %s",
                     STR_ARG(symbol), sbuf_cstr(&advice));
    sbuf_free(&advice);
    return s;
}

static assay_status check_dims(infer_result *r, const infer_options *opt, assay_error *err)
{
    for (uint32_t k = 0; k < opt->n_dims; k++) {
        bool used = false;
        for (ir_id id = 0; id < r->model->values.n && !used; id++) {
            const ir_type *t = &ir_value_at(r->model, id)->declared;
            for (int d = 0; t->dims && d < t->rank && !used; d++)
                used = str_eq(t->dims[d].symbol, opt->dims[k].symbol);
        }
        if (!used)
            TRY(unused_dim(r, opt->dims[k].symbol, !opt->dims_must_exist, err));
    }
    return ASSAY_OK;
}

assay_status infer_inputs(infer_result *r, const infer_options *opt, assay_error *err)
{
    const ir_graph *g = ir_graph_at(r->model, 0);
    const infer_shape **chosen = ARENA_ARRAY(r->arena, const infer_shape *, g->inputs.n + 1);
    TRY_MEMORY(chosen, err);
    TRY(choose_shapes(r, opt, chosen, err));
    for (uint32_t k = 0; k < opt->n_dims; k++)
        bind(r, opt->dims[k].symbol, opt->dims[k].value, false);
    TRY(check_dims(r, opt, err));
    /* Inputs with a given shape first: they bind symbols for the others. Masks over a cache last. */
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < g->inputs.n; i++) {
            bool late = covers_all(r, ir_value_at(r->model, g->inputs.items[i]));
            if (pass == (chosen[i] ? 0 : late ? 2 : 1))
                TRY(one_input(r, i, opt, chosen[i], err));
        }
    return ASSAY_OK;
}

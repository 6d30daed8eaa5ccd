/* Matches a set of weights with the graph of its configuration: which tensor is which constant; missing and
 * unexpected tensors and other shapes; stored bytes of each.
 *
 * Checkpoints use several names for the same tensor, which are all supported: with or without the name of the bare
 * model before it ("bert."), LayerNorm.gamma for weight, one tensor per expert where the graph stacks them
 * ("experts.*."), a tied weight under the name of its other use, and the tensors that quantisers put beside or
 * instead of a weight (scales, zero points, packed words). Masks, position ids and rotary tables that older
 * checkpoints hold are no weights. Layers that predict tokens further ahead are counted as not in the graph.
 */
#include <stdlib.h>

#include "base/num.h"
#include "base/sbuf.h"
#include "base/text.h"
#include "formats/weights.h"
#include "ir/made.h"
#include "zoo/names.h"

enum { PREFIXES_MAX = 8, NAME_BYTES = 1024 };

typedef struct slot { /* a constant of the graph */
    ir_id value;
    uint32_t n; /* tensors that belong to it */
    uint64_t elems, bytes;
    str stored;
    const weight_item *item; /* the first of them */
    bool packed;             /* its elements cannot be counted from the shape */
    bool wrong;              /* said already */
} slot;

typedef enum shift_kind { AS_IT_IS, WITHOUT, WITH } shift_kind;

typedef struct shift {
    shift_kind kind;
    str prefix; /* with its dot */
} shift;

typedef struct matcher {
    const weight_set *w;
    ir_model *m;
    arena *scratch;
    VEC(slot) slots;
    map by_name;
    shift shift;
    uint32_t missing, unexpected, reshaped;
    uint64_t expected_params, found_params;
    assay_error *err;
} matcher;

/* Tensors that stand beside or instead of a weight when it is quantised: GPTQ and AWQ, bitsandbytes,
 * compressed-tensors, fp8 and mxfp4 checkpoints. */
static const struct {
    const char *ending, *of;
    bool instead;
} companions[] = {
    {".qweight", ".weight", true},
    {".weight_packed", ".weight", true},
    {"_blocks", "", true},
    {".qzeros", ".weight", false},
    {".scales", ".weight", false},
    {".g_idx", ".weight", false},
    {".weight_scale_inv", ".weight", false},
    {".weight_scale_2", ".weight", false},
    {".weight_scale", ".weight", false},
    {".weight_zero_point", ".weight", false},
    {".weight_shape", ".weight", false},
    {".weight_g_idx", ".weight", false},
    {".input_scale", ".weight", false},
    {".weight.absmax", ".weight", false},
    {".weight.nested_absmax", ".weight", false},
    {".weight.nested_quant_map", ".weight", false},
    {".weight.quant_map", ".weight", false},
    {".weight.quant_state.bitsandbytes__nf4", ".weight", false},
    {".weight.quant_state.bitsandbytes__fp4", ".weight", false},
    {".SCB", ".weight", false},
    {".weight_format", ".weight", false},
    {"_scales", "", false},
};

static const char *const no_weights[] = {
    "position_ids",
    ".inv_freq",
    "inv_freq",
    ".attn.bias",
    ".attn.masked_bias",
    ".attention.bias",
    ".attention.masked_bias",
    ".attn_mask",
    ".num_batches_tracked",
    ".relative_position_index",
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
    ".embed_positions.weights",
    ".relative_coords_table",
    ".k_scale",
    ".v_scale",
    ".q_scale",
};

/* Two names of one weight. */
static const char *const tied_names[] = {
    "lm_head.weight",         "embed_tokens.weight", "shared.weight",          "decoder.weight",
    "vocab_projector.weight", "wte.weight",          "word_embeddings.weight", "proj_out.weight",
    "embed_out.weight",       "embed_in.weight",     "decoder.bias",           "predictions.bias",
    "lm_head.bias",
};

static bool ends_in(str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_ends(name, list[i]))
            return true;
    return false;
}
#define ENDS_IN(name, list) ends_in((name), (list), sizeof(list) / sizeof *(list))

static str matched_name(const weight_item *x)
{
    return x->as.n ? x->as : x->name;
}

/* ---- the graph's side ---- */

static assay_status collect_slots(matcher *k)
{
    TRY_MEMORY(map_init(&k->by_name, k->scratch, k->m->values.n), k->err);
    for (ir_id id = 0; id < k->m->values.n; id++) {
        const ir_value *v = ir_value_at(k->m, id);
        if (!v->constant || !(v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER)))
            continue;
        slot *s = VEC_PUSH(k->scratch, &k->slots);
        TRY_MEMORY(s && map_put(&k->by_name, v->name, k->slots.n - 1), k->err);
        *s = (slot){.value = id};
        if (v->flags & IR_VALUE_PARAM)
            k->expected_params = sat_add(k->expected_params, v->constant->n_elems);
    }
    return ASSAY_OK;
}

/* ---- names ---- */

static slot *look_up(const matcher *k, str name)
{
    uint32_t at = map_get(&k->by_name, name);
    return at == MAP_NONE ? NULL : &k->slots.items[at];
}

static str join_names(char *buf, str a, str b)
{
    if ((size_t)a.n + b.n > NAME_BYTES)
        return (str){0};
    memcpy(buf, a.p, a.n);
    memcpy(buf + a.n, b.p, b.n);
    return (str){buf, a.n + b.n};
}

static slot *find_shifted(const matcher *k, const shift *by, str name)
{
    char buf[NAME_BYTES];
    if (by->kind == WITHOUT && name.n > by->prefix.n &&
        memcmp(name.p, by->prefix.p, by->prefix.n) == 0)
        return look_up(k, (str){name.p + by->prefix.n, name.n - by->prefix.n});
    if (by->kind == WITH)
        return look_up(k, join_names(buf, by->prefix, name));
    return NULL;
}

static slot *find_either(const matcher *k, str name)
{
    slot *s = look_up(k, name);
    return s ? s : find_shifted(k, &k->shift, name);
}

/* "experts.17." becomes "experts.*.". */
static slot *as_expert(const matcher *k, str name)
{
    static const char word[] = "experts.";
    char buf[NAME_BYTES];
    const char *at = memmem(name.p, name.n, word, sizeof word - 1);
    if (!at)
        return NULL;
    uint32_t from = (uint32_t)(at - name.p) + (uint32_t)sizeof word - 1, to = from;
    while (to < name.n && name.p[to] >= '0' && name.p[to] <= '9')
        to++;
    if (to == from || name.n > NAME_BYTES)
        return NULL;
    memcpy(buf, name.p, from);
    buf[from] = '*';
    memcpy(buf + from + 1, name.p + to, name.n - to);
    return find_either(k, (str){buf, from + 1 + name.n - to});
}

static slot *find_plain(const matcher *k, str name)
{
    slot *s = find_either(k, name);
    return s ? s : as_expert(k, name);
}

static slot *with_ending(const matcher *k, str name, const char *old, const char *new)
{
    char buf[NAME_BYTES];
    if (!str_ends(name, old))
        return NULL;
    name.n -= (uint32_t)strlen(old);
    return find_plain(k, join_names(buf, name, str_of(new)));
}

static slot *find_renamed(const matcher *k, str name)
{
    slot *s = find_plain(k, name);
    s = s ? s : with_ending(k, name, ".gamma", ".weight");
    return s ? s : with_ending(k, name, ".beta", ".bias");
}

/* ---- with or without the bare model's name ---- */

static uint32_t count_hits(const matcher *k, const shift *by)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->w->items.n; i++) {
        str name = matched_name(&k->w->items.items[i]);
        n += by->kind == AS_IT_IS ? look_up(k, name) != NULL : find_shifted(k, by, name) != NULL;
    }
    return n;
}

static str first_part(str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    return (str){name.p, dot ? (uint32_t)(dot - name.p) + 1 : 0};
}

static void add_prefix(str *list, uint32_t *n, str prefix)
{
    for (uint32_t i = 0; i < *n; i++)
        if (str_eq(list[i], prefix))
            return;
    if (prefix.n && *n < PREFIXES_MAX)
        list[(*n)++] = prefix;
}

static void try_shifts(matcher *k, shift_kind kind, const str *list, uint32_t n, uint32_t *best)
{
    for (uint32_t i = 0; i < n; i++) {
        shift s = {kind, list[i]};
        uint32_t found = count_hits(k, &s);
        if (found > *best) {
            *best = found;
            k->shift = s;
        }
    }
}

static void choose_shift(matcher *k)
{
    str mine[PREFIXES_MAX], theirs[PREFIXES_MAX];
    uint32_t n_mine = 0, n_theirs = 0, best = count_hits(k, &(shift){0});
    if (best >= k->slots.n / 2)
        return;
    for (uint32_t i = 0; i < k->slots.n && n_mine < PREFIXES_MAX; i++)
        add_prefix(mine, &n_mine, first_part(ir_value_at(k->m, k->slots.items[i].value)->name));
    for (uint32_t i = 0; i < k->w->items.n && n_theirs < PREFIXES_MAX; i++)
        add_prefix(theirs, &n_theirs, first_part(matched_name(&k->w->items.items[i])));
    try_shifts(k, WITHOUT, theirs, n_theirs, &best);
    try_shifts(k, WITH, mine, n_mine, &best);
}

/* ---- shapes ---- */

static bool is_transposed(const matcher *k, const slot *s)
{
    return ir_value_at(k->m, s->value)->flags & IR_VALUE_TRANSPOSED;
}

/* Of the constant, `skip` leading dims left out, as a checkpoint would have it. */
static int64_t dim_of(const ir_tensor *t, bool turned, int skip, int i)
{
    int at = skip + i;
    if (turned && t->rank >= 2)
        at = at == t->rank - 1 ? t->rank - 2 : at == t->rank - 2 ? t->rank - 1 : at;
    return t->dims[at];
}

static bool same_shape(const ir_tensor *t, bool turned, int skip, const weight_item *x)
{
    if (x->rank != t->rank - skip)
        return false;
    for (int i = 0; i < x->rank; i++)
        if (x->dims[i] != dim_of(t, turned, skip, i))
            return false;
    return true;
}

static bool fits_slot(const matcher *k, const slot *s, const weight_item *x)
{
    const ir_value *v = ir_value_at(k->m, s->value);
    const ir_tensor *t = v->constant;
    bool turned = is_transposed(k, s);
    bool stacked = memchr(v->name.p, '*', v->name.n) && x->rank == t->rank - 1;
    if (same_shape(t, turned, stacked, x))
        return true;
    return k->w->any_way && (same_shape(t, !turned, stacked, x) || x->n_elems <= t->n_elems);
}

static void put_shape(sbuf *b, const int64_t *dims, int rank)
{
    sbuf_putc(b, '[');
    for (int i = 0; i < rank; i++)
        sbuf_printf(b, i ? ", %lld" : "%lld", (long long)dims[i]);
    sbuf_putc(b, ']');
}

static void put_expected(sbuf *b, const matcher *k, const slot *s)
{
    const ir_value *v = ir_value_at(k->m, s->value);
    int64_t dims[IR_MAX_RANK];
    int skip = memchr(v->name.p, '*', v->name.n) ? 1 : 0;
    for (int i = 0; i + skip < v->constant->rank; i++)
        dims[i] = dim_of(v->constant, is_transposed(k, s), skip, i);
    put_shape(b, dims, v->constant->rank > skip ? v->constant->rank - skip : 0);
}

static void say_shape(matcher *k, slot *s, const weight_item *x)
{
    sbuf has = {0}, wants = {0};
    put_shape(&has, x->dims, x->rank);
    put_expected(&wants, k, s);
    notes_add(&k->m->notes, "weights-shape", x->name, NULL,
              "Weight '" STR_FMT "' has the shape %s; the configuration expects %s.",
              STR_ARG(x->name), sbuf_cstr(&has), sbuf_cstr(&wants));
    sbuf_free(&has);
    sbuf_free(&wants);
    s->wrong = true;
    k->reshaped++;
}

/* ---- the file's side ---- */

static void assign_weight(matcher *k, slot *s, const weight_item *x, bool companion, bool instead)
{
    s->bytes = sat_add(s->bytes, x->size_bytes);
    if (companion && !instead)
        return;
    str stored = instead ? STR("packed") : x->stored;
    s->item = s->n ? s->item : x;
    s->stored = s->n++ == 0 || str_eq(s->stored, stored) ? stored : STR("mixed");
    s->packed |= instead;
    s->elems = sat_add(s->elems, x->n_elems);
    if (!instead && !fits_slot(k, s, x))
        say_shape(k, s, x);
    if (!instead && ir_value_at(k->m, s->value)->flags & IR_VALUE_PARAM)
        k->found_params = sat_add(k->found_params, x->n_elems);
}

static bool take_companion(matcher *k, const weight_item *x)
{
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++) {
        slot *s = with_ending(k, matched_name(x), companions[i].ending, companions[i].of);
        if (s) {
            assign_weight(k, s, x, true, companions[i].instead);
            return true;
        }
    }
    return false;
}

/* The other name of a weight that the graph has once. */
static slot *tied_with(const matcher *k, const weight_item *x)
{
    if (!ENDS_IN(matched_name(x), tied_names))
        return NULL;
    for (uint32_t i = 0; i < k->slots.n; i++) {
        slot *s = &k->slots.items[i];
        const ir_value *v = ir_value_at(k->m, s->value);
        if (v->constant->n_elems == x->n_elems && v->constant->rank == x->rank &&
            ENDS_IN(v->name, tied_names))
            return s;
    }
    return NULL;
}

/* A layer that guesses the token after the next (DeepSeek-V3): in the checkpoint, and never run. It is
 * known by a projection that no other layer has. */
static bool predicts_ahead(const matcher *k, str name)
{
    static const char *const forms[][2] = {{"layers.", ".eh_proj.weight"},
                                           {"blk.", ".nextn.eh_proj.weight"}};
    char buf[NAME_BYTES];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *at = memmem(name.p, name.n, forms[i][0], strlen(forms[i][0]));
        uint32_t to = at ? (uint32_t)(at - name.p) + (uint32_t)strlen(forms[i][0]) : name.n;
        while (to < name.n && name.p[to] >= '0' && name.p[to] <= '9')
            to++;
        if (at && weight_set_get(k->w, join_names(buf, (str){name.p, to}, str_of(forms[i][1]))))
            return true;
    }
    return false;
}

static void take_rest(matcher *k, const weight_item *x)
{
    if (predicts_ahead(k, x->name)) {
        k->m->parameters_not_in_graph = sat_add(k->m->parameters_not_in_graph, x->n_elems);
        return;
    }
    if (zoo_name_is_auxiliary(matched_name(x))) {
        bool is_parameter = !x->integer && x->role != WEIGHT_ROLE_BUFFER;
        k->m->parameters_not_in_graph = sat_add(k->m->parameters_not_in_graph,
                                                is_parameter ? x->n_elems : 0);
        return;
    }
    slot *s = tied_with(k, x);
    if (s && s->n == 0)
        assign_weight(k, s, x, false, false);
    if (s || take_companion(k, x) || ENDS_IN(x->name, no_weights) || x->role == WEIGHT_ROLE_OTHER)
        return;
    sbuf shape = {0};
    put_shape(&shape, x->dims, x->rank);
    notes_add(&k->m->notes, "weights-unexpected", x->name, NULL,
              "Weight '" STR_FMT "' of shape %s is not in the configuration.", STR_ARG(x->name),
              sbuf_cstr(&shape));
    sbuf_free(&shape);
    k->unexpected++;
    if (!x->integer)
        k->found_params = sat_add(k->found_params, x->n_elems);
}

static assay_status take_all(matcher *k)
{
    uint8_t *left = ARENA_ARRAY(k->scratch, uint8_t, (size_t)k->w->items.n + 1);
    TRY_MEMORY(left, k->err);
    for (uint32_t i = 0; i < k->w->items.n; i++) {
        const weight_item *x = &k->w->items.items[i];
        bool training = x->role == WEIGHT_ROLE_TRAINING;
        slot *s = training ? NULL : find_renamed(k, matched_name(x));
        left[i] = !s && !training;
        if (s)
            assign_weight(k, s, x, false, false);
    }
    for (uint32_t i = 0; i < k->w->items.n; i++)
        if (left[i])
            take_rest(k, &k->w->items.items[i]);
    return ASSAY_OK;
}

/* ---- the outcome ---- */

static bool store_weight(matcher *k, const slot *s, struct bound_files *files)
{
    ir_value *v = ir_value_at(k->m, s->value);
    ir_tensor *t = arena_copy(k->m->arena, v->constant, sizeof *t);
    if (!t)
        return false;
    t->stored = str_copy(k->m->arena, s->stored);
    t->stored_bytes = s->bytes;
    v->constant = t;
    if (s->n == 1 && !s->packed && !s->wrong && !weights_bind(k->m, files, s->item, s->value))
        return false;
    return t->stored.p != NULL;
}

static void note_slot(matcher *k, slot *s)
{
    const ir_value *v = ir_value_at(k->m, s->value);
    sbuf shape = {0};
    if (s->n && (s->packed || s->wrong || s->elems == v->constant->n_elems))
        return;
    put_expected(&shape, k, s);
    if (s->n == 0) {
        notes_add(&k->m->notes, "weights-missing", v->name, NULL,
                  "Weight '" STR_FMT "' of shape %s is missing.", STR_ARG(v->name),
                  sbuf_cstr(&shape));
        k->missing++;
    } else {
        notes_add(&k->m->notes, "weights-shape", v->name, NULL,
                  "The %u tensors of '" STR_FMT
                  "' have %llu elements; the configuration expects %llu.",
                  s->n, STR_ARG(v->name), (unsigned long long)s->elems,
                  (unsigned long long)v->constant->n_elems);
        k->reshaped++;
    }
    sbuf_free(&shape);
}

static void sum_up(matcher *k)
{
    sbuf found = {0}, wanted = {0};
    k->m->weights_differ = k->missing || k->unexpected || k->reshaped;
    if (!k->m->weights_differ)
        return;
    text_thousands(&found, k->found_params);
    text_thousands(&wanted, k->expected_params);
    notes_add(&k->m->notes, "weights-differ", (str){0},
              "Check that the configuration belongs to these weights.",
              "The weights do not match the configuration: %u missing, %u unexpected, %u of "
              "another shape. They have %s parameters; the configuration expects %s.",
              k->missing, k->unexpected, k->reshaped, sbuf_cstr(&found), sbuf_cstr(&wanted));
    sbuf_free(&found);
    sbuf_free(&wanted);
}

static assay_status match_all(matcher *k)
{
    TRY(collect_slots(k));
    choose_shift(k);
    TRY(take_all(k));
    struct bound_files *files = weights_bind_begin(k->m, k->w);
    TRY_MEMORY(files, k->err);
    for (uint32_t i = 0; i < k->slots.n; i++) {
        slot *s = &k->slots.items[i];
        note_slot(k, s);
        if (s->n && !store_weight(k, s, files))
            return err_no_memory(k->err);
    }
    sum_up(k);
    TRY(ir_reader_wrap(k->m, k->err));
    k->m->native = weights_native(k->w, k->m->native);
    notes_join(&k->m->notes, &k->w->notes);
    k->m->format = k->w->format;
    k->m->file_size_bytes = k->w->file_bytes;
    return arena_failed(k->m->arena) || arena_failed(k->scratch) ? err_no_memory(k->err) : ASSAY_OK;
}

assay_status weights_match(const weight_set *w, ir_model *m, assay_error *err)
{
    matcher k = {.w = w, .m = m, .err = err, .scratch = arena_new((size_t)256 << 20)};
    TRY_MEMORY(k.scratch, err);
    assay_status s = match_all(&k);
    arena_free(k.scratch);
    return s;
}

/* Weights of layers: which of the file's belongs to which, and constants of them.
 *
 * A layer asks for its weights in the order in which Keras makes them. Files by path are indexed by that order. In files by
 * layer it is the order of the list, but for models within the model, whose trained weights come before all others: there
 * the names decide ("encoder/conv1/kernel:0": the layer's name, and the weight's at the end).
 */
#include <string.h>

#include "base/num.h"
#include "formats/keras/keras_impl.h"

/* ---- finding ---- */

/* "a/b/kernel_1:0" is "kernel". */
static str plain_name(str path)
{
    const char *colon = memchr(path.p, ':', path.n);
    str s = {path.p, colon ? (uint32_t)(colon - path.p) : path.n};
    while (memchr(s.p, '/', s.n)) {
        const char *slash = memchr(s.p, '/', s.n);
        s.n -= (uint32_t)(slash + 1 - s.p);
        s.p = slash + 1;
    }
    return s;
}

static bool is_weight_named(str path, const char *name)
{
    str plain = plain_name(path), wanted = plain_name(str_of(name));
    if (plain.n < wanted.n || memcmp(plain.p, wanted.p, wanted.n) != 0)
        return false;
    return plain.n == wanted.n || plain.p[wanted.n] == '_';
}

static bool has_part(str path, str layer)
{
    if (!layer.n)
        return false;
    for (uint32_t i = 0; i + layer.n < path.n; i++)
        if ((i == 0 || path.p[i - 1] == '/') && memcmp(path.p + i, layer.p, layer.n) == 0 &&
            path.p[i + layer.n] == '/')
            return true;
    return false;
}

static bool fits(const hdf5_data *d, int rank, const int64_t *dims)
{
    if (d->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (dims[i] >= 0 && dims[i] != d->dims[i])
            return false;
    return true;
}

/* The first that is free of that name and shape; of that layer, if it is given. */
static keras_data *search_bag(keras_reader *r, const keras_bag *bag, str layer, const char *name,
                              int rank, const int64_t *dims)
{
    for (uint32_t i = bag->first; i < bag->first + bag->n; i++) {
        keras_data *d = &r->store.items.items[i];
        if (!d->used && (!name || is_weight_named(d->path, name)) &&
            (!layer.n || has_part(d->path, layer)) && (rank < 0 || fits(&d->data, rank, dims)))
            return d;
    }
    return NULL;
}

static keras_data *find_in_bag(keras_call *c, const char *name, int rank, const int64_t *dims)
{
    keras_reader *r = c->r;
    keras_bag *bag = c->l->bag;
    keras_data *d = NULL;
    if (!bag)
        return NULL;
    if (!bag->by_name) {
        while (bag->next < bag->n && r->store.items.items[bag->first + bag->next].used)
            bag->next++;
        d = bag->next < bag->n ? &r->store.items.items[bag->first + bag->next] : NULL;
        if (d && fits(&d->data, rank, dims))
            return d;
        keras_data *other = search_bag(r, bag, (str){0}, name, rank, dims);
        return other ? other : d;
    }
    d = search_bag(r, bag, c->l->name, name, rank, dims);
    if (!d)
        d = search_bag(r, bag, c->l->name, NULL, rank, dims);
    return d ? d : search_bag(r, bag, (str){0}, name, rank, dims);
}

static keras_data *find_data(keras_call *c, const char *name, int rank, const int64_t *dims)
{
    keras_layer *l = c->l;
    if (c->r->store.form == KERAS_BY_LAYER)
        return find_in_bag(c, name, rank, dims);
    if (c->r->store.form != KERAS_BY_PATH || !l->prefix.p)
        return NULL;
    str path = str_printf(c->r->a, STR_FMT "/vars/%u", STR_ARG(l->prefix), l->n_weights);
    uint32_t at = path.p ? map_get(&c->r->store.by_path, path) : MAP_NONE;
    return at == MAP_NONE ? NULL : &c->r->store.items.items[at];
}

/* Keras 1 calls the weight "lstm_1_W_i:0" or "lstm_1_W_i". */
bool keras_has_weight(const keras_call *c, const char *name)
{
    const keras_bag *bag = c->l->bag;
    for (uint32_t i = 0; bag && c->r->store.form == KERAS_BY_LAYER && i < bag->n; i++) {
        const keras_data *d = &c->r->store.items.items[bag->first + i];
        const char *colon = memchr(d->path.p, ':', d->path.n);
        str own = {d->path.p, colon ? (uint32_t)(colon - d->path.p) : d->path.n};
        if (!d->used && str_ends(own, name))
            return true;
    }
    return false;
}

/* ---- constants ---- */

/* Counted by its shape, but its numbers cannot be had. */
static void note_no_values(keras_call *c, str name, const keras_data *d)
{
    if (!d)
        notes_add(&c->f->m->notes, "weights-missing", name,
                  "To run the model, pass the file with the weights.",
                  "The file has no data for this weight. Its size is taken from the settings of "
                  "the layer.");
    else
        notes_add(&c->f->m->notes, "weights-not-read", name,
                  "To run the model, save it again without compression.",
                  "This weight is stored in chunks or compressed: it is counted, but its values "
                  "are not read.");
}

static void note_shape(keras_call *c, str name)
{
    notes_add(&c->f->m->notes, "weights-shape", name, "Check that file and architecture match.",
              "The shape of this weight in the file does not match the settings of its layer. The "
              "file's is used.");
}

static ir_id make_constant(keras_call *c, str name, int kind, const keras_data *d, ir_t shape)
{
    foreign *f = c->f;
    ir_tensor *t = ir_make_tensor_borrowed(f->m, name, shape.dtype, shape.rank, shape.d);
    if (!t)
        return IR_NONE;
    bool plain = d && d->data.place == HDF5_ONE_PIECE && !d->data.filtered &&
                 d->data.length == t->size_bytes;
    t->encoding = d && d->data.big_endian ? FOREIGN_BIG_ENDIAN : 0;
    ir_id id = foreign_slice(f, name, t, plain ? d->data.offset : 0, plain ? d->data.length : 0);
    if (id == IR_NONE)
        return id;
    ir_value *v = ir_value_at(f->m, id);
    v->flags |= kind == KERAS_FIXED ? IR_VALUE_BUFFER : IR_VALUE_PARAM;
    if (kind == KERAS_TRAINED && !c->l->trainable)
        v->flags |= IR_VALUE_FROZEN;
    if (d)
        foreign_count(f, t->n_elems, t->size_bytes);
    if (!plain && t->n_elems) {
        ir_tensor *own = arena_copy(f->m->arena, v->constant, sizeof *own);
        if (!own)
            return IR_NONE;
        own->storage = IR_DATA_NONE;
        v->constant = own;
        if (d || c->r->store.form != KERAS_NO_WEIGHTS)
            note_no_values(c, ir_value_at(f->m, id)->name, d);
    }
    return id;
}

static ir_t value_of(keras_call *c, ir_id id)
{
    const ir_tensor *t = id == IR_NONE ? NULL : ir_value_at(c->f->m, id)->constant;
    ir_t x = t ? keras_shape(t->dtype, t->rank, t->dims) : keras_unknown_shape(IR_FLOAT32);
    x.id = id;
    return x;
}

static bool is_whole_shape(ir_t s)
{
    for (int d = 0; d < s.rank; d++)
        if (s.d[d] < 0)
            return false;
    return s.rank >= 0;
}

ir_t keras_weight(keras_call *c, const char *name, int kind, int rank, const int64_t *dims)
{
    keras_layer *l = c->l;
    for (uint32_t i = 0; i < l->weight_names.n; i++)
        if (str_is(l->weight_names.items[i], name))
            return value_of(c, l->weights.items[i]);
    ir_t shape = keras_shape(keras_dtype(c->config, "dtype", IR_FLOAT32), rank, dims);
    if (!ir_is_float(shape.dtype))
        shape.dtype = IR_FLOAT32;
    keras_data *d = find_data(c, name, rank, dims);
    str full = str_printf(c->f->m->arena, STR_FMT "/%s", STR_ARG(l->shown), name);
    l->n_weights++;
    if (d && d->data.rank <= IR_KIT_RANK && d->data.dtype != IR_UNDEFINED) {
        if (!fits(&d->data, rank, dims)) {
            note_shape(c, full);
            c->r->refuted = c->r->trusted;
        }
        shape = keras_shape(d->data.dtype, d->data.rank, d->data.dims);
        d->used = true;
    } else {
        d = NULL;
    }
    ir_id id = full.p && is_whole_shape(shape) ? make_constant(c, full, kind, d, shape) : IR_NONE;
    if (id != IR_NONE && (!VEC_ADD(c->r->a, &l->weights, id) ||
                          !VEC_ADD(c->r->a, &l->weight_names, str_copy(c->r->a, str_of(name)))))
        return keras_unknown_shape(IR_FLOAT32);
    return value_of(c, id);
}

/* ---- weights that no row explains ---- */

/* By the names that Keras gives to what training does not change by gradients. */
static int kind_by_name(str path)
{
    static const char *const fixed[] = {"moving_",    "running_",  "seed",     "count",
                                        "iterations", "ema_",      "vector_u", "population",
                                        "mean:0",     "variance:0"};
    str plain = plain_name(path);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (str_contains(plain, fixed[i]) || str_ends(path, fixed[i]))
            return KERAS_FIXED;
    return KERAS_TRAINED;
}

static ir_id constant_of(keras_call *c, keras_data *d)
{
    ir_t shape = keras_shape(d->data.dtype, d->data.rank, d->data.dims);
    int kind = kind_by_name(d->path);
    if (str_contains(d->path, "seed_generator") || ir_is_integer(d->data.dtype))
        kind = KERAS_FIXED;
    const char *colon = memchr(d->path.p, ':', d->path.n);
    str name = {d->path.p, colon ? (uint32_t)(colon - d->path.p) : d->path.n};
    d->used = true;
    name = str_copy(c->f->m->arena, name);
    bool possible = name.p && d->data.rank <= IR_KIT_RANK && d->data.dtype != IR_UNDEFINED &&
                    d->data.dtype != IR_STRING;
    return possible ? make_constant(c, name, kind, d, shape) : IR_NONE;
}

/* Whether an item belongs to the layer (or, for models by name, looks like it). */
static bool belongs(const keras_call *c, uint32_t i)
{
    const keras_data *d = &c->r->store.items.items[i];
    const keras_layer *l = c->l;
    if (d->used)
        return false;
    if (c->r->store.form == KERAS_BY_PATH)
        return l->prefix.p && d->path.n > l->prefix.n && d->path.p[l->prefix.n] == '/' &&
               memcmp(d->path.p, l->prefix.p, l->prefix.n) == 0;
    if (!l->bag || i < l->bag->first || i >= l->bag->first + l->bag->n)
        return false;
    return !l->bag->by_name || has_part(d->path, l->name);
}

const ir_id *keras_other_weights(keras_call *c, uint32_t *n)
{
    keras_layer *l = c->l;
    enum { MAX_LOOKS = 1 << 28 };
    if ((c->r->n_looks += c->r->store.items.n) > MAX_LOOKS)
        err_fail(c->f->err, ASSAY_ERR_MALFORMED, "Keras model: too many weights and layers");
    for (uint32_t i = 0; i < c->r->store.items.n && c->f->err->code == ASSAY_OK; i++) {
        if (!belongs(c, i))
            continue;
        ir_id id = constant_of(c, &c->r->store.items.items[i]);
        if (id != IR_NONE &&
            (!VEC_ADD(c->r->a, &l->weights, id) || !VEC_ADD(c->r->a, &l->weight_names, STR(" "))))
            break;
    }
    *n = l->weights.n;
    return l->weights.items;
}

/* Seeds, weights of layers that were not saved as such: of the model, though no node reads them. */
void keras_weights_left(keras_reader *r)
{
    keras_layer none = {.trainable = true};
    keras_call c = {.r = r, .f = &r->f, .l = &none};
    for (uint32_t i = 0; i < r->store.items.n; i++) {
        keras_data *d = &r->store.items.items[i];
        ir_id id = d->used ? IR_NONE : constant_of(&c, d);
        if (id == IR_NONE)
            continue;
        ir_value *v = ir_value_at(r->f.m, id);
        v->flags |= IR_VALUE_UNREAD;
        if (v->flags & IR_VALUE_PARAM)
            notes_add(&r->f.m->notes, "weights-unread", v->name, NULL,
                      "No layer of the architecture has this weight. It is counted as parameters.");
    }
}

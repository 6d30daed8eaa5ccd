/* Tensors of a checkpoint, by name and role.
 *
 * A tensor is a call of a function that rebuilds it from a storage. Its name is the path of keys and attributes that leads
 * to it. A module is an object whose state has _parameters, _buffers and _modules. What only training needs (the state of
 * an optimizer, a second copy of the model with averaged weights) is told apart from the model.
 */
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/sbuf.h"
#include "formats/torch/torch_impl.h"

enum { DEPTH_MAX = 256, PATH_MAX_BYTES = 4096 };

typedef struct walker {
    torch_file *f;
    map shared; /* parts of storages that a parameter or buffer has already */
    sbuf path;
    int depth;
    bool constants;   /* those of TorchScript, which have a folder of their own */
    weight_role role; /* of what is found; WEIGHT_ROLE_UNTOLD: by name and type */
} walker;

/* ---- types ---- */

static const struct {
    const char *storage, *dtype; /* names behind "torch." */
    const char *stored;
    unsigned bits;
    bool integer;
} types[] = {
    {"FloatStorage", "float32", "float32", 32, false},
    {"HalfStorage", "float16", "float16", 16, false},
    {"BFloat16Storage", "bfloat16", "bfloat16", 16, false},
    {"DoubleStorage", "float64", "float64", 64, false},
    {"LongStorage", "int64", "int64", 64, true},
    {"IntStorage", "int32", "int32", 32, true},
    {"ShortStorage", "int16", "int16", 16, true},
    {"CharStorage", "int8", "int8", 8, true},
    {"ByteStorage", "uint8", "uint8", 8, true},
    {"BoolStorage", "bool", "bool", 8, true},
    {"ComplexFloatStorage", "complex64", "complex64", 64, false},
    {"ComplexDoubleStorage", "complex128", "complex128", 128, false},
    {"QInt8Storage", "qint8", "int8", 8, false},
    {"QUInt8Storage", "quint8", "uint8", 8, false},
    {"QInt32Storage", "qint32", "int32", 32, false},
    {"", "uint16", "uint16", 16, true},
    {"", "uint32", "uint32", 32, true},
    {"", "uint64", "uint64", 64, true},
    {"", "float8_e4m3fn", "float8_e4m3fn", 8, false},
    {"", "float8_e5m2", "float8_e5m2", 8, false},
    {"", "float8_e4m3fnuz", "float8_e4m3fnuz", 8, false},
    {"", "float8_e5m2fnuz", "float8_e5m2fnuz", 8, false},
    {"", "float8_e8m0fnu", "float8_e8m0fnu", 8, false},
};
enum { N_TYPES = sizeof types / sizeof *types };

/* The row of "torch.FloatStorage", "torch.storage.FloatStorage" or "torch.float32"; -1 for another. */
static int type_of(const pickle_value *name)
{
    str s = name && name->kind == PICKLE_GLOBAL ? name->text : (str){0};
    if (!str_starts(s, "torch."))
        return -1;
    while (memchr(s.p, '.', s.n)) {
        const char *dot = memchr(s.p, '.', s.n);
        s = (str){dot + 1, s.n - (uint32_t)(dot + 1 - s.p)};
    }
    for (int i = 0; i < N_TYPES; i++)
        if (s.n && (str_is(s, types[i].storage) || str_is(s, types[i].dtype)))
            return i;
    return -1;
}

/* ---- one tensor ---- */

static assay_status fail_tensor(walker *w, const char *what)
{
    const char *name = sbuf_cstr(&w->path);
    return err_fail_node(w->f->err, ASSAY_ERR_MALFORMED, name, "%s: tensor '%s' %s", w->f->shown,
                         name, what);
}

static str own_name(walker *w)
{
    str name = {w->path.p, (uint32_t)w->path.n};
    arena *a = w->f->set->arena;
    name = name.n ? str_copy(a, name) : STR("tensor");
    for (unsigned i = 2; name.p && weight_set_get(w->f->set, name); i++)
        name = str_printf(a, "%.*s#%u", (int)w->path.n, w->path.n ? w->path.p : "", i);
    return name;
}

/* Without a module around them, running statistics and counters are known by their names and types. */
static weight_role role_by_name(str name, bool integer)
{
    static const char *const buffers[] = {"running_mean", "running_var", "num_batches_tracked"};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (str_ends(name, buffers[i]))
            return WEIGHT_ROLE_BUFFER;
    return integer ? WEIGHT_ROLE_BUFFER : WEIGHT_ROLE_PARAMETER;
}

static assay_status read_sizes(walker *w, const pickle_value *sizes, weight_item *item)
{
    int64_t *dims;
    item->n_elems = 1;
    /* torch.Size((2, 3)) or the tuple itself */
    if (sizes && sizes->kind == PICKLE_OBJECT)
        sizes = pickle_item(sizes->args, 0);
    if (!sizes || (sizes->kind != PICKLE_TUPLE && sizes->kind != PICKLE_LIST))
        return fail_tensor(w, "has no shape");
    if (sizes->items.n > IR_MAX_RANK)
        return fail_tensor(w, "has more than 64 dimensions");
    dims = ARENA_ARRAY(w->f->set->arena, int64_t, sizes->items.n + 1);
    TRY_MEMORY(dims, w->f->err);
    for (uint32_t i = 0; i < sizes->items.n; i++) {
        const pickle_value *d = sizes->items.items[i];
        if (d->kind != PICKLE_INT || d->whole < 0)
            return fail_tensor(w, "has an invalid dimension");
        if (!num_mulu(item->n_elems, (uint64_t)d->whole, &item->n_elems))
            return fail_tensor(w, "has too many elements to count");
        dims[i] = d->whole;
    }
    item->dims = dims;
    item->rank = (int)sizes->items.n;
    return ASSAY_OK;
}

/* In the older form storages lie behind the pickles, each with its length of 8 bytes. */
static assay_status add_storage(torch_file *f, str key, uint64_t bytes)
{
    bool is_new = false;
    uint32_t *at = map_at(&f->storages, key, f->lengths.n, &is_new);
    torch_place place = {f->set->items.n, at ? *at : 0};
    if (!at || !VEC_ADD(f->scratch, &f->places, place) ||
        (is_new && !VEC_ADD(f->scratch, &f->lengths, bytes)))
        return err_no_memory(f->err);
    if (is_new)
        f->storage_bytes = sat_add(f->storage_bytes, sat_add(bytes, 8));
    return ASSAY_OK;
}

/* ('storage', type, key, device, elements): the bytes must be there. */
static assay_status check_storage(walker *w, const pickle_value *id, unsigned bits,
                                  weight_item *item, uint64_t *elements)
{
    torch_file *f = w->f;
    const pickle_value *key = pickle_item(id, 2), *count = pickle_item(id, 4);
    uint64_t n = count && count->kind == PICKLE_INT && count->whole >= 0 ? (uint64_t)count->whole
                                                                         : UINT64_MAX;
    if (!key || n > NUM_SATURATED / 128)
        return fail_tensor(w, "has a storage without a size");
    *elements = n;
    if (!f->zip && !f->storages.arena)
        return fail_tensor(w, "has its storage in another file");
    if (!f->zip)
        return add_storage(f, key->text, n * bits / 8);
    const zip_entry *e = NULL;
    for (int i = 0; i < 2 && !e; i++) { /* both folders have a storage 0 */
        const char *folder = (i == 0) == w->constants ? "constants" : "data";
        e = zip_find(f->zip, str_printf(f->scratch, STR_FMT "%s/" STR_FMT, STR_ARG(f->root), folder,
                                        STR_ARG(key->text)));
    }
    if (!e)
        return fail_tensor(w, "has no storage in the archive");
    item->entry = e->method == ZIP_STORED || e->method == ZIP_DEFLATED ? e->header + 1 : 0;
    item->packed = e->method == ZIP_DEFLATED ? e->packed : 0;
    item->unpacked = e->method == ZIP_DEFLATED ? e->size : 0;
    return e->size >= n * bits / 8 ? ASSAY_OK : fail_tensor(w, "has a storage that is too short");
}

/* Where the tensor lies in its storage of n elements. Strides that leave it have no place. */
static assay_status place_tensor(walker *w, const pickle_value *args, uint64_t n, unsigned bits,
                                 weight_item *item)
{
    const pickle_value *offset = pickle_item(args, 1), *given = pickle_item(args, 3);
    int64_t *strides = ARENA_ARRAY(w->f->set->arena, int64_t, (size_t)item->rank + 1), plain = 1;
    uint64_t last = offset && offset->kind == PICKLE_INT && offset->whole >= 0
                        ? (uint64_t)offset->whole
                        : UINT64_MAX;
    bool fits = last < n && given && given->items.n == (uint32_t)item->rank, in_order = true;
    TRY_MEMORY(strides, w->f->err);
    item->offset = fits ? last * bits / 8 : 0;
    for (int d = item->rank - 1; fits && d >= 0; plain *= item->dims[d--]) {
        const pickle_value *s = given->items.items[d];
        fits = s->kind == PICKLE_INT && s->whole >= 0;
        strides[d] = s->whole;
        in_order &= strides[d] == plain || item->dims[d] == 1;
        uint64_t reach = sat_mul((uint64_t)(item->dims[d] - (item->dims[d] > 0)),
                                 (uint64_t)s->whole);
        last = sat_add(last, reach);
    }
    item->placed = fits && last < n && bits >= 8;
    item->entry = item->placed ? item->entry : 0;
    item->strides = item->placed && !in_order ? strides : NULL;
    return ASSAY_OK;
}

/* Tied weights are two tensors of one storage: the second is counted among the tensors, not among the parameters. */
static assay_status tell_shared(walker *w, const pickle_value *id, const pickle_value *offset,
                                weight_item *item)
{
    bool is_new = true;
    const str place = str_printf(w->f->scratch, STR_FMT "@%" PRId64 ":%" PRIu64,
                                 STR_ARG(id->items.items[2]->text), offset ? offset->whole : 0,
                                 item->n_elems);
    if (item->role != WEIGHT_ROLE_PARAMETER && item->role != WEIGHT_ROLE_BUFFER)
        return ASSAY_OK;
    TRY_MEMORY(place.p && map_at(&w->shared, place, 0, &is_new), w->f->err);
    if (!is_new && item->n_elems)
        item->role = WEIGHT_ROLE_OTHER;
    return ASSAY_OK;
}

static assay_status add_tensor(walker *w, const pickle_value *args)
{
    const pickle_value *storage = pickle_item(args, 0), *dtype = pickle_item(args, 6);
    const pickle_value *id = storage && storage->kind == PICKLE_PERSISTENT ? storage->of : NULL;
    weight_item item = {.file = w->f->file, .role = w->role};
    int type = type_of(dtype) >= 0 ? type_of(dtype) : type_of(pickle_item(id, 1));
    if (!id)
        return fail_tensor(w, "has no storage");
    if (type < 0)
        return fail_tensor(w, "has a storage of unknown type");
    TRY(read_sizes(w, pickle_item(args, 2), &item));
    uint64_t stored = 0;
    TRY(check_storage(w, id, types[type].bits, &item, &stored));
    if (item.n_elems > NUM_SATURATED / 128)
        return fail_tensor(w, "has too many elements to count");
    item.size_bytes = item.n_elems * types[type].bits / 8;
    TRY(place_tensor(w, args, stored, types[type].bits, &item));
    item.name = own_name(w);
    TRY_MEMORY(item.name.p, w->f->err);
    item.stored = str_of(types[type].stored);
    item.integer = types[type].integer;
    if (item.role == WEIGHT_ROLE_UNTOLD)
        item.role = role_by_name(item.name, item.integer);
    TRY(tell_shared(w, id, pickle_item(args, 1), &item));
    return weight_set_add(w->f->set, &item, w->f->shown, w->f->err);
}

/* ---- the tree ---- */

static assay_status walk(walker *w, pickle_value *v);

static assay_status walk_at(walker *w, str key, pickle_value *v)
{
    size_t before = w->path.n;
    if (before && before < PATH_MAX_BYTES)
        sbuf_putc(&w->path, '.');
    if (before < PATH_MAX_BYTES)
        sbuf_str(&w->path, key);
    assay_status s = walk(w, v);
    w->path.n = before;
    return s;
}

static str text_of_key(const walker *w, const pickle_value *key)
{
    if (key->kind == PICKLE_TEXT)
        return key->text;
    return key->kind == PICKLE_INT ? str_printf(w->f->scratch, "%" PRId64, key->whole) : STR("?");
}

static assay_status walk_items(walker *w, const pickle_value *v)
{
    for (uint32_t i = 0; i + v->pairs < v->items.n; i += v->pairs ? 2 : 1) {
        str key = v->pairs ? text_of_key(w, v->items.items[i]) : str_printf(w->f->scratch, "%u", i);
        TRY(walk_at(w, key, v->items.items[i + v->pairs]));
    }
    return ASSAY_OK;
}

static assay_status walk_as(walker *w, weight_role role, const pickle_value *v)
{
    weight_role before = w->role;
    if (!v)
        return ASSAY_OK;
    w->role = before == WEIGHT_ROLE_TRAINING ? before : role;
    assay_status s = walk_items(w, v);
    w->role = before;
    return s;
}

static bool is_module(const pickle_value *state)
{
    return pickle_get(state, "_parameters") && pickle_get(state, "_modules");
}

/* Attributes that hold tensors are neither parameters nor buffers. */
static assay_status walk_module(walker *w, const pickle_value *state)
{
    static const struct {
        const char *key;
        weight_role role;
    } parts[] = {{"_parameters", WEIGHT_ROLE_PARAMETER},
                 {"_buffers", WEIGHT_ROLE_BUFFER},
                 {"_modules", WEIGHT_ROLE_UNTOLD}};
    weight_role before = w->role;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        TRY(walk_as(w, parts[i].role, pickle_get(state, parts[i].key)));
    w->role = before == WEIGHT_ROLE_TRAINING ? before : WEIGHT_ROLE_OTHER;
    for (uint32_t i = 0; i + 1 < state->items.n; i += 2) {
        str key = text_of_key(w, state->items.items[i]);
        if (!str_is(key, "_parameters") && !str_is(key, "_buffers") && !str_is(key, "_modules"))
            TRY(walk_at(w, key, state->items.items[i + 1]));
    }
    w->role = before;
    return ASSAY_OK;
}

typedef enum call_kind { CALL_OTHER, CALL_TENSOR, CALL_PARAMETER, CALL_SUBCLASS } call_kind;

static call_kind call_of(const pickle_value *v)
{
    static const struct {
        const char *name;
        call_kind kind;
    } calls[] = {{"._rebuild_tensor", CALL_TENSOR},
                 {"._rebuild_tensor_v2", CALL_TENSOR},
                 {"._rebuild_tensor_v3", CALL_TENSOR},
                 {"._rebuild_qtensor", CALL_TENSOR},
                 {"._rebuild_parameter", CALL_PARAMETER},
                 {"._rebuild_parameter_with_state", CALL_PARAMETER},
                 {"._rebuild_from_type_v2", CALL_SUBCLASS}};
    for (size_t i = 0; v->of && v->of->kind == PICKLE_GLOBAL && i < sizeof calls / sizeof *calls;
         i++)
        if (str_ends(v->of->text, calls[i].name))
            return calls[i].kind;
    return CALL_OTHER;
}

static assay_status walk_parameter(walker *w, const pickle_value *v)
{
    weight_role before = w->role;
    w->role = before == WEIGHT_ROLE_UNTOLD ? WEIGHT_ROLE_PARAMETER : before;
    assay_status s = v->args->items.n ? walk(w, v->args->items.items[0]) : ASSAY_OK;
    w->role = before;
    return s;
}

/* A subclass of tensor is the function and arguments of the plain one. */
static assay_status walk_subclass(walker *w, const pickle_value *v)
{
    pickle_value inner = {.kind = PICKLE_OBJECT};
    if (v->args->items.n < 3)
        return ASSAY_OK;
    inner.of = v->args->items.items[0];
    inner.args = v->args->items.items[2];
    return walk(w, &inner);
}

/* Objects of TorchScript: parameters and buffers are attributes of their own. A tensor in a list is a constant, or
 * packed weights of a quantised layer, which are made by the operators of torch. */
static assay_status walk_script(walker *w, const pickle_value *state)
{
    weight_role before = w->role;
    for (uint32_t i = 0; i + 1 < state->items.n; i += 2) {
        pickle_value *v = state->items.items[i + 1];
        bool listed = v->kind == PICKLE_LIST || v->kind == PICKLE_DICT ||
                      (v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL &&
                       str_starts(v->of->text, "torch.jit._pickle."));
        w->role = listed && before == WEIGHT_ROLE_UNTOLD ? WEIGHT_ROLE_OTHER : before;
        TRY(walk_at(w, text_of_key(w, state->items.items[i]), v));
    }
    w->role = before;
    return ASSAY_OK;
}

static assay_status walk_parts(walker *w, pickle_value *v)
{
    if (v->state && v->state->pairs && (!v->args || !v->args->items.n) && v->of &&
        v->of->kind == PICKLE_GLOBAL && str_starts(v->of->text, "__torch__.") && !v->items.n)
        return walk_script(w, v->state);
    if (is_module(v->state))
        return walk_module(w, v->state);
    TRY(walk_items(w, v));
    if (v->state)
        TRY(walk(w, v->state));
    return v->args ? walk(w, v->args) : ASSAY_OK;
}

static assay_status walk_value(walker *w, pickle_value *v, call_kind call)
{
    switch (call) {
    case CALL_TENSOR:
        return add_tensor(w, v->args);
    case CALL_PARAMETER:
        return walk_parameter(w, v);
    case CALL_SUBCLASS:
        return walk_subclass(w, v);
    case CALL_OTHER:
        break;
    }
    if (v->kind == PICKLE_OBJECT)
        return walk_parts(w, v);
    bool holds_items = v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST || v->kind == PICKLE_DICT;
    return holds_items ? walk_items(w, v) : ASSAY_OK;
}

/* What was walked is not walked again, for values may contain each other; but a tensor counts under each name. */
static assay_status walk(walker *w, pickle_value *v)
{
    call_kind call = v->kind == PICKLE_OBJECT ? call_of(v) : CALL_OTHER;
    if (v->seen)
        return ASSAY_OK;
    if (w->depth == DEPTH_MAX)
        return fail_tensor(w, "lies deeper than 256 levels");
    v->seen = call == CALL_OTHER && v->kind >= PICKLE_TUPLE && v->kind != PICKLE_GLOBAL;
    w->depth++;
    assay_status s = walk_value(w, v, call);
    w->depth--;
    return s;
}

/* ---- which part is the model ---- */

/* The state of an optimizer: by its form, or by the key that leads to it. */
static bool is_optimizer(str key, const pickle_value *v)
{
    return (pickle_get(v, "state") && pickle_get(v, "param_groups")) || str_contains(key, "optim");
}

static bool is_average(str key)
{
    return str_is(key, "ema") || str_starts(key, "ema_") || str_ends(key, "_ema") ||
           str_contains(key, "_ema_") || str_is(key, "model_ema");
}

static bool is_compound(const pickle_value *v)
{
    return (v->kind == PICKLE_OBJECT || v->kind == PICKLE_DICT) &&
           (v->items.n || v->state || v->kind == PICKLE_OBJECT);
}

/* Keys under which checkpoints keep the model itself, in the order of preference. */
static const char *const model_keys[] = {"state_dict", "model_state_dict", "model",  "module",
                                         "net",        "network",          "weights"};

static const pickle_value *main_entry(const pickle_value *root)
{
    for (size_t i = 0; i < sizeof model_keys / sizeof *model_keys; i++) {
        const pickle_value *v = pickle_get(root, model_keys[i]);
        if (v && is_compound(v))
            return v;
    }
    return NULL;
}

static assay_status walk_entry(walker *w, const pickle_value *root, uint32_t i)
{
    pickle_value *value = root->items.items[i + 1];
    const str key = text_of_key(w, root->items.items[i]);
    const pickle_value *model = main_entry(root);
    bool training = is_optimizer(key, value) || (is_average(key) && model);
    w->role = training ? WEIGHT_ROLE_TRAINING : WEIGHT_ROLE_UNTOLD;
    return value == model && !training ? walk(w, value) : walk_at(w, key, value);
}

/* A checkpoint is a dict of parts; a state dict is a dict of tensors. The model goes first, so that it keeps its names. */
static assay_status walk_root(walker *w, pickle_value *root)
{
    if (!root->pairs || (root->kind == PICKLE_OBJECT && root->state && is_module(root->state)))
        return walk(w, root);
    root->seen = true;
    for (int own = 1; own >= 0; own--)
        for (uint32_t i = 0; i + 1 < root->items.n; i += 2)
            if ((root->items.items[i + 1] == main_entry(root)) == own)
                TRY(walk_entry(w, root, i));
    return ASSAY_OK;
}

assay_status torch_list(torch_file *f, pickle_value *object, str prefix)
{
    /* Constants of TorchScript are neither parameters nor buffers. */
    walker w = {.f = f,
                .constants = prefix.n != 0,
                .role = prefix.n ? WEIGHT_ROLE_OTHER : WEIGHT_ROLE_UNTOLD};
    TRY_MEMORY(map_init(&w.shared, f->scratch, 64), f->err);
    sbuf_str(&w.path, prefix.n ? (str){prefix.p, prefix.n - 1} : prefix);
    assay_status s = walk_root(&w, object);
    if (s == ASSAY_OK && w.path.failed)
        s = err_no_memory(f->err);
    sbuf_free(&w.path);
    return s;
}

const pickle_value *torch_whole_module(const pickle_value *root)
{
    const pickle_value *v = root->pairs ? main_entry(root) : root;
    return v && v->kind == PICKLE_OBJECT && v->state && is_module(v->state) ? v : NULL;
}

/* ---- globals ---- */

static const char *const known_modules[] = {"torch.",   "__torch__.",   "collections.",
                                            "numpy.",   "__builtin__.", "builtins.",
                                            "_codecs.", "copyreg.",     "copy_reg."};
static const char *const harmless[] = {"set",   "frozenset", "list",  "dict",     "tuple", "int",
                                       "float", "complex",   "slice", "range",    "str",   "bytes",
                                       "bool",  "object",    "type",  "bytearray"};

static bool is_known(str name)
{
    for (size_t i = 0; i < sizeof known_modules / sizeof *known_modules; i++) {
        if (!str_starts(name, known_modules[i]))
            continue;
        if (!str_contains((str){known_modules[i], (uint32_t)strlen(known_modules[i])}, "builtin"))
            return true;
        size_t skip = strlen(known_modules[i]);
        for (size_t k = 0; k < sizeof harmless / sizeof *harmless; k++)
            if (str_is((str){name.p + skip, name.n - (uint32_t)skip}, harmless[k]))
                return true;
    }
    return false;
}

typedef struct global_list {
    torch_file *f;
    map names;
} global_list;

static assay_status note_global(global_list *l, str name)
{
    bool is_new = false;
    if (is_known(name))
        return ASSAY_OK;
    TRY_MEMORY(map_at(&l->names, name, 0, &is_new), l->f->err);
    if (is_new)
        notes_add(&l->f->set->notes, "pickle-global", name,
                  "It was not imported. Open the file with torch.load only if you trust it.",
                  "The file names '" STR_FMT "', which is not part of PyTorch.", STR_ARG(name));
    return ASSAY_OK;
}

/* Every value once, without recursion: a list of what is still to be looked at. */
assay_status torch_note_globals(torch_file *f, pickle_value *object)
{
    VEC(pickle_value *) todo = {0};
    global_list l = {.f = f};
    VEC(pickle_value *) done = {0};
    TRY_MEMORY(map_init(&l.names, f->scratch, 16) && VEC_ADD(f->scratch, &todo, object), f->err);
    while (todo.n) {
        pickle_value *v = todo.items[--todo.n];
        pickle_value *const parts[] = {v ? v->of : NULL, v ? v->args : NULL, v ? v->state : NULL};
        if (!v || v->seen)
            continue;
        v->seen = true;
        bool good = VEC_ADD(f->scratch, &done, v);
        if (v->kind == PICKLE_GLOBAL)
            TRY(note_global(&l, v->text));
        for (uint32_t i = 0; good && i < v->items.n; i++)
            good = VEC_ADD(f->scratch, &todo, v->items.items[i]);
        for (int i = 0; good && i < 3; i++)
            good = VEC_ADD(f->scratch, &todo, parts[i]);
        TRY_MEMORY(good, f->err);
    }
    for (uint32_t i = 0; i < done.n; i++)
        done.items[i]->seen = false;
    return ASSAY_OK;
}

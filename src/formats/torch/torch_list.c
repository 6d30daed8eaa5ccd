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

/* ---- the tree ---- */

static assay_status walk(torch_walker *w, pickle_value *v);

static assay_status walk_at(torch_walker *w, str key, pickle_value *v)
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

static str text_of_key(const torch_walker *w, const pickle_value *key)
{
    if (key->kind == PICKLE_TEXT)
        return key->text;
    return key->kind == PICKLE_INT ? str_printf(w->f->scratch, "%" PRId64, key->whole) : STR("?");
}

static assay_status walk_items(torch_walker *w, const pickle_value *v)
{
    for (uint32_t i = 0; i + v->pairs < v->items.n; i += v->pairs ? 2 : 1) {
        str key = v->pairs ? text_of_key(w, v->items.items[i]) : str_printf(w->f->scratch, "%u", i);
        TRY(walk_at(w, key, v->items.items[i + v->pairs]));
    }
    return ASSAY_OK;
}

static assay_status walk_as(torch_walker *w, weight_role role, const pickle_value *v)
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
static assay_status walk_module(torch_walker *w, const pickle_value *state)
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

typedef enum call_kind {
    CALL_OTHER,
    CALL_TENSOR,
    CALL_QUANTISED, /* a tensor with its scales */
    CALL_PARAMETER, /* of a tensor */
    CALL_ARRAY,     /* of an array of NumPy */
    CALL_SUBCLASS
} call_kind;

static call_kind call_of(const pickle_value *v)
{
    static const struct {
        const char *name;
        call_kind kind;
    } calls[] = {{"._rebuild_tensor", CALL_TENSOR},
                 {"._rebuild_tensor_v2", CALL_TENSOR},
                 {"._rebuild_tensor_v3", CALL_TENSOR},
                 {"._rebuild_qtensor", CALL_QUANTISED},
                 {"._rebuild_device_tensor_from_numpy", CALL_ARRAY},
                 {"._rebuild_xla_tensor", CALL_ARRAY},
                 {"._rebuild_parameter", CALL_PARAMETER},
                 {"._rebuild_parameter_with_state", CALL_PARAMETER},
                 {"torch.nn.parameter.Parameter", CALL_PARAMETER},
                 {"torch.autograd.variable.Variable", CALL_PARAMETER},
                 {"._rebuild_from_type_v2", CALL_SUBCLASS}};
    if (!v->args || !v->args->items.n)
        return CALL_OTHER;
    for (size_t i = 0; v->of && v->of->kind == PICKLE_GLOBAL && i < sizeof calls / sizeof *calls;
         i++)
        if (str_ends(v->of->text, calls[i].name))
            return calls[i].kind;
    return CALL_OTHER;
}

static assay_status walk_parameter(torch_walker *w, const pickle_value *v)
{
    weight_role before = w->role;
    w->role = before == WEIGHT_ROLE_UNTOLD ? WEIGHT_ROLE_PARAMETER : before;
    assay_status s = walk(w, v->args->items.items[0]);
    w->role = before;
    return s;
}

/* Scales and zero points of channels are tensors, too. */
static assay_status walk_quantised(torch_walker *w, const pickle_value *v)
{
    enum { QUANTIZER = 4 };
    weight_role before = w->role;
    TRY(torch_add_tensor(w, v->args));
    if (v->args->items.n <= QUANTIZER)
        return ASSAY_OK;
    w->role = before == WEIGHT_ROLE_TRAINING ? before : WEIGHT_ROLE_OTHER;
    assay_status s = walk_at(w, STR("quantizer"), v->args->items.items[QUANTIZER]);
    w->role = before;
    return s;
}

/* A subclass of tensor is the function and arguments of the plain one, or of its parts. */
static assay_status walk_subclass(torch_walker *w, const pickle_value *v)
{
    pickle_value inner = {.kind = PICKLE_OBJECT};
    if (v->args->items.n < 3)
        return ASSAY_OK;
    inner.of = v->args->items.items[0];
    inner.args = v->args->items.items[2];
    inner.state = v->args->items.n > 3 ? v->args->items.items[3] : NULL;
    return walk(w, &inner);
}

/* Objects of TorchScript: parameters and buffers are attributes of their own. A tensor in a list is a constant, or
 * packed weights of a quantised layer, which are made by the operators of torch. */
static assay_status walk_script(torch_walker *w, const pickle_value *state)
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

static assay_status walk_parts(torch_walker *w, pickle_value *v)
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

static assay_status walk_object(torch_walker *w, pickle_value *v)
{
    bool is_array = false;
    if (w->f->plain && !w->f->has_tensors)
        TRY(torch_add_array(w, v, &is_array));
    return is_array ? ASSAY_OK : walk_parts(w, v);
}

static assay_status walk_value(torch_walker *w, pickle_value *v, call_kind call)
{
    bool is_array;
    switch (call) {
    case CALL_TENSOR:
        return torch_add_tensor(w, v->args);
    case CALL_QUANTISED:
        return walk_quantised(w, v);
    case CALL_ARRAY:
        return torch_add_array(w, v->args->items.items[0], &is_array);
    case CALL_PARAMETER:
        return walk_parameter(w, v);
    case CALL_SUBCLASS:
        return walk_subclass(w, v);
    case CALL_OTHER:
        break;
    }
    if (v->kind == PICKLE_OBJECT)
        return walk_object(w, v);
    bool holds_items = v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST || v->kind == PICKLE_DICT;
    return holds_items ? walk_items(w, v) : ASSAY_OK;
}

/* What was walked is not walked again, for values may contain each other; but a tensor counts under each name. */
static assay_status walk(torch_walker *w, pickle_value *v)
{
    call_kind call = v->kind == PICKLE_OBJECT ? call_of(v) : CALL_OTHER;
    if (v->seen)
        return ASSAY_OK;
    if (w->depth == DEPTH_MAX)
        return torch_fail_tensor(w, "is nested more than 256 levels deep");
    v->seen = call == CALL_OTHER && v->kind >= PICKLE_TUPLE && v->kind != PICKLE_GLOBAL;
    w->depth++;
    assay_status s = walk_value(w, v, call);
    w->depth--;
    return s;
}

/* ---- which part is the model ---- */

/* What only training needs: the state of an optimizer, by its form, and what the key says. */
static bool is_training(str key, const pickle_value *v)
{
    static const char *const words[] = {"optim",  "sched", "callback",    "rng",
                                        "scaler", "loops", "random_state"};
    if (pickle_get(v, "state") && pickle_get(v, "param_groups"))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_contains(key, words[i]))
            return true;
    return false;
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
static const char *const model_keys[] = {
    "state_dict", "model_state_dict", "model",       "module",       "net",        "network",
    "weights",    "params",           "state",       "model_state",  "model_dict", "net_state_dict",
    "net_dict",   "model_params",     "params_dict", "model_weights"};

static const pickle_value *main_entry(const pickle_value *root)
{
    for (size_t i = 0; i < sizeof model_keys / sizeof *model_keys; i++) {
        const pickle_value *v = pickle_get(root, model_keys[i]);
        if (v && is_compound(v))
            return v;
    }
    return NULL;
}

/* A dict with state dicts in it. */
static bool has_parts(const pickle_value *root)
{
    for (uint32_t i = 0; i + 1 < root->items.n; i += 2) {
        const pickle_value *v = root->items.items[i + 1], *first = pickle_item(v, 1);
        if (v->pairs && first && first->kind == PICKLE_OBJECT && call_of(first) != CALL_OTHER)
            return true;
    }
    return false;
}

static bool is_scalar(const pickle_value *v)
{
    const pickle_value *sizes = v->kind == PICKLE_OBJECT && call_of(v) == CALL_TENSOR
                                    ? pickle_item(v->args, 2)
                                    : NULL;
    return sizes && sizes->kind == PICKLE_TUPLE && sizes->items.n == 0;
}

/* Beside the model: a score, a counter, samples. */
static bool is_remark(const pickle_value *root, const pickle_value *model, const pickle_value *v)
{
    bool tensor = v->kind == PICKLE_OBJECT && call_of(v) != CALL_OTHER;
    return model ? v != model && (tensor || !is_compound(v)) : is_scalar(v) && has_parts(root);
}

static assay_status walk_entry(torch_walker *w, const pickle_value *root, uint32_t i)
{
    pickle_value *value = root->items.items[i + 1];
    const str key = text_of_key(w, root->items.items[i]);
    const pickle_value *model = main_entry(root);
    bool training = value != model && (is_training(key, value) || (is_average(key) && model));
    w->role = training                        ? WEIGHT_ROLE_TRAINING
              : is_remark(root, model, value) ? WEIGHT_ROLE_OTHER
                                              : WEIGHT_ROLE_UNTOLD;
    return value == model ? walk(w, value) : walk_at(w, key, value);
}

/* A checkpoint is a dict of parts; a state dict is a dict of tensors. The model goes first, so that it keeps its names. */
static assay_status walk_root(torch_walker *w, pickle_value *root)
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
    torch_walker w = {.f = f,
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

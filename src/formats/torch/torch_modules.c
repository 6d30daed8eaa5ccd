/* Whole modules of torch.save as layers, where the order of execution is evident: torch.nn.Sequential, nested ones
 * included, of layers that are known. The layers become those of a custom model (zoo/custom.h, docs/custom-models.md)
 * under the same names, so that the weights of the file fit.
 *
 * A module of any other class runs its parts in the order that its Python code says, which no file holds; nothing is
 * guessed then, and the set says which class it was.
 */
#include <string.h>

#include "base/num.h"
#include "formats/torch/torch_impl.h"

enum { MODULE_DEPTH = 32, MODULE_LAYERS = 20000, SETTINGS_MAX = 10 };

typedef struct module_reader {
    arena *a;
    str why;     /* of what is not evident or known; empty: all is well */
    int layers;  /* so far */
    bool failed; /* out of memory */
} module_reader;

/* ---- rows ---- */

/* Settings are "ours:theirs", separated by blanks; "ours?theirs": whether there is such a parameter; "theirs=value": the
 * attribute must have that value (None and False being 0), or the layer is not known. */
static const struct {
    const char *class_name; /* the end of it */
    const char *kind, *settings;
} rows[] = {
#define CONV                                                                               \
    "out:out_channels kernel:kernel_size stride:stride padding:padding dilation:dilation " \
    "groups:groups bias?bias padding_mode=zeros"
    {".conv.Conv1d", "conv", CONV},
    {".conv.Conv2d", "conv", CONV},
    {".conv.Conv3d", "conv", CONV},
    {".conv.ConvTranspose2d", "deconv",
     "out:out_channels kernel:kernel_size stride:stride padding:padding bias?bias "
     "output_padding=0 dilation=1 groups=1"},
    {".linear.Linear", "linear", "out:out_features bias?bias"},
    {".linear.Identity", "dropout", ""},
    {".sparse.Embedding", "embedding", "count:num_embeddings dim:embedding_dim max_norm=0"},
    {".batchnorm.BatchNorm1d", "batchnorm", "eps:eps"},
    {".batchnorm.BatchNorm2d", "batchnorm", "eps:eps"},
    {".batchnorm.BatchNorm3d", "batchnorm", "eps:eps"},
    {".normalization.LayerNorm", "layernorm", "eps:eps"},
    {".normalization.GroupNorm", "groupnorm", "groups:num_groups eps:eps"},
    {".activation.ReLU", "relu", ""},
    {".activation.ReLU6", "relu6", ""},
    {".activation.SiLU", "silu", ""},
    {".activation.Sigmoid", "sigmoid", ""},
    {".activation.Tanh", "tanh", ""},
    {".activation.Hardswish", "hardswish", ""},
    {".activation.Hardsigmoid", "hardsigmoid", ""},
    {".activation.ELU", "elu", "alpha=1"},
    {".activation.SELU", "selu", ""},
    {".activation.Softplus", "softplus", "beta=1"},
    {".activation.Mish", "mish", ""},
    {".activation.GELU", "gelu", "approximate=none"},
    {".activation.LeakyReLU", "leakyrelu", "slope:negative_slope"},
    {".activation.Softmax", "softmax", "axis:dim"},
    {".dropout.Dropout", "dropout", ""},
    {".dropout.Dropout1d", "dropout", ""},
    {".dropout.Dropout2d", "dropout", ""},
    {".dropout.Dropout3d", "dropout", ""},
    {".dropout.AlphaDropout", "dropout", ""},
#define POOL "kernel:kernel_size stride:stride padding:padding ceil:ceil_mode"
    {".pooling.MaxPool1d", "maxpool", POOL " dilation=1 return_indices=0"},
    {".pooling.MaxPool2d", "maxpool", POOL " dilation=1 return_indices=0"},
    {".pooling.MaxPool3d", "maxpool", POOL " dilation=1 return_indices=0"},
    {".pooling.AvgPool1d", "avgpool", POOL " count_include_pad=1"},
    {".pooling.AvgPool2d", "avgpool", POOL " count_include_pad=1 divisor_override=0"},
    {".pooling.AvgPool3d", "avgpool", POOL " count_include_pad=1 divisor_override=0"},
    {".pooling.AdaptiveAvgPool1d", "globalavgpool", "output_size=1"},
    {".pooling.AdaptiveAvgPool2d", "adaptiveavgpool", "size:output_size"},
    {".pooling.AdaptiveAvgPool3d", "globalavgpool", "output_size=1"},
    {".flatten.Flatten", "flatten", "axis:start_dim end_dim=-1"},
    {".upsampling.Upsample", "resize", "scale:scale_factor mode:mode size=0 align_corners=0"},
    {".pixelshuffle.PixelShuffle", "pixelshuffle", "factor:upscale_factor"},
};

static int row_of(str class_name)
{
    for (size_t i = 0; str_starts(class_name, "torch.nn.") && i < sizeof rows / sizeof *rows; i++)
        if (str_ends(class_name, rows[i].class_name))
            return (int)i;
    return -1;
}

/* ---- settings ---- */

static json_value plain_value(module_reader *r, const pickle_value *v)
{
    json_value out = {.kind = JSON_NULL};
    int64_t whole;
    if (v->kind == PICKLE_INT)
        out = json_of_int(v->whole);
    else if (v->kind == PICKLE_BOOL)
        out = json_of_bool(v->whole != 0);
    else if (v->kind == PICKLE_FLOAT)
        out = num_whole(v->number, &whole) ? json_of_int(whole)
                                           : (json_value){.kind = JSON_REAL, .f = v->number};
    else if (v->kind == PICKLE_TEXT)
        out = json_of_text(str_is(v->text, "bilinear") ? STR("linear") : str_copy(r->a, v->text));
    if ((v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST) && v->items.n && v->items.n <= 8) {
        json_value *items = ARENA_ARRAY(r->a, json_value, v->items.n);
        bool equal = items != NULL;
        r->failed |= !items;
        for (uint32_t i = 0; items && i < v->items.n; i++) {
            items[i] = plain_value(r, v->items.items[i]);
            equal &= items[i].kind == JSON_INT && items[i].i == items[0].i;
        }
        if (equal)
            out = items[0];
        else if (items)
            out = (json_value){.kind = JSON_LIST, .items = items, .n = v->items.n};
    }
    return out;
}

/* None, False, 0 and lists of zeros are 0. */
static bool has_value(module_reader *r, const pickle_value *v, str wanted)
{
    json_value is = v ? plain_value(r, v) : (json_value){.kind = JSON_NULL};
    int64_t number = 0;
    if (is.kind == JSON_TEXT)
        return str_eq(is.s, wanted);
    bool asks_number = str_to_i64(wanted, &number);
    return !v || (asks_number && is.kind != JSON_LIST && is.kind != JSON_REAL && is.i == number);
}

/* One word of a row's settings; false if the layer is not known. */
static bool take_setting(module_reader *r, const pickle_value *state, str word, json_value *out,
                         uint32_t *n)
{
    str theirs = word;
    const char *mark = NULL;
    for (uint32_t i = 0; !mark && i < word.n; i++)
        mark = strchr(":?=", word.p[i]) ? word.p + i : NULL;
    str left = {word.p, mark ? (uint32_t)(mark - word.p) : 0};
    theirs = (str){left.p + left.n + 1, word.n - left.n - 1};
    const char *key = str_copy(r->a, *mark == '=' ? left : theirs).p;
    if (!key) {
        r->failed = true;
        return false;
    }
    if (*mark == '=')
        return has_value(r, pickle_get(state, key), theirs);
    json_value v = {.kind = JSON_NULL};
    const pickle_value *given = *mark == '?' ? pickle_get(pickle_get(state, "_parameters"), key)
                                             : pickle_get(state, key);
    if (*mark == '?')
        v = json_of_bool(given && given->kind != PICKLE_NONE);
    else if (given)
        v = plain_value(r, given);
    if (v.kind == JSON_NULL)
        return true;
    v.key = left;
    out[(*n)++] = v;
    return true;
}

static bool take_settings(module_reader *r, const pickle_value *state, int row, json_value *out)
{
    json_value *list = ARENA_ARRAY(r->a, json_value, SETTINGS_MAX);
    uint32_t n = 0;
    bool known = list != NULL;
    r->failed |= !list;
    for (str rest = str_of(rows[row].settings), word; known && str_split(&rest, ' ', &word);)
        known = !word.n || take_setting(r, state, word, list, &n);
    *out = (json_value){.kind = JSON_OBJECT, .items = list, .n = n, .key = str_of(rows[row].kind)};
    return known;
}

/* ---- the tree ---- */

static bool read_children(module_reader *r, const pickle_value *state, int depth, json_value *out);

static bool give_up(module_reader *r, str class_name, const char *what)
{
    r->why = str_printf(r->a, "'" STR_FMT "' %s", STR_ARG(class_name), what);
    r->failed |= !r->why.p;
    return false;
}

static bool read_module(module_reader *r, const pickle_value *v, int depth, json_value *out)
{
    str class_name = v->kind == PICKLE_OBJECT && v->of && v->of->kind == PICKLE_GLOBAL ? v->of->text
                                                                                       : STR("?");
    const pickle_value *state = v->kind == PICKLE_OBJECT ? v->state : NULL;
    int row = row_of(class_name);
    if (!state || ++r->layers > MODULE_LAYERS || depth > MODULE_DEPTH)
        return give_up(r, class_name, "has no state, or the modules are too many");
    if (str_is(class_name, "torch.nn.modules.container.Sequential")) {
        out->key = STR("sequence");
        return read_children(r, state, depth + 1, out);
    }
    if (row < 0)
        return give_up(r, class_name,
                       str_starts(class_name, "torch.nn.")
                           ? "is an unsupported layer"
                           : "runs its parts in an order set by Python code that the "
                             "file does not hold");
    return take_settings(r, state, row, out) || give_up(r, class_name, "has unsupported settings");
}

/* {"conv": {...}, "name": "0"} */
static bool read_child(module_reader *r, const pickle_value *key, const pickle_value *v, int depth,
                       json_value *out)
{
    json_value *pair = ARENA_ARRAY(r->a, json_value, 2);
    r->failed |= !pair;
    if (!pair || !read_module(r, v, depth, &pair[0]))
        return false;
    pair[1] = json_of_text(str_copy(r->a, key->text));
    pair[1].key = STR("name");
    r->failed |= !pair[1].s.p;
    *out = (json_value){.kind = JSON_OBJECT, .items = pair, .n = 2};
    return !r->failed;
}

static bool read_children(module_reader *r, const pickle_value *state, int depth, json_value *out)
{
    const pickle_value *modules = pickle_get(state, "_modules");
    uint32_t n = modules ? modules->items.n / 2 : 0;
    json_value *items = ARENA_ARRAY(r->a, json_value, (size_t)n + 1);
    str kind = out->key;
    r->failed |= !items;
    for (uint32_t i = 0; items && i < n; i++)
        if (!read_child(r, modules->items.items[2 * i], modules->items.items[2 * i + 1], depth,
                        &items[i]))
            return false;
    *out = (json_value){.kind = JSON_LIST, .items = items, .n = n, .key = kind};
    return items != NULL;
}

/* ---- the input ---- */

/* The first layer that says what it takes. */
static const pickle_value *first_layer(const pickle_value *v, int depth)
{
    const pickle_value *modules = v->state ? pickle_get(v->state, "_modules") : NULL;
    static const char *const keys[] = {"in_channels", "in_features", "num_embeddings",
                                       "num_features"};
    for (size_t i = 0; v->state && i < sizeof keys / sizeof *keys; i++)
        if (pickle_get(v->state, keys[i]))
            return v;
    for (uint32_t i = 1; modules && depth < MODULE_DEPTH && i < modules->items.n; i += 2) {
        const pickle_value *found = first_layer(modules->items.items[i], depth + 1);
        if (found)
            return found;
    }
    return NULL;
}

static int64_t whole_at(const pickle_value *state, const char *key)
{
    const pickle_value *v = pickle_get(state, key);
    return v && v->kind == PICKLE_INT ? v->whole : 0;
}

static void read_input(const pickle_value *root, module_input *in)
{
    const pickle_value *first = first_layer(root, 0);
    str class_name = first && first->of ? first->of->text : STR("");
    if (!first)
        return;
    in->channels = whole_at(first->state, "in_channels");
    if (!in->channels)
        in->channels = whole_at(first->state, "in_features");
    if (!in->channels)
        in->channels = whole_at(first->state, "num_features");
    in->spatial = str_ends(class_name, "1d")   ? 1
                  : str_ends(class_name, "2d") ? 2
                  : str_ends(class_name, "3d") ? 3
                                               : 0;
    in->tokens = str_ends(class_name, ".Embedding");
}

assay_status torch_read_modules(torch_file *f, const pickle_value *root)
{
    module_reader r = {.a = f->set->arena};
    json_value *layers = ARENA_NEW(r.a, json_value);
    str class_name = root->of && root->of->kind == PICKLE_GLOBAL ? root->of->text : STR("?");
    TRY_MEMORY(layers, f->err);
    if (str_is(class_name, "torch.nn.modules.container.Sequential"))
        (void)read_children(&r, root->state, 0, layers);
    else
        (void)give_up(&r, class_name,
                      "runs its parts in an order set by Python code that the file does "
                      "not hold");
    if (r.failed)
        return err_no_memory(f->err);
    f->set->why_no_graph = r.why;
    if (!r.why.n) {
        f->set->modules = layers;
        read_input(root, &f->set->module_input);
    }
    return ASSAY_OK;
}

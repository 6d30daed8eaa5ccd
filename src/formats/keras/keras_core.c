/* Layers of Keras: dense ones, embeddings, and those that change shapes or do nothing at inference. */
#include "formats/keras/keras_impl.h"

bool keras_identity(keras_call *c)
{
    return c->n_in && keras_give(c, keras_unary(c, NULL, "Identity", c->in[0]));
}

bool keras_dropout(keras_call *c)
{
    return c->n_in && keras_give(c, keras_unary(c, NULL, "Dropout", c->in[0]));
}

/* The mask goes to later layers, which are counted as if all steps ran. */
bool keras_masking(keras_call *c)
{
    keras_note(c, "mask-ignored", "The mask is not applied: all steps are computed.");
    return keras_identity(c);
}

/* InputLayer within a Sequential model, or called as a layer. */
bool keras_input(keras_call *c)
{
    return keras_identity(c);
}

/* ---- dense ---- */

/* x [..., inputs] times [inputs, units]. */
bool keras_dense(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 1)
        return false;
    ir_t x = c->in[0];
    const int64_t units = keras_int(c->config, "units|output_dim", -1);
    const int64_t dims[] = {x.d[x.rank - 1], units};
    ir_t w = keras_weight(c, "kernel", KERAS_TRAINED, 2, dims), b = {.id = IR_NONE};
    bool biased = keras_bool(c->config, "use_bias|bias", true);
    if (biased)
        b = keras_weight(c, "bias", KERAS_TRAINED, 1, &units);
    if (w.id == IR_NONE || w.rank != 2 || !ir_is_float(w.dtype) || (biased && b.id == IR_NONE))
        return false;
    x = keras_cast(c, x, w.dtype);
    ir_t y = x;
    y.d[x.rank - 1] = w.d[1];
    if (x.rank == 2) {
        y = keras_step(c, NULL, "Gemm", (ir_id[]){x.id, w.id, b.id}, biased ? 3 : 2, NULL, y);
    } else {
        y = keras_step(c, NULL, "MatMul", KERAS_IDS(x.id, w.id), NULL, y);
        if (biased)
            y = keras_binary(c, "BiasAdd", "Add", y, b);
    }
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* The size of a letter of the equation, by the operand that has it; -1: unknown. */
static int64_t letter_size(str letters, ir_t x, char letter)
{
    for (uint32_t i = 0; i < letters.n && (int)i < x.rank; i++)
        if (letters.p[i] == letter)
            return x.d[i];
    return -1;
}

typedef struct equation {
    str in, kernel, out;
} equation;

/* "abc,cde->abde"; "..." stands for the axes in front. */
static bool read_equation(str text, equation *e)
{
    const char *comma = memchr(text.p, ',', text.n), *arrow = NULL;
    for (uint32_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] == '-' && text.p[i + 1] == '>')
            arrow = text.p + i;
    if (!comma || !arrow || arrow < comma)
        return false;
    e->in = (str){text.p, (uint32_t)(comma - text.p)};
    e->kernel = (str){comma + 1, (uint32_t)(arrow - comma - 1)};
    e->out = (str){arrow + 2, (uint32_t)(text.p + text.n - arrow - 2)};
    return e->kernel.n <= IR_KIT_RANK && !str_contains(e->kernel, ".");
}

/* Letters behind "..." count from the end. */
static int64_t size_of(str letters, ir_t x, char letter)
{
    if (!str_starts(letters, "..."))
        return letter_size(letters, x, letter);
    str tail = {letters.p + 3, letters.n - 3};
    ir_t last = x;
    int n = (int)tail.n;
    if (x.rank < n)
        return -1;
    last.rank = n;
    for (int d = 0; d < n; d++)
        last.d[d] = x.d[x.rank - n + d];
    return letter_size(tail, last, letter);
}

/* output_shape is that behind the batch: its letters are the last ones of the output. */
static int64_t output_size(const json_value *config, str out, char letter)
{
    int64_t list[IR_KIT_RANK];
    int n = keras_list(keras_get(config, "output_shape"), list, IR_KIT_RANK);
    for (int i = 0; i < n; i++) {
        int64_t at = (int64_t)out.n - n + i;
        if (at >= 0 && out.p[at] == letter)
            return list[i];
    }
    return -1;
}

static ir_t einsum_shape(const equation *e, ir_t x, ir_t w)
{
    ir_t y = keras_unknown_shape(x.dtype);
    bool dots = str_starts(e->out, "...");
    str tail = dots ? (str){e->out.p + 3, e->out.n - 3} : e->out;
    int before = dots ? x.rank - (int)e->in.n + 3 : 0;
    if (before < 0 || before + (int)tail.n > IR_KIT_RANK)
        return y;
    y.rank = before + (int)tail.n;
    for (int d = 0; d < before; d++)
        y.d[d] = x.d[d];
    for (uint32_t i = 0; i < tail.n; i++) {
        int64_t s = letter_size(e->kernel, w, tail.p[i]);
        y.d[before + (int)i] = s >= 0 ? s : size_of(e->in, x, tail.p[i]);
    }
    return y;
}

/* Bias: the sizes of the output from the first axis of bias_axes on; others of them are 1. */
static ir_t einsum_bias(keras_call *c, const equation *e, ir_t y)
{
    str axes = keras_word(c->config, "bias_axes", "");
    int64_t dims[IR_KIT_RANK];
    int n = 0, skip = y.rank - (int)e->out.n;
    for (uint32_t i = 0; i < e->out.n && axes.n; i++) {
        bool has = memchr(axes.p, e->out.p[i], axes.n) != NULL;
        int d = (int)i + skip;
        if ((has || n) && d >= 0 && d < y.rank)
            dims[n++] = has ? y.d[d] : 1;
    }
    return axes.n ? keras_weight(c, "bias", KERAS_TRAINED, n, dims) : (ir_t){.id = IR_NONE};
}

bool keras_einsum_dense(keras_call *c)
{
    equation e;
    int64_t dims[IR_KIT_RANK];
    str text = keras_word(c->config, "equation", "");
    if (!c->n_in || c->in[0].rank < 0 || !read_equation(text, &e))
        return false;
    ir_t x = c->in[0];
    for (uint32_t i = 0; i < e.kernel.n; i++) {
        dims[i] = size_of(e.in, x, e.kernel.p[i]);
        if (dims[i] < 0)
            dims[i] = output_size(c->config, e.out, e.kernel.p[i]);
    }
    ir_t w = keras_weight(c, "kernel", KERAS_TRAINED, (int)e.kernel.n, dims);
    if (w.id == IR_NONE || !ir_is_float(w.dtype))
        return false;
    ir_t y = einsum_shape(&e, x, w), b = einsum_bias(c, &e, y);
    if (keras_word(c->config, "bias_axes", "").n && b.id == IR_NONE)
        return false;
    text = str_copy(c->f->m->arena, text);
    ir_attr_spec attrs[] = {IR_SPEC_TEXT("equation", text.p ? text.p : ""), KERAS_END};
    x = keras_cast(c, x, w.dtype);
    y = keras_step(c, NULL, "Einsum", KERAS_IDS(x.id, w.id), attrs, y);
    if (b.id != IR_NONE)
        y = keras_binary(c, "BiasAdd", "Add", y, b);
    return keras_give(c, keras_activate(c, "activation", "linear", y));
}

/* ---- embeddings ---- */

bool keras_embedding(keras_call *c)
{
    const int64_t dims[] = {keras_int(c->config, "input_dim", -1),
                            keras_int(c->config, "output_dim", -1)};
    if (!c->n_in || c->in[0].rank < 0 || c->in[0].rank >= IR_KIT_RANK)
        return false;
    ir_t table = keras_weight(c, "embeddings", KERAS_TRAINED, 2, dims);
    if (table.id == IR_NONE || table.rank != 2)
        return false;
    if (keras_bool(c->config, "mask_zero", false))
        keras_note(c, "mask-ignored", "The mask is not applied: all steps are computed.");
    ir_t x = c->in[0];
    if (x.dtype != IR_INT32 && x.dtype != IR_INT64)
        x = keras_cast(c, x, IR_INT32);
    ir_t y = x;
    y.dtype = table.dtype;
    y.d[y.rank++] = table.d[1];
    return keras_give(c, keras_step(c, NULL, "Gather", KERAS_IDS(table.id, x.id), NULL, y));
}

/* ---- shapes ---- */

bool keras_flatten(keras_call *c)
{
    if (!c->n_in || c->in[0].rank < 1)
        return false;
    ir_t x = c->in[0], y = x;
    y.rank = 2;
    y.d[1] = 1;
    for (int d = 1; d < x.rank; d++)
        if (x.d[d] < 0 || y.d[1] < 0 || __builtin_mul_overflow(y.d[1], x.d[d], &y.d[1]))
            y.d[1] = -1;
    ir_attr_spec attrs[] = {IR_SPEC_INT("axis", 1), KERAS_END};
    if (keras_channels_first(c->config) && x.rank > 2) { /* flattened as if channels were last */
        int64_t perm[IR_KIT_RANK] = {0};
        for (int d = 1; d < x.rank - 1; d++)
            perm[d] = d + 1;
        perm[x.rank - 1] = 1;
        x = keras_transpose(c, "channels_last", x, perm);
    }
    return keras_give(c, keras_step(c, NULL, "Flatten", &x.id, 1, attrs, y));
}

bool keras_reshape_layer(keras_call *c)
{
    int64_t dims[IR_KIT_RANK] = {0};
    int n = keras_list(keras_get(c->config, "target_shape|dims"), dims + 1, IR_KIT_RANK - 1);
    if (!c->n_in || n < 0 || c->in[0].rank < 0)
        return false;
    return keras_give(c, keras_reshape(c, NULL, c->in[0], dims, n + 1));
}

bool keras_permute(keras_call *c)
{
    int64_t perm[IR_KIT_RANK] = {0};
    int n = keras_list(keras_get(c->config, "dims"), perm + 1, IR_KIT_RANK - 1);
    if (!c->n_in || n < 1 || c->in[0].rank != n + 1)
        return false;
    for (int d = 1; d <= n; d++)
        if (perm[d] < 1 || perm[d] > n)
            return false;
    return keras_give(c, keras_transpose(c, NULL, c->in[0], perm));
}

bool keras_repeat(keras_call *c)
{
    const int64_t n = keras_int(c->config, "n", -1), times[] = {1, n, 1};
    if (!c->n_in || c->in[0].rank != 2 || n < 1)
        return false;
    ir_t x = keras_expand_dims(c, "Unsqueeze", c->in[0], 1), y = x;
    y.d[1] = n;
    ir_id in[] = {x.id, keras_consts(c, "repeats", times, 3)};
    return keras_give(c, keras_step(c, NULL, "Tile", in, 2, NULL, y));
}

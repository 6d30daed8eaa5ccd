/* The number types in which a model is published.
 *
 * torch_dtype (or dtype) of a configuration or a row is the native float type. A quantization_config says which weights
 * are packed instead: mxfp4 those of experts, fp8 the linear layers of the blocks; both leave out the modules of
 * modules_to_not_convert, routers, embeddings and logits. Methods that are not in the table (gptq, awq, bitsandbytes)
 * leave the native float type, because their files say how many bits a weight has.
 */
#include "zoo/hf.h"
#include "zoo/nn_impl.h"

/* "torch.bfloat16" is bfloat16. What is no float type of a library's ("auto", null) says nothing. */
static ir_dtype float_type(const json_value *v)
{
    str name = v->kind == JSON_TEXT ? v->s : (str){0};
    if (str_starts(name, "torch."))
        name = (str){name.p + 6, name.n - 6};
    ir_dtype t = ir_dtype_by_name(name);
    return name.n && ir_is_float(t) && ir_dtype_get(t)->bits >= 16 ? t : IR_UNDEFINED;
}

/* The number type that a configuration or a row names; transformers has two words for it. Without one it is
 * float32, which is what a library loads then and what builders write. */
static void take_float_type(nn *b)
{
    static const char *const keys[] = {"torch_dtype", "dtype"};
    const zoo_arg *best = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        zoo_arg *arg = zoo_args_get(&b->args, keys[i]);
        if (!arg)
            continue;
        arg->used = true;
        if (!best || (best->is_default && !arg->is_default))
            best = arg;
    }
    ir_dtype t = best ? float_type(&best->value) : IR_UNDEFINED;
    b->model->native = t == IR_FLOAT32 ? IR_UNDEFINED : t;
}

static const struct packing {
    const char *method;
    bool experts_only;
} packings[] = {{"mxfp4", true}, {"fp8", false}};

static bool is_packed(const struct packing *p, const ir_value *v)
{
    bool expert = str_contains(v->name, ".experts.");
    if (!v->constant || v->constant->dtype != IR_FLOAT32 || v->constant->rank < 2 ||
        str_ends(v->name, "bias"))
        return false;
    if (p->experts_only)
        return expert;
    return str_contains(v->name, ".layers.") && str_ends(v->name, ".weight") &&
           !str_ends(v->name, ".gate.weight") && !str_contains(v->name, "norm");
}

/* "model.layers.*.self_attn" is left out where its last word is in the name. */
static bool is_left_out(nn *b, const json_value *names, str name)
{
    for (uint32_t i = 0; names && names->kind == JSON_LIST && i < names->n; i++) {
        str word = names->items[i].kind == JSON_TEXT ? names->items[i].s : (str){0};
        while (word.n && memchr(word.p, '*', word.n))
            str_cut(&word, '*');
        const char *part = word.n ? arena_printf(b->scratch, "%.*s", (int)word.n, word.p) : NULL;
        if (part && str_contains(name, part))
            return true;
    }
    return false;
}

static void pack_weights(nn *b, const struct packing *p, const json_value *left_out)
{
    const ir_packed *as = ir_packed_find(str_of(p->method));
    for (ir_id i = 0; as && i < b->model->values.n; i++) {
        ir_value *v = ir_value_at(b->model, i);
        if (!is_packed(p, v) || is_left_out(b, left_out, v->name))
            continue;
        ir_tensor *t = arena_copy(b->model->arena, v->constant, sizeof *t);
        if (!t)
            return; /* the arena says so */
        t->native = as;
        v->constant = t;
    }
}

void nn_take_native(nn *b)
{
    take_float_type(b);
    if (!zoo_args_get(&b->args, "quantization_config") &&
        !zoo_args_get(&b->args, "quantization_config.quant_method"))
        return;
    hf quantization = {b, "quantization_config"};
    const json_value *method = hf_raw(quantization, "quant_method");
    const json_value *left_out = hf_raw(quantization, "modules_to_not_convert");
    for (size_t i = 0; method && i < sizeof packings / sizeof *packings; i++)
        if (method->kind == JSON_TEXT && str_is(method->s, packings[i].method))
            pack_weights(b, &packings[i], left_out);
}

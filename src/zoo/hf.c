/* Hugging Face configs: keys, synonyms, nesting, classes. */
#include "zoo/hf.h"

#include "zoo/nn_impl.h"

/* ---- keys ---- */

/* The row's defaults of a nested object are written with a dot; an object of the user comes first.
 * *given says that the value is not the row's. */
static const json_value *one_key(hf c, str key, bool *given)
{
    const char *name = c.in ? arena_printf(c.b->scratch, "%s.%.*s", c.in, (int)key.n, key.p)
                            : arena_printf(c.b->scratch, "%.*s", (int)key.n, key.p);
    const json_value *object = c.in ? nn_raw(c.b, c.in) : NULL;
    const json_value *inner = json_member(object, key);
    *given = true;
    if (inner || !name)
        return inner && inner->kind == JSON_NULL ? NULL : inner;
    const json_value *v = nn_raw(c.b, name);
    const zoo_arg *arg = zoo_args_get(&c.b->args, name);
    *given = arg && !arg->is_default;
    return v;
}

const json_value *hf_raw(hf c, const char *keys)
{
    const json_value *found = NULL;
    bool sure = false, given;
    while (*keys) {
        uint32_t n = (uint32_t)strcspn(keys, "|");
        const json_value *v = one_key(c, (str){keys, n}, &given);
        if (v && (!found || (given && !sure))) {
            found = v;
            sure = given;
        }
        keys += n + (keys[n] == '|');
    }
    return found;
}

static void fail_parameter(hf c, const char *keys, const char *wanted)
{
    nn_fail(c.b, "parameter '%s%s%.*s' must be %s", c.in ? c.in : "", c.in ? "." : "",
            (int)strcspn(keys, "|"), keys, wanted);
}

static void tell(hf c, const char *keys, json_value v)
{
    zoo_asked_list *to = c.b->request->asked;
    if (!to || !to->library || !nn_ok(c.b))
        return;
    const char *key = arena_printf(to->arena, "%s%s%.*s", c.in ? c.in : "", c.in ? "." : "",
                                   (int)strcspn(keys, "|"), keys);
    if (key)
        nn_tell_asked(c.b, key, v);
}

static int64_t read_int(hf c, const char *keys, int64_t def, int64_t min, int64_t max)
{
    const json_value *v = hf_raw(c, keys);
    int64_t n = def;
    if (v && v->kind == JSON_INT)
        n = v->i;
    else if (v && v->kind == JSON_REAL && v->f >= -9e15 && v->f <= 9e15 &&
             v->f == (double)(int64_t)v->f)
        n = (int64_t)v->f;
    else if (v)
        fail_parameter(c, keys, "a whole number");
    if (n >= min && n <= max)
        return n;
    nn_fail(c.b, "parameter '%s%s%.*s' is %lld; it must be %lld to %lld", c.in ? c.in : "",
            c.in ? "." : "", (int)strcspn(keys, "|"), keys, (long long)n, (long long)min,
            (long long)max);
    return n < min ? min : max;
}

int64_t hf_int(hf c, const char *keys, int64_t def, int64_t min, int64_t max)
{
    int64_t n = read_int(c, keys, def, min, max);
    tell(c, keys, json_of_int(n));
    return n;
}

static double read_real(hf c, const char *keys, double def)
{
    const json_value *v = hf_raw(c, keys);
    if (!v)
        return def;
    if (json_is_number(v))
        return v->f;
    fail_parameter(c, keys, "a number");
    return def;
}

double hf_real(hf c, const char *keys, double def)
{
    double v = read_real(c, keys, def);
    tell(c, keys, (json_value){.kind = JSON_REAL, .f = v});
    return v;
}

static bool read_bool(hf c, const char *keys, bool def)
{
    const json_value *v = hf_raw(c, keys);
    if (!v)
        return def;
    if (v->kind == JSON_BOOL || (v->kind == JSON_INT && (v->i | 1) == 1))
        return v->i != 0;
    fail_parameter(c, keys, "true or false");
    return def;
}

bool hf_bool(hf c, const char *keys, bool def)
{
    bool yes = read_bool(c, keys, def);
    tell(c, keys, json_of_bool(yes));
    return yes;
}

str hf_word(hf c, const char *keys, const char *def)
{
    const json_value *v = hf_raw(c, keys);
    str word = v && v->kind == JSON_TEXT ? v->s : str_of(def);
    if (v && v->kind != JSON_TEXT)
        fail_parameter(c, keys, "a word");
    if (c.b->request->asked)
        tell(c, keys, json_of_text(str_copy(c.b->request->asked->arena, word)));
    return word;
}

/* ---- classes ---- */

static const struct {
    const char *ending;
    hf_class class;
} classes[] = {
    {"ForCausalLM", HF_LM},
    {"LMHeadModel", HF_LM},
    {"ForConditionalGeneration", HF_LM},
    {"ForMaskedLM", HF_MASKED},
    {"ForPreTraining", HF_PRETRAIN},
    {"ForSequenceClassification", HF_CLASSIFY},
    {"ForImageClassification", HF_CLASSIFY},
    {"ForTokenClassification", HF_TAG},
    {"ForQuestionAnswering", HF_ANSWER},
    {"EncoderModel", HF_ENCODER},
    {"WithProjection", HF_PROJECTION},
    {"Model", HF_MODEL},
};

static const json_value *first_class(nn *b)
{
    const json_value *v = hf_raw((hf){b, NULL}, "architectures");
    if (v && v->kind == JSON_LIST)
        v = v->n ? &v->items[0] : NULL;
    return v;
}

bool hf_architecture_is(nn *b, const char *ending)
{
    const json_value *v = first_class(b);
    return v && v->kind == JSON_TEXT && str_ends(v->s, ending);
}

hf_class hf_architecture(nn *b, hf_class def)
{
    const json_value *v = first_class(b);
    if (!v)
        return def;
    for (size_t i = 0; v->kind == JSON_TEXT && i < sizeof classes / sizeof *classes; i++)
        if (str_ends(v->s, classes[i].ending))
            return classes[i].class;
    if (v->kind == JSON_TEXT)
        nn_refuse(b, "unknown architecture '" STR_FMT "'. Set architectures= to another.",
                  STR_ARG(v->s));
    else
        nn_fail(b, "parameter 'architectures' must be a list of strings");
    return HF_OTHER;
}

int64_t hf_labels(nn *b)
{
    const json_value *names = hf_raw((hf){b, NULL}, "id2label");
    int64_t def = names && names->kind == JSON_OBJECT && names->n ? names->n : 2;
    return hf_int((hf){b, NULL}, "num_labels|num_classes", def, 1, HF_WIDTH);
}

void hf_lift(nn *b, const char *object)
{
    const json_value *v = nn_raw(b, object);
    for (uint32_t i = 0; v && v->kind == JSON_OBJECT && i < v->n; i++) {
        if (str_is(v->items[i].key, "model_type") || str_is(v->items[i].key, "architectures"))
            continue;
        const zoo_arg *there = zoo_args_get(&b->args, v->items[i].key.p);
        if (there && !there->is_default)
            continue; /* what --set says, or the whole model */
        if (!zoo_args_put(&b->args, v->items[i].key, v->items[i], false))
            nn_fail(b, "too many parameters");
        else
            zoo_args_get(&b->args, v->items[i].key.p)->silent = true;
    }
}

/* ---- keys without effect ---- */

static const char silent[] =
    "_name_or_path _commit_hash _num_labels activation_dropout apply_spec_augment "
    "attention_dropout attention_probs_dropout_prob attn_pdrop auto_map aux_loss_alpha "
    "begin_suppress_tokens bos_token_id cache_implementation chunk_size_feed_forward "
    "classifier_activation classifier_dropout cls_token_id decoder_layerdrop "
    "decoder_start_token_id directionality do_sample drop_path_rate dropout dropout_rate "
    "dtype embd_pdrop encoder_layerdrop encoder_stride eos_token_id ep_size finetuning_task "
    "forced_decoder_ids gradient_checkpointing hidden_dropout hidden_dropout_prob id2label "
    "init_std initializer_factor initializer_range is_encoder_decoder "
    "keys_to_ignore_at_inference label2id logit_scale_init_value mask_feature_length "
    "mask_feature_min_masks mask_feature_prob mask_time_length mask_time_min_masks "
    "mask_time_prob max_length median_filter_width model_type output_attentions "
    "output_hidden_states output_past output_router_logits pad_token_id pretraining_tp "
    "problem_type qa_dropout quantization_config reorder_and_upcast_attn resid_pdrop "
    "return_dict router_aux_loss_coef router_jitter_noise scale_embedding sep_token_id "
    "seq_aux seq_classif_dropout slow_but_exact summary_activation summary_first_dropout "
    "summary_proj_to_labels summary_type summary_use_proj suppress_tokens "
    "task_specific_params tie_weights_ torch_dtype transformers_version use_bfloat16 "
    "use_cache use_weighted_layer_sum classifier_proj_size path_norm out_features "
    "out_indices stage_names _attn_implementation swiglu_limit initial_context_length "
    "experts_per_token max_position_embeddings n_ctx num_labels architectures seq_length "
    "masked_softmax_fusion attention_softmax_in_fp32 bias_dropout_fusion unk_token_id "
    "offset_alibi skip_bias_add skip_bias_add_qkv hidden_dropout_rate use_parallel_residual "
    "max_window_layers embd_layer_norm pooler_fc_size pooler_num_attention_heads "
    "pooler_num_fc_layers pooler_size_per_head pooler_type position_embedding_type "
    "num_nextn_predict_layers moe_layer_freq use_sliding_window sinusoidal_pos_embds "
    "is_decoder add_cross_attention tie_encoder_decoder pruned_heads text_config_dict "
    "vision_config_dict use_qk_norm rope_ratio";

static bool is_silent(str key)
{
    return str_in_list(key, silent, ' ');
}

/* Nobody is told that these are parameters: they are only not strange. */
void hf_ignore(nn *b)
{
    for (uint32_t i = 0; i < b->args.list.n; i++)
        if (is_silent(b->args.list.items[i].key))
            b->args.list.items[i].used = true;
}

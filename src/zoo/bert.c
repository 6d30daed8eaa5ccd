/* BERT, RoBERTa, DistilBERT, ELECTRA, ALBERT and MPNet (transformers' modeling_bert.py and its neighbours):
 * encoders that normalise after adding.
 *
 *   embeddings: word + position + token type, LayerNorm
 *   num_hidden_layers times: x = LN(x + attention(x)); x = LN(x + mlp(x))
 *   then by class: pooler (tanh of a linear layer on the first token), masked-language head,
 *   classifier
 *
 * RoBERTa counts positions from pad_token_id + 1; DistilBERT has neither token types nor a pooler. ELECTRA and
 * ALBERT embed into embedding_size features and project them; ALBERT's layers share their weights. MPNet adds to the
 * scores what the distance of two tokens says, one table for all layers.
 */
#include "zoo/hf_text.h"
#include "zoo/zoo.h"

typedef struct encoder {
    bool roberta, distil, electra, albert, mpnet;
    int64_t embedding, groups, inner_groups;
    int64_t vocab, positions, types, layers, heads, width, inner, first;
    double eps;
    str act;
    nn_t words; /* the embedding's weight, for tied heads */
    nn_t bias;  /* of the scores, with the mask; id IR_NONE: the mask alone */
} encoder;

typedef struct names { /* of the parts of a layer */
    const char *list, *q, *k, *v, *out, *first_norm, *up, *down, *last_norm;
} names;

static const names bert_names = {
    "encoder.layer",        "attention.self.query",   "attention.self.key",
    "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
    "intermediate.dense",   "output.dense",           "output.LayerNorm"};
static const names distil_names = {"transformer.layer", "attention.q_lin",   "attention.k_lin",
                                   "attention.v_lin",   "attention.out_lin", "sa_layer_norm",
                                   "ffn.lin1",          "ffn.lin2",          "output_layer_norm"};

static const names albert_names = {NULL,
                                   "attention.query",
                                   "attention.key",
                                   "attention.value",
                                   "attention.dense",
                                   "attention.LayerNorm",
                                   "ffn",
                                   "ffn_output",
                                   "full_layer_layer_norm"};

static const names mpnet_names = {"encoder.layer",      "attention.attn.q", "attention.attn.k",
                                  "attention.attn.v",   "attention.attn.o", "attention.LayerNorm",
                                  "intermediate.dense", "output.dense",     "output.LayerNorm"};

static encoder read_encoder(nn *b)
{
    hf c = {b, NULL};
    str type = hf_word(c, "model_type", "bert");
    encoder e = {.roberta = str_is(type, "roberta") || str_is(type, "xlm-roberta") ||
                            str_is(type, "camembert"),
                 .distil = str_is(type, "distilbert"),
                 .electra = str_is(type, "electra"),
                 .albert = str_is(type, "albert"),
                 .mpnet = str_is(type, "mpnet"),
                 .bias = NN_ABSENT};
    e.vocab = hf_int(c, "vocab_size", 30522, 1, HF_WIDTH);
    e.positions = hf_int(c, "max_position_embeddings", 512, 1, HF_TOKENS);
    e.types = e.distil || e.mpnet ? 0 : hf_int(c, "type_vocab_size", 2, 1, HF_WIDTH);
    e.layers = hf_int(c, "num_hidden_layers|n_layers", 12, 1, HF_LAYERS);
    e.heads = hf_int(c, "num_attention_heads|n_heads", 12, 1, HF_HEADS);
    e.width = hf_int(c, "hidden_size|dim", 768, 1, HF_WIDTH);
    e.inner = hf_int(c, "intermediate_size|hidden_dim", 3072, 1, HF_WIDTH);
    e.act = hf_word(c, "hidden_act|activation", "gelu");
    e.eps = hf_real(c, "layer_norm_eps", 1e-12);
    bool narrow = e.electra || e.albert;
    e.embedding = narrow ? hf_int(c, "embedding_size", 128, 1, HF_WIDTH) : e.width;
    e.groups = e.albert ? hf_int(c, "num_hidden_groups", 1, 1, e.layers) : 1;
    e.inner_groups = e.albert ? hf_int(c, "inner_group_num", 1, 1, HF_LAYERS) : 1;
    e.first = e.roberta || e.mpnet ? hf_int(c, "pad_token_id", 1, 0, HF_WIDTH) + 1 : 0;
    return e;
}

/* ---- body ---- */

/* BERT is told the type of every token, RoBERTa takes them all as the first. */
static nn_t token_types(nn *b, const hf_text *t, const encoder *e)
{
    nn_t ids;
    if (e->roberta)
        ids = nn_table_of(b, "token_type_ids", IR_INT64, 1, &(int64_t){1}, &(int64_t){0});
    else
        ids = nn_input(b, "token_type_ids", IR_INT64, 2, (const int64_t[]){t->batch, t->seq});
    return nn_embedding(b, "token_type_embeddings", ids, e->types, e->embedding);
}

static nn_t embeddings(nn *b, const hf_text *t, encoder *e)
{
    nn_push(b, "embeddings");
    nn_t x = hf_embed(b, "word_embeddings", t->ids, e->vocab, e->embedding, &e->words);
    nn_t at = hf_positions(b, e->first, t->seq, e->positions);
    if (e->types)
        x = nn_add(b, "add_types", x, token_types(b, t, e));
    nn_t places = nn_embedding(b, "position_embeddings", at, e->positions, e->embedding);
    return nn_leave(b, nn_layernorm(b, "LayerNorm", nn_add(b, "add_positions", x, places), e->eps));
}

static nn_t layer(nn *b, hf_text *t, nn_t x, const encoder *e, const names *n)
{
    nn_t q = nn_split_heads(b, "q", nn_linear(b, n->q, x, e->width, true), e->heads);
    nn_t k = nn_split_heads(b, "k", nn_linear(b, n->k, x, e->width, true), e->heads);
    nn_t v = nn_split_heads(b, "v", nn_linear(b, n->v, x, e->width, true), e->heads);
    const hf_attention a = {.bias = e->bias, .sinks = NN_ABSENT};
    nn_t y = hf_attend(t, q, k, v, &a);
    y = nn_linear(b, n->out, y, e->width, true);
    x = nn_layernorm(b, n->first_norm, nn_add(b, "add_1", y, x), e->eps);
    y = hf_act(b, "act", nn_linear(b, n->up, x, e->inner, true), e->act);
    y = nn_linear(b, n->down, y, e->width, true);
    return nn_layernorm(b, n->last_norm, nn_add(b, "add_2", y, x), e->eps);
}

/* ALBERT: the layers of a group are the same weights again. */
static nn_t shared_layers(nn *b, hf_text *t, nn_t x, const encoder *e)
{
    x = nn_linear(b, "encoder.embedding_hidden_mapping_in", x, e->width, true);
    for (int64_t i = 0; i < e->layers && nn_ok(b); i++)
        for (int k = 0; k < (int)e->inner_groups && nn_ok(b); k++)
            x = NN_UNDER(b, layer(b, t, x, e, &albert_names),
                         "encoder.albert_layer_groups.%d.albert_layers.%d",
                         (int)(i * e->groups / e->layers), k);
    return x;
}

static nn_t body(nn *b, encoder *e)
{
    const names *n = e->distil ? &distil_names : e->mpnet ? &mpnet_names : &bert_names;
    hf_text t = hf_text_input(b, false, e->positions - e->first);
    nn_t x = embeddings(b, &t, e);
    hf_mask(&t, 0);
    if (e->albert)
        return shared_layers(b, &t, x, e);
    if (e->mpnet) {
        int64_t buckets = hf_int((hf){b, NULL}, "relative_attention_num_buckets", 32, 4, HF_HEADS);
        const hf_buckets by = {"encoder.relative_attention_bias", buckets, 128, e->heads, true};
        e->bias = nn_add(b, "bias/mask", hf_relative_bias(&t, &by), hf_mask(&t, 0));
    }
    if (e->embedding != e->width)
        x = nn_linear(b, "embeddings_project", x, e->width, true);
    for (int64_t i = 0; i < e->layers && nn_ok(b); i++)
        x = NN_UNDER(b, layer(b, &t, x, e, n), "%s.%d", n->list, (int)i);
    return x;
}

/* ---- heads ---- */

static nn_t first_token(nn *b, nn_t x)
{
    x = nn_slice(b, "token", x, 1, 0, 1);
    return nn_squeeze(b, "token/squeeze", x, 1);
}

static nn_t pooler(nn *b, nn_t x, const encoder *e)
{
    if (e->albert)
        return nn_act(b, "Tanh", "pooler_activation",
                      nn_linear(b, "pooler", first_token(b, x), e->width, true));
    nn_push(b, "pooler");
    x = nn_linear(b, "dense", first_token(b, x), e->width, true);
    return nn_leave(b, nn_act(b, "Tanh", "activation", x));
}

typedef struct masked_names {
    const char *dense, *norm, *words, *bias;
} masked_names;

static const masked_names *masked_names_of(const encoder *e)
{
    static const masked_names bert = {"cls.predictions.transform.dense",
                                      "cls.predictions.transform.LayerNorm",
                                      "cls.predictions.decoder", "cls.predictions.bias"};
    static const masked_names roberta = {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder",
                                         "lm_head.bias"};
    static const masked_names distil = {"vocab_transform", "vocab_layer_norm", "vocab_projector",
                                        "vocab_projector.bias"};
    static const masked_names electra = {"generator_predictions.dense",
                                         "generator_predictions.LayerNorm", "generator_lm_head",
                                         "generator_lm_head.bias"};
    static const masked_names albert = {"predictions.dense", "predictions.LayerNorm",
                                        "predictions.decoder", "predictions.bias"};
    return e->distil                ? &distil
           : e->roberta || e->mpnet ? &roberta
           : e->electra             ? &electra
           : e->albert              ? &albert
                                    : &bert;
}

/* dense, activation, norm, then the words again with a separate bias. */
static void masked_head(nn *b, nn_t x, const encoder *e)
{
    const masked_names *n = masked_names_of(e);
    bool tied = nn_bool(b, "tie_word_embeddings", true);
    x = nn_linear(b, n->dense, x, e->embedding, true);
    x = hf_act(b, "activation", x, e->roberta || e->electra || e->mpnet ? STR("gelu") : e->act);
    x = nn_layernorm(b, n->norm, x, e->distil ? 1e-12 : e->eps);
    if (tied)
        x = hf_tied(b, n->words, x, e->words, nn_param(b, n->bias, 1, &e->vocab));
    else
        x = nn_linear(b, n->words, x, e->vocab, true);
    nn_output(b, x, "logits");
}

/* ELECTRA: whether each token was replaced. */
static void replaced_head(nn *b, nn_t x, const encoder *e)
{
    x = nn_linear(b, "discriminator_predictions.dense", x, e->width, true);
    x = hf_act(b, "activation", x, e->act);
    x = nn_linear(b, "discriminator_predictions.dense_prediction", x, 1, true);
    nn_output(b, nn_squeeze(b, "squeeze", x, 2), "logits");
}

static void classifier(nn *b, nn_t x, const encoder *e)
{
    int64_t labels = hf_labels(b);
    if (e->roberta || e->electra || e->mpnet) {
        x = nn_linear(b, "classifier.dense", first_token(b, x), e->width, true);
        x = hf_act(b, "classifier.act", x, e->electra ? STR("gelu") : STR("tanh"));
        x = nn_linear(b, "classifier.out_proj", x, labels, true);
    } else if (e->distil) {
        x = nn_linear(b, "pre_classifier", first_token(b, x), e->width, true);
        x = nn_linear(b, "classifier", nn_act(b, "Relu", "act", x), labels, true);
    } else {
        x = nn_linear(b, "classifier", x, labels, true);
    }
    nn_output(b, x, "logits");
}

static void heads(nn *b, nn_t x, nn_t pooled, const encoder *e, hf_class class)
{
    switch (class) {
    case HF_MODEL:
        nn_output(b, x, "last_hidden_state");
        if (pooled.id != IR_NONE)
            nn_output(b, pooled, "pooler_output");
        break;
    case HF_PRETRAIN:
        if (e->electra) {
            replaced_head(b, x, e);
            break;
        }
        masked_head(b, x, e);
        nn_output(b,
                  nn_linear(b, e->albert ? "sop_classifier.classifier" : "cls.seq_relationship",
                            pooled, 2, true),
                  e->albert ? "sop_logits" : "seq_relationship_logits");
        break;
    case HF_CLASSIFY:
        classifier(b, pooled.id != IR_NONE ? pooled : x, e);
        break;
    case HF_TAG:
        nn_output(b, nn_linear(b, "classifier", x, hf_labels(b), true), "logits");
        break;
    case HF_ANSWER:
        hf_answers(b, x);
        break;
    default:
        masked_head(b, x, e);
    }
}

static bool has_pooler(const encoder *e, hf_class class)
{
    if (e->distil || e->electra)
        return false;
    return class == HF_MODEL || class == HF_PRETRAIN ||
           (class == HF_CLASSIFY && !e->roberta && !e->mpnet);
}

static void build(nn *b)
{
    hf_ignore(b);
    encoder e = read_encoder(b);
    hf_class class = hf_architecture(b, HF_MODEL);
    nn_t pooled = NN_ABSENT;
    const char *prefix = e.distil    ? "distilbert"
                         : e.roberta ? "roberta"
                         : e.electra ? "electra"
                         : e.albert  ? "albert"
                         : e.mpnet   ? "mpnet"
                                     : "bert";
    if (class != HF_MODEL)
        nn_push(b, "%s", prefix);
    nn_t x = body(b, &e);
    if (has_pooler(&e, class))
        pooled = pooler(b, x, &e);
    if (class != HF_MODEL)
        nn_pop(b);
    heads(b, x, pooled, &e, class);
}

/* ---- rows ---- */

#define BERT                                                                                     \
    "model_type=bert vocab_size=30522 hidden_size=768 num_hidden_layers=12 "                     \
    "num_attention_heads=12 intermediate_size=3072 hidden_act=gelu max_position_embeddings=512 " \
    "type_vocab_size=2 layer_norm_eps=1e-12"
#define ROBERTA                                                                                  \
    "model_type=roberta vocab_size=50265 hidden_size=768 num_hidden_layers=12 "                  \
    "num_attention_heads=12 intermediate_size=3072 hidden_act=gelu max_position_embeddings=512 " \
    "type_vocab_size=2 layer_norm_eps=1e-12 pad_token_id=1"
#define DISTIL                                                                              \
    "model_type=distilbert vocab_size=30522 dim=768 n_layers=6 n_heads=12 hidden_dim=3072 " \
    "activation=gelu max_position_embeddings=512"
#define ELECTRA                                                                          \
    BERT " model_type=electra embedding_size=128 hidden_size=256 num_attention_heads=4 " \
         "intermediate_size=1024"
#define ALBERT                                                                      \
    BERT " model_type=albert vocab_size=30000 embedding_size=128 hidden_size=4096 " \
         "num_attention_heads=64 intermediate_size=16384 hidden_act=gelu_new"
#define LARGE                                                        \
    " hidden_size=1024 num_hidden_layers=24 num_attention_heads=16 " \
    "intermediate_size=4096"
#define ROBERTA_POSITIONS " max_position_embeddings=514 type_vocab_size=1 layer_norm_eps=1e-5"

#define ROW(name_, alias, family_, set) ZOO_ROW(name_, alias, family_, "language", build, set)

static const zoo_row rows[] = {
    ROW("bert-base-uncased", "bert bert-base", "bert", BERT),
    ROW("bert-base-cased", NULL, "bert", BERT " vocab_size=28996"),
    ROW("bert-large-uncased", "bert-large", "bert", BERT LARGE),
    ROW("bert-large-cased", NULL, "bert", BERT LARGE " vocab_size=28996"),
    ROW("chinese-roberta-wwm-ext", NULL, "bert", BERT " vocab_size=21128"),
    ROW("roberta-base", "roberta", "roberta", ROBERTA ROBERTA_POSITIONS),
    ROW("roberta-large", NULL, "roberta", ROBERTA ROBERTA_POSITIONS LARGE),
    ROW("distilbert-base-uncased", "distilbert", "distilbert", DISTIL),
    ROW("albert-base-v2", "albert", "albert",
        ALBERT " hidden_size=768 num_attention_heads=12 intermediate_size=3072"),
    ROW("albert-xxlarge-v2", NULL, "albert", ALBERT),
    ROW("mpnet-base", "all-mpnet-base-v2", "mpnet",
        BERT " model_type=mpnet vocab_size=30527 pad_token_id=1 max_position_embeddings=514 "
             "layer_norm_eps=1e-5"),
    ROW("electra-small-discriminator", "electra-small electra", "electra", ELECTRA),
    ROW("electra-base-discriminator", "electra-base", "electra",
        ELECTRA " embedding_size=768 hidden_size=768 num_attention_heads=12 "
                "intermediate_size=3072"),
    ROW("distilbert-base-cased", NULL, "distilbert", DISTIL " vocab_size=28996"),
};
const zoo_rows zoo_bert_rows = ZOO_ROWS(rows);

static const zoo_row families[] = {
    ROW("bert", NULL, "bert", BERT),
    ROW("roberta", NULL, "roberta", ROBERTA),
    ROW("xlm-roberta", NULL, "xlm-roberta", ROBERTA " model_type=xlm-roberta vocab_size=30522"),
    ROW("camembert", NULL, "camembert", ROBERTA " model_type=camembert vocab_size=30522"),
    ROW("distilbert", NULL, "distilbert", DISTIL),
    ROW("electra", NULL, "electra", ELECTRA),
    ROW("albert", NULL, "albert", ALBERT),
    ROW("mpnet", NULL, "mpnet", BERT " model_type=mpnet vocab_size=30527 pad_token_id=1"),
};
const zoo_rows zoo_bert_families = ZOO_ROWS(families);

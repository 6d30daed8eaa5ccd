/* Heads of decoders. */
#include "zoo/lm_head.h"

lm_head lm_head_begin(nn *b, const char *prefix, const char *name, bool tied)
{
    lm_head h = {.class = hf_architecture(b, HF_LM), .name = name, .words = NN_ABSENT};
    h.tied = hf_bool((hf){b, NULL}, "tie_word_embeddings", tied);
    h.scoped = h.class != HF_MODEL;
    if (h.scoped)
        nn_push(b, "%s", prefix);
    return h;
}

static nn_t capped(nn *b, nn_t x, double cap)
{
    x = nn_scale(b, "softcap/div", x, 1.0 / cap);
    return nn_scale(b, "softcap/mul", nn_plain(b, "Tanh", "softcap/tanh", x), cap);
}

static void logits(nn *b, nn_t x, const lm_head *h)
{
    int64_t vocab = h->words.d[0];
    nn_t bias = NN_ABSENT;
    if (h->tied)
        x = hf_tied(b, h->name, x, h->words, bias);
    else
        x = nn_linear(b, h->name, x, vocab, h->bias);
    if (h->scale != 0.0 && h->scale != 1.0)
        x = nn_scale(b, "logits/scale", x, h->scale);
    if (h->softcap != 0.0)
        x = capped(b, x, h->softcap);
    nn_output(b, x, "logits");
}

/* Every token is scored, as the library does, and the last one answers. */
static void classify(nn *b, nn_t x)
{
    x = nn_linear(b, "score", x, hf_labels(b), false);
    x = nn_slice(b, "pooled", x, 1, x.d[1] - 1, x.d[1]);
    nn_output(b, nn_squeeze(b, "pooled/squeeze", x, 1), "logits");
}

void lm_head_end(nn *b, nn_t x, const lm_head *h)
{
    if (h->scoped)
        nn_pop(b);
    switch (h->class) {
    case HF_MODEL:
        nn_output(b, x, "last_hidden_state");
        break;
    case HF_LM:
        logits(b, x, h);
        break;
    case HF_CLASSIFY:
        classify(b, x);
        break;
    case HF_TAG:
        nn_output(b, nn_linear(b, "score", x, hf_labels(b), true), "logits");
        break;
    case HF_ANSWER:
        hf_answers(b, x);
        break;
    default:
        nn_refuse(b, "unsupported model class. Use ForCausalLM, ForSequenceClassification, "
                     "ForTokenClassification, ForQuestionAnswering or Model.");
    }
}

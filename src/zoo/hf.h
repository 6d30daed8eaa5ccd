/* Reading a Hugging Face config: its keys with their synonyms, nested objects, null that differs
 * from absent, and which class of a family ("BertForMaskedLM") is meant.
 *
 * What the library's configuration class has as a default stands in the row's defaults, so that a
 * key that config.json leaves out has the library's value and a null means what it means there: the
 * builder's own default, which is the `def` of these calls.
 */
#ifndef ZOO_HF_H
#define ZOO_HF_H

#include "zoo/nn.h"

enum { HF_LAYERS = 10000, HF_HEADS = 1 << 16, HF_WIDTH = 1 << 24, HF_TOKENS = 1 << 24 };

typedef struct hf {
    nn *b;
    const char *in; /* "text_config": keys are looked up in that object, or as "text_config.key" */
} hf;

/* `keys` may hold synonyms: "num_attention_heads|n_head"; the first that is given counts. */
const json_value *hf_raw(hf c, const char *keys); /* NULL when absent or null */
int64_t hf_int(hf c, const char *keys, int64_t def, int64_t min, int64_t max);
double hf_real(hf c, const char *keys, double def);
bool hf_bool(hf c, const char *keys, bool def);
str hf_word(hf c, const char *keys, const char *def);

typedef enum hf_class {
    HF_MODEL,      /* the bare model */
    HF_LM,         /* ForCausalLM, LMHeadModel, ForConditionalGeneration */
    HF_MASKED,     /* ForMaskedLM */
    HF_PRETRAIN,   /* ForPreTraining */
    HF_CLASSIFY,   /* ForSequenceClassification, ForImageClassification */
    HF_TAG,        /* ForTokenClassification */
    HF_ANSWER,     /* ForQuestionAnswering */
    HF_ENCODER,    /* T5EncoderModel */
    HF_PROJECTION, /* CLIPTextModelWithProjection */
    HF_OTHER,
} hf_class;
/* By the first of "architectures"; fails on a class that is not known. */
hf_class hf_architecture(nn *b, hf_class def);
/* Whether the name of the class ends so. */
bool hf_architecture_is(nn *b, const char *ending);
/* num_labels, or as many as id2label has; 2. */
int64_t hf_labels(nn *b);
/* The keys of a nested object as if they stood at the top, but for model_type and architectures. */
void hf_lift(nn *b, const char *object);
/* Marks what a config says about training, sampling and the library as known and without effect. */
void hf_ignore(nn *b);

#endif

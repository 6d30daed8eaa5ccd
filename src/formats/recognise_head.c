/* Language models with a head: the names of its weights tell the class of transformers that they are of; see
 * recognise.h. The built-in models have these classes as their parameter `architectures`.
 */
#include "formats/recognise_impl.h"

static const struct head {
    const char *family;
    const char *has, *also; /* names of weights, the second may be NULL */
    const char *class;
} heads[] = {
    {"bert", "bert.pooler.dense.weight", "classifier.weight", "BertForSequenceClassification"},
    {"bert", "bert.embeddings.word_embeddings.weight", "classifier.weight",
     "BertForTokenClassification"},
    {"bert", "bert.embeddings.word_embeddings.weight", "qa_outputs.weight",
     "BertForQuestionAnswering"},
    {"bert", "cls.predictions.bias", "cls.seq_relationship.weight", "BertForPreTraining"},
    {"bert", "cls.predictions.bias", NULL, "BertForMaskedLM"},
    {"distilbert", "distilbert.embeddings.word_embeddings.weight", "pre_classifier.weight",
     "DistilBertForSequenceClassification"},
    {"distilbert", "distilbert.embeddings.word_embeddings.weight", "classifier.weight",
     "DistilBertForTokenClassification"},
    {"distilbert", "distilbert.embeddings.word_embeddings.weight", "qa_outputs.weight",
     "DistilBertForQuestionAnswering"},
    {"distilbert", "vocab_projector.bias", NULL, "DistilBertForMaskedLM"},
    {"roberta", "roberta.embeddings.word_embeddings.weight", "classifier.dense.weight",
     "RobertaForSequenceClassification"},
    {"roberta", "roberta.embeddings.word_embeddings.weight", "classifier.weight",
     "RobertaForTokenClassification"},
    {"roberta", "roberta.embeddings.word_embeddings.weight", "qa_outputs.weight",
     "RobertaForQuestionAnswering"},
    {"roberta", "roberta.embeddings.word_embeddings.weight", "lm_head.dense.weight",
     "RobertaForMaskedLM"},
    {"electra", "discriminator_predictions.dense.weight", NULL, "ElectraForPreTraining"},
    {"electra", "electra.embeddings.word_embeddings.weight", "classifier.dense.weight",
     "ElectraForSequenceClassification"},
    {"electra", "electra.embeddings.word_embeddings.weight", "classifier.weight",
     "ElectraForTokenClassification"},
    {"electra", "electra.embeddings.word_embeddings.weight", "qa_outputs.weight",
     "ElectraForQuestionAnswering"},
    {"albert", "albert.pooler.weight", "classifier.weight", "AlbertForSequenceClassification"},
    {"albert", "albert.embeddings.word_embeddings.weight", "qa_outputs.weight",
     "AlbertForQuestionAnswering"},
    {"albert", "predictions.bias", "sop_classifier.classifier.weight", "AlbertForPreTraining"},
    {"albert", "predictions.bias", NULL, "AlbertForMaskedLM"},
    {"mpnet", "mpnet.embeddings.word_embeddings.weight", "classifier.dense.weight",
     "MPNetForSequenceClassification"},
    {"mpnet", "mpnet.embeddings.word_embeddings.weight", "lm_head.dense.weight",
     "MPNetForMaskedLM"},
    {"gpt2", "transformer.h.0.attn.c_attn.weight", "score.weight", "GPT2ForSequenceClassification"},
    {"gpt2", "h.0.attn.c_attn.weight", NULL, "GPT2Model"},
};

static bool has_name(const recognise_names *in, const char *name)
{
    for (uint32_t i = 0; name && i < in->n; i++)
        if (str_is(in->list[i].name, name))
            return true;
    return !name;
}

/* Heads of 64 elements, as all published models of these families have; weights do not show them. */
static bool put_attention_heads(zoo_args *to, const recognise_names *in)
{
    enum { HEAD = 64 };
    for (uint32_t i = 0; i < in->n; i++) {
        const weight_item *x = in->list[i].item;
        bool words = str_ends(in->list[i].name, "word_embeddings.weight") ||
                     str_ends(in->list[i].name, "wte.weight");
        if (words && x->rank == 2 && x->dims[1] >= HEAD && x->dims[1] % HEAD == 0)
            return zoo_args_put_int(to, "num_attention_heads", x->dims[1] / HEAD);
    }
    return true;
}

/* The rows of the family as they are but for labels and words; then the first with any widths and depths. */
static assay_status try_head(search *s, const struct head *h, const recognise_names *in,
                             recognise_found *out, assay_error *err)
{
    zoo_args class;
    zoo_args_init(&class, s->scratch);
    TRY_MEMORY(zoo_args_put(&class, STR("architectures"), json_of_text(str_of(h->class)), false),
               err);
    for (int any = 0; any < 2 && !out->found->row; any++) {
        bool tried = false;
        TRY_MEMORY(!any || put_attention_heads(&class, in), err);
        for (uint32_t i = 0; i < zoo_count() && !out->found->row && !(any && tried); i++) {
            if (strcmp(zoo_at(i)->family, h->family) != 0)
                continue;
            TRY(recognise_row(s, zoo_at(i), &class, any, *in, out, err));
            tried = true;
        }
    }
    return ASSAY_OK;
}

assay_status recognise_heads(search *s, recognise_names in, recognise_found *out, assay_error *err)
{
    assay_status status = ASSAY_OK;
    s->library = true;
    for (size_t i = 0; i < sizeof heads / sizeof *heads && !out->found->row; i++)
        if (status == ASSAY_OK && has_name(&in, heads[i].has) && has_name(&in, heads[i].also))
            status = try_head(s, &heads[i], &in, out, err);
    s->library = false;
    return status;
}

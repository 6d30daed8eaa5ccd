/* The end of a decoder by its class: logits of every token, with the words' own weight when tied; a
 * classifier on the last token; or the bare hidden states.
 */
#ifndef ZOO_LM_HEAD_H
#define ZOO_LM_HEAD_H

#include "zoo/hf_text.h"

typedef struct lm_head {
    hf_class class;
    const char *name; /* "lm_head" */
    nn_t words;       /* the embedding's weight [vocab, width]: filled in by the builder */
    bool tied, bias, scoped;
    double softcap; /* of the logits; 0: none */
    double scale;   /* of the logits; 0: 1 */
} lm_head;

/* Reads the class and tie_word_embeddings, and opens the scope of the bare model (`prefix`) when a
 * head follows. lm_head_end closes it. */
lm_head lm_head_begin(nn *b, const char *prefix, const char *name, bool tied);
void lm_head_end(nn *b, nn_t x, const lm_head *h);

#endif

/* What llama.cpp calls things and what Hugging Face calls them: the tables that the reader (gguf_arch.c) and the
 * writer (gguf_plan.c) share. A new architecture is a row here; its keys and tensors need rows where they differ from
 * those of its style.
 */
#ifndef FORMATS_GGUF_NAMES_H
#define FORMATS_GGUF_NAMES_H

#include "base/str.h"

/* How the tensors of a checkpoint are named. */
typedef enum gguf_style { GGUF_LLAMA, GGUF_GPT2, GGUF_NEOX, GGUF_BLOOM } gguf_style;

typedef struct gguf_arch {
    const char *arch, *model_type; /* the first row of a name counts */
    gguf_style style;
    bool layer_norm; /* its norms are LayerNorm: the key of epsilon differs */
} gguf_arch;
extern const gguf_arch gguf_archs[];
extern const uint32_t gguf_archs_n;

/* Hyper-parameters under the architecture's name ("llama.block_count"), and the builder's parameters for each; those
 * of which a builder knows several spellings are listed with all of them. */
typedef enum gguf_key_kind { GGUF_KEY_INT, GGUF_KEY_REAL, GGUF_KEY_BOOL } gguf_key_kind;
typedef struct gguf_key {
    const char *key, *parameters; /* space separated */
    bool needed;
    gguf_key_kind kind; /* as it is written */
} gguf_key;
extern const gguf_key gguf_keys[];
extern const uint32_t gguf_keys_n;

/* Tensors outside of a block, or within "blk.N.". For one family first, then for all of the style. "@" at the end of
 * `to` marks those that PyTorch has as parameters without a module: no ".weight" behind them. */
typedef struct gguf_stem {
    gguf_style style;
    const char *model_type; /* NULL: any */
    const char *from, *to;
    bool in_first; /* the checkpoint holds [in, out], not [out, in] */
} gguf_stem;
typedef struct gguf_stems {
    const gguf_stem *rows;
    uint32_t n;
} gguf_stems;
extern const gguf_stems gguf_outer, gguf_inner;
/* What stands before the number of a block in a checkpoint: "model.layers". */
extern const char *const gguf_blocks[];

/* Whether a row is for this family of this style. */
bool gguf_stem_is(const gguf_stem *row, gguf_style style, const char *model_type);
/* What follows the name: ".weight", ".bias", "", "_bias"; *n is the length of the name without its mark. */
const char *gguf_ending(const char *to, str part, size_t *n);

#endif

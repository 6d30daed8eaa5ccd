/* See gguf_write.h. */
#include "formats/gguf_write.h"

#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/sbuf.h"
#include "formats/gguf_encode.h"

enum {
    VERSION = 3,
    ALIGNMENT = 32,
    QUANT_VERSION = 2,
    PIECE = 1 << 16, /* elements; a multiple of every block */
    BYTE_TOKENS = 256,
    FIRST_BYTE = 3, /* after <unk>, <s> and </s> */
};

/* Types of values, as the format numbers them. */
enum { U32 = 4, I32 = 5, FLOAT = 6, BOOL = 7, TEXT = 8, LIST = 9, U64 = 10 };

/* Types of tokens, as llama.cpp numbers them. */
enum { TOKEN_NORMAL = 1, TOKEN_UNKNOWN = 2, TOKEN_CONTROL = 3, TOKEN_BYTE = 6 };

/* ---- metadata ---- */

static void put_bits(sbuf *b, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        sbuf_putc(b, (char)(uint8_t)(v >> 8 * i));
}

static void put_float(sbuf *b, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_bits(b, bits, 4);
}

static void put_text(sbuf *b, str s)
{
    put_bits(b, s.n, 8);
    sbuf_str(b, s);
}

static void put_key(sbuf *b, const char *key, unsigned type)
{
    put_text(b, str_of(key));
    put_bits(b, type, 4);
}

static void put_word(sbuf *b, const char *key, const char *value)
{
    put_key(b, key, TEXT);
    put_text(b, str_of(value));
}

static void put_u32(sbuf *b, const char *key, uint64_t value)
{
    put_key(b, key, U32);
    put_bits(b, value, 4);
}

static void put_list(sbuf *b, const char *key, unsigned type, uint64_t n)
{
    put_key(b, key, LIST);
    put_bits(b, type, 4);
    put_bits(b, n, 8);
}

static void put_hyper(sbuf *b, const gguf_plan *plan, const gguf_out_pair *p)
{
    static const unsigned types[] = {
        [GGUF_KEY_INT] = U32, [GGUF_KEY_REAL] = FLOAT, [GGUF_KEY_BOOL] = BOOL};
    char key[128];
    snprintf(key, sizeof key, "%s.%s", plan->arch->arch, p->key);
    put_key(b, key, types[p->kind]);
    if (p->kind == GGUF_KEY_REAL)
        put_float(b, (float)p->value);
    else if (p->kind == GGUF_KEY_BOOL)
        sbuf_putc(b, p->value != 0.0);
    else
        put_bits(b, sat_whole(p->value), 4);
}

/* ---- the stub of a tokenizer ---- */

static void put_token(sbuf *b, uint64_t i)
{
    static const char *const first[] = {"<unk>", "<s>", "</s>"};
    char text[32];
    if (i < FIRST_BYTE)
        snprintf(text, sizeof text, "%s", first[i]);
    else if (i < FIRST_BYTE + BYTE_TOKENS)
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)(i - FIRST_BYTE));
    else
        snprintf(text, sizeof text, "assay%llu", (unsigned long long)i);
    put_text(b, str_of(text));
}

static unsigned token_type(uint64_t i)
{
    if (i < FIRST_BYTE)
        return i == 0 ? TOKEN_UNKNOWN : TOKEN_CONTROL;
    return i < FIRST_BYTE + BYTE_TOKENS ? TOKEN_BYTE : TOKEN_NORMAL;
}

/* Pairs that it writes: the number in the file's head. */
enum { TOKENIZER_PAIRS = 10 };
static void put_tokenizer(sbuf *b, const gguf_plan *plan)
{
    put_word(b, "tokenizer.ggml.model", "llama");
    put_word(b, "tokenizer.ggml.pre", "default");
    put_list(b, "tokenizer.ggml.tokens", TEXT, plan->vocab);
    for (uint64_t i = 0; i < plan->vocab; i++)
        put_token(b, i);
    put_list(b, "tokenizer.ggml.scores", FLOAT, plan->vocab);
    for (uint64_t i = 0; i < plan->vocab; i++)
        put_float(b, i < FIRST_BYTE + BYTE_TOKENS ? 0.0f : -(float)i);
    put_list(b, "tokenizer.ggml.token_type", I32, plan->vocab);
    for (uint64_t i = 0; i < plan->vocab; i++)
        put_bits(b, token_type(i), 4);
    put_u32(b, "tokenizer.ggml.unknown_token_id", 0);
    put_u32(b, "tokenizer.ggml.bos_token_id", plan->vocab > 1);
    put_u32(b, "tokenizer.ggml.eos_token_id", plan->vocab > 2 ? 2 : 0);
    put_key(b, "tokenizer.ggml.add_bos_token", BOOL);
    sbuf_putc(b, 1);
    put_key(b, "tokenizer.ggml.add_eos_token", BOOL);
    sbuf_putc(b, 0);
}

/* ---- the head ---- */

/* llama.cpp takes special tokens from the names of some models ("phi-3"), which a stub has not: the name is the
 * basename. */
enum { GENERAL_PAIRS = 8 };
static void put_general(sbuf *b, const gguf_plan *plan, uint64_t seed)
{
    put_word(b, "general.architecture", plan->arch->arch);
    put_word(b, "general.name", "random weights");
    put_word(b, "general.basename", plan->name);
    put_word(b, "general.description", "random weights, written by assay to measure speed");
    put_u32(b, "general.file_type", plan->quant->file_type);
    put_u32(b, "general.quantization_version", QUANT_VERSION);
    put_key(b, "assay.random_weights", BOOL);
    sbuf_putc(b, 1);
    put_key(b, "assay.seed", U64);
    put_bits(b, seed, 8);
}

static void put_info(sbuf *b, const gguf_out_tensor *t)
{
    put_text(b, t->name);
    put_bits(b, (uint64_t)t->rank, 4);
    for (int i = 0; i < t->rank; i++)
        put_bits(b, t->ne[i], 8);
    put_bits(b, t->type, 4);
    put_bits(b, t->offset, 8);
}

static assay_status make_head(const gguf_plan *plan, uint64_t seed, sbuf *b, assay_error *err)
{
    sbuf_puts(b, "GGUF");
    put_bits(b, VERSION, 4);
    put_bits(b, plan->tensors.n, 8);
    put_bits(b, GENERAL_PAIRS + TOKENIZER_PAIRS + plan->pairs.n, 8);
    put_general(b, plan, seed);
    for (uint32_t i = 0; i < plan->pairs.n; i++)
        put_hyper(b, plan, &plan->pairs.items[i]);
    put_tokenizer(b, plan);
    for (uint32_t i = 0; i < plan->tensors.n; i++)
        put_info(b, &plan->tensors.items[i]);
    while (b->n % ALIGNMENT && !b->failed)
        sbuf_putc(b, 0);
    return b->failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status gguf_plan_bytes(const gguf_plan *plan, uint64_t *bytes, assay_error *err)
{
    sbuf head = {0};
    assay_status s = make_head(plan, 0, &head, err);
    *bytes = sat_add(head.n, plan->data_bytes);
    sbuf_free(&head);
    return s;
}

/* ---- data ---- */

typedef struct writing {
    file_out *file;
    const gguf_write_options *opt;
    float *numbers; /* [PIECE] */
    uint8_t *bytes; /* [4 * PIECE] */
    assay_error *err;
} writing;

/* Two numbers of each draw. */
static void draw(rng *r, const gguf_out_tensor *t, float *out, size_t n)
{
    const float step = t->spread * 0x1p-31f;
    for (size_t i = 0; i < n; i += 2) {
        uint64_t bits = rng_next(r);
        out[i] = t->centre + step * (float)(int32_t)bits;
        if (i + 1 < n)
            out[i + 1] = t->centre + step * (float)(int32_t)(bits >> 32);
    }
}

static assay_status write_tensor(const writing *w, const gguf_out_tensor *t)
{
    static const uint8_t zeros[ALIGNMENT];
    const gguf_type *type = gguf_type_of(t->type);
    gguf_encode_fn *encode = gguf_encoder_of(t->type);
    rng r;
    rng_seed(&r, str_hash_seeded(t->name, w->opt->seed));
    for (uint64_t at = 0; at < t->elems; at += PIECE) {
        size_t n = t->elems - at < PIECE ? (size_t)(t->elems - at) : PIECE;
        if (w->opt->cancelled && w->opt->cancelled(w->opt->ctx))
            return err_fail(w->err, ASSAY_ERR_INTERRUPTED, "interrupted");
        draw(&r, t, w->numbers, n);
        encode(w->numbers, n, w->bytes);
        TRY(file_out_write(w->file, w->bytes, n / type->block * type->bytes, w->err));
    }
    return file_out_write(w->file, zeros, (ALIGNMENT - t->bytes % ALIGNMENT) % ALIGNMENT, w->err);
}

static assay_status write_tensors(writing *w, const gguf_plan *plan)
{
    w->numbers = memory_zeroed(PIECE, sizeof *w->numbers);
    w->bytes = memory_zeroed(PIECE, 4);
    assay_status s = w->numbers && w->bytes ? ASSAY_OK : err_no_memory(w->err);
    for (uint32_t i = 0; s == ASSAY_OK && i < plan->tensors.n; i++)
        s = write_tensor(w, &plan->tensors.items[i]);
    free(w->numbers);
    free(w->bytes);
    return s;
}

assay_status gguf_write_file(const gguf_plan *plan, const char *path, const gguf_write_options *opt,
                             uint64_t *bytes, assay_error *err)
{
    writing w = {.opt = opt, .err = err};
    sbuf head = {0};
    assay_status s = make_head(plan, opt->seed, &head, err);
    if (s == ASSAY_OK)
        s = file_out_open(path, &w.file, err);
    if (s == ASSAY_OK)
        s = file_out_write(w.file, head.p, head.n, err);
    if (s == ASSAY_OK)
        s = write_tensors(&w, plan);
    *bytes = sat_add(head.n, plan->data_bytes);
    sbuf_free(&head);
    if (s == ASSAY_OK)
        return file_out_commit(w.file, err);
    file_out_abandon(w.file);
    return s;
}

/* GGUF, the format of llama.cpp, versions 2 and 3. Metadata and the table of tensors are read, the data
 * is not.
 *
 *     file   = "GGUF" u32 version, u64 n_tensors, u64 n_pairs, pairs, infos, padding, data
 *     pair   = string key, u32 type, value            string = u64 n, n bytes
 *     array  = u32 type, u64 n, values
 *     info   = string name, u32 rank, u64 dims[rank] (fastest first), u32 ggml type, u64 offset
 *
 * Numbers are little-endian. Data begins at the next multiple of general.alignment (32), offsets count
 * from there. Quantised types lie in blocks: a row of n elements takes n / block * bytes.
 */
#ifndef FORMATS_GGUF_H
#define FORMATS_GGUF_H

#include "formats/model_config.h"
#include "formats/weights.h"

typedef enum gguf_kind { GGUF_INT, GGUF_REAL, GGUF_BOOL, GGUF_TEXT, GGUF_LIST } gguf_kind;

typedef struct gguf_value {
    str key;
    gguf_kind kind;
    int64_t i;  /* GGUF_INT, GGUF_BOOL; unsigned numbers of 2^63 and more are cut to 2^63 - 1 */
    double f;   /* GGUF_REAL */
    str s;      /* GGUF_TEXT; empty when it is longer than 64 KiB */
    uint64_t n; /* GGUF_LIST: its length */
    const int64_t *items; /* GGUF_LIST of at most 4096 whole numbers or flags, or NULL */
} gguf_value;

typedef struct gguf_file {
    uint32_t version;
    VEC(gguf_value) values;
    map by_key;
    weight_set *weights;
    str architecture; /* general.architecture, or empty */
} gguf_file;

/* A ggml type. */
typedef struct gguf_type {
    const char *name;   /* "Q4_K"; NULL: no such type, or one that is gone */
    const char *stored; /* as numpy calls it, for those that it has */
    uint32_t block, bytes;
} gguf_type;
/* NULL if there is none of this number. */
const gguf_type *gguf_type_of(uint32_t number);

/* A file, with its other parts when it is the first of a split set ("x-00001-of-00003.gguf"). Everything is in the
 * arena. */
assay_status gguf_read(const char *path, arena *a, gguf_file *out, assay_error *err);
assay_status gguf_read_bytes(const void *p, uint64_t n, arena *a, gguf_file *out, assay_error *err);

/* NULL when absent. */
const gguf_value *gguf_get(const gguf_file *g, const char *key);

/* The architecture as a row of the zoo and its parameters (gguf_arch.c), and the tensors' names as that
 * row's checkpoint has them. out->row is NULL when the architecture is not known.
 * ASSAY_ERR_MALFORMED when it is and a key that it needs is missing. */
assay_status gguf_configure(gguf_file *g, const char *shown, arena *a, model_config *out,
                            assay_error *err);

#endif

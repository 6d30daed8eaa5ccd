/* Between the files of the custom models: a layer under way, its settings, the rows. */
#ifndef ZOO_CUSTOM_IMPL_H
#define ZOO_CUSTOM_IMPL_H

#include "zoo/zoo.h"

enum { CUSTOM_PATH = 512 };

typedef struct custom { /* one file being built */
    nn *b;
    char path[CUSTOM_PATH]; /* where in the file: "layers[3].residual[0]" */
    uint32_t path_n;
    uint32_t steps; /* layers so far, with repetitions */
} custom;

typedef struct custom_row custom_row;

typedef struct custom_layer {
    custom *c;
    const custom_row *row;
    const json_value *settings; /* an object, or the value of the row's first key, or NULL */
    const char *name;
} custom_layer;

struct custom_row {
    const char *name;
    const char *keys; /* space separated; the first may be given alone: {"linear": 10} */
    nn_t (*build)(const custom_layer *l, nn_t x);
    const char *op; /* of the rows that are one ONNX operator */
};

typedef struct custom_rows {
    const custom_row *rows;
    uint32_t n;
} custom_rows;
extern const custom_rows custom_plain_rows; /* custom_layers.c */
extern const custom_rows custom_block_rows; /* custom_blocks.c */

/* Fails with the place in the file before the sentence. */
void custom_fail(const custom *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Settings; a key without default is read with CUSTOM_NEEDED. Values outside [min, max] fail. */
#define CUSTOM_NEEDED INT64_MIN
const json_value *custom_get(const custom_layer *l, const char *key);
int64_t custom_int(const custom_layer *l, const char *key, int64_t def, int64_t min, int64_t max);
double custom_real(const custom_layer *l, const char *key, double def);
bool custom_bool(const custom_layer *l, const char *key, bool def);
str custom_word(const custom_layer *l, const char *key, const char *def);
/* A list of n, or one number for all; def when absent. */
void custom_ints(const custom_layer *l, const char *key, int64_t def, int n, int64_t *out,
                 int64_t min, int64_t max);
/* A list of any length up to max_n; its length, 0 when absent. */
int custom_list(const custom_layer *l, const char *key, int64_t *out, int max_n);
/* False and a failure when x has another rank. */
bool custom_rank(const custom_layer *l, nn_t x, int min, int max);

/* The sizes that no layer needs more of. */
#define CUSTOM_MAX ((int64_t)1 << 30)

#endif

/* Between the files of the YOLO models: what one model is made with, blocks and heads. */
#ifndef ZOO_YOLO_H
#define ZOO_YOLO_H

#include "zoo/zoo.h"

enum { YOLO_LAYERS = 256, YOLO_LEVELS = 8, YOLO_LINKS = 16 };

typedef struct yolo {
    nn *b;
    int64_t classes, max_channels, multiple;
    double depth, width;
    char scale; /* 'n' to 'x', or 0 */
    bool fused; /* normalisations are folded into the convolutions */
    bool
        dense_scores; /* heads before YOLO11: no depthwise convolutions in the branch of the scores */
    const char *activation;
    const json_value *anchors; /* a list of levels, or NULL */
    int64_t keypoints, keypoint_values;
    int64_t image;          /* height of the input */
    nn_t made[YOLO_LAYERS]; /* outputs of the layers so far */
    int n;
} yolo;

/* A row of the table of layers: [from, repeats, module, arguments]. */
typedef struct yolo_layer {
    yolo *y;
    nn_t in[YOLO_LINKS];
    int n_in;
    const json_value *args; /* a list */
    int64_t channels;       /* the first argument, scaled */
    int64_t repeats;        /* scaled; 1 for modules that do not repeat inside */
} yolo_layer;

typedef nn_t yolo_build_fn(const yolo_layer *l);

typedef struct yolo_module {
    const char *name; /* as in the table of layers */
    yolo_build_fn *build;
    bool scales;  /* the first argument is a number of output channels, scaled by the width */
    bool repeats; /* repeats inside; others are repeated as a sequence */
} yolo_module;
typedef struct yolo_modules {
    const yolo_module *rows;
    uint32_t n;
} yolo_modules;
extern const yolo_modules yolo_block_modules; /* yolo_blocks.c */
extern const yolo_modules yolo_head_modules;  /* yolo_head.c */

typedef struct yolo_conv {
    int64_t out, k, stride, groups; /* 0: as in, 1, 1, 1 */
    int64_t pad;                    /* 0: keeps the size at stride 1; -1: none */
    bool plain;                     /* without activation */
} yolo_conv;
/* Convolution, normalisation, activation: "NAME.conv", "NAME.bn". */
nn_t yolo_conv_block(const yolo *y, const char *name, nn_t x, yolo_conv c);
/* Argument i of a layer as a number; `def` if it is absent or no number. */
double yolo_number(const yolo_layer *l, uint32_t i, double def);
bool yolo_flag(const yolo_layer *l, uint32_t i, bool def);
/* A number of channels by the width of the model. */
int64_t yolo_scaled(const yolo *y, double channels);

/* A table of layers by name: "yolov5", "yolov8-seg"; NULL if there is none. */
typedef struct yolo_table {
    const char *name;
    const char *backbone, *head; /* JSON lists of [from, repeats, module, arguments] */
    const char *anchors;         /* of YOLOv5: a JSON list of levels, in pixels; or NULL */
} yolo_table;
const yolo_table *yolo_table_find(str name);
/* Builds from the parameters of b. */
void yolo_build(nn *b);

#endif

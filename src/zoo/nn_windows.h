/* Windowed attention on maps of two or three dimensions: cutting a map [B, sizes..., C] to windows
 * and joining them again, the bias by relative position, the mask of shifted windows.
 *
 * The mask is not stored: a table says to which region each place of the rolled map belongs (its
 * size is the map's), and two operators make 0 or -100 of it for every pair of places in a window.
 */
#ifndef ZOO_NN_WINDOWS_H
#define ZOO_NN_WINDOWS_H

#include "zoo/nn_tokens.h"

enum { NN_WINDOW_DIMS = 3, NN_WINDOW_SIDE = 64, NN_WINDOW_TOKENS = 4096 };

typedef struct nn_windows {
    int64_t n;                     /* dimensions, 2 or 3 */
    int64_t map[NN_WINDOW_DIMS];   /* of the feature map */
    int64_t size[NN_WINDOW_DIMS];  /* of one window */
    int64_t shift[NN_WINDOW_DIMS]; /* of the roll; 0 where it is not shifted */
    int64_t whole[NN_WINDOW_DIMS]; /* the window that the bias table was made for */
} nn_windows;

/* Tables that blocks of equal windows share. */
typedef struct nn_window_tables {
    nn_windows index_for, mask_for;
    nn_t index, mask;
} nn_window_tables;

/* [B, sizes..., C] to [B*nW, N, C], padded with zeros to whole windows. */
nn_t nn_windows_cut(nn *b, nn_t x, const nn_windows *w);
/* The way back; batch is B. */
nn_t nn_windows_join(nn *b, nn_t x, int64_t batch, const nn_windows *w);
/* Rows of the bias table: the product of 2*whole-1. */
int64_t nn_windows_offsets(const nn_windows *w);
/* [offsets, H] gathered for every pair of places: [H, N, N]. To be made before the scores that it is added
 * to: of a node's inputs ONNX Runtime runs the one that stands last in the file first, with all that it
 * needs, so that biases behind the scores would all be made, and kept, before the first layer. */
nn_t nn_windows_bias(nn *b, nn_t table, const nn_windows *w, nn_window_tables *t);
/* Adds -100 to scores [B*nW, H, N, N] between places that are no neighbours; none without shift. */
nn_t nn_windows_masked(nn *b, nn_t scores, int64_t batch, const nn_windows *w, nn_window_tables *t);

#endif

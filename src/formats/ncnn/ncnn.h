/* NCNN models: NAME.param (text), or NAME.param.bin (the same in binary form), and NAME.bin (weights).
 * https://github.com/Tencent/ncnn/wiki/param-and-model-file-structure
 *
 *   7767517
 *   LAYERS BLOBS
 *   TYPE NAME INPUTS OUTPUTS in... out... key=value...      a list: -23300-key=n,a,b,...
 *
 * Blobs are [w], [h,w], [c,h,w] or [c,d,h,w] without a batch; values of the graph have one in front. Their sizes are
 * inferred here too, because layers broadcast, flatten and permute by the number of axes. An input without sizes gets
 * the first of a list of usual ones that the fixed sizes of the file agree with, and a note says so.
 *
 * The weights lie in the .bin one after the other: their number follows from the parameters of the layers, their type
 * from a word before some of them. A .bin of another size is noted. Layers that are not in the table are unknown; the
 * sizes behind them are, too.
 */
#ifndef FORMATS_NCNN_H
#define FORMATS_NCNN_H

#include "formats/foreign.h"

foreign_read_fn ncnn_read;

#endif

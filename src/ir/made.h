/* Constants whose bytes are generated when they are read: converted from another tensor, or drawn at random.
 *
 * A tensor of storage IR_DATA_MADE names its maker; the model's reader, once ir_reader_wrap() has been put around it,
 * asks the maker for the bytes. Makers read what they are made of through the same reader, so that they compose (a
 * quantised weight of a folded weight of a random weight), and nothing but the piece that is requested is in memory.
 *
 * Parts of a tensor are read through a copy of it with another offset and size_bytes, as with slices of
 * files.
 */
#ifndef IR_MADE_H
#define IR_MADE_H

#include "ir/graph.h"

typedef struct ir_maker {
    void *ctx;
    /* Bytes [from, from + n) of the tensor into buf. */
    assay_status (*make)(void *ctx, const ir_reader *r, uint64_t from, size_t n, void *buf,
                         assay_error *err);
} ir_maker;

/* Makes the model's reader understand made constants; nothing happens the second time. The wrapper is in the model's
 * arena and closes the reader inside. */
assay_status ir_reader_wrap(ir_model *m, assay_error *err);
/* The reader inside the wrapper, or r itself. */
const ir_reader *ir_reader_below(const ir_reader *r);

/* Turns t into a made constant of its declared size. The maker is borrowed: make it in the arena. */
void ir_set_maker(ir_tensor *t, const ir_maker *maker);

/* n bytes of a constant from `from` on; r is a wrapped reader. Data that its format can decode only as a whole is
 * kept until another such tensor is requested. */
assay_status ir_read_part(const ir_reader *r, const ir_tensor *t, uint64_t from, size_t n,
                          void *buf, assay_error *err);
/* All bytes of a constant: borrowed until the next call of this or of ir_read_part(). */
assay_status ir_read_whole(const ir_reader *r, const ir_tensor *t, const uint8_t **out,
                           assay_error *err);

#endif

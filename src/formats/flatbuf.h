/* FlatBuffers: tables, vectors and strings of a file, read where they lie.
 *
 * A table begins with the distance back to its vtable; the vtable holds its own size, the table's size and one 16-bit
 * offset per field (0: the field is absent and has its default). Tables, vectors and strings are reached by a 32-bit
 * distance forward from the field. A vector is its length and its items; a string is a vector of bytes.
 *
 * Every access is checked against the file. A failure is sticky: reads return 0, vectors are empty, and flat_status()
 * tells the first one. Small pieces are read and kept, so that the weights between them are never touched.
 */
#ifndef FORMATS_FLATBUF_H
#define FORMATS_FLATBUF_H

#include "base/source.h"

enum { FLAT_LINE = 128, FLAT_LINES = 1024 };

typedef struct flat_line {
    uint64_t at; /* a multiple of FLAT_LINE */
    uint32_t n;  /* 0: empty */
    uint8_t bytes[FLAT_LINE];
} flat_line;

typedef struct flat {
    source *src;      /* borrowed */
    assay_error *err; /* borrowed; never NULL */
    bool failed;
    flat_line lines[FLAT_LINES];
} flat;

typedef struct flat_table {
    uint64_t at;                /* 0: there is none, and every field has its default */
    uint64_t vtable;            /* position of the first field's offset */
    uint32_t n_fields, n_bytes; /* n_bytes: of the table itself */
} flat_table;

typedef struct flat_vector {
    uint64_t at; /* of the first item */
    uint32_t n;
} flat_vector;

/* On the heap: the lines are too many for a stack. NULL if out of memory. */
flat *flat_new(source *src, assay_error *err);
void flat_free(flat *f);
assay_status flat_status(const flat *f);
/* Fails as malformed at byte `at`; `what` is part of a sentence. */
void flat_fail(flat *f, uint64_t at, const char *what);

flat_table flat_root(flat *f);
/* Of a FlatBuffer that lies within the file. */
flat_table flat_root_at(flat *f, uint64_t start);

/* Fields by their number in the schema (a union takes two: its type, its value). */
int64_t flat_i8(flat *f, flat_table t, unsigned id, int64_t def);
uint64_t flat_u8(flat *f, flat_table t, unsigned id, uint64_t def);
int64_t flat_i32(flat *f, flat_table t, unsigned id, int64_t def);
uint64_t flat_u32(flat *f, flat_table t, unsigned id, uint64_t def);
uint64_t flat_u64(flat *f, flat_table t, unsigned id, uint64_t def);
double flat_f32(flat *f, flat_table t, unsigned id, double def);
flat_table flat_sub(flat *f, flat_table t, unsigned id);
/* item_bytes: the size of one item; all of them lie in the file. */
flat_vector flat_list(flat *f, flat_table t, unsigned id, unsigned item_bytes);
/* Copied into the arena; longer than max fails. Empty when absent. */
str flat_text(flat *f, flat_table t, unsigned id, arena *a, uint32_t max);

/* Items of a vector; i is below v.n. */
flat_table flat_table_at(flat *f, flat_vector v, uint32_t i);
int64_t flat_i32_at(flat *f, flat_vector v, uint32_t i);

/* n (1, 2, 4 or 8) bytes of the file, little-endian. */
uint64_t flat_bytes(flat *f, uint64_t at, unsigned n);

#endif

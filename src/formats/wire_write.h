/* Writing the protobuf wire format. A message follows its length, so everything is walked twice by the same code:
 * once to measure, which keeps the length of every message in order, once to write. Nothing but those lengths is held
 * in memory.
 *
 *     wire_out w = {.arena = a, .err = err};
 *     emit(&w);                  measures: w.pos is the size of it all
 *     wire_out_start(&w, &sink);
 *     emit(&w);                  writes; must make the same calls
 *
 * Failure is sticky: after it nothing is written, and w.status says why.
 */
#ifndef FORMATS_WIRE_WRITE_H
#define FORMATS_WIRE_WRITE_H

#include "base/error.h"
#include "base/file.h"
#include "base/sbuf.h"
#include "base/vec.h"

typedef struct wire_sink {
    void *ctx;
    assay_status (*write)(void *ctx, const void *p, size_t n, assay_error *err);
    /* n zeros; a file leaves a hole. */
    assay_status (*zeros)(void *ctx, uint64_t n, assay_error *err);
} wire_sink;

wire_sink wire_sink_file(file_out *f);
wire_sink wire_sink_sbuf(sbuf *b);

typedef struct wire_mark { /* a message that is open while measuring */
    uint32_t slot;         /* of its length */
    uint64_t start;
} wire_mark;

typedef struct wire_out {
    arena *arena;          /* for the lengths */
    assay_error *err;      /* may be NULL */
    const wire_sink *sink; /* NULL while measuring */
    assay_status status;
    uint64_t pos; /* bytes so far */
    VEC(uint64_t) lengths;
    VEC(wire_mark) open;
    uint32_t next;
} wire_out;

/* From measuring to writing. */
void wire_out_start(wire_out *w, const wire_sink *sink);
/* Forgets what was measured. */
void wire_out_again(wire_out *w);
/* Notes a failure; the first one stays. */
void wire_out_fail(wire_out *w, assay_status status);
/* A message as a field; every open has its close. */
void wire_open(wire_out *w, uint32_t field);
void wire_close(wire_out *w);

void wire_put_int(wire_out *w, uint32_t field, int64_t v);
void wire_put_float(wire_out *w, uint32_t field, double v); /* 32 bits */
void wire_put_str(wire_out *w, uint32_t field, str s);
/* The head of a bytes field; n bytes of content must follow. */
void wire_put_head(wire_out *w, uint32_t field, uint64_t n);
/* Counts n bytes that somebody else has put into the sink, or will. */
void wire_put_passed(wire_out *w, uint64_t n);

#endif

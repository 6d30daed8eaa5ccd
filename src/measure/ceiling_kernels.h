/* The loops that measure ceilings: one row per instruction set and dtype, one per load width. All are compiled into
 * one program, each for its instruction set (target attributes); device/isa.h decides which may run. They are
 * compiled with -O2 in every build, because a debug build would measure register spills.
 */
#ifndef MEASURE_CEILING_KERNELS_H
#define MEASURE_CEILING_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Multiply-adds on registers alone, in enough independent chains to hide their latency. */
typedef struct ceiling_fma_row {
    const char *dtype, *isa; /* isa: as shown */
    unsigned needs;          /* bits of device/isa.h, all of them */
    double ops_per_round;
    void (*run)(uint64_t rounds,
                void *sink64); /* writes 64 bytes, so that nothing is optimised away */
} ceiling_fma_row;

/* Ends with a row whose run is NULL. */
extern const ceiling_fma_row ceiling_fma_x86[], ceiling_fma_arm[], ceiling_fma_plain[];

/* Arrays of n_bytes each (a multiple of CEILING_BLOCK), 64-byte aligned; `passes` times over them. */
enum { CEILING_BLOCK = 1024 };
typedef struct ceiling_arrays {
    void *a, *b, *c;
    size_t n_bytes;
} ceiling_arrays;

/* Read 1, write 1, copy 2, triad 3. */
static inline unsigned ceiling_arrays_of(int kind)
{
    return kind < 2 ? 1 : (unsigned)kind;
}

typedef void ceiling_move_fn(const ceiling_arrays *x, uint64_t passes, void *sink64);

typedef struct ceiling_move_row {
    const char *isa;
    unsigned needs;
    ceiling_move_fn *read, *write, *copy, *triad;
} ceiling_move_row;

/* Narrowest first; the last that may run is taken. Ends with a row without an isa. */
extern const ceiling_move_row ceiling_moves[];

#endif

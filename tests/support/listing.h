/* What a loop of machine code does in one pass, read from objdump's listing of it (x86-64 in AT&T syntax, and
 * arm64): arithmetic operations, bytes moved between vector registers and memory, everything else. Nothing is
 * executed, so loops can be checked whose instructions this processor does not have.
 */
#ifndef TESTS_UNIT_LISTING_H
#define TESTS_UNIT_LISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LISTING_INSTRUCTIONS = 1024 };

typedef struct listing_instruction {
    uint64_t at;
    char name[24], operands[104];
} listing_instruction;

typedef struct listing {
    char symbol[64];
    listing_instruction code[LISTING_INSTRUCTIONS];
    int n;
} listing;

typedef struct listing_loop {
    int first, last; /* of code */
    double ops;      /* multiplications and additions, of every lane */
    uint64_t bytes;  /* between vector registers and memory */
    uint64_t step;   /* largest constant that a counter or pointer is moved by */
    int others; /* instructions that are not arithmetic; copies between x86 registers are free */
} listing_loop;

/* The function that begins at an address of this program. False: objdump is missing or lists nothing. */
bool listing_of_function(const void *function, listing *out);
/* The first function of a text. */
bool listing_read(FILE *text, listing *out);
/* The next loop that contains no other, from instruction *at on, which is moved behind it. */
bool listing_next_loop(const listing *l, int *at, listing_loop *out);

#endif

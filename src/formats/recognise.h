/* Recognising the architecture of a file of weights by names and shapes, whatever its format.
 *
 * 1. Prefixes that all names share ("module.", "model.", "_orig_mod.") are taken off one after the other.
 * 2. The sums of the names (zoo/names.h) give the built-in rows that have the same ones; failing that, those
 *    that have the same ones at another depth.
 * 3. The parameters of the row (classes, channels, depths, widths) are derived from the shapes: the model is built, one
 *    parameter is changed, and what that does to a shape tells which value gives the shape of the file.
 * 4. A row is accepted if every tensor of the file and every parameter of the model have the same name and shape.
 * 5. Failing that, names of other packages become those of the catalogue (recognise_scheme.c), and heads of language
 *    models tell their class (recognise_head.c); 2 to 4 then decide.
 *
 * Nothing is guessed: a file that differs in one shape is not recognised. What shapes do not show (the
 * number of heads, strides, the size of the input) is that of the row.
 */
#ifndef FORMATS_RECOGNISE_H
#define FORMATS_RECOGNISE_H

#include "formats/weights.h"
#include "zoo/zoo.h"

typedef struct recognised {
    const zoo_row *row; /* NULL: no built-in architecture */
    zoo_args args;      /* what differs from the row */
    str prefix;         /* that all names have before those of the row */
    str others;         /* names of rows with the same weights, or empty */
    const char
        *names_of; /* the package whose names the file has, if not the catalogue's; or NULL */
} recognised;

/* Everything is in the arena. The names of the set are remembered without their prefix (weight_item.as). */
assay_status weights_recognise(weight_set *w, arena *a, recognised *out, assay_error *err);
/* Whether every tensor of the set has the name and shape that a row has with these arguments; *why, in the arena, says what
 * differs. Prefixes go off as above. */
assay_status weights_recognise_as(weight_set *w, const zoo_row *row, const zoo_args *args, arena *a,
                                  recognised *out, str *why, assay_error *err);

#endif

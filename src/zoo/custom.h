/* Networks that users write as JSON: layers and blocks of the built-in families, one after the other.
 * docs/custom-models.md describes the form; zoo/custom.c holds a row for every kind of layer.
 */
#ifndef ZOO_CUSTOM_H
#define ZOO_CUSTOM_H

#include "zoo/zoo.h"

#define ZOO_CUSTOM_SCHEMA "assay.model/1"

/* Not in the catalogue: its parameters "input" and "layers" come from a file. */
extern const zoo_row zoo_custom_row;

#endif

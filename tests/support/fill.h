/* Structs filled at random by their fields, so that every kind of result can be tested alike. */
#ifndef TESTS_SUPPORT_FILL_H
#define TESTS_SUPPORT_FILL_H

#include "base/fields.h"
#include "base/rng.h"

/* Every row gets a value or is unknown; what follows from other members is made by `finish`, as after reading. */
void fill_struct(const fields *f, void *base, arena *a, rng *random);

#endif

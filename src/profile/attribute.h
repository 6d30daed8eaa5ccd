/* The attributes of a layer, by name in ascending order. Attributes at the operator's default are omitted, so that
 * files with explicit and implicit defaults are equal. Small constant inputs that are not weights are included
 * ("input[1]" is the second one): what was an attribute in one opset (Clip's min, a reduction's axes) is an input in
 * another.
 *
 * Numbers compare as float32, which is what a file holds. Of long lists a hash is kept.
 */
#ifndef PROFILE_ATTRIBUTE_H
#define PROFILE_ATTRIBUTE_H

#include "base/json_write.h"
#include "base/str.h"

enum { ATTRIBUTE_ITEMS = 64 }; /* of a list; longer ones are hashed */

typedef enum attribute_kind { ATTRIBUTE_INTS, ATTRIBUTE_FLOATS, ATTRIBUTE_TEXTS } attribute_kind;

typedef struct profile_attribute {
    str name;
    attribute_kind kind;
    bool list; /* written as a list; else one item */
    uint32_t n;
    uint64_t hash; /* of all n items when there are more than ATTRIBUTE_ITEMS; else 0 */
    union {
        const int64_t *ints;
        const double *floats;
        const str *texts;
    } v; /* [n], or nothing when they are hashed */
} profile_attribute;

bool attribute_same(const profile_attribute *a, const profile_attribute *b);
/* [2, 2], 1e-05, "SAME_UPPER"; a hashed list is {"items": 900, "hash": "0123456789abcdef"}. */
void attribute_json(json_writer *w, const profile_attribute *a);
/* The same on one line without blanks, for display. */
void attribute_text(sbuf *b, const profile_attribute *a);
/* By name, ascending: the order of an attribute_list. */
void attribute_sort(profile_attribute *items, uint32_t n);
/* Mixes a value into a hash. */
uint64_t attribute_hash(uint64_t h, const profile_attribute *a);

/* The names that two lists do not agree on, one after the other: false past the end. before or after is NULL where
 * it is at its default. i and k begin at 0. */
typedef struct attribute_pair {
    const profile_attribute *before, *after;
} attribute_pair;
typedef struct attribute_list {
    const profile_attribute *items;
    uint32_t n;
} attribute_list;
bool attribute_next(attribute_list a, attribute_list b, uint32_t *i, uint32_t *k,
                    attribute_pair *out);

#endif

/* The parameters of an architecture by key, from a catalogue row, --set, a training configuration or config.json.
 * Builders read them with a default each (nn_int() and its kin in zoo/nn.h); a key that a builder never asks for is
 * reported.
 */
#ifndef ZOO_ARGS_H
#define ZOO_ARGS_H

#include "base/json_tree.h"
#include "base/vec.h"

typedef struct zoo_arg {
    str key;
    json_value value;
    bool used;       /* a builder asked for it */
    bool is_default; /* from the catalogue row, not from the user */
    bool lenient;    /* from a file: that no builder asks for it is a note, not an error */
    bool silent;     /* not even a note: configs of libraries hold many keys that change nothing */
} zoo_arg;

typedef struct zoo_args {
    arena *arena; /* borrowed: holds keys and values */
    VEC(zoo_arg) list;
} zoo_args;

void zoo_args_init(zoo_args *a, arena *in);
/* Adds or replaces; the argument is not lenient then. */
bool zoo_args_put(zoo_args *a, str key, json_value value, bool is_default);
/* Puts copies of all of `from` (NULL: none) over those that are there. They come from a configuration or a user who
 * was told already: what a builder does not know among them is no mistake. False if out of memory. */
bool zoo_args_add(zoo_args *a, const zoo_args *from);
/* The same, as they are. */
bool zoo_args_copy(zoo_args *a, const zoo_args *from);
bool zoo_args_put_int(zoo_args *a, const char *key, int64_t value);
/* NULL when absent. */
zoo_arg *zoo_args_get(const zoo_args *a, const char *key);
/* "key=value key2=1,2,3 flag=true name=text": numbers, true/false, comma lists, else text. */
assay_status zoo_args_parse(zoo_args *a, str text, bool is_default, assay_error *err);
/* One value as --set writes it: "3,4,6,3", "0.5", "true", "pixelshuffle". */
assay_status zoo_value_parse(arena *a, str text, json_value *out, assay_error *err);

#endif

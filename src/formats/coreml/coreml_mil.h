/* ML programs: what the reader and the table of operations share. */
#ifndef FORMATS_COREML_MIL_H
#define FORMATS_COREML_MIL_H

#include "formats/coreml/coreml_impl.h"

enum { MIL_ARGS = 64 };

typedef struct mil_op {
    foreign_layer l;
    ml_reader *r;
    str type;
    struct {
        str key;
        cursor body; /* Argument */
    } args[MIL_ARGS];
    uint32_t n_args;
    const ml_value *out; /* [l.n_out] declared types */
    const char *op;      /* of the row */
} mil_op;

typedef bool mil_map_fn(mil_op *o);
typedef struct mil_row {
    const char *type;
    mil_map_fn *map;
    const char *op;
} mil_row;
const mil_row *mil_row_of(str type);

/* The value of an argument, IR_NONE: absent. at: of a list. */
ir_id mil_in(mil_op *o, const char *key);
uint32_t mil_in_list(mil_op *o, const char *key, ir_id *list, uint32_t max);
const ml_value *mil_type(const mil_op *o, const char *key); /* NULL: absent, or no name */
/* Constants; def or -1 when absent or computed. */
int mil_ints(const mil_op *o, const char *key, int64_t *list);
int64_t mil_int(const mil_op *o, const char *key, int64_t def);
double mil_float(const mil_op *o, const char *key, double def);
bool mil_is(const mil_op *o, const char *key, const char *text);

#endif

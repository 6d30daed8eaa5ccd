/* What the files of the Core ML reader share. */
#ifndef FORMATS_COREML_IMPL_H
#define FORMATS_COREML_IMPL_H

#include "formats/foreign_layer.h"
#include "formats/wire_find.h"

enum {
    ML_LIST = 128,
    ML_MAX_DEPTH = 8,    /* models in pipelines */
    ML_MAX_NAMES = 1024, /* inputs or outputs of a layer */
    ML_INLINE = 1 << 16, /* bytes of a constant that is copied */
};
#define ML_DOMAIN "coreml"

typedef struct ml_reader {
    foreign f;
    source *blobs; /* weights/weight.bin; NULL: absent */
    uint64_t version;
    bool program;
    bool guess; /* a weight of an ML program is not there */
    map values; /* name to number in list */
    VEC(struct ml_value) list;
} ml_reader;

/* A value by its name: made by an operation, an input, or a constant that is made when it is used. */
typedef struct ml_value {
    str name;
    ir_id id;
    ir_dtype dtype;
    int rank;
    const int64_t *dims;
    cursor constant; /* Value message; src NULL: no constant */
} ml_value;

/* ---- protobuf: fields of a message, looked up one at a time ---- */

/* Whole numbers, packed or not: how many, at most ML_LIST. */
int ml_list(cursor message, uint32_t field, int64_t *list);
str ml_text(ml_reader *r, wire_field *f);

/* ---- values ---- */

ml_value *ml_get(ml_reader *r, str name); /* NULL: unknown */
ml_value *ml_put(ml_reader *r, str name, ir_id id);

assay_status ml_read_network(ml_reader *r, cursor network, cursor description);
assay_status ml_read_program(ml_reader *r, cursor program, cursor description);

#endif

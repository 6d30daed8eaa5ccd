/* What the files of the HDF5 reader share. */
#ifndef FORMATS_HDF5_IMPL_H
#define FORMATS_HDF5_IMPL_H

#include "formats/hdf5.h"

#define HDF5_NONE UINT64_MAX

enum hdf5_message_type {
    HDF5_DATASPACE = 1,
    HDF5_LINK_INFO = 2,
    HDF5_DATATYPE = 3,
    HDF5_LINK = 6,
    HDF5_LAYOUT = 8,
    HDF5_FILTERS = 11,
    HDF5_ATTRIBUTE = 12,
    HDF5_CONTINUATION = 16,
    HDF5_SYMBOL_TABLE = 17,
    HDF5_ATTRIBUTE_INFO = 21
};

typedef struct hdf5_message {
    unsigned type, flags;
    uint64_t at, n; /* its content, from the start of the HDF5 file */
} hdf5_message;
typedef struct hdf5_header {
    VEC(hdf5_message) list;
} hdf5_header;

/* Bytes from the start of the HDF5 file. false after a failure. */
bool hdf5_bytes(hdf5 *h, uint64_t at, void *buf, uint64_t n);
/* A little-endian number of n bytes; 0 after a failure. */
uint64_t hdf5_number(hdf5 *h, uint64_t at, unsigned n);
uint64_t hdf5_address(hdf5 *h, uint64_t at); /* HDF5_NONE: undefined */
uint64_t hdf5_length(hdf5 *h, uint64_t at);
str hdf5_text(hdf5 *h, uint64_t at, uint64_t n);
bool hdf5_is(hdf5 *h, uint64_t at, const char *signature); /* four letters */
void hdf5_fail(hdf5 *h, uint64_t at, const char *what);
void hdf5_refuse(hdf5 *h, uint64_t at, const char *what);

hdf5_header hdf5_read_header(hdf5 *h, uint64_t at);
const hdf5_message *hdf5_message_of(const hdf5_header *o, unsigned type); /* the first, or NULL */

typedef struct hdf5_type {
    unsigned cls; /* of the format */
    unsigned size;
    bool vlen_text, big_endian;
    ir_dtype dtype;
} hdf5_type;
enum {
    HDF5_CLASS_INT,
    HDF5_CLASS_FLOAT,
    HDF5_CLASS_TEXT = 3,
    HDF5_CLASS_ENUM = 8,
    HDF5_CLASS_VLEN
};

hdf5_type hdf5_read_type(hdf5 *h, uint64_t at, uint64_t n);
/* Rank and dims; rank -1: a null dataspace, which has no elements. */
int hdf5_read_space(hdf5 *h, uint64_t at, uint64_t n, int64_t dims[HDF5_MAX_RANK]);

#endif

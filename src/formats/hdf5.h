/* The part of HDF5 that files of Keras use: groups, attributes and the places of data sets.
 *
 *     superblock     versions 0 to 3, at the beginning of the file
 *     object header  versions 1 and 2 ("OHDR"), with continuation blocks
 *     groups         symbol tables (B-tree 1, "SNOD" nodes, local heap), or links in the object header
 *     attributes     texts and lists of texts, of fixed or variable length (global heap)
 *     data sets      type, shape and storage: compact, contiguous or in chunks; filters are noticed
 *
 * Reference: "HDF5 File Format Specification Version 3.0", The HDF Group.
 *
 * Data is not read here: a data set tells where its bytes lie if they lie in one piece. Groups and attributes in fractal
 * heaps (more than 8 of them in files of "libver='latest'"), external files and committed types are refused or reported
 * as unknown.
 *
 * Failure is sticky and fills the error: lists are then empty, texts have p == NULL. Everything is in the arena.
 */
#ifndef FORMATS_HDF5_H
#define FORMATS_HDF5_H

#include "base/source.h"
#include "base/vec.h"
#include "ir/dtype.h"

enum {
    HDF5_MAX_RANK = 32,
    HDF5_MAX_LINKS = 1 << 20,    /* of all groups that are listed */
    HDF5_MAX_MESSAGES = 1 << 16, /* of one object */
    HDF5_MAX_TEXT = 256 << 20,
};

typedef struct hdf5 {
    source *src;
    uint64_t start, size; /* the HDF5 file within the source */
    arena *a;
    assay_error *err;
    unsigned n_offset, n_length; /* bytes of addresses and of sizes */
    uint64_t root;               /* object header of the root group */
    uint32_t n_links;
    bool failed;
} hdf5;

typedef struct hdf5_link {
    str name;
    uint64_t at; /* object header */
} hdf5_link;
typedef struct hdf5_links {
    VEC(hdf5_link) list;
} hdf5_links;

typedef enum hdf5_place { HDF5_NOWHERE, HDF5_ONE_PIECE, HDF5_CHUNKS } hdf5_place;

typedef struct hdf5_data {
    bool is_data;   /* false: the object is a group */
    ir_dtype dtype; /* IR_UNDEFINED: of another kind, as compound ones */
    bool big_endian;
    int rank;
    int64_t dims[HDF5_MAX_RANK];
    hdf5_place place;
    bool filtered;
    uint64_t offset, length; /* of HDF5_ONE_PIECE, in the source */
} hdf5_data;

typedef struct hdf5_texts {
    VEC(str) list;
    bool there;
} hdf5_texts;

/* Of `size` bytes at `start` of the source. */
assay_status hdf5_open(hdf5 *h, source *src, uint64_t start, uint64_t size, arena *a,
                       assay_error *err);
/* The links of a group, sorted by name as the file has them. */
hdf5_links hdf5_list(hdf5 *h, uint64_t group);
/* The object of that name within a group; UINT64_MAX: none. */
uint64_t hdf5_find(hdf5 *h, uint64_t group, str name);
/* The same of a path with slashes. */
uint64_t hdf5_find_path(hdf5 *h, uint64_t group, const char *path);
hdf5_data hdf5_describe(hdf5 *h, uint64_t object);
/* All texts of an attribute: one for a scalar. there is false if there is no such attribute, or it holds no texts. */
hdf5_texts hdf5_attribute(hdf5 *h, uint64_t object, const char *name);
/* err's code after a failure. */
assay_status hdf5_status(const hdf5 *h);

#endif

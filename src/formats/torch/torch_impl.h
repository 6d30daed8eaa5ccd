/* What the parts of the reader of PyTorch's files share. */
#ifndef FORMATS_TORCH_IMPL_H
#define FORMATS_TORCH_IMPL_H

#include "base/sbuf.h"
#include "formats/foreign.h"
#include "formats/pickle.h"
#include "formats/torch/torch.h"
#include "formats/zip.h"

/* A tensor of the older form, whose storage lies behind the pickles. */
typedef struct torch_place {
    uint32_t item, storage; /* in the set; in `lengths` */
} torch_place;

typedef struct torch_file {
    source *src;
    const char *shown;
    arena *scratch; /* of the pickles and the directory */
    weight_set *set;
    uint32_t file;
    const zip_directory *zip; /* NULL: of the older form, or a plain pickle */
    map storages;             /* of the older form: those met so far, by key */
    VEC(uint64_t) lengths;    /* theirs in bytes */
    uint64_t storage_bytes;   /* all of them, with the length before each */
    VEC(torch_place) places;  /* of their tensors */
    str root;                 /* folder within the archive, with its slash */
    bool plain;               /* what pickle.dump writes */
    bool has_tensors;   /* a global is of torch; else a plain pickle's arrays of NumPy are listed */
    bool has_strangers; /* a global is of another package */
    assay_error *err;
} torch_file;

/* What is being walked of an object; path is the name of the part. */
typedef struct torch_walker {
    torch_file *f;
    map shared; /* parts of storages that a parameter or buffer has already */
    sbuf path;
    int depth;
    bool constants;   /* those of TorchScript, which have a folder of their own */
    weight_role role; /* of what is found; WEIGHT_ROLE_UNTOLD: by name and type */
} torch_walker;

/* Adds the tensor that these arguments rebuild. */
assay_status torch_add_tensor(torch_walker *w, const pickle_value *args);
/* Adds an array of NumPy, if the value is one. */
assay_status torch_add_array(torch_walker *w, const pickle_value *v, bool *is_array);
/* ASSAY_ERR_MALFORMED: what is wrong with the tensor that the path names. */
assay_status torch_fail_tensor(torch_walker *w, const char *what);

/* Lists the tensors of an object. `prefix` comes before their names. */
assay_status torch_list(torch_file *f, pickle_value *object, str prefix);
/* Notes the globals that a checkpoint does not need, and whether some rebuild tensors. */
assay_status torch_note_globals(torch_file *f, pickle_value *object);

/* Notes the table of layers of Ultralytics' models (ultralytics.c). */
assay_status torch_describe(torch_file *f, const pickle_value *object);

/* Lists an archive of torch.save that is `size` bytes of a source, under file number `file` of the set. */
assay_status torch_read_within(source *src, uint64_t at, uint64_t size, uint32_t file,
                               weight_set *set, assay_error *err);

/* A constant of the graph that is a tensor of the archive; flags are IR_VALUE_*. */
assay_status torch_constant(foreign *f, struct bound_files *files, const weight_item *x,
                            uint32_t flags, ir_id *id);

/* Notes the layers of a whole module, or why they are not evident (torch_modules.c). */
assay_status torch_read_modules(torch_file *f, const pickle_value *root);

/* The module that an object is, or has as its model; NULL if it is none. */
const pickle_value *torch_whole_module(const pickle_value *root);

#endif

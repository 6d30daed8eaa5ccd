/* What the parts of the reader of PyTorch's files share. */
#ifndef FORMATS_TORCH_IMPL_H
#define FORMATS_TORCH_IMPL_H

#include "formats/pickle.h"
#include "formats/torch/torch.h"
#include "formats/zip.h"

typedef struct torch_file {
    source *src;
    const char *shown;
    arena *scratch; /* of the pickles and the directory */
    weight_set *set;
    uint32_t file;
    const zip_directory *zip; /* NULL: of the older form */
    map storages;             /* of the older form: those met so far */
    uint64_t storage_bytes;   /* theirs, with the length before each */
    str root;                 /* folder within the archive, with its slash */
    assay_error *err;
} torch_file;

/* Lists the tensors of an object. `prefix` comes before their names. */
assay_status torch_list(torch_file *f, pickle_value *object, str prefix);
/* Notes the globals that a checkpoint does not need. */
assay_status torch_note_globals(torch_file *f, pickle_value *object);

#endif

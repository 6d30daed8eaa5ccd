/* The table of model formats, and detection of the format of a file. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "base/error.h"
#include "base/str.h"
#include "formats/foreign.h"
#include "formats/zip.h"

typedef enum format_reader {
    FORMAT_NOT_READ, /* recognised and refused */
    FORMAT_ONNX,
    FORMAT_CONFIG, /* describes a built-in architecture: model_config.h */
    FORMAT_SAFETENSORS,
    FORMAT_GGUF,
    FORMAT_TORCH,   /* torch.save and torch.jit.save */
    FORMAT_FOREIGN, /* a graph of other operators, which `read` of the row converts */
    FORMAT_READERS
} format_reader;

typedef struct format_row {
    const char *name;
    const char *suffix; /* NULL: told by its content alone */
    format_reader reader;
    const char *magic; /* bytes of its beginning, or NULL */
    uint32_t n_magic, at;
    const char *within;    /* what its first FORMAT_HEAD bytes hold beside the magic; or NULL */
    bool container;        /* several formats look like this: a suffix says more */
    bool packed;           /* it comes in such a container, whose content its reader looks at */
    foreign_read_fn *read; /* FORMAT_FOREIGN */
    bool (*inside)(
        const zip_directory *z); /* archives that only their directory tells apart; or NULL */
    bool weights;     /* where its code has no graph that is read, it is a file of weights */
    const char *what; /* what the file is, for those that are not read */
    const char *todo; /* what to do with it, then */
} format_row;

enum { FORMAT_PATH = 4096 }; /* bytes of a path within a folder */
enum { FORMAT_HEAD = 512 };  /* bytes that tell what a file is */

/* NULL when the suffix says nothing. */
const format_row *format_by_suffix(str path);
/* By the first n bytes of `size`, at most FORMAT_HEAD: magic bytes, then structure. NULL when they say nothing. */
const format_row *format_by_content(const void *head, uint64_t n, uint64_t size);
/* By content, then by suffix. *out is NULL when neither says anything. Fails if the file cannot be read; one that is not
 * there goes by its suffix. */
assay_status format_of_file(const char *path, const format_row **out, assay_error *err);
/* By content alone. Fails if memory runs out. */
assay_status format_of_bytes(const void *bytes, uint64_t n, const format_row **out,
                             assay_error *err);
/* The file of a format that is a folder (.mlpackage), that a reader of the table reads; false: it is none of them. */
bool format_inside(const char *folder, char *path, size_t room);
/* The model of a file that a FORMAT_FOREIGN row reads. */
assay_status format_read(const format_row *f, const char *path, size_t limit, ir_model **out,
                         assay_error *err);
/* The same of bytes, which are borrowed as long as the model lives. */
assay_status format_read_bytes(const format_row *f, const void *bytes, uint64_t n, size_t limit,
                               ir_model **out, assay_error *err);
/* ASSAY_ERR_UNSUPPORTED: what the file is and what to do with it. */
assay_status format_refuse(const format_row *f, const char *path, assay_error *err);

/* Where a result is read: ASSAY_ERR_MALFORMED if the bytes are those of a model or another file that is no result. */
assay_status format_refuse_model(str text, const char *shown, assay_error *err);

#endif

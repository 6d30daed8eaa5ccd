/* The files of data/, compiled in. The table is generated at build time by tools/embed; names are
 * relative to data/, and the row after the last has a NULL name.
 */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *name;
    const char *data; /* followed by a NUL that is not counted */
    size_t size;
} embedded_file;

extern const embedded_file embedded_files[];
/* "page.html" and "licenses.txt" that tools/web made of web/, both empty when this machine could not; and "sbom.json"
 * of tools/sbom. */
extern const embedded_file embedded_page[];

#endif

/* Shared by file.c and file_out.c. */
#ifndef BASE_FILE_IMPL_H
#define BASE_FILE_IMPL_H

#include "base/file.h"

/* open() that is not ended by a signal; a new file may be read and written by all that the mask allows. */
int file_open(const char *path, int flags);
/* "path: cannot WHAT: why", for an errno. */
assay_status file_fail(const char *path, const char *what, int error, assay_error *err);

#endif

/* Files for a confined process (sandbox.h), which cannot open any: it asks a process that can, over a socket, and is
 * given descriptors for reading. base/file.c does so by itself once broker_use() was called; no other code knows.
 *
 * A request is a header and a path; a reply is a header, a descriptor for the request to open (SCM_RIGHTS), and the
 * names for a request to list. The process that answers decides what may be read: broker_policy. A request for
 * anything else fails with EACCES, and is remembered: the answer of such a process would lack something without
 * saying so, and its caller refuses it. Files that are in memory are handed out as descriptors too (memfd_create).
 */
#ifndef BASE_BROKER_H
#define BASE_BROKER_H

#include <sys/stat.h>

#include "base/sbuf.h"

enum { BROKER_LIST_MOST = 1 << 20 }; /* bytes of the names in a folder */

/* ---- in the process that asks ---- */

/* From now on this process asks over `socket`. Before it is confined it may open the model (NULL: none) by itself, for
 * which it then need not ask. */
void broker_use(int socket, const char *model);
bool broker_used(void);
/* As stat(), open() for reading, and file_leaves_folder(); -1: errno says why. */
int broker_stat(const char *path, struct stat *out);
int broker_open(const char *path);
bool broker_leaves_folder(const char *folder, const char *path);
/* The names in a folder without hidden ones, each ended by NUL; an errno, or 0. */
int broker_list(const char *folder, sbuf *names);

/* ---- in the process that answers ---- */

/* A file that exists for the asking process alone. */
typedef struct broker_file {
    const char *path; /* relative, such as "folder/model.xml" */
    const void *bytes;
    uint64_t n;
} broker_file;

typedef struct broker_policy {
    const char
        *model; /* a file or folder; what lies in its folder may be read too. NULL: nothing */
    const char *const *files; /* these too */
    size_t n_files;
    const broker_file *memory; /* in place of the model's folder: no other file exists */
    size_t n_memory;
    sbuf refused; /* the first path that was refused; the caller frees */
} broker_policy;

/* Answers one request; false when there are no more. */
bool broker_answer(int socket, broker_policy *policy);

#endif

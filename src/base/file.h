/* Files. Only this room opens them. Output is written to a temporary file and renamed, so that an existing file is
 * replaced completely or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

typedef struct file_info {
    bool exists, is_dir, is_regular;
    uint64_t size;
    int64_t mtime_ns;
} file_info;

/* Never fails: a path that cannot be examined does not exist. */
file_info file_stat(const char *path);

/* Refuses what is there and no regular file: reading a pipe would wait for ever. For names that a folder or file
 * of somebody else's gives. */
assay_status file_check_regular(const char *path, assay_error *err);
/* Why the file cannot be opened for reading and writing, as an errno; 0 if it can. */
int file_open_error(const char *path);
/* Whether the file, by links, is not in the directory that `path` names it in. A cache of the Hugging Face hub (blobs/
 * beside snapshots/, of one owner) counts as one directory. True for what is not there. */
bool file_leaves_folder(const char *folder, const char *path);

/* Opens a regular file for reading; directories, pipes and devices are refused with a sentence. */
assay_status file_open_read(const char *path, int *fd, uint64_t *size, assay_error *err);
/* The names in a directory without hidden ones, sorted, in the arena. */
assay_status file_list(const char *folder, arena *a, str **names, uint32_t *n, assay_error *err);
/* Free for this user on the disk that the path is or would be on; UINT64_MAX: not reported, or a device or pipe. */
uint64_t file_free_bytes(const char *path);
/* A path cut in its middle so that it fits into a sentence. */
#define FILE_SHOWN 256
const char *file_shown(const char *path, char buf[FILE_SHOWN]);
/* The same until the end of the block. */
#define FILE_NAME(path) file_shown((path), (char[FILE_SHOWN]){0})

/* Reads a whole file of at most max_bytes into the arena, NUL-terminated. */
assay_status file_read_all(const char *path, uint64_t max_bytes, arena *a, str *out,
                           assay_error *err);
/* The same with a limit of limits.h, which the error names. */
assay_status file_read_limited(const char *path, limit_id limit, arena *a, str *out,
                               assay_error *err);
/* Reads the beginning of a small file (of /proc or /sys) into buf of cap bytes, NUL-terminated, without
 * touching the heap. Its length, or -1 when it cannot be read. */
int64_t file_read_small(const char *path, char *buf, size_t cap);

/* A new directory of our own in $TMPDIR (or where the system keeps such); malloc'ed path, *out takes. */
assay_status file_temp_folder(char **out, assay_error *err);
/* Removes a directory and the files in it (no directories below). */
void file_remove_folder(const char *path);
/* The same of a directory of file_temp_folder(), whose path is freed; NULL: nothing. */
void file_drop_folder(char *path);
void file_remove(const char *path);

/* An output that is opened before the work and appears at `path` only when committed. Parent directories are created.
 * Devices and pipes (/dev/stdout) are written straight. */
typedef struct file_out file_out;
assay_status file_out_open(const char *path, file_out **out, assay_error *err);
assay_status file_out_write(file_out *f, const void *p, size_t n, assay_error *err);
/* Seeks forward leaving a hole (sparse), for external data. */
assay_status file_out_hole(file_out *f, uint64_t n, assay_error *err);
/* Hands what was written to the system. */
assay_status file_out_flush(file_out *f, assay_error *err);
assay_status file_out_commit(file_out *f, assay_error *err); /* frees f in any case */
/* All of them or none; frees all in any case. */
assay_status file_out_commit_all(file_out **files, size_t n, assay_error *err);
/* Adds to the end of a file, which is made if it does not exist. */
assay_status file_append(const char *path, const void *p, size_t n, assay_error *err);
/* Makes the directories that a path needs before its last part. */
assay_status file_make_parents(const char *path, assay_error *err);
void file_out_abandon(file_out *f); /* removes the temporary; NULL fine */

#endif

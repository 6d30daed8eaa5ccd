/* Faults on request: the n-th allocation, read, write, ... of the program fails. Only the build `faults` has
 * this file; there the linker (--wrap) gives every call of the functions below to the wrapper here, also the
 * calls of the static libraries: SQLite, zlib, libpng, libjpeg. CMakeLists.txt takes the names from the lines
 * that begin with WRAP.
 *
 *   ASSAY_FAULT=KIND:N        the N-th call of the kind fails, once
 *   ASSAY_FAULT=KIND:N+       so do all calls behind it
 *   ASSAY_FAULT_TRY=WHAT      a confined process (sandbox.h) tries what is forbidden: open, socket or exec
 *   ASSAY_FAULT_COUNT=FILE    at the end, the calls of every kind are written there: "memory 52"
 *
 * A kind is a row of `kinds`. `interrupt` and `short` are no failures: a call was interrupted by a signal, or
 * did half of its work, and the outcome must be the same. tests/python/check_faults.py asks for every N.
 * What libc allocates or reads for itself (stdio, locales) is not reached.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum fault_kind {
    MEMORY,
    OPEN,
    READ,
    WRITE,
    SYNC,
    RENAME,
    SQLITE,
    POSTGRES,
    INTERRUPT,
    SHORT,
    KINDS
} fault_kind;

typedef struct kind_row {
    const char *name;
    int error;
} kind_row;

static const kind_row kinds[KINDS] = {
    [MEMORY] = {"memory", ENOMEM}, [OPEN] = {"open", EMFILE},    [READ] = {"read", EIO},
    [WRITE] = {"write", ENOSPC},   [SYNC] = {"sync", EIO},       [RENAME] = {"rename", EPERM},
    [SQLITE] = {"sqlite", 0},      [POSTGRES] = {"postgres", 0}, [INTERRUPT] = {"interrupt", EINTR},
    [SHORT] = {"short", 0},
};

enum { SQLITE_NO_MEMORY = 7 }; /* SQLITE_NOMEM; sqlite3.h is for store/ only */

static atomic_ullong calls[KINDS];
static fault_kind wanted = KINDS;
static unsigned long long wanted_call;
static bool wanted_from_there;

__attribute__((constructor)) static void read_wish(void)
{
    const char *wish = getenv("ASSAY_FAULT"), *colon = wish ? strchr(wish, ':') : NULL;
    char *end = NULL;
    for (int k = 0; colon && k < KINDS; k++)
        if (strlen(kinds[k].name) == (size_t)(colon - wish) &&
            strncmp(wish, kinds[k].name, (size_t)(colon - wish)) == 0)
            wanted = (fault_kind)k;
    if (colon)
        wanted_call = strtoull(colon + 1, &end, 10);
    wanted_from_there = end && *end == '+';
}

static bool fails(fault_kind k)
{
    unsigned long long call = atomic_fetch_add(&calls[k], 1) + 1;
    if (k != wanted || call < wanted_call || (call > wanted_call && !wanted_from_there))
        return false;
    errno = kinds[k].error ? kinds[k].error : errno;
    return true;
}

/* A wrapper by hand, and one that fails with `failed` or calls the function. */
#define WRAPPED(name, type, params) \
    type __real_##name params;      \
    type __wrap_##name params;      \
    type __wrap_##name params
#define WRAP(name, kind, type, params, args, failed)        \
    WRAPPED(name, type, params)                             \
    {                                                       \
        return fails(kind) ? (failed) : __real_##name args; \
    }

/* SQLite calls its own functions, too: those calls are not ours to fail. */
static _Thread_local int inside_sqlite;
#define WRAP_SQLITE(name, params, args)      \
    WRAPPED(name, int, params)               \
    {                                        \
        if (!inside_sqlite && fails(SQLITE)) \
            return SQLITE_NO_MEMORY;         \
        inside_sqlite++;                     \
        int code = __real_##name args;       \
        inside_sqlite--;                     \
        return code;                         \
    }

/* clang-format off */
WRAP(malloc, MEMORY, void *, (size_t n), (n), NULL)
WRAP(calloc, MEMORY, void *, (size_t n, size_t size), (n, size), NULL)
WRAP(realloc, MEMORY, void *, (void *p, size_t n), (p, n), NULL)
WRAP(aligned_alloc, MEMORY, void *, (size_t align, size_t n), (align, n), NULL)
WRAP(posix_memalign, MEMORY, int, (void **p, size_t align, size_t n), (p, align, n), ENOMEM)
WRAP(strdup, MEMORY, char *, (const char *s), (s), NULL)
WRAP(realpath, MEMORY, char *, (const char *path, char *to), (path, to), NULL)
WRAP(opendir, OPEN, DIR *, (const char *path), (path), NULL)
WRAP(fopen, OPEN, FILE *, (const char *path, const char *mode), (path, mode), NULL)
WRAP(readdir, READ, struct dirent *, (DIR *d), (d), NULL)
WRAP(fread, READ, size_t, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), 0)
WRAP(mkdir, WRITE, int, (const char *path, mode_t mode), (path, mode), -1)
WRAP(mkdtemp, WRITE, char *, (char *path), (path), NULL)
WRAP(ftruncate, WRITE, int, (int fd, off_t n), (fd, n), -1)
WRAP(ftruncate64, WRITE, int, (int fd, off64_t n), (fd, n), -1)
WRAP(fsync, SYNC, int, (int fd), (fd), -1)
WRAP(fdatasync, SYNC, int, (int fd), (fd), -1)
WRAP(rename, RENAME, int, (const char *from, const char *to), (from, to), -1)
WRAP(postgres_connect, POSTGRES, void *, (const void *pq, const void *keys, const void *values), (pq, keys, values), NULL)
WRAP(postgres_sent, POSTGRES, bool, (const void *pq, int sent), (pq, sent), false)
WRAP(postgres_received, POSTGRES, bool, (const void *pq, void *c), (pq, c), false)
WRAP_SQLITE(sqlite3_prepare_v2, (void *db, const char *sql, int n, void **q, const char **tail),
            (db, sql, n, q, tail))
WRAP_SQLITE(sqlite3_exec, (void *db, const char *sql, void *row, void *ctx, char **why),
            (db, sql, row, ctx, why))
WRAP_SQLITE(sqlite3_step, (void *q), (q))
WRAP_SQLITE(sqlite3_bind_int64, (void *q, int at, long long v), (q, at, v))
WRAP_SQLITE(sqlite3_bind_double, (void *q, int at, double v), (q, at, v))
WRAP_SQLITE(sqlite3_bind_null, (void *q, int at), (q, at))
WRAP_SQLITE(sqlite3_bind_text, (void *q, int at, const char *p, int n, void *own), (q, at, p, n, own))
WRAP_SQLITE(sqlite3_bind_blob64, (void *q, int at, const void *p, unsigned long long n, void *own),
            (q, at, p, n, own))
/* clang-format on */

WRAPPED(sqlite3_open_v2, int, (const char *path, void **db, int flags, const char *vfs))
{
    *db = NULL;
    return fails(SQLITE) ? SQLITE_NO_MEMORY : __real_sqlite3_open_v2(path, db, flags, vfs);
}

/* A mapping is an allocation, or a read of a file; both may be told that there is no memory. */
WRAPPED(mmap, void *, (void *at, size_t n, int how, int flags, int fd, off_t from))
{
    return fails(MEMORY) ? MAP_FAILED : __real_mmap(at, n, how, flags, fd, from);
}

WRAPPED(mmap64, void *, (void *at, size_t n, int how, int flags, int fd, off64_t from))
{
    return fails(MEMORY) ? MAP_FAILED : __real_mmap64(at, n, how, flags, fd, from);
}

WRAPPED(asprintf, int, (char **to, const char *format, ...))
{
    va_list ap;
    if (fails(MEMORY))
        return -1;
    va_start(ap, format);
    int n = vasprintf(to, format, ap);
    va_end(ap);
    return n;
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & O_CREAT ? va_arg(ap, mode_t) : 0;
}

WRAPPED(open, int, (const char *path, int flags, ...))
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails(OPEN) || fails(INTERRUPT) ? -1 : __real_open(path, flags, mode);
}

WRAPPED(open64, int, (const char *path, int flags, ...))
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails(OPEN) || fails(INTERRUPT) ? -1 : __real_open64(path, flags, mode);
}

WRAPPED(fflush, int, (FILE * f))
{
    return f && __fpending(f) && fails(WRITE) ? EOF : __real_fflush(f);
}

/* Half of what was requested, but something. */
static size_t maybe_less(size_t n)
{
    return n > 1 && fails(SHORT) ? n / 2 : n;
}

WRAPPED(read, ssize_t, (int fd, void *p, size_t n))
{
    return fails(READ) || fails(INTERRUPT) ? -1 : __real_read(fd, p, maybe_less(n));
}

WRAPPED(pread, ssize_t, (int fd, void *p, size_t n, off_t from))
{
    return fails(READ) || fails(INTERRUPT) ? -1 : __real_pread(fd, p, maybe_less(n), from);
}

WRAPPED(pread64, ssize_t, (int fd, void *p, size_t n, off64_t from))
{
    return fails(READ) || fails(INTERRUPT) ? -1 : __real_pread64(fd, p, maybe_less(n), from);
}

WRAPPED(write, ssize_t, (int fd, const void *p, size_t n))
{
    return fails(WRITE) || fails(INTERRUPT) ? -1 : __real_write(fd, p, maybe_less(n));
}

WRAPPED(pwrite64, ssize_t, (int fd, const void *p, size_t n, off64_t at))
{
    return fails(WRITE) || fails(INTERRUPT) ? -1 : __real_pwrite64(fd, p, maybe_less(n), at);
}

WRAPPED(sandbox_enter, int, (int out, int broker, void *err))
{
    static char *const words[] = {NULL};
    const char *what = getenv("ASSAY_FAULT_TRY");
    int status = __real_sandbox_enter(out, broker, err);
    if (what && strcmp(what, "open") == 0)
        __real_open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    if (what && strcmp(what, "socket") == 0)
        socket(AF_INET, SOCK_STREAM, 0);
    if (what && strcmp(what, "exec") == 0)
        execve("/bin/true", words, words);
    return status;
}

__attribute__((destructor)) static void write_counts(void)
{
    char text[64];
    const char *path = getenv("ASSAY_FAULT_COUNT");
    int fd = path ? __real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    for (int k = 0; fd >= 0 && k < KINDS; k++) {
        int n = snprintf(text, sizeof text, "%s %llu\n", kinds[k].name, atomic_load(&calls[k]));
        if (__real_write(fd, text, (size_t)n) != n)
            return;
    }
}

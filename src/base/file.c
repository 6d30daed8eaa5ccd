/* Files. Only this file opens them.
 *
 * An output is a hidden temporary beside its target, opened with O_EXCL and a fresh name, and
 * renamed over the target when it is complete. What is no regular file (a device, a pipe, a
 * descriptor by its /dev name) cannot be replaced and is written straight.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/sbuf.h"
#include "base/vec.h"

const char *file_shown(const char *path, char buf[FILE_SHOWN])
{
    static const char dots[] = "\xe2\x80\xa6";
    size_t n = strlen(path), half = (FILE_SHOWN - sizeof dots) / 2;
    if (n < FILE_SHOWN) {
        memcpy(buf, path, n + 1);
        return buf;
    }
    size_t head = half, tail = n - half;
    while (head > 0 && ((unsigned char)path[head] & 0xc0) == 0x80)
        head--;
    while (tail < n && ((unsigned char)path[tail] & 0xc0) == 0x80)
        tail++;
    memcpy(buf, path, head);
    memcpy(buf + head, dots, sizeof dots - 1);
    memcpy(buf + head + sizeof dots - 1, path + tail, n - tail + 1);
    return buf;
}

file_info file_stat(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (file_info){0};
    return (file_info){
        .exists = true,
        .is_dir = S_ISDIR(st.st_mode),
        .is_regular = S_ISREG(st.st_mode),
        .size = st.st_size > 0 ? (uint64_t)st.st_size : 0,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
}

static assay_status fail_file(const char *path, const char *what, int error, assay_error *err)
{
    char name[FILE_SHOWN];
    file_shown(path, name);
    if (!*path)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "empty file name");
    if (error == ENOENT || error == ENOTDIR)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: no such file", name);
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot %s: %s", name, what,
                          strerror(error));
}

/* ---- reading --------------------------------------------------------------------------------- */

static assay_status refuse_kind(const char *path, mode_t mode, assay_error *err)
{
    char name[FILE_SHOWN];
    file_shown(path, name);
    if (S_ISDIR(mode))
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: is a folder. Name a file in it.", name);
    if (S_ISFIFO(mode) || S_ISSOCK(mode))
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%s: is a pipe and not seekable. Save it as a file, or pass it on standard "
                        "input with '-'.",
                        name);
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: is a device, not a regular file", name);
}

assay_status file_open_read(const char *path, int *fd, uint64_t *size, assay_error *err)
{
    struct stat st;
    *fd = -1;
    if (stat(path, &st) != 0)
        return fail_file(path, "open", errno, err);
    if (!S_ISREG(st.st_mode)) /* before open(), which may block or act on a device */
        return refuse_kind(path, st.st_mode, err);
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (opened < 0)
        return fail_file(path, "open", errno, err);
    if (fstat(opened, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(opened);
        return refuse_kind(path, st.st_mode, err);
    }
    *fd = opened;
    *size = (uint64_t)st.st_size;
    return ASSAY_OK;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

assay_status file_list(const char *folder, arena *a, str **names, uint32_t *n, assay_error *err)
{
    VEC(str) list = {0};
    DIR *dir = opendir(folder);
    bool good = true;
    *n = 0;
    if (!dir)
        return fail_file(folder, "open", errno, err);
    for (struct dirent *e; good && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        str name = str_copy(a, str_of(e->d_name)), *slot = VEC_PUSH(a, &list);
        good = name.p && slot;
        if (good)
            *slot = name;
    }
    closedir(dir);
    if (!good)
        return err_no_memory(err);
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_name);
    *names = list.items;
    *n = list.n;
    return ASSAY_OK;
}

typedef struct growing {
    char *p;
    size_t n, cap;
} growing;

static bool make_room(growing *g, uint64_t max_bytes)
{
    size_t cap = g->cap ? g->cap * 2 : 64 << 10;
    if (g->n < g->cap)
        return true;
    if (cap / 2 > max_bytes) /* one byte past the maximum is enough to see that there is more */
        cap = (size_t)max_bytes + 1 > g->n ? (size_t)max_bytes + 1 : g->n + 1;
    char *p = realloc(g->p, cap);
    if (!p)
        return false;
    g->p = p;
    g->cap = cap;
    return true;
}

static assay_status read_to_end(int fd, const char *name, uint64_t max_bytes, growing *g,
                                assay_error *err)
{
    for (;;) {
        if (g->n > max_bytes)
            return err_fail(err, ASSAY_ERR_MALFORMED,
                            "%s: larger than the limit of %" PRIu64 " bytes", name, max_bytes);
        if (!make_room(g, max_bytes))
            return err_no_memory(err);
        ssize_t got = read(fd, g->p + g->n, g->cap - g->n);
        if (got == 0)
            return ASSAY_OK;
        if (got < 0 && errno != EINTR)
            return fail_file(name, "read", errno, err);
        g->n += got > 0 ? (size_t)got : 0;
    }
}

static assay_status copy_into_arena(arena *a, const growing *g, str *out, assay_error *err)
{
    *out = str_copy(a, (str){g->p, (uint32_t)g->n});
    return out->p ? ASSAY_OK : err_no_memory(err);
}

/* The size that the system tells is not trusted: files under /sys and /proc have a wrong one. */
assay_status file_read_all(const char *path, uint64_t max_bytes, arena *a, str *out,
                           assay_error *err)
{
    char name[FILE_SHOWN];
    growing g = {0};
    struct stat st;
    *out = (str){NULL, 0};
    if (max_bytes > UINT32_MAX - 1)
        max_bytes = UINT32_MAX - 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail_file(path, "open", errno, err);
    assay_status status = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)
                              ? refuse_kind(path, st.st_mode, err)
                              : read_to_end(fd, file_shown(path, name), max_bytes, &g, err);
    close(fd);
    if (status == ASSAY_OK)
        status = copy_into_arena(a, &g, out, err);
    free(g.p);
    return status;
}

int64_t file_read_small(const char *path, char *buf, size_t cap)
{
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || cap == 0)
        return -1;
    for (ssize_t got = 1; got != 0 && n + 1 < cap; n += got > 0 ? (size_t)got : 0) {
        got = read(fd, buf + n, cap - 1 - n);
        if (got < 0 && errno != EINTR)
            break;
    }
    close(fd);
    buf[n] = '\0';
    return (int64_t)n;
}

/* ---- temporary folders ----------------------------------------------------------------------- */

assay_status file_temp_folder(char **out, assay_error *err)
{
    const char *base = secure_getenv("TMPDIR");
    if (!base || !*base)
        base = P_tmpdir;
    if (asprintf(out, "%s/assay-XXXXXX", base) < 0) {
        *out = NULL;
        return err_no_memory(err);
    }
    if (mkdtemp(*out))
        return ASSAY_OK;
    assay_status s = err_fail_errno(
        err, ASSAY_ERR_SYSTEM, errno,
        "%.200s: cannot create a temporary folder: %s. Set TMPDIR to another folder.", base,
        strerror(errno));
    free(*out);
    *out = NULL;
    return s;
}

void file_remove(const char *path)
{
    unlink(path);
}

void file_remove_folder(const char *path)
{
    DIR *d = opendir(path);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(path);
}

void file_drop_folder(char *path)
{
    if (path)
        file_remove_folder(path);
    free(path);
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { BUFFER = 64 << 10, NAME_TRIES = 100 };

struct file_out {
    int fd;
    uint64_t pos; /* bytes written and skipped, those in the buffer included */
    char *target; /* NULL when written straight */
    char *temporary;
    char *shown;
    size_t n;
    char buffer[BUFFER];
};

static void out_free(file_out *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->target);
    free(f->temporary);
    free(f->shown);
    free(f);
}

void file_out_abandon(file_out *f)
{
    if (!f)
        return;
    if (f->temporary)
        unlink(f->temporary);
    out_free(f);
}

/* Creates every folder on the way to path. One that is there already is fine. */
static int make_parents(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return ENOMEM;
    int error = 0;
    for (char *slash = strchr(copy + 1, '/'); slash && !error; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST && !file_stat(copy).is_dir)
            error = errno;
        *slash = '/';
    }
    free(copy);
    return error;
}

/* Opens a new file beside the target. Its name does not hold the target's, which may be as long as
 * the system allows. */
static int open_temporary(const char *target, char **name)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    rng r;
    rng_seed(&r, clock_mono_ns() ^ (uint64_t)getpid() << 32);
    for (int i = 0; i < NAME_TRIES; i++) {
        if (asprintf(name, "%.*s.assay-%016" PRIx64 ".tmp", folder, target, rng_next(&r)) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int error = errno;
        free(*name);
        *name = NULL;
        errno = error;
        if (error != EEXIST)
            return -1;
    }
    return -1;
}

/* /dev/stdout and its like are the open descriptor itself: opening them again would start a second
 * position in the same file. -1 when path is no such name. */
static int named_descriptor(const char *path)
{
    int fd, end = 0;
    if (strcmp(path, "/dev/stdout") == 0)
        return 1;
    if (strcmp(path, "/dev/stderr") == 0)
        return 2;
    if (sscanf(path, "/dev/fd/%9d%n", &fd, &end) == 1 && path[end] == '\0' && fd >= 0)
        return fd;
    return -1;
}

static int open_straight(const char *path)
{
    int fd = named_descriptor(path);
    return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

/* A link is followed, so that the file it points at is replaced and not the link. */
static char *resolve_path(const char *path, bool exists)
{
    char *real = exists ? realpath(path, NULL) : NULL;
    return real ? real : strdup(path);
}

static assay_status open_beside(file_out *f, const char *path, const struct stat *st,
                                assay_error *err)
{
    if (st && access(path, W_OK) != 0)
        return fail_file(path, "replace", errno, err);
    f->target = resolve_path(path, st != NULL);
    if (!f->target)
        return err_no_memory(err);
    int error = st ? 0 : make_parents(path);
    if (!error) {
        f->fd = open_temporary(f->target, &f->temporary);
        error = f->fd < 0 ? errno : 0;
    }
    if (error)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot write: %s", f->shown,
                              strerror(error));
    if (st && fchmod(f->fd, st->st_mode & 07777) != 0)
        return fail_file(path, "write", errno, err);
    return ASSAY_OK;
}

static assay_status open_for(file_out *f, const char *path, assay_error *err)
{
    struct stat st;
    size_t n = strlen(path);
    bool exists = stat(path, &st) == 0;
    if (n == 0)
        return err_fail(err, ASSAY_ERR_SYSTEM, "empty output file name");
    if ((exists && S_ISDIR(st.st_mode)) || path[n - 1] == '/')
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: is a folder. Name the output file in it.",
                        f->shown);
    if (named_descriptor(path) < 0 && (!exists || S_ISREG(st.st_mode)))
        return open_beside(f, path, exists ? &st : NULL, err);
    f->fd = open_straight(path);
    return f->fd < 0 ? fail_file(path, "write", errno, err) : ASSAY_OK;
}

assay_status file_out_open(const char *path, file_out **out, assay_error *err)
{
    char name[FILE_SHOWN];
    file_out *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return err_no_memory(err);
    f->fd = -1;
    f->shown = strdup(file_shown(path, name));
    assay_status status = f->shown ? open_for(f, path, err) : err_no_memory(err);
    if (status != ASSAY_OK)
        file_out_abandon(f);
    else
        *out = f;
    return status;
}

static assay_status write_all(file_out *f, const char *p, size_t n, assay_error *err)
{
    while (n > 0) {
        ssize_t done = write(f->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "%s: write failed: %s", f->shown,
                                  strerror(errno));
        p += done;
        n -= (size_t)done;
    }
    return ASSAY_OK;
}

static assay_status flush_buffer(file_out *f, assay_error *err)
{
    size_t n = f->n;
    f->n = 0;
    return write_all(f, f->buffer, n, err);
}

assay_status file_out_write(file_out *f, const void *p, size_t n, assay_error *err)
{
    f->pos += n;
    if (n > BUFFER - f->n)
        TRY(flush_buffer(f, err));
    if (n > BUFFER)
        return write_all(f, p, n, err);
    if (n)
        memcpy(f->buffer + f->n, p, n);
    f->n += n;
    return ASSAY_OK;
}

/* A pipe has no holes: it gets the zeros that a reader of the file would see. */
static assay_status write_zeros(file_out *f, uint64_t n, assay_error *err)
{
    static const char zeros[4096] = {0};
    for (; n > 0; n -= n < sizeof zeros ? n : sizeof zeros)
        TRY(file_out_write(f, zeros, n < sizeof zeros ? (size_t)n : sizeof zeros, err));
    return ASSAY_OK;
}

assay_status file_out_hole(file_out *f, uint64_t n, assay_error *err)
{
    if (!f->temporary)
        return write_zeros(f, n, err);
    TRY(flush_buffer(f, err));
    if (n > INT64_MAX - f->pos || lseek(f->fd, (off_t)n, SEEK_CUR) < 0)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%s: write failed: a hole of %" PRIu64 " bytes is too large", f->shown, n);
    f->pos += n;
    return ASSAY_OK;
}

/* A hole at the end has no length until the file is told its own. */
static assay_status finish(file_out *f, assay_error *err)
{
    TRY(flush_buffer(f, err));
    bool failed = f->temporary && ftruncate(f->fd, (off_t)f->pos) != 0;
    failed = close(f->fd) != 0 || failed;
    f->fd = -1;
    if (failed || (f->temporary && rename(f->temporary, f->target) != 0))
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "%s: write failed: %s", f->shown,
                              strerror(errno));
    free(f->temporary);
    f->temporary = NULL;
    return ASSAY_OK;
}

assay_status file_out_commit(file_out *f, assay_error *err)
{
    assay_status status = finish(f, err);
    file_out_abandon(f);
    return status;
}

assay_status file_make_parents(const char *path, assay_error *err)
{
    int error = make_parents(path);
    return error ? fail_file(path, "write", error, err) : ASSAY_OK;
}

assay_status file_append(const char *path, const void *p, size_t n, assay_error *err)
{
    const char *at = p;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    ssize_t done = fd < 0 ? -1 : 0;
    while (done >= 0 && n > 0) {
        done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            done = 0;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    int error = done < 0 ? errno : 0;
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    return error ? fail_file(path, "write", error, err) : ASSAY_OK;
}

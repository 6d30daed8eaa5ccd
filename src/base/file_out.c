/* Output files. Only this file and file.c open files.
 *
 * An output is a hidden temporary file next to its target, opened with O_EXCL and a new name, and renamed to the
 * target when it is complete. A target that is not a regular file (a device, a pipe, a descriptor in /dev) cannot be
 * replaced and is written directly.
 *
 * Several outputs are committed together: each earlier content is kept under a hidden name until all of them are in
 * place, and put back if one cannot be. A process that is killed in between may leave some of them replaced: no call
 * of POSIX renames two files at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_impl.h"
#include "base/memory.h"
#include "base/rng.h"

enum { BUFFER = 64 << 10, NAME_TRIES = 100 };

struct file_out {
    int fd;
    uint64_t pos; /* bytes written and skipped, those in the buffer included */
    char *target; /* NULL when written straight */
    char *temporary;
    char *previous; /* hidden name of what was at the target, during a commit of several */
    bool placed;    /* renamed to the target */
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
    free(f->previous);
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

/* Creates every folder on the way to path. One that exists already is allowed. */
static int make_parents(const char *path)
{
    char *copy = memory_strdup(path);
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

/* Makes the file `name`; `target` is used if it helps. Returns -1 and sets errno after a failure. */
typedef int make_fn(const char *name, const char *target);

static int make_empty(const char *name, const char *target)
{
    (void)target;
    return file_open(name, O_WRONLY | O_CREAT | O_EXCL);
}

/* A second name of the target; the file itself on systems without such names. */
static int make_previous(const char *name, const char *target)
{
    if (link(target, name) == 0)
        return 0;
    return errno == EEXIST || errno == ENOENT ? -1 : rename(target, name);
}

/* Makes a hidden file beside the target. Its name does not hold the target's, which may be as long as
 * the system allows. */
static int make_beside(const char *target, make_fn *make, char **name)
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
        int fd = make(*name, target);
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
    return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : file_open(path, O_WRONLY);
}

/* A link is followed, so that the file it points at is replaced and not the link. */
static char *resolve_path(const char *path, bool exists)
{
    char *real = exists ? realpath(path, NULL) : NULL;
    return real || (exists && errno == ENOMEM) ? real : memory_strdup(path);
}

static assay_status open_beside(file_out *f, const char *path, const struct stat *st,
                                assay_error *err)
{
    if (st && access(path, W_OK) != 0)
        return file_fail(path, "replace", errno, err);
    f->target = resolve_path(path, st != NULL);
    TRY_MEMORY(f->target, err);
    int error = st ? 0 : make_parents(path);
    if (!error) {
        f->fd = make_beside(f->target, make_empty, &f->temporary);
        error = f->fd < 0 ? errno : 0;
    }
    if (error)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "%s: cannot write: %s", f->shown,
                              strerror(error));
    if (st && fchmod(f->fd, st->st_mode & 07777) != 0)
        return file_fail(path, "write", errno, err);
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
    return f->fd < 0 ? file_fail(path, "write", errno, err) : ASSAY_OK;
}

assay_status file_out_open(const char *path, file_out **out, assay_error *err)
{
    char name[FILE_SHOWN];
    file_out *f = memory_zeroed(1, sizeof *f);
    *out = NULL;
    TRY_MEMORY(f, err);
    f->fd = -1;
    f->shown = memory_strdup(file_shown(path, name));
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

assay_status file_out_flush(file_out *f, assay_error *err)
{
    size_t n = f->n;
    f->n = 0;
    return write_all(f, f->buffer, n, err);
}

assay_status file_out_write(file_out *f, const void *p, size_t n, assay_error *err)
{
    f->pos += n;
    if (n > BUFFER - f->n)
        TRY(file_out_flush(f, err));
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
    TRY(file_out_flush(f, err));
    if (n > INT64_MAX - f->pos || lseek(f->fd, (off_t)n, SEEK_CUR) < 0)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%s: write failed: a hole of %" PRIu64 " bytes is too large", f->shown, n);
    f->pos += n;
    return ASSAY_OK;
}

static assay_status write_failed(const file_out *f, assay_error *err)
{
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "%s: write failed: %s", f->shown,
                          strerror(errno));
}

/* A hole at the end has no length until the file is truncated to its size. */
static assay_status finish(file_out *f, assay_error *err)
{
    TRY(file_out_flush(f, err));
    bool failed = f->temporary && ftruncate(f->fd, (off_t)f->pos) != 0;
    failed = close(f->fd) != 0 || failed;
    f->fd = -1;
    return failed ? write_failed(f, err) : ASSAY_OK;
}

/* `last`: nothing follows that could fail, so what is replaced need not be kept. */
static assay_status place(file_out *f, bool last, assay_error *err)
{
    if (!f->temporary)
        return ASSAY_OK;
    if (!last && make_beside(f->target, make_previous, &f->previous) < 0 && errno != ENOENT)
        return write_failed(f, err);
    if (rename(f->temporary, f->target) != 0)
        return write_failed(f, err);
    f->placed = true;
    free(f->temporary);
    f->temporary = NULL;
    return ASSAY_OK;
}

/* Restores the earlier file at the target. If this fails, the file keeps its hidden name and the error says so. */
static void put_back(file_out *f, assay_error *err)
{
    if (f->previous && rename(f->previous, f->target) != 0)
        err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "%s: cannot restore from %s: %s", f->shown,
                       f->previous, strerror(errno));
    else if (!f->previous && f->placed)
        unlink(f->target);
    else if (f->previous)
        unlink(f->previous); /* renaming one name of a file to another does nothing */
}

static assay_status place_all(file_out **files, size_t n, assay_error *err)
{
    assay_status status = ASSAY_OK;
    size_t reached = 0;
    for (; status == ASSAY_OK && reached < n; reached++)
        status = place(files[reached], reached + 1 == n, err);
    for (; status != ASSAY_OK && reached > 0; reached--)
        put_back(files[reached - 1], err);
    for (size_t i = 0; status == ASSAY_OK && i < n; i++)
        if (files[i]->previous)
            unlink(files[i]->previous);
    return status;
}

assay_status file_out_commit_all(file_out **files, size_t n, assay_error *err)
{
    assay_status status = memory_lacked() ? err_no_memory(err) : ASSAY_OK;
    for (size_t i = 0; i < n && status == ASSAY_OK; i++)
        status = finish(files[i], err);
    if (status == ASSAY_OK)
        status = place_all(files, n, err);
    for (size_t i = 0; i < n; i++)
        file_out_abandon(files[i]);
    return status;
}

assay_status file_out_commit(file_out *f, assay_error *err)
{
    return file_out_commit_all(&f, 1, err);
}

assay_status file_make_parents(const char *path, assay_error *err)
{
    int error = make_parents(path);
    return error ? file_fail(path, "write", error, err) : ASSAY_OK;
}

assay_status file_append(const char *path, const void *p, size_t n, assay_error *err)
{
    const char *at = p;
    int fd = file_open(path, O_WRONLY | O_CREAT | O_APPEND);
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
    return error ? file_fail(path, "write", error, err) : ASSAY_OK;
}

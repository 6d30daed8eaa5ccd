/* Reads files, and handles directories and temporary directories. Only this file and file_out.c open files. A confined
 * process cannot: there the first functions below ask the broker (broker.h). */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/broker.h"
#include "base/file_impl.h"
#include "base/memory.h"
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

static int look_at(const char *path, struct stat *st)
{
    return broker_used() ? broker_stat(path, st) : stat(path, st);
}

/* The C library's fstat() may be a system call that takes a path, which is forbidden to a confined process. */
static int look_at_open(int fd, struct stat *st)
{
#ifdef SYS_fstat
    return broker_used() ? (int)syscall(SYS_fstat, fd, st) : fstat(fd, st);
#else
    return fstat(fd, st);
#endif
}

file_info file_stat(const char *path)
{
    struct stat st;
    if (look_at(path, &st) != 0)
        return (file_info){0};
    return (file_info){
        .exists = true,
        .is_dir = S_ISDIR(st.st_mode),
        .is_regular = S_ISREG(st.st_mode),
        .size = st.st_size > 0 ? (uint64_t)st.st_size : 0,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
}

int file_open(const char *path, int flags)
{
    int fd;
    if (broker_used())
        return (flags & O_ACCMODE) == O_RDONLY ? broker_open(path) : (errno = EACCES, -1);
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

assay_status file_fail(const char *path, const char *what, int error, assay_error *err)
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

int file_open_error(const char *path)
{
    int fd = file_open(path, O_RDWR | O_NONBLOCK);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

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

static uint64_t free_at(const char *folder)
{
    struct statvfs st;
    return statvfs(folder, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize : UINT64_MAX;
}

/* Folders on the way may not exist yet: the nearest that does is asked. */
uint64_t file_free_bytes(const char *path)
{
    char *folder = memory_strdup(path);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    file_info there = file_stat(path);
    uint64_t n = UINT64_MAX;
    if (folder && !(there.exists && !there.is_regular)) {
        while (slash && slash > folder && (*slash = '\0', !file_stat(folder).is_dir))
            slash = strrchr(folder, '/');
        n = free_at(!slash ? "." : slash == folder ? "/" : folder);
    }
    free(folder);
    return n;
}

assay_status file_check_regular(const char *path, assay_error *err)
{
    struct stat st;
    return look_at(path, &st) != 0 || S_ISREG(st.st_mode) ? ASSAY_OK
                                                          : refuse_kind(path, st.st_mode, err);
}

assay_status file_open_read(const char *path, int *fd, uint64_t *size, assay_error *err)
{
    struct stat st;
    *fd = -1;
    if (look_at(path, &st) != 0)
        return file_fail(path, "open", errno, err);
    if (!S_ISREG(st.st_mode)) /* before open(), which may block or act on a device */
        return refuse_kind(path, st.st_mode, err);
    int opened = file_open(path, O_RDONLY | O_NONBLOCK);
    if (opened < 0)
        return file_fail(path, "open", errno, err);
    if (look_at_open(opened, &st) != 0 || !S_ISREG(st.st_mode)) {
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

/* The names in a folder, each ended by NUL; an errno, or 0. */
static int read_names(const char *folder, sbuf *names)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return errno;
    errno = 0;
    for (const struct dirent *e; (e = readdir(dir)) && !names->failed; errno = 0)
        if (e->d_name[0] != '.')
            sbuf_put(names, e->d_name, strlen(e->d_name) + 1);
    int error = names->failed ? ENOMEM : errno;
    closedir(dir);
    return error;
}

static assay_status sort_names(const sbuf *text, arena *a, str **names, uint32_t *n,
                               assay_error *err)
{
    VEC(str) list = {0};
    for (size_t at = 0; at < text->n; at += strlen(text->p + at) + 1) {
        str name = str_copy(a, str_of(text->p + at)), *slot = VEC_PUSH(a, &list);
        TRY_MEMORY(name.p && slot, err);
        *slot = name;
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, by_name);
    *names = list.items;
    *n = list.n;
    return ASSAY_OK;
}

assay_status file_list(const char *folder, arena *a, str **names, uint32_t *n, assay_error *err)
{
    sbuf text = {0};
    *n = 0;
    int error = broker_used() ? broker_list(folder, &text) : read_names(folder, &text);
    assay_status s = error == ENOMEM ? err_no_memory(err)
                     : error         ? file_fail(folder, "read", error, err)
                                     : sort_names(&text, a, names, n, err);
    sbuf_free(&text);
    return s;
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
    char *p = memory_resize(g->p, cap);
    if (!p)
        return false;
    g->p = p;
    g->cap = cap;
    return true;
}

/* Stops behind max_bytes. */
static assay_status read_to_end(int fd, const char *name, uint64_t max_bytes, growing *g,
                                assay_error *err)
{
    for (;;) {
        if (g->n > max_bytes)
            return ASSAY_OK;
        TRY_MEMORY(make_room(g, max_bytes), err);
        ssize_t got = read(fd, g->p + g->n, g->cap - g->n);
        if (got == 0)
            return ASSAY_OK;
        if (got < 0 && errno != EINTR)
            return file_fail(name, "read", errno, err);
        g->n += got > 0 ? (size_t)got : 0;
    }
}

static assay_status copy_into_arena(arena *a, const growing *g, str *out, assay_error *err)
{
    *out = str_copy(a, (str){g->p, (uint32_t)g->n});
    return out->p ? ASSAY_OK : err_no_memory(err);
}

/* The size that the system reports is not trusted: files under /sys and /proc have a wrong one. `limit` is said to be
 * the reason if the file is larger. */
static assay_status read_at_most(const char *path, uint64_t max_bytes, const char *limit, arena *a,
                                 str *out, assay_error *err)
{
    char name[FILE_SHOWN];
    growing g = {0};
    struct stat st;
    *out = (str){NULL, 0};
    if (max_bytes > UINT32_MAX - 1)
        max_bytes = UINT32_MAX - 1;
    int fd = file_open(path, O_RDONLY);
    if (fd < 0)
        return file_fail(path, "open", errno, err);
    assay_status status = look_at_open(fd, &st) == 0 && S_ISDIR(st.st_mode)
                              ? refuse_kind(path, st.st_mode, err)
                              : read_to_end(fd, file_shown(path, name), max_bytes, &g, err);
    close(fd);
    if (status == ASSAY_OK && g.n > max_bytes)
        status = *limit ? err_fail(err, ASSAY_ERR_MALFORMED, "%s: too large%s",
                                   file_shown(path, name), limit)
                        : err_fail(err, ASSAY_ERR_MALFORMED, "%s: larger than %" PRIu64 " bytes",
                                   file_shown(path, name), max_bytes);
    if (status == ASSAY_OK)
        status = copy_into_arena(a, &g, out, err);
    free(g.p);
    return status;
}

assay_status file_read_all(const char *path, uint64_t max_bytes, arena *a, str *out,
                           assay_error *err)
{
    return read_at_most(path, max_bytes, "", a, out, err);
}

assay_status file_read_limited(const char *path, limit_id limit, arena *a, str *out,
                               assay_error *err)
{
    return read_at_most(path, limit_value(limit), LIMIT_TEXT(limit), a, out, err);
}

int64_t file_read_small(const char *path, char *buf, size_t cap)
{
    size_t n = 0;
    int fd = file_open(path, O_RDONLY | O_NONBLOCK);
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

/* ---- links ----------------------------------------------------------------------------------- */

static bool starts_with(const char *path, const char *folder, size_t n)
{
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/* A cache of the hub: ROOT/snapshots/REVISION/file is a link to ROOT/blobs/HASH, of the same owner. */
static bool is_in_hub_cache(const char *folder, const char *target)
{
    const char *snapshots = strstr(folder, "/snapshots/");
    size_t n = snapshots ? (size_t)(snapshots - folder) : 0;
    struct stat a, b;
    return snapshots && strncmp(target, folder, n) == 0 && strncmp(target + n, "/blobs/", 7) == 0 &&
           stat(folder, &a) == 0 && stat(target, &b) == 0 && a.st_uid == b.st_uid;
}

bool file_leaves_folder(const char *folder, const char *path)
{
    if (broker_used())
        return broker_leaves_folder(folder, path);
    char *home = realpath(*folder ? folder : ".", NULL), *target = realpath(path, NULL);
    bool leaves = true;
    if (home && target)
        leaves = !starts_with(target, home, strlen(home)) && !is_in_hub_cache(home, target);
    else if (errno == ENOMEM)
        memory_note_lack();
    free(home);
    free(target);
    return leaves;
}

/* ---- temporary directories ----------------------------------------------------------------------- */

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

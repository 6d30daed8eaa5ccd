/* Both ends of the socket are this program, so structs go over it as they are. */
#include "base/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file_impl.h"

typedef enum ask_kind { ASK_STAT, ASK_OPEN, ASK_LIST, ASK_LEAVES } ask_kind;

typedef struct ask_head {
    ask_kind kind;
    uint32_t n; /* bytes that follow: a path; for ASK_LEAVES two, separated by NUL */
} ask_head;

typedef struct answer_head {
    int error; /* errno; ASK_LEAVES: 1 or 0 */
    uint32_t n;
    struct stat st;
} answer_head;

/* The process is confined, so what it uses is a property of the process. */
static struct {
    int socket; /* 0: none */
    int fd;     /* of the model; -1: not open */
    const char *model;
    struct stat st;
} used;

void broker_use(int socket, const char *model)
{
    bool regular = model && stat(model, &used.st) == 0 && S_ISREG(used.st.st_mode);
    used.fd = regular ? file_open(model, O_RDONLY | O_NONBLOCK) : -1;
    used.model = used.fd >= 0 ? model : NULL;
    used.socket = socket;
}

bool broker_used(void)
{
    return used.socket > 0;
}

static bool is_open_model(const char *path)
{
    return used.model && strcmp(path, used.model) == 0;
}

/* ---- whole messages ---- */

static bool send_all(int fd, const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool receive_all(int fd, void *p, size_t n)
{
    for (char *at = p; n > 0;) {
        ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

typedef union descriptor_message { /* aligned as a control message */
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
} descriptor_message;

/* The head of an answer, with a descriptor beside it unless that is -1. */
static bool send_answer(int socket, answer_head *head, int fd)
{
    descriptor_message control = {.bytes = {0}};
    struct iovec part = {.iov_base = head, .iov_len = sizeof *head};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    ssize_t done;
    do
        done = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    return done == (ssize_t)sizeof *head;
}

static bool receive_answer(int socket, answer_head *head, int *fd)
{
    descriptor_message control = {.bytes = {0}};
    struct iovec part = {.iov_base = head, .iov_len = sizeof *head};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    const struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    *fd = -1;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return got == (ssize_t)sizeof *head;
}

/* ---- asking ---- */

/* False with errno EIO when nobody answers. */
static bool ask(ask_kind kind, const char *text, size_t n, answer_head *head, int *fd)
{
    const ask_head question = {kind, (uint32_t)n};
    int ignored;
    errno = ENAMETOOLONG;
    if (n > 2 * PATH_MAX)
        return false;
    if (send_all(used.socket, &question, sizeof question) && send_all(used.socket, text, n) &&
        receive_answer(used.socket, head, fd ? fd : &ignored))
        return true;
    errno = EIO;
    return false;
}

int broker_stat(const char *path, struct stat *out)
{
    answer_head head = {0};
    if (is_open_model(path)) {
        *out = used.st;
        return 0;
    }
    if (!ask(ASK_STAT, path, strlen(path), &head, NULL))
        return -1;
    *out = head.st;
    errno = head.error;
    return head.error ? -1 : 0;
}

int broker_open(const char *path)
{
    answer_head head = {0};
    int fd = -1;
    if (is_open_model(path)) { /* a copy; both have one position */
        fd = dup(used.fd);
        return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
    }
    if (!ask(ASK_OPEN, path, strlen(path), &head, &fd))
        return -1;
    errno = head.error ? head.error : EIO;
    return fd;
}

int broker_list(const char *folder, sbuf *names)
{
    answer_head head = {0};
    char block[4096];
    if (!ask(ASK_LIST, folder, strlen(folder), &head, NULL))
        return errno;
    for (uint32_t left = head.n; left > 0;) {
        uint32_t n = left < sizeof block ? left : (uint32_t)sizeof block;
        if (!receive_all(used.socket, block, n))
            return EIO;
        sbuf_put(names, block, n);
        left -= n;
    }
    return names->failed ? ENOMEM : head.error;
}

bool broker_leaves_folder(const char *folder, const char *path)
{
    answer_head head = {.error = 1};
    sbuf both = {0};
    sbuf_puts(&both, folder);
    sbuf_putc(&both, '\0');
    sbuf_puts(&both, path);
    bool asked = !both.failed && ask(ASK_LEAVES, both.p, both.n, &head, NULL);
    sbuf_free(&both);
    return !asked || head.error;
}

/* ---- answering ---- */

/* "a/b" of "a/b/model.onnx"; the folder itself if that is the model. */
static bool folder_of(const char *model, char out[PATH_MAX])
{
    const char *slash = strrchr(model, '/');
    size_t n = file_stat(model).is_dir ? strlen(model) : slash ? (size_t)(slash - model) + 1 : 0;
    if (n >= PATH_MAX)
        return false;
    memcpy(out, n ? model : ".", n ? n : 1);
    out[n ? n : 1] = '\0';
    return true;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Of a path that is in the folder. Links are followed; what they name is in it too, or in the hub's cache. */
static bool is_hidden(const char *folder, const char *path)
{
    char *home = realpath(folder, NULL), *target = realpath(path, NULL);
    size_t n = home ? strlen(home) : 0;
    bool hidden = !home || !target || (strncmp(target, home, n) == 0 && strstr(target + n, "/."));
    free(home);
    free(target);
    return hidden;
}

/* The model, what lies in its folder, and the files that were named. Hidden files are nobody's weights. */
static bool may_read(const broker_policy *policy, const char *path)
{
    char folder[PATH_MAX];
    for (size_t i = 0; i < policy->n_files; i++)
        if (is_same_file(policy->files[i], path))
            return true;
    return policy->model && (is_same_file(policy->model, path) ||
                             (folder_of(policy->model, folder) &&
                              !file_leaves_folder(folder, path) && !is_hidden(folder, path)));
}

static void list_names(const char *folder, answer_head *head, sbuf *names)
{
    arena *a = arena_new(8 * (size_t)BROKER_LIST_MOST);
    assay_error err = {0};
    str *list = NULL;
    uint32_t n = 0;
    if (!a || file_list(folder, a, &list, &n, &err) != ASSAY_OK)
        head->error = err.os_error ? err.os_error : ENOMEM;
    for (uint32_t i = 0; i < n && !head->error; i++) {
        sbuf_str(names, list[i]);
        sbuf_putc(names, '\0');
        if (names->failed || names->n > BROKER_LIST_MOST)
            head->error = E2BIG;
    }
    arena_free(a);
    head->n = head->error ? 0 : (uint32_t)names->n;
}

/* ---- files in memory ---- */

/* The next part of a path in *part; false at its end. "." and empty parts are nothing. */
static bool next_part(const char **path, str *part)
{
    do {
        *path += strspn(*path, "/");
        *part = (str){*path, (uint32_t)strcspn(*path, "/")};
        *path += part->n;
    } while (str_is(*part, "."));
    return part->n > 0;
}

/* How a file in memory is meant by a path: by its whole name, as what lies below it, or not at all. */
typedef enum memory_match { MATCH_NONE, MATCH_FILE, MATCH_BELOW } memory_match;

/* *rest is what follows the path in the file's name. */
static memory_match match_memory(const char *path, const broker_file *f, const char **rest)
{
    const char *name = f->path;
    str a, b;
    while (next_part(&path, &a))
        if (!next_part(&name, &b) || !str_eq(a, b))
            return MATCH_NONE;
    *rest = name;
    return next_part(&name, &b) ? MATCH_BELOW : MATCH_FILE;
}

/* A descriptor of the bytes for reading; -1: errno says why. */
static int open_memory(const broker_file *f)
{
    char path[32];
    int fd = memfd_create("assay", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int reading = send_all(fd, f->bytes, (size_t)f->n) ? file_open(path, O_RDONLY) : -1;
    int error = errno;
    close(fd);
    errno = error;
    return reading;
}

/* Each name in a folder once; hidden ones are left out. */
static void list_memory(const char *path, const broker_policy *policy, sbuf *names)
{
    for (size_t i = 0; i < policy->n_memory; i++) {
        const char *rest;
        str name;
        if (match_memory(path, &policy->memory[i], &rest) != MATCH_BELOW ||
            !next_part(&rest, &name) || name.p[0] == '.')
            continue;
        bool seen = false;
        for (const char *at = names->p; at && at < names->p + names->n; at += strlen(at) + 1)
            seen |= str_is(name, at);
        if (seen)
            continue;
        sbuf_str(names, name);
        sbuf_putc(names, '\0');
    }
}

static bool answer_memory(int socket, ask_kind kind, const char *path, const broker_policy *policy)
{
    answer_head head = {.error = ENOENT};
    sbuf names = {0};
    int fd = -1;
    for (size_t i = 0; i < policy->n_memory && head.error == ENOENT; i++) {
        const broker_file *f = &policy->memory[i];
        const char *rest;
        memory_match how = match_memory(path, f, &rest);
        if (how == MATCH_NONE)
            continue;
        head.error = 0;
        head.st.st_mode = how == MATCH_FILE ? S_IFREG | 0400 : S_IFDIR | 0500;
        head.st.st_size = how == MATCH_FILE ? (off_t)f->n : 0;
        if (kind == ASK_OPEN && how == MATCH_FILE)
            fd = open_memory(f);
        if (kind == ASK_OPEN && fd < 0)
            head.error = how == MATCH_FILE ? errno : EISDIR;
    }
    if (kind == ASK_LIST && !head.error)
        list_memory(path, policy, &names);
    head.n = names.failed ? 0 : (uint32_t)names.n;
    head.error = names.failed ? ENOMEM : head.error;
    bool sent = send_answer(socket, &head, fd) && send_all(socket, names.p, head.n);
    if (fd >= 0)
        close(fd);
    sbuf_free(&names);
    return sent;
}

/* ---- answering a request ---- */

/* A path that does not exist is no secret; a path that may not be read is remembered. */
static bool answer_path(int socket, ask_kind kind, const char *path, broker_policy *policy)
{
    answer_head head = {0};
    sbuf names = {0};
    int fd = -1;
    if (stat(path, &head.st) != 0) {
        head.error = errno;
    } else if (!may_read(policy, path)) {
        head = (answer_head){.error = EACCES};
        if (!policy->refused.n)
            sbuf_puts(&policy->refused, path);
    } else if (kind == ASK_OPEN) {
        fd = S_ISREG(head.st.st_mode) ? file_open(path, O_RDONLY | O_NONBLOCK) : -1;
        head.error = fd >= 0 ? 0 : S_ISREG(head.st.st_mode) ? errno : EINVAL;
    } else if (kind == ASK_LIST) {
        list_names(path, &head, &names);
    }
    bool sent = send_answer(socket, &head, fd) && send_all(socket, names.p, head.n);
    if (fd >= 0)
        close(fd);
    sbuf_free(&names);
    return sent;
}

bool broker_answer(int socket, broker_policy *policy)
{
    ask_head question;
    char text[2 * PATH_MAX + 1];
    if (!receive_all(socket, &question, sizeof question) || question.n >= sizeof text ||
        !receive_all(socket, text, question.n))
        return false;
    text[question.n] = '\0';
    size_t first = strlen(text);
    if (question.kind != ASK_LEAVES && first != question.n)
        return false;
    if (question.kind != ASK_LEAVES)
        return policy->n_memory ? answer_memory(socket, question.kind, text, policy)
                                : answer_path(socket, question.kind, text, policy);
    bool leaves = !policy->n_memory && first < question.n &&
                  file_leaves_folder(text, text + first + 1);
    answer_head head = {.error = first >= question.n || leaves};
    return send_answer(socket, &head, -1);
}

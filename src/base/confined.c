/* fork(), a pipe for what comes back, and a socket for the broker. The answer is a head, the error, and the text. */
#include "base/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sandbox.h"

enum { OUT_FD = 3, BROKER_FD = 4 }; /* in the confined process; no other is open */

typedef struct answer_head {
    assay_status status;
    uint32_t mark; /* an answer that is whole begins with it */
    uint64_t n;
    assay_error err;
} answer_head;
#define ANSWER_MARK 0x61737379u

/* ---- the confined process ---- */

/* The two descriptors at their places, and nothing else. 0 to 2 cannot be read: they are the pipe. */
static bool keep_descriptors(int out, int broker)
{
    int high = fcntl(broker, F_DUPFD, 16);
    if (high < 0 || dup2(out, OUT_FD) < 0 || dup2(high, BROKER_FD) < 0)
        return false;
    for (int fd = 0; fd <= 2; fd++)
#ifdef ASSAY_SANITIZED
        if (fd < 2)
#endif
            dup2(OUT_FD, fd);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, BROKER_FD + 1, ~0u, 0) == 0)
        return true;
#endif
    for (int fd = BROKER_FD + 1; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
    return true;
}

static assay_status confine(int out, int broker, const char *model, assay_error *err)
{
    setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!keep_descriptors(out, broker))
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, errno, "cannot start a process: %s",
                              strerror(errno));
    broker_use(BROKER_FD, model); /* NULL: it asks for each file */
    return sandbox_enter(OUT_FD, BROKER_FD, err);
}

/* 0, or an errno, which fits an exit code. */
static int send_bytes(const char *at, size_t n)
{
    while (n > 0) {
        ssize_t done = write(OUT_FD, at, n);
        if (done < 0 && errno != EINTR)
            return errno;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

static void run_confined(const confined_call *call, int out, int broker)
{
    answer_head head = {.mark = ANSWER_MARK};
    sbuf text = {0};
    sbuf_put(&text, &head, sizeof head); /* its place */
    const char *opened = call->policy.n_memory ? NULL : call->policy.model;
    head.status = confine(out, broker, opened, &head.err);
    if (head.status == ASSAY_OK)
        head.status = call->run(call->ctx, &text, &head.err);
    if (text.failed)
        head.status = err_no_memory(&head.err);
    head.n = text.failed ? 0 : text.n - sizeof head;
    if (!text.failed)
        memcpy(text.p, &head, sizeof head);
    _exit(send_bytes(text.failed ? (char *)&head : text.p, sizeof head + (size_t)head.n));
}

/* ---- the process that waits ---- */

typedef struct watched {
    pid_t pid;
    int out, broker;
    sbuf got;
    bool too_long;
    int read_error; /* errno of the pipe; 0: none */
} watched;

/* False at the end. */
static bool take_output(watched *w, size_t most)
{
    char block[1 << 16];
    ssize_t n = read(w->out, block, sizeof block);
    if (n < 0 && errno == EINTR)
        return true;
    w->read_error = n < 0 ? errno : 0;
    if (n <= 0)
        return false;
    w->too_long = w->got.n + (size_t)n > most + sizeof(answer_head);
    if (!w->too_long)
        sbuf_put(&w->got, block, (size_t)n);
    return !w->too_long && !w->got.failed;
}

static void converse(watched *w, confined_call *call)
{
    for (bool more = true; more;) {
        struct pollfd fds[] = {{.fd = w->out, .events = POLLIN},
                               {.fd = w->broker, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0)
            continue; /* a signal: it has reached the child as well */
        if (fds[1].revents && !broker_answer(w->broker, &call->policy)) {
            close(w->broker);
            w->broker = -1;
        }
        if (fds[0].revents)
            more = take_output(w, call->most);
    }
}

static int end_of(const watched *w)
{
    int status = 0;
    if (w->too_long || w->got.failed || w->read_error)
        kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static assay_status judge_death(const watched *w, int status, const char *name, assay_error *err)
{
    if (w->got.failed)
        return err_no_memory(err);
    if (w->read_error)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, w->read_error,
                              "%s: cannot read the answer of the sandbox: %s", name,
                              strerror(w->read_error));
    if (w->too_long)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: the result is too large for --sandbox",
                        name);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return err_fail(
            err, ASSAY_ERR_MALFORMED,
            "%s: stopped by the sandbox: the analysis tried a forbidden system call. Do "
            "not trust the file; please report it (SECURITY.md).",
            name);
    if (WIFSIGNALED(status))
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: the analysis crashed in the sandbox (signal %d). Please report the "
                        "file (SECURITY.md).",
                        name, WTERMSIG(status));
    return err_fail(err, ASSAY_ERR_SYSTEM, "%s: the analysis in the sandbox ended early: %s", name,
                    strerror(WEXITSTATUS(status)));
}

/* The process may have been taken over: its message is escaped like any text of a file. */
static assay_status repeat_error(answer_head *head, assay_error *err)
{
    const assay_error *e = &head->err;
    bool known = head->status >= ASSAY_ERR_SYSTEM && head->status <= ASSAY_ERR_INCONCLUSIVE;
    if (head->status == ASSAY_OK)
        return ASSAY_OK;
    head->err.message[sizeof e->message - 1] = head->err.node[sizeof e->node - 1] = '\0';
    assay_status s = err_fail_node(err, known ? head->status : ASSAY_ERR_MALFORMED, e->node, "%s",
                                   e->message);
    if (err) {
        err->offset = e->offset;
        err->os_error = e->os_error;
    }
    return s;
}

/* The text goes to `out`. */
static assay_status read_answer(watched *w, int status, confined_call *call, sbuf *out,
                                assay_error *err)
{
    char name[FILE_SHOWN];
    answer_head head;
    file_shown(call->policy.model ? call->policy.model : "the model", name);
    bool whole = w->got.n >= sizeof head;
    if (whole)
        memcpy(&head, w->got.p, sizeof head);
    if (!whole || status != 0 || head.mark != ANSWER_MARK || head.n != w->got.n - sizeof head)
        return judge_death(w, status, name, err);
    if (call->policy.refused.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s: --sandbox allows reading the model's folder only, and the analysis "
                        "needs %s. Leave out --sandbox if you trust the model.",
                        name, file_shown(sbuf_cstr(&call->policy.refused), (char[FILE_SHOWN]){0}));
    sbuf_put(out, w->got.p + sizeof head, (size_t)head.n);
    if (out->failed)
        return err_no_memory(err);
    return repeat_error(&head, err);
}

static assay_status start(const confined_call *call, watched *w, assay_error *err)
{
    int pipes[2] = {-1, -1}, sockets[2] = {-1, -1};
    bool made = pipe2(pipes, O_CLOEXEC) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0;
    w->pid = made ? fork() : -1;
    int error = errno;
    if (w->pid == 0)
        run_confined(call, pipes[1], sockets[1]);
    for (int i = w->pid < 0 ? 0 : 1; i < 2; i++) {
        if (pipes[i] >= 0)
            close(pipes[i]);
        if (sockets[i] >= 0)
            close(sockets[i]);
    }
    w->out = pipes[0];
    w->broker = sockets[0];
    return w->pid > 0 ? ASSAY_OK
                      : err_fail_errno(err, ASSAY_ERR_SYSTEM, error, "cannot start a process: %s",
                                       strerror(error));
}

assay_status confined_run(confined_call *call, sbuf *out, assay_error *err)
{
    watched w = {0};
    TRY(sandbox_check(err));
    TRY(start(call, &w, err));
    converse(&w, call);
    close(w.out);
    if (w.broker >= 0)
        close(w.broker);
    int status = end_of(&w);
    assay_status s = read_answer(&w, status, call, out, err);
    sbuf_free(&w.got);
    sbuf_free(&call->policy.refused);
    return s;
}

/* posix_spawn with one pipe for both streams, read until the end or the timeout. The child has its own process group,
 * so that ending it also ends its children. */
#include "base/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int spawn_piped(const char *const *argv, int write_end, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, write_end, 1);
    posix_spawn_file_actions_adddup2(&actions, write_end, 2);
    /* posix_spawnp only reads the words; its type is older than const. */
    code = posix_spawnp(child, argv[0], &actions, &attributes, (char **)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

typedef struct collecting {
    int64_t until_ms;
    size_t max_bytes;
    const process_writer *asked; /* whether to go on; or NULL */
} collecting;

static bool is_cancelled(const collecting *c)
{
    return c->asked && c->asked->cancelled && c->asked->cancelled(c->asked->asks);
}

/* Reads until the other side closes; false when the time is over or nobody wants it any more. */
static bool drain_output(int fd, const collecting *c, process_result *r)
{
    const int64_t look_ms = c->asked && c->asked->cancelled ? 100 : 1000000;
    char block[4096];
    for (;;) {
        int64_t left = c->until_ms - now_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0 || is_cancelled(c))
            return false;
        int ready = poll(&p, 1, (int)(left > look_ms ? look_ms : left));
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        if (ready < 0)
            return true;
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        size_t room = c->max_bytes > r->out.n ? c->max_bytes - r->out.n : 0;
        r->cut = r->cut || (size_t)n > room;
        sbuf_put(&r->out, block, (size_t)n < room ? (size_t)n : room);
    }
}

/* A child that closed its streams but still runs may use the rest of the time. */
static int wait_for(pid_t child, int64_t until_ms, process_result *r)
{
    int status = 0;
    while (!r->timed_out) {
        pid_t done = waitpid(child, &status, WNOHANG);
        if (done == child)
            return status;
        if (done < 0 && errno != EINTR)
            return 0;
        if (now_ms() >= until_ms)
            r->timed_out = true;
        else
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* All that the child writes, and its end. */
static assay_status collect(pid_t child, int fd, const collecting *c, process_result *r,
                            assay_error *err)
{
    r->timed_out = !drain_output(fd, c, r);
    close(fd);
    int status = wait_for(child, c->until_ms, r);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    sbuf_cstr(&r->out);
    if (r->timed_out && is_cancelled(c))
        return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted");
    return r->out.failed ? err_no_memory(err) : ASSAY_OK;
}

assay_status process_run(const char *const *argv, int64_t timeout_ms, size_t max_bytes,
                         process_result *r, assay_error *err)
{
    int ends[2];
    pid_t child = 0;
    const collecting c = {.until_ms = now_ms() + timeout_ms, .max_bytes = max_bytes};
    *r = (process_result){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: cannot start: %s", argv[0], strerror(errno));
    int code = spawn_piped(argv, ends[1], &child);
    close(ends[1]);
    if (code) {
        close(ends[0]);
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s: cannot start: %s", argv[0], strerror(code));
    }
    return collect(child, ends[0], &c, r, err);
}

/* ---- a program that goes on ---- */

assay_status process_start(const char *const *argv, int64_t *pid, assay_error *err)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t child = 0;
    int code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        sigaddset(&defaults, SIGINT);
        sigaddset(&defaults, SIGTERM);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        code = posix_spawnp(&child, argv[0], NULL, &attributes, (char **)(uintptr_t)argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    *pid = child;
    if (code == 0)
        return ASSAY_OK;
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, code, "%s: cannot start: %s%s", argv[0],
                          strerror(code),
                          code == ENOENT && !strchr(argv[0], '/') ? ". It is not in PATH." : "");
}

static uint64_t nanoseconds(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

bool process_ended(int64_t pid, process_end *out)
{
    int status = 0;
    struct rusage u = {0};
    if (wait4((pid_t)pid, &status, WNOHANG, &u) != (pid_t)pid)
        return false;
    *out = (process_end){.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                         .cpu_ns = nanoseconds(u.ru_utime) + nanoseconds(u.ru_stime),
                         .max_resident_bytes = (uint64_t)u.ru_maxrss * 1024,
                         .minor_faults = (uint64_t)u.ru_minflt,
                         .major_faults = (uint64_t)u.ru_majflt,
                         .voluntary = (uint64_t)u.ru_nvcsw,
                         .involuntary = (uint64_t)u.ru_nivcsw};
    return true;
}

void process_ask_to_end(int64_t pid)
{
    kill((pid_t)pid, SIGTERM);
}

bool process_exists(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* ---- a function in a separate process ---- */

static void write_whole(int fd, const char *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t some = write(fd, p + done, n - done);
        if (some < 0 && errno != EINTR)
            break;
        done += some > 0 ? (size_t)some : 0;
    }
}

static void run_apart(const process_call *call, int write_end)
{
    char out[PROCESS_OUT_MOST] = {0};
    call->run(call->ctx, out);
    write_whole(write_end, out, call->out_bytes);
    _exit(0);
}

/* Reads all of it; false: it ended early or was cancelled. */
static bool read_answer(const process_call *call, int fd, char *out, bool *cancelled)
{
    size_t got = 0;
    while (got < call->out_bytes && !*cancelled) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, 100);
        *cancelled = call->cancelled && call->cancelled(call->asks);
        if (ready <= 0)
            continue;
        ssize_t n = read(fd, out + got, call->out_bytes - got);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return !*cancelled;
}

assay_status process_call_apart(const process_call *call, void *out, assay_error *err)
{
    int ends[2], status = 0;
    bool cancelled = false;
    assert(call->out_bytes <= PROCESS_OUT_MOST);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_fail(err, ASSAY_ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        run_apart(call, ends[1]);
    close(ends[1]);
    bool answered = child > 0 && read_answer(call, ends[0], out, &cancelled);
    close(ends[0]);
    if (child > 0 && !answered)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (cancelled)
        return err_fail(err, ASSAY_ERR_INTERRUPTED, "interrupted");
    if (child < 0 || !answered)
        return err_fail(err, ASSAY_ERR_SYSTEM, "%s",
                        child < 0 ? "cannot start a process" : "the process ended early");
    return ASSAY_OK;
}

/* It ends with this process, and a terminal's Ctrl-C does not reach it: it is of a group of its own. */
static void run_writer(const process_writer *call, int write_end)
{
    sbuf out = {0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    call->run(call->ctx, &out);
    if (out.failed)
        _exit(1);
    write_whole(write_end, out.p, out.n);
    _exit(0);
}

assay_status process_call_writer(const process_writer *call, process_result *r, assay_error *err)
{
    int ends[2];
    const collecting c = {
        .until_ms = now_ms() + call->timeout_ms, .max_bytes = call->max_bytes, .asked = call};
    *r = (process_result){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_fail(err, ASSAY_ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        run_writer(call, ends[1]);
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child); /* whichever of both is first */
        return collect(child, ends[0], &c, r, err);
    }
    close(ends[0]);
    return err_fail(err, ASSAY_ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
}

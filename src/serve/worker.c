/* An uploaded model is analysed by a separate process: this program as `assay-serve --worker NAME`, with the model on
 * stdin, limits on memory and time, no environment and no other descriptors. Before it reads a byte it enters the
 * sandbox of <assay/sandbox.h>: it can compute and answer, and not open a file, a socket or a program. If it crashes,
 * the server continues. At most SERVE_WORKERS of them run at the same time.
 *
 * `assay-serve --files-worker NAME` has a packet of files on stdin (parts.c). It takes the packet apart and hands the
 * files to a confined child (assay_analyze_confined()), which asks for them by name; no file of the system is read.
 *
 * The worker answers on stdout: the profile as JSON (exit 0), or the error message (exit: its status).
 */
#include <assay/sandbox.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/serve.h"

#define ANSWER_BYTES   ((size_t)256 << 20)
#define SENTENCE_BYTES 1000
#define MODEL_MOST     ((size_t)2 << 30) /* the server has checked its own limit */

/* What the process knows of its surroundings: nothing, so not the token either. A sanitizer has its options there. */
#ifdef ASSAY_SANITIZED
extern char **environ;
#define ENVIRONMENT environ
#else
#define ENVIRONMENT ((char *[]){NULL})
#endif

/* ---- the process itself ---- */

/* A macro, because what is limited is an enum of its own to one C library and an int to others. */
#define LIMIT(what, most) setrlimit(what, &(const struct rlimit){(most), (most)})

/* stdin and stdout alone; a sanitizer reports on stderr. */
static void close_others(void)
{
#ifndef ASSAY_SANITIZED
    close(STDERR_FILENO);
#endif
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
#endif
    for (int fd = 3; fd < (int)sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
}

/* file_bytes: that it may write; files in memory count, pipes are no files. */
static void limit_resources(rlim_t file_bytes)
{
#ifndef ASSAY_SANITIZED /* whose shadow memory is larger than any limit */
    LIMIT(RLIMIT_AS, (rlim_t)3 << 30);
#endif
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* also with --no-sandbox */
    LIMIT(RLIMIT_CPU, SERVE_WORKER_MS / 1000);
    LIMIT(RLIMIT_CORE, 0);
    LIMIT(RLIMIT_FSIZE, file_bytes);
}

static char *read_all(int fd, size_t most, size_t *n)
{
    size_t cap = 1 << 16;
    char *p = malloc(cap);
    *n = 0;
    while (p) {
        ssize_t got = read(fd, p + *n, cap - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? p : (free(p), NULL);
        *n += (size_t)got;
        if (*n < cap)
            continue;
        char *grown = cap < most ? realloc(p, cap * 2) : NULL;
        if (!grown)
            free(p);
        p = grown;
        cap *= 2;
    }
    return NULL;
}

static int write_answer(const char *text, size_t n, int code)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return ASSAY_ERR_SYSTEM;
        text += done;
        n -= (size_t)done;
    }
    return code;
}

int worker_main(const char *name, bool sandbox)
{
    assay_model *model = NULL;
    assay_result *profile = NULL;
    assay_error err = {0};
    char *text = NULL;
    size_t n, n_text;
    close_others();
    limit_resources(0);
    if (sandbox && assay_sandbox_enter(STDOUT_FILENO, &err) != ASSAY_OK)
        return write_answer(err.message, strlen(err.message), (int)err.code);
    char *bytes = read_all(STDIN_FILENO, MODEL_MOST, &n);
    if (!bytes)
        return write_answer("out of memory", 13, ASSAY_ERR_SYSTEM);
    assay_status s = assay_model_from_bytes(bytes, n, name, NULL, &model, &err);
    if (s == ASSAY_OK)
        s = assay_analyze(model, NULL, &profile, &err);
    if (s == ASSAY_OK)
        s = assay_result_write(profile, "json", NULL, &text, &n_text, &err);
    int code = s == ASSAY_OK ? write_answer(text, n_text, 0)
                             : write_answer(err.message, strlen(err.message), (int)s);
    assay_free(text);
    assay_result_free(profile);
    assay_model_free(model);
    free(bytes);
    return code;
}

int files_worker_main(const char *name)
{
    assay_memory_file files[PARTS_MOST];
    assay_confined what = {.size = sizeof what, .model = name, .files = files};
    assay_text text = {.format = "json"};
    assay_error err = {0};
    size_t n;
    close_others();
    limit_resources(MODEL_MOST);
    char *bytes = read_all(STDIN_FILENO, MODEL_MOST, &n);
    if (!bytes)
        return write_answer("out of memory", 13, ASSAY_ERR_SYSTEM);
    what.n_files = parts_read(bytes, n, files);
    if (!what.n_files)
        return write_answer("the packet of files is damaged", 30, ASSAY_ERR_SYSTEM);
    assay_status s = assay_analyze_confined(&what, NULL, &text, 1, &err);
    int code = s == ASSAY_OK ? write_answer(text.text, text.n, 0)
                             : write_answer(err.message, strlen(err.message), (int)s);
    assay_free(text.text);
    free(bytes);
    return code;
}

/* ---- starting it ---- */

static bool start_worker(const server *s, const upload *u, int in, int out, pid_t *child)
{
    char program[] = "/proc/self/exe", confined[] = "--worker", free_one[] = "--free-worker",
         of_files[] = "--files-worker";
    char *verb = u->files ? of_files : s->options.no_sandbox ? free_one : confined;
    char *argv[] = {program, verb, (char *)(uintptr_t)u->name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    int code = posix_spawn(child, program, &actions, &attributes, argv, ENVIRONMENT);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code == 0;
}

/* ---- talking to it ---- */

typedef struct talk {
    const char *model;
    size_t n_model, sent;
    int to, from;
    char *text;
    size_t n, cap;
    bool too_long; /* more than is taken */
    int64_t until_ms;
} talk;

static void write_some(talk *t)
{
    ssize_t n = write(t->to, t->model + t->sent, t->n_model - t->sent);
    if (n > 0)
        t->sent += (size_t)n;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || t->sent == t->n_model) {
        close(t->to);
        t->to = -1;
    }
}

/* False at the end. */
static bool read_some(talk *t)
{
    if (t->n + 1 >= t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 1 << 16;
        char *p = cap <= ANSWER_BYTES ? realloc(t->text, cap) : NULL;
        t->too_long = !p;
        if (!p)
            return false;
        t->text = p;
        t->cap = cap;
    }
    ssize_t n = read(t->from, t->text + t->n, t->cap - t->n - 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n > 0)
        t->n += (size_t)n;
    return n > 0;
}

/* False when the time is over. */
static bool converse(talk *t)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = t->from, .events = POLLIN},
                                {.fd = t->to, .events = POLLOUT}};
        int64_t left = t->until_ms - serve_now_ms();
        if (left <= 0)
            return false;
        if (poll(fds, t->to < 0 ? 1 : 2, (int)left) < 0 && errno != EINTR)
            return false;
        if (t->to >= 0 && fds[1].revents)
            write_some(t);
        if (fds[0].revents && !read_some(t))
            return true;
    }
}

static unsigned outcome(const talk *t, bool in_time, int status, char **out)
{
    static const char late[] = "the analysis of the model timed out";
    static const char died[] =
        "the analysis of the model crashed. It ran in its own process; the server is not affected.";
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    static const char forbidden[] =
        "the analysis of the model tried a forbidden system call and was "
        "stopped by the sandbox. Do not trust the file.";
    bool cpu = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    if (in_time && code == 0 && !t->too_long)
        return MHD_HTTP_OK;
    if (t->too_long)
        *out = strdup("the result of the model is too large to send");
    else if (!in_time || cpu)
        *out = strdup(late);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        *out = strdup(forbidden);
    else if (code < 0 || code > 7 || !t->n)
        *out = strdup(died);
    else
        *out = strndup(t->text, SENTENCE_BYTES);
    return code == ASSAY_ERR_MALFORMED || code == ASSAY_ERR_USAGE ? MHD_HTTP_BAD_REQUEST
                                                                  : MHD_HTTP_UNPROCESSABLE_CONTENT;
}

static unsigned run_worker(const server *s, const upload *u, char **out, size_t *n_out)
{
    int in[2] = {-1, -1}, back[2] = {-1, -1}, status = 0;
    pid_t child;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0 ||
        !start_worker(s, u, in[0], back[1], &child)) {
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(back[i]);
        }
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
    close(in[0]);
    close(back[1]);
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    talk t = {.model = u->bytes,
              .n_model = u->n,
              .to = in[1],
              .from = back[0],
              .until_ms = serve_now_ms() + SERVE_WORKER_MS};
    bool in_time = converse(&t);
    if (t.to >= 0)
        close(t.to);
    close(t.from);
    if (!in_time || t.too_long)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (t.text)
        t.text[t.n] = '\0';
    unsigned code = outcome(&t, in_time, status, out);
    if (code == MHD_HTTP_OK) {
        *out = t.text;
        *n_out = t.n;
    } else {
        free(t.text);
    }
    return code;
}

/* ---- not too many at once ---- */

static bool take_turn(server *s)
{
    int64_t until_ms = serve_now_ms() + 1000 * SERVE_WORKER_WAIT_S;
    bool mine = true;
    pthread_mutex_lock(&s->worker_lock);
    while (mine && s->workers == SERVE_WORKERS)
        mine = serve_wait(&s->worker_free, &s->worker_lock, until_ms);
    s->workers += mine;
    pthread_mutex_unlock(&s->worker_lock);
    return mine;
}

static void end_turn(server *s)
{
    pthread_mutex_lock(&s->worker_lock);
    s->workers--;
    pthread_cond_signal(&s->worker_free);
    pthread_mutex_unlock(&s->worker_lock);
}

unsigned worker_profile(server *s, const upload *u, char **out, size_t *n_out)
{
    assay_error err;
    *out = NULL;
    *n_out = 0;
    /* Files are handed to a confined process, and only to one. */
    if ((u->files || !s->options.no_sandbox) && assay_sandbox_check(&err) != ASSAY_OK) {
        *out = strdup(err.message);
        return MHD_HTTP_NOT_IMPLEMENTED;
    }
    if (!take_turn(s)) {
        *out = strdup("too many models are being analysed. Try again later.");
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    unsigned code = run_worker(s, u, out, n_out);
    end_turn(s);
    return code;
}

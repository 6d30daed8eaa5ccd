/* assay-serve under wrk: 64 connections for 30 seconds (BENCH_SECONDS) on each of its main paths; requests per second,
 * errors, and resident memory before and after. Exit 1 when there was an error or memory grew by more than a
 * quarter and 16 MiB.
 *
 * Then a crowd: 500 idle connections, 16 clients that ask for a document of 60 MB and read a byte now and then, and
 * wrk's 64 connections at once. GET /health, each time on a new connection, must be answered within 100 ms (99th
 * percentile), and resident memory must stay below the budget of replies and what the server had before.
 *
 * Needs Debian's wrk, which `make bench` installs; says so and ends well without it. Loopback only. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS = 40,
    IDLE = 500,
    SLOW = 16,
    PROBES = 100000,
    LARGE_MB = 60,
    BUDGET_KIB = 256 << 10, /* SERVE_REPLIES_BYTES */
    HEALTH_MS = 100
};

typedef struct served {
    pid_t pid;
    char url[256];
} served;

static bool start(const char *assay, const char *db, served *s)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    s->pid = fork();
    if (s->pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        execl(assay, assay, "serve", "--db", db, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    bool good = f && fgets(s->url, sizeof s->url, f) && strncmp(s->url, "http://", 7) == 0;
    s->url[strcspn(s->url, "\n")] = '\0';
    return good;
}

static long resident_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kib);
    if (f)
        fclose(f);
    return kib;
}

/* Errors that wrk counted: of sockets, and statuses that are not 2xx or 3xx. */
static long run_wrk(const char *url, const char *path, const char *seconds, double *rate)
{
    char command[1024], line[512];
    long errors = 0, a, b, c, d;
    snprintf(command, sizeof command, "wrk -t2 -c64 -d%ss --timeout 10s '%s%s' 2>&1", seconds, url,
             path);
    FILE *f = popen(command, "r");
    *rate = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, " Socket errors: connect %ld, read %ld, write %ld, timeout %ld", &a, &b,
                   &c, &d) == 4)
            errors += a + b + c + d;
        if (sscanf(line, " Non-2xx or 3xx responses: %ld", &a) == 1)
            errors += a;
        sscanf(line, "Requests/sec: %lf", rate);
    }
    if (!f || pclose(f) != 0 || *rate <= 0)
        errors++;
    return errors;
}

static bool measure(const served *s, const char *seconds)
{
    static const char *const paths[] = {"health",           "api/v1/records",
                                        "api/v1/records/1", "api/v1/trend?model=lenet&metric=macs",
                                        "metrics",          ""};
    bool good = true;
    double rate;
    run_wrk(s->url, "api/v1/records", "2", &rate); /* threads and stores are there */
    long first = resident_kib(s->pid);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        long before = resident_kib(s->pid), errors = run_wrk(s->url, paths[i], seconds, &rate);
        long after = resident_kib(s->pid);
        printf("  /%-38s %9.0f requests/s  %ld errors  resident %ld -> %ld KiB\n", paths[i], rate,
               errors, before, after);
        good = good && errors == 0;
    }
    long last = resident_kib(s->pid);
    printf("  resident %ld KiB before, %ld KiB after all\n", first, last);
    return good && last < first + first / 4 + 16384;
}

/* ---- the crowd ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int connect_to(const served *s, int receive_bytes)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(s->url, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_bytes)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool send_get(int fd, const char *path)
{
    char text[256];
    int n = snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Reads a byte; a client that the server has closed comes again. */
static void read_slowly(const served *s, int *fd)
{
    char byte;
    ssize_t n = *fd < 0 ? 0 : recv(*fd, &byte, 1, MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EAGAIN))
        return;
    if (*fd >= 0)
        close(*fd);
    *fd = connect_to(s, 4096);
    char path[64];
    snprintf(path, sizeof path, "api/v1/records/%d", RUNS + 1);
    if (*fd >= 0)
        send_get(*fd, path);
}

/* Milliseconds; negative: no good answer. */
static double probe_health(const served *s)
{
    char text[512];
    double since = now_ms();
    int fd = connect_to(s, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool good = fd >= 0 && send_get(fd, "health") && poll(&p, 1, 10000) == 1 &&
                recv(fd, text, sizeof text, 0) > 12 && strncmp(text + 9, "200", 3) == 0;
    if (fd >= 0)
        close(fd);
    return good ? now_ms() - since : -1;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct crowd {
    int idle[IDLE], slow[SLOW];
    double took[PROBES];
    int n, failed;
    long most_kib;
} crowd;

static void probe_once(const served *s, crowd *c)
{
    double ms = probe_health(s);
    long kib = resident_kib(s->pid);
    if (ms < 0)
        c->failed++;
    else if (c->n < PROBES)
        c->took[c->n++] = ms;
    c->most_kib = kib > c->most_kib ? kib : c->most_kib;
    for (int i = 0; i < SLOW; i++)
        read_slowly(s, &c->slow[i]);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static bool report_crowd(crowd *c, long before_kib)
{
    if (!c->n)
        return false;
    qsort(c->took, (size_t)c->n, sizeof *c->took, by_size);
    double p99 = c->took[(c->n - 1) * 99 / 100];
    printf("  %d idle, %d slow readers, 64 of wrk: /health %d times, median %.1f ms, p99 %.1f ms "
           "(at most %d), %d failed; resident at most %ld KiB (at most %ld)\n",
           IDLE, SLOW, c->n, c->took[c->n / 2], p99, HEALTH_MS, c->failed, c->most_kib,
           before_kib + BUDGET_KIB);
    return p99 < HEALTH_MS && !c->failed && c->most_kib < before_kib + BUDGET_KIB;
}

static bool measure_crowd(const served *s, const char *seconds)
{
    static crowd c;
    long before = resident_kib(s->pid);
    double until = now_ms() + 1e3 * atof(seconds);
    for (int i = 0; i < IDLE; i++)
        c.idle[i] = connect_to(s, 0);
    for (int i = 0; i < SLOW; i++)
        c.slow[i] = -1;
    pid_t wrk = fork();
    if (wrk == 0) {
        double rate;
        _exit(run_wrk(s->url, "api/v1/records", seconds, &rate) > 100);
    }
    while (now_ms() < until)
        probe_once(s, &c);
    waitpid(wrk, NULL, 0);
    for (int i = 0; i < IDLE; i++)
        close(c.idle[i]);
    for (int i = 0; i < SLOW; i++)
        close(c.slow[i]);
    return report_crowd(&c, before);
}

/* A record of LARGE_MB: lenet's result with a note. */
static bool add_large(const char *assay, const char *folder, const char *db)
{
    char command[2048];
    snprintf(
        command, sizeof command,
        "%s lenet --json > %s/small.json && { printf '{\"note\": \"'; head -c %d /dev/zero | tr "
        "'\\0' x; printf '\",'; tail -c +2 %s/small.json; } > %s/large.json && "
        "%s history import %s/large.json --db %s > /dev/null",
        assay, folder, LARGE_MB << 20, folder, folder, assay, folder, db);
    return system(command) == 0;
}

int main(void)
{
    const char *assay = getenv("ASSAY"), *seconds = getenv("BENCH_SECONDS");
    char folder[] = "/tmp/assay-bench-XXXXXX", db[256], command[1024];
    served s = {0};
    if (!assay) {
        puts(
            "  NOT MEASURED: the environment's ASSAY does not name the program; tools/bench does.");
        return 1;
    }
    if (system("command -v wrk > /dev/null") != 0) {
        puts("  NOT MEASURED: wrk is not installed. As root:  apt-get install -y wrk");
        return 0;
    }
    if (!mkdtemp(folder))
        return 1;
    snprintf(db, sizeof db, "%s/history.db", folder);
    for (int i = 0; i < RUNS; i++) {
        snprintf(command, sizeof command, "%s lenet -q --save --db %s", assay, db);
        if (system(command) != 0)
            return 1;
    }
    if (!start(assay, db, &s)) {
        puts("  assay-serve could not be started.");
        return 1;
    }
    bool good = measure(&s, seconds ? seconds : "30");
    good = add_large(assay, folder, db) && measure_crowd(&s, seconds ? seconds : "30") && good;
    kill(s.pid, SIGTERM);
    waitpid(s.pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && good ? 0 : 1;
}

/* assay-serve under wrk: 64 connections for 30 seconds (BENCH_SECONDS) on each of its main paths; requests per second,
 * errors, and resident memory before and after. Exit 1 when there was an error or memory grew by more than a
 * quarter and 16 MiB. Needs Debian's wrk, which `make bench` installs; says so and ends well without it. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 40 };

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
    kill(s.pid, SIGTERM);
    waitpid(s.pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && good ? 0 : 1;
}

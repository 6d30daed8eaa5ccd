/* What `assay graph --sandbox` costs beside `assay graph`: whole processes in turns, medians of the times and of the
 * differences of pairs. At most 1 ms or 25 %, whichever is larger; exit 1 when it is more. Elapsed time counts; CPU time
 * (of all processes) is shown beside it, because a busy machine makes two processes wait for each other.
 * Runs from the root of the sources; $ASSAY is the program, $RUNS overrides the number of pairs. */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PAIRS = 2000 };
extern char **environ;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct took {
    double wall, cpu; /* ms; negative: it failed */
} took;

static double cpu_ms(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-3;
}

static took run_once(const char *assay, const char *model, bool sandbox)
{
    const char *const argv[] = {assay, "graph", model, sandbox ? "--sandbox" : NULL, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status = 0;
    struct rusage used = {0};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    double since = now_ms();
    bool ran = posix_spawn(&pid, assay, &quiet, NULL, (char **)(uintptr_t)argv, environ) == 0 &&
               wait4(pid, &status, 0, &used) == pid && status == 0;
    took t = {now_ms() - since, cpu_ms(&used)};
    posix_spawn_file_actions_destroy(&quiet);
    return ran ? t : (took){-1, -1};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

typedef struct times {
    double without[MAX_PAIRS], with[MAX_PAIRS], more[MAX_PAIRS];
} times;

static void add_pair(times *t, int i, double without, double with)
{
    t->without[i] = without;
    t->with[i] = with;
    t->more[i] = with - without;
}

static bool measure(const char *assay, const char *model, int pairs)
{
    static times wall, cpu;
    for (int i = -3; i < pairs; i++) { /* the first ones warm the caches */
        bool first = i % 2 == 0;
        took a = run_once(assay, model, first), b = run_once(assay, model, !first);
        if (a.wall < 0 || b.wall < 0) {
            printf("  %-36s FAILED: a run did not end well\n", model);
            return false;
        }
        if (i < 0)
            continue;
        add_pair(&wall, i, first ? b.wall : a.wall, first ? a.wall : b.wall);
        add_pair(&cpu, i, first ? b.cpu : a.cpu, first ? a.cpu : b.cpu);
    }
    double base = median(wall.without, pairs), cost = median(wall.more, pairs);
    double allowed = base / 4 > 1 ? base / 4 : 1;
    printf("  %-34s %6.2f ms  sandbox %6.2f ms  difference %5.2f of %.2f ms allowed%s; "
           "CPU %.2f and %.2f ms, difference %.2f ms\n",
           model, base, median(wall.with, pairs), cost, allowed, cost > allowed ? " MISSED" : "",
           median(cpu.without, pairs), median(cpu.with, pairs), median(cpu.more, pairs));
    return cost <= allowed;
}

int main(void)
{
    static const char *const models[] = {"lenet",
                                         "tests/models/mobilenet_v2.onnx",
                                         "tests/models/resnet50.onnx",
                                         "tests/models/densenet121.onnx",
                                         "tests/models/fasterrcnn_320.onnx",
                                         "swin_v2_t"};
    const char *assay = getenv("ASSAY"), *runs = getenv("RUNS");
    int pairs = runs ? atoi(runs) : 100;
    bool good = true;
    if (!assay || pairs < 1 || pairs > MAX_PAIRS) {
        puts("  NOT MEASURED: $ASSAY does not name the program, or $RUNS is not 1 to 2000.");
        return 1;
    }
    if (run_once(assay, "lenet", true).wall < 0) {
        puts("  NOT MEASURED: this system cannot confine a process.");
        return 0;
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        good = measure(assay, models[i], pairs) && good;
    return good ? 0 : 1;
}

/* What `assay graph` costs beside a bare walk of the same file (bare_walk.c), as whole processes: start,
 * read, analyse, print. Interleaved, warm cache, medians.
 *
 *   ResNet-50 with its weights (100 MB)    time at most 4 times the bare walk; anonymous memory below
 *                                          12 MB; of a file that is not cached, less than 2 MB is read
 *   Swin-V2 (7,000 nodes, weights absent)  time at most 10 times the bare walk
 *   chains of 1, 10 and 100 thousand nodes time per node stays
 *   instructions (valgrind's callgrind)    at most 2 % more than the program to compare with, which is $1, or
 *                                          $BASE: tools/bench sets it to a build of the previous commit
 *
 * The large file is made here from tests/models/resnet50.onnx. Runs from the root of the sources; $ASSAY is
 * the program, $BENCH_DIR holds bare_walk, $RUNS overrides the number of runs. Peak memory is read at
 * every system call of a traced run, which is exact because only system calls give memory back.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/onnx_writer.h"

#define MAX_RUNS 2000

extern char **environ;

static const char *assay, *bare;
static char folder[512];
static bool missed;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "static: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- processes ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct took {
    double wall_ms, cpu_ms;
} took;

static double cpu_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-3;
}

static took run_once(const char *program, const char *command, const char *file)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)(command ? command : file),
                          (char *)(uintptr_t)(command ? file : NULL), NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status = 0;
    struct rusage used = {0};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    double since = now_ms();
    if (posix_spawn(&pid, program, &quiet, NULL, argv, environ) != 0 ||
        wait4(pid, &status, 0, &used) != pid)
        die(program);
    double wall = now_ms() - since;
    posix_spawn_file_actions_destroy(&quiet);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "static: %s %s ended with status %d\n", program, file, status);
        exit(1);
    }
    return (took){wall, cpu_of(&used)};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void verdict(const char *what, double value, double limit, const char *unit)
{
    bool met = value <= limit;
    printf("  %-34s %9.2f %-8s target %g  %s\n", what, value, unit, limit, met ? "met" : "MISSED");
    missed |= !met;
}

typedef struct pair {
    took bare, assay;
} pair;

static took median_took(const took *v, int n)
{
    static double wall[MAX_RUNS], cpu[MAX_RUNS];
    for (int k = 0; k < n; k++) {
        wall[k] = v[k].wall_ms;
        cpu[k] = v[k].cpu_ms;
    }
    return (took){median(wall, n), median(cpu, n)};
}

/* One after the other, so that whatever slows the machine slows both. */
static pair compare(const char *file, int runs)
{
    static took a[MAX_RUNS], b[MAX_RUNS];
    for (int k = -5; k < runs; k++) {
        b[k < 0 ? 0 : k] = run_once(bare, NULL, file);
        a[k < 0 ? 0 : k] = run_once(assay, "graph", file);
    }
    return (pair){median_took(b, runs), median_took(a, runs)};
}

static void judge_pair(const char *what, const pair *t, int runs, double limit)
{
    printf(
        "%s: bare %.2f ms, assay graph %.2f ms, median of %d each (processor time %.2f and %.2f)\n",
        what, t->bare.wall_ms, t->assay.wall_ms, runs, t->bare.cpu_ms, t->assay.cpu_ms);
    verdict("time beside the bare walk", t->assay.wall_ms / t->bare.wall_ms, limit, "times");
}

/* ---- memory and bytes read, from a traced run ---- */

typedef struct usage {
    long anon_kb, rss_kb;
    unsigned long long rchar;
    bool known;
} usage;

static long field_of(pid_t pid, const char *file, const char *key)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return value;
}

static void sample(pid_t pid, usage *u)
{
    long anon = field_of(pid, "status", "RssAnon:"), rss = field_of(pid, "status", "VmHWM:");
    long rchar = field_of(pid, "io", "rchar:");
    u->anon_kb = anon > u->anon_kb ? anon : u->anon_kb;
    u->rss_kb = rss > u->rss_kb ? rss : u->rss_kb;
    u->rchar = rchar > (long)u->rchar ? (unsigned long long)rchar : u->rchar;
}

static void start_traced(const char *file)
{
    int null = open("/dev/null", O_WRONLY);
    if (dup2(null, 1) < 0 || dup2(null, 2) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(126);
    execl(assay, assay, "graph", file, (char *)NULL);
    _exit(127);
}

static usage traced(const char *file)
{
    usage u = {0};
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        start_traced(file);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return u; /* not allowed here */
    unsigned long long before = (unsigned long long)field_of(pid, "io", "rchar:");
    while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
           WIFSTOPPED(status))
        sample(pid, &u);
    u.known = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    u.rchar -= before;
    return u;
}

/* Bytes of the file in the page cache. */
static double cached_mb(const char *file)
{
    struct stat st;
    int fd = open(file, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        die(file);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = ((size_t)st.st_size + page - 1) / page, in = 0;
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char *there = malloc(n);
    if (map == MAP_FAILED || !there || mincore(map, (size_t)st.st_size, there) != 0)
        die("mincore");
    for (size_t k = 0; k < n; k++)
        in += there[k] & 1;
    free(there);
    munmap(map, (size_t)st.st_size);
    close(fd);
    return (double)(in * page) / 1048576;
}

/* Whether the cache could be emptied of it. */
static bool make_cold(const char *file)
{
    int fd = open(file, O_RDONLY);
    if (fd < 0)
        die(file);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return cached_mb(file) < 1;
}

/* ---- files ---- */

static ww read_whole(const char *path)
{
    ww w = {0};
    uint8_t block[65536];
    FILE *f = fopen(path, "rb");
    if (!f)
        die(path);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        ww_bytes(&w, block, n);
    fclose(f);
    return w;
}

static void write_whole(const char *path, ww *w)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(w->p, 1, w->n, f) != w->n || fclose(f) != 0)
        die(path);
    ww_free(w);
}

typedef struct field {
    unsigned number, type;
    const uint8_t *start, *body; /* with and without its tag */
    size_t size, length;         /* of the whole field, of the body */
    uint64_t value;              /* of a varint */
} field;

static uint64_t get_varint(const uint8_t **p, const uint8_t *end)
{
    uint64_t v = 0;
    for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t b = *(*p)++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            break;
    }
    return v;
}

/* Our own fixture: lengths are as they say. */
static bool next(const uint8_t **p, const uint8_t *end, field *f)
{
    if (*p >= end)
        return false;
    f->start = *p;
    uint64_t tag = get_varint(p, end);
    f->number = (unsigned)(tag >> 3);
    f->type = (unsigned)(tag & 7);
    f->length = 0;
    if (f->type == 0)
        f->value = get_varint(p, end);
    else
        f->length = f->type == 2 ? (size_t)get_varint(p, end) : f->type == 1 ? 8 : 4;
    f->body = *p;
    *p += f->length;
    f->size = (size_t)(*p - f->start);
    return true;
}

/* An external float tensor with its data inside instead. */
static ww filled(const field *of)
{
    ww t = {0};
    field f;
    uint64_t elems = 1, random = 88172645463325252u;
    bool external = false;
    for (const uint8_t *p = of->body, *end = p + of->length; next(&p, end, &f);) {
        if (f.number == 1)
            elems *= f.value;
        external |= f.number == 13;
        if (f.number != 13 && f.number != 14)
            ww_bytes(&t, f.start, f.size);
    }
    if (!external)
        return t;
    ww data = {0};
    for (uint64_t k = 0; k < elems; k += 2) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        ww_fixed(&data, random, 8);
    }
    ww_data(&t, 9, data.p, elems * 4);
    ww_free(&data);
    return t;
}

static void make_resnet(const char *path)
{
    ww fixture = read_whole("tests/models/resnet50.onnx"), model = {0}, graph = {0};
    field f, g;
    for (const uint8_t *p = fixture.p, *end = p + fixture.n; next(&p, end, &f);) {
        if (f.number != 7) {
            ww_bytes(&model, f.start, f.size);
            continue;
        }
        for (const uint8_t *q = f.body, *stop = q + f.length; next(&q, stop, &g);) {
            if (g.number == 5)
                ww_sub(&graph, 5, filled(&g));
            else
                ww_bytes(&graph, g.start, g.size);
        }
    }
    ww_sub(&model, 7, graph);
    ww_free(&fixture);
    write_whole(path, &model);
}

/* Conv, Relu, Add in turn, each with a name as exporters give them. */
static void make_chain(const char *path, int nodes)
{
    static const char *const ops[] = {"Conv", "Relu", "Add"};
    static const float weights[16 * 16];
    const int64_t image[] = {1, 16, 8, 8}, kernel[] = {16, 16, 1, 1};
    ww g = {0};
    for (int k = 0; k < nodes; k++) {
        char in[32], out[32], name[64];
        snprintf(in, sizeof in, "v%d", k);
        snprintf(out, sizeof out, "v%d", k + 1);
        snprintf(name, sizeof name, "/layers/layers.%d/%s", k / 3, ops[k % 3]);
        const char *const one[] = {in, k % 3 == 1 ? NULL : k % 3 ? "v0" : "w", NULL};
        ww_sub(&g, 1, ow_node(ops[k % 3], name, one, NAMES(out)));
    }
    ww_str(&g, 2, "chain");
    ww_sub(&g, 5, ow_raw("w", 1, 4, kernel, weights, sizeof weights));
    ww_sub(&g, 11, ow_info("v0", 1, 4, image));
    char last[32];
    snprintf(last, sizeof last, "v%d", nodes);
    ww_sub(&g, 12, ow_info(last, 1, 4, image));
    ww m = ow_model(g);
    write_whole(path, &m);
}

static const char *in_folder(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- instructions: no noise, on any machine ---- */

/* What callgrind says of `program graph model`, in millions; 0 when it cannot be run. */
static double count_instructions(const char *program, const char *model)
{
    char line[256], command[2048];
    double count = 0;
    snprintf(
        command, sizeof command,
        "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' graph '%s' 2>&1 >/dev/null",
        program, model);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *found = strstr(line, "Collected : ");
        count = found ? strtod(found + strlen("Collected : "), NULL) / 1e6 : count;
    }
    if (f)
        pclose(f);
    return count;
}

static void compare_instructions(const char *base, const char *model)
{
    double now = count_instructions(assay, model),
           before = base ? count_instructions(base, model) : 0;
    printf("  %-34s %9.2f M\n", model, now);
    if (before > 0)
        verdict("beside the program before", now / before, 1.02, "times");
}

static void bench_instructions(const char *base)
{
    static const char *const models[] = {"tests/models/resnet50.onnx", "tests/models/swin_t.onnx",
                                         "tests/models/swin_v2_t.onnx", "gpt2"};
    if (count_instructions("/bin/true", "") == 0) {
        printf("Instructions are not counted: valgrind is not there\n");
        return;
    }
    printf("Instructions%s%s:\n", base ? ", beside " : "", base ? base : "");
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        compare_instructions(base, models[k]);
}

/* ---- the three questions ---- */

static void bench_resnet(int runs)
{
    char file[1024];
    snprintf(file, sizeof file, "%s", in_folder("resnet50.onnx"));
    make_resnet(file);
    pair t = compare(file, runs);
    judge_pair("ResNet-50, 102 MB", &t, runs, 4);
    usage u = traced(file);
    if (u.known) {
        verdict("anonymous memory at its peak", (double)u.anon_kb / 1024, 12, "MiB");
        verdict("bytes read", (double)u.rchar / 1048576, 2, "MiB");
        printf("  %-34s %9.2f MiB\n", "resident, file pages included", (double)u.rss_kb / 1024);
    } else {
        printf("  memory is not measured: a process may not be traced here\n");
    }
    if (make_cold(file)) {
        double ms = run_once(assay, "graph", file).wall_ms;
        printf("  cold: %.1f ms, %.2f MiB of the file came into the cache (read-ahead included)\n",
               ms, cached_mb(file));
    }
    unlink(file);
}

static void bench_swin(int runs)
{
    const char *file = "tests/models/swin_v2_t.onnx";
    pair t = compare(file, runs);
    judge_pair("Swin-V2-T, 6,954 nodes", &t, runs, 10);
}

static void bench_linear(int runs)
{
    static double v[MAX_RUNS];
    double per_node[3];
    int nodes = 1000;
    printf("Chains of nodes, whole process:\n");
    for (int k = 0; k < 3; k++, nodes *= 10) {
        int n = runs / (k == 0 ? 3 : k == 1 ? 10 : 30) + 3;
        make_chain(in_folder("chain.onnx"), nodes);
        for (int r = 0; r < n; r++)
            v[r] = run_once(assay, "graph", in_folder("chain.onnx")).wall_ms;
        double ms = median(v, n);
        per_node[k] = ms * 1e3 / nodes;
        printf("  %7d nodes %9.2f ms  %6.2f us per node\n", nodes, ms, per_node[k]);
        unlink(in_folder("chain.onnx"));
    }
    verdict("per node, 100,000 beside 10,000", per_node[2] / per_node[1], 1.5, "times");
}

int main(int argc, char **argv)
{
    static char bare_path[1024];
    const char *runs_text = getenv("RUNS"), *dir = getenv("BENCH_DIR"), *temp = getenv("TMPDIR");
    const char *base = argc > 1 ? argv[1] : getenv("BASE");
    int runs = runs_text ? atoi(runs_text) : 400;
    runs = runs < 3 ? 3 : runs > MAX_RUNS ? MAX_RUNS : runs;
    assay = getenv("ASSAY");
    if (!assay || !dir) {
        fprintf(stderr, "static: run it with tools/bench, which sets ASSAY and BENCH_DIR\n");
        return 2;
    }
    snprintf(bare_path, sizeof bare_path, "%s/bare_walk", dir);
    bare = bare_path;
    snprintf(folder, sizeof folder, "%s/assay-bench-XXXXXX", temp ? temp : "/var/tmp");
    if (!mkdtemp(folder))
        die(folder);
    bench_instructions(base && *base ? base : NULL);
    bench_resnet(runs);
    bench_swin(runs);
    bench_linear(runs);
    rmdir(folder);
    return missed;
}

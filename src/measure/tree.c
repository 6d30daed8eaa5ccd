/* A process and its descendants by /proc: see system_tree_now(). Formats are those of proc(5). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "measure/system.h"

enum { TREE_MAX = 512, TEXT = 4096 };

static bool read_of(const char *root, int64_t pid, const char *file, char *buf, size_t cap)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proc/%" PRId64 "/%s", root, pid, file);
    int64_t n = file_read_small(path, buf, cap);
    buf[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static uint64_t number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* "pid (name) state ppid ...": the name may hold anything, so fields are counted behind its last bracket. */
static bool add_stat(const char *root, int64_t pid, system_tree *t)
{
    char text[TEXT];
    uint64_t f[32] = {0};
    if (!read_of(root, pid, "stat", text, sizeof text))
        return false;
    char *at = strrchr(text, ')');
    if (!at || (at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X')))
        return false; /* ended: its figures are its parent's once that has waited */
    at += at[1] ? 3 : 1;
    for (int i = 4; i < 32 && *at; i++)
        f[i] = strtoull(at, &at, 10);
    uint64_t ticks = sat_add(sat_add(f[14], f[15]), sat_add(f[16], f[17]));
    t->cpu_ns = sat_add(t->cpu_ns, sat_mul(ticks, 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)));
    t->minor_faults = sat_add(t->minor_faults, sat_add(f[10], f[11]));
    t->major_faults = sat_add(t->major_faults, sat_add(f[12], f[13]));
    t->threads = sat_add(t->threads, f[20]);
    return true;
}

static void add_memory(const char *root, int64_t pid, system_tree *t)
{
    char text[TEXT];
    uint64_t size, resident, shared, page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!read_of(root, pid, "statm", text, sizeof text) ||
        sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &shared) != 3)
        return;
    shared = shared < resident ? shared : resident;
    t->resident.total = sat_add(t->resident.total, sat_mul(resident, page));
    t->resident.file = sat_add(t->resident.file, sat_mul(shared, page));
    t->resident.anon = t->resident.total - t->resident.file;
}

static void add_to(uint64_t *sum, uint64_t v)
{
    *sum = *sum == PROFILE_NOT_TOLD ? *sum : sat_add(*sum, v);
}

static void add_io(const char *root, int64_t pid, system_tree *t)
{
    char text[TEXT];
    if (!read_of(root, pid, "io", text, sizeof text)) {
        memset(&t->io, 0xff, sizeof t->io);
        return;
    }
    add_to(&t->io.read_chars, number_of(text, "rchar: "));
    add_to(&t->io.written_chars, number_of(text, "wchar: "));
    add_to(&t->io.read_bytes, number_of(text, "\nread_bytes: "));
    add_to(&t->io.written_bytes, number_of(text, "\nwrite_bytes: "));
}

static void add_switches(const char *root, int64_t pid, system_tree *t)
{
    char text[TEXT];
    if (!read_of(root, pid, "status", text, sizeof text))
        return;
    t->voluntary = sat_add(t->voluntary, number_of(text, "\nvoluntary_ctxt_switches:"));
    t->involuntary = sat_add(t->involuntary, number_of(text, "\nnonvoluntary_ctxt_switches:"));
}

static uint32_t add_children(const char *root, int64_t pid, int64_t *list, uint32_t n)
{
    char file[64], text[TEXT];
    snprintf(file, sizeof file, "task/%" PRId64 "/children", pid);
    if (!read_of(root, pid, file, text, sizeof text))
        return n;
    for (char *at = text, *end; n < TREE_MAX; at = end) {
        int64_t child = strtoll(at, &end, 10);
        if (end == at || child <= 0)
            break;
        list[n++] = child;
    }
    return n;
}

bool system_tree_now(const char *root, int64_t pid, system_tree *out)
{
    int64_t list[TREE_MAX] = {pid};
    uint32_t n = 1;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        if (!add_stat(root, list[i], out))
            continue;
        out->processes++;
        add_memory(root, list[i], out);
        add_io(root, list[i], out);
        add_switches(root, list[i], out);
        n = add_children(root, list[i], list, n);
    }
    return out->processes > 0;
}

void system_process_name(const char *root, int64_t pid, char *buf, size_t cap)
{
    char text[64];
    read_of(root, pid, "comm", text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    snprintf(buf, cap, "%s", text);
}

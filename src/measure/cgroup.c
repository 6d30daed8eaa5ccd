/* A control group of Linux (cgroup v2), such as a container's: its CPU time and memory from the files of its directory
 * (Documentation/admin-guide/cgroup-v2.rst). Memory is the group's charge, which includes page cache. */
#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "measure/system.h"

enum { FILE_CAP = 8192 };

static bool read_group_file(const char *dir, const char *name, char *buf)
{
    char path[4200];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    return n > 0 && (size_t)n < sizeof path && file_read_small(path, buf, FILE_CAP) > 0;
}

/* The number behind a word that begins a line: "usage_usec 123". */
static bool find_number(const char *text, const char *word, uint64_t *out)
{
    for (str rest = str_of(text), line; str_split(&rest, '\n', &line);) {
        str value = line, key = str_cut(&value, ' ');
        if (str_is(key, word))
            return str_to_u64(str_trim(value), out);
    }
    return false;
}

bool system_cgroup_now(const char *dir, system_tree *out)
{
    char text[FILE_CAP];
    uint64_t usage_us = 0, n = 0;
    *out = (system_tree){.io = PROFILE_IO_UNKNOWN};
    if (!read_group_file(dir, "cpu.stat", text) || !find_number(text, "usage_usec", &usage_us))
        return false;
    out->cpu_ns = usage_us * 1000;
    if (!read_group_file(dir, "memory.current", text) ||
        !str_to_u64(str_trim(str_of(text)), &out->resident.total))
        return false;
    if (read_group_file(dir, "memory.stat", text)) {
        find_number(text, "anon", &out->resident.anon);
        find_number(text, "file", &out->resident.file);
        find_number(text, "pgfault", &out->minor_faults);
        find_number(text, "pgmajfault", &out->major_faults);
    }
    if (read_group_file(dir, "pids.current", text) && str_to_u64(str_trim(str_of(text)), &n))
        out->threads = n;
    if (read_group_file(dir, "cgroup.procs", text))
        for (str rest = str_trim(str_of(text)), line; str_split(&rest, '\n', &line);)
            out->processes += line.n > 0;
    return true;
}

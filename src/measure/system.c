/* See system.h. Formats: proc(5); Documentation/admin-guide/pm and power/powercap of the kernel. */
#include "measure/system.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"

enum { TEXT = 8192, PATH = 512, PACKAGES_MAX = 16, CPUS_MAX = 1024 };

static int64_t read_text(const char *root, const char *path, char *buf, size_t cap)
{
    char full[PATH];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof full ? file_read_small(full, buf, cap) : -1;
}

/* A file that holds one number. */
static uint64_t read_number(const char *root, const char *path)
{
    char text[64];
    uint64_t v;
    if (read_text(root, path, text, sizeof text) <= 0 || sscanf(text, "%" SCNu64, &v) != 1)
        return PROFILE_NOT_TOLD;
    return v;
}

/* The number after "key" at the beginning of a line. */
static uint64_t number_after(const char *text, const char *key)
{
    size_t n = strlen(key);
    uint64_t v;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && sscanf(line + n, " %" SCNu64, &v) == 1)
            return v;
    }
    return PROFILE_NOT_TOLD;
}

/* ---- memory ---- */

bool system_resident_now(const char *root, system_resident *out)
{
    char text[256];
    uint64_t size, resident, shared, page = (uint64_t)sysconf(_SC_PAGESIZE);
    memset(out, 0, sizeof *out);
    if (read_text(root, "/proc/self/statm", text, sizeof text) <= 0 ||
        sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &shared) != 3)
        return false;
    out->total = sat_mul(resident, page);
    out->file = sat_mul(shared < resident ? shared : resident, page);
    out->anon = out->total - out->file;
    return true;
}

uint64_t system_resident_peak(const char *root)
{
    char text[TEXT];
    if (read_text(root, "/proc/self/status", text, sizeof text) <= 0)
        return 0;
    uint64_t kib = number_after(text, "VmHWM:");
    return kib == PROFILE_NOT_TOLD ? 0 : sat_mul(kib, 1024);
}

void system_resident_peak_reset(const char *root)
{
    char path[PATH];
    assay_error ignored;
    int n = snprintf(path, sizeof path, "%s/proc/self/clear_refs", root);
    if (n > 0 && (size_t)n < sizeof path)
        file_append(path, "5", 1, &ignored);
}

uint64_t system_available(const char *root)
{
    char text[TEXT];
    uint64_t left = PROFILE_NOT_TOLD;
    if (read_text(root, "/proc/meminfo", text, sizeof text) > 0) {
        uint64_t kib = number_after(text, "MemAvailable:");
        left = kib == PROFILE_NOT_TOLD ? kib : sat_mul(kib, 1024);
    }
    uint64_t limit = read_number(root, "/sys/fs/cgroup/memory.max");
    uint64_t used = read_number(root, "/sys/fs/cgroup/memory.current");
    if (limit == PROFILE_NOT_TOLD || used == PROFILE_NOT_TOLD)
        return left;
    uint64_t group = limit > used ? limit - used : 0;
    return group < left ? group : left;
}

/* ---- processor ---- */

bool system_ticks_now(const char *root, system_ticks *out)
{
    char text[512];
    uint64_t t[8] = {0};
    memset(out, 0, sizeof *out);
    if (read_text(root, "/proc/stat", text, sizeof text) <= 0)
        return false;
    int n = sscanf(text,
                   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
    for (int i = 0; i < n && i < 8; i++)
        out->all += t[i];
    out->steal = t[7];
    return n == 8;
}

double system_frequency_mhz(const char *root)
{
    char path[96];
    uint64_t sum = 0;
    int n = 0;
    for (; n < CPUS_MAX; n++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", n);
        uint64_t khz = read_number(root, path);
        if (khz == PROFILE_NOT_TOLD)
            break;
        sum = sat_add(sum, khz);
    }
    return n ? (double)sum / n / 1000 : NAN;
}

void system_governor(const char *root, char *buf, size_t cap)
{
    int64_t n = read_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", buf, cap);
    if (n < 0)
        n = 0;
    while (n > 0 && buf[n - 1] <= ' ')
        n--;
    buf[n] = '\0';
}

double system_run_queue_wait(const char *root)
{
    char text[128];
    uint64_t waited;
    if (read_text(root, "/proc/self/schedstat", text, sizeof text) <= 0 ||
        sscanf(text, "%*u %" SCNu64, &waited) != 1)
        return NAN;
    return (double)waited / 1e9;
}

double system_load(const char *root)
{
    char text[128];
    double load;
    if (read_text(root, "/proc/loadavg", text, sizeof text) <= 0 || sscanf(text, "%lf", &load) != 1)
        return NAN;
    return load;
}

static uint64_t nanoseconds(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

void system_usage_now(bool thread, system_usage *out)
{
    struct rusage u;
    memset(out, 0, sizeof *out);
    if (getrusage(thread ? RUSAGE_THREAD : RUSAGE_SELF, &u) != 0)
        return;
    *out = (system_usage){.cpu_ns = nanoseconds(u.ru_utime) + nanoseconds(u.ru_stime),
                          .voluntary = (uint64_t)u.ru_nvcsw,
                          .involuntary = (uint64_t)u.ru_nivcsw,
                          .minor_faults = (uint64_t)u.ru_minflt,
                          .major_faults = (uint64_t)u.ru_majflt};
}

system_usage system_usage_between(const system_usage *x, const system_usage *y)
{
    return (system_usage){.cpu_ns = y->cpu_ns - x->cpu_ns,
                          .voluntary = y->voluntary - x->voluntary,
                          .involuntary = y->involuntary - x->involuntary,
                          .minor_faults = y->minor_faults - x->minor_faults,
                          .major_faults = y->major_faults - x->major_faults};
}

void system_usage_add(system_usage *to, const system_usage *x)
{
    to->cpu_ns += x->cpu_ns;
    to->voluntary += x->voluntary;
    to->involuntary += x->involuntary;
    to->minor_faults += x->minor_faults;
    to->major_faults += x->major_faults;
}

double system_cpu_percent(double cpu_s, double wall_s)
{
    return wall_s >= 0.1 ? 100 * cpu_s / wall_s : (double)NAN;
}

/* ---- disk and power ---- */

/* /proc/net/dev (proc(5)): "  eth0: received 7 others sent ...", in bytes. */
static void read_network(const char *root, profile_io *out)
{
    char text[16384], name[32];
    uint64_t received, sent;
    if (read_text(root, "/proc/self/net/dev", text, sizeof text) <= 0)
        return;
    out->network_rx_bytes = out->network_tx_bytes = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        int n = sscanf(line, " %31[^: \n]: %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, name,
                       &received, &sent);
        if (n != 3 || strcmp(name, "lo") == 0)
            continue;
        out->network_rx_bytes = sat_add(out->network_rx_bytes, received);
        out->network_tx_bytes = sat_add(out->network_tx_bytes, sent);
    }
}

void system_io_now(const char *root, profile_io *out)
{
    char text[1024];
    memset(out, 0xff, sizeof *out);
    read_network(root, out);
    if (read_text(root, "/proc/self/io", text, sizeof text) <= 0)
        return;
    out->read_chars = number_after(text, "rchar:");
    out->written_chars = number_after(text, "wchar:");
    out->read_bytes = number_after(text, "read_bytes:");
    out->written_bytes = number_after(text, "write_bytes:");
}

static uint64_t sum_of_packages(const char *root, const char *file)
{
    char path[96];
    uint64_t sum = 0;
    int n = 0;
    for (; n < PACKAGES_MAX; n++) {
        snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/%s", n, file);
        uint64_t v = read_number(root, path);
        if (v == PROFILE_NOT_TOLD)
            break;
        sum = sat_add(sum, v);
    }
    return n ? sum : PROFILE_NOT_TOLD;
}

uint64_t system_energy_uj(const char *root)
{
    return sum_of_packages(root, "energy_uj");
}

double system_energy_between(const char *root, uint64_t from_uj, uint64_t to_uj)
{
    if (from_uj == PROFILE_NOT_TOLD || to_uj == PROFILE_NOT_TOLD)
        return NAN;
    if (to_uj >= from_uj)
        return (double)(to_uj - from_uj) / 1e6;
    uint64_t range = sum_of_packages(root, "max_energy_range_uj");
    return range == PROFILE_NOT_TOLD || range < from_uj ? NAN
                                                        : (double)(range - from_uj + to_uj) / 1e6;
}

/* See topology.h. Processors and caches are in topology_cpu.c. */
#include "device/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "device/host.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { TEXT = 16384, PATH = 512 };

int64_t topology_text(const char *root, const char *path, char *buf, uint64_t cap)
{
    char full[PATH];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    int64_t got = n > 0 && (size_t)n < sizeof full ? file_read_small(full, buf, (size_t)cap) : -1;
    buf[got > 0 ? got : 0] = '\0';
    while (got > 0 && (unsigned char)buf[got - 1] <= ' ')
        buf[--got] = '\0';
    return got;
}

static int64_t topology_number(const char *root, const char *path)
{
    char text[64];
    int64_t v;
    bool read = topology_text(root, path, text, sizeof text) > 0 && str_to_i64(str_of(text), &v);
    return read && v >= 0 ? v : -1;
}

static bool file_exists(const char *root, const char *path)
{
    char full[PATH];
    snprintf(full, sizeof full, "%s%s", root, path);
    return file_stat(full).exists;
}

/* "key   : value" of a text in lines, as /proc/cpuinfo has them. */
static bool value_after(const char *text, const char *key, char *out, size_t cap)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, n) != 0 || !colon ||
            strspn(line + n, " \t") != (size_t)(colon - line) - n)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, cap, "%.*s", (int)strcspn(colon, "\n"), colon);
        return *out != '\0';
    }
    return false;
}

static void copy_safe(char *out, size_t cap, const char *from)
{
    size_t n = 0;
    for (; *from && n + 1 < cap; from++)
        out[n++] = (unsigned char)*from < ' ' || *from == 0x7f ? '.' : *from;
    out[n] = '\0';
}

/* ---- the name of the processor ---- */

/* Main ID register: implementer and part (Arm's own cores; others are told by number). */
static const struct arm_part {
    unsigned part;
    const char *name;
} arm_parts[] = {
    {0xd03, "Arm Cortex-A53"},  {0xd05, "Arm Cortex-A55"},  {0xd07, "Arm Cortex-A57"},
    {0xd08, "Arm Cortex-A72"},  {0xd0b, "Arm Cortex-A76"},  {0xd0c, "Arm Neoverse-N1"},
    {0xd40, "Arm Neoverse-V1"}, {0xd41, "Arm Cortex-A78"},  {0xd44, "Arm Cortex-X1"},
    {0xd49, "Arm Neoverse-N2"}, {0xd4f, "Arm Neoverse-V2"}, {0xd8e, "Arm Neoverse-N3"},
};

static void arm_name(const char *text, topology *out)
{
    char implementer[16], part[16];
    if (!value_after(text, "CPU implementer", implementer, sizeof implementer) ||
        !value_after(text, "CPU part", part, sizeof part))
        return;
    unsigned long who = strtoul(implementer, NULL, 0), which = strtoul(part, NULL, 0);
    for (size_t i = 0; who == 0x41 && i < sizeof arm_parts / sizeof *arm_parts; i++)
        if (arm_parts[i].part == which)
            snprintf(out->cpu, sizeof out->cpu, "%s", arm_parts[i].name);
    if (!*out->cpu)
        snprintf(out->cpu, sizeof out->cpu, "arm64 implementer 0x%lx part 0x%lx", who, which);
}

static void name_processor(const char *cpuinfo, topology *out)
{
    char text[128];
    if (*out->cpu)
        return;
    if (value_after(cpuinfo, "model name", text, sizeof text))
        copy_safe(out->cpu, sizeof out->cpu, text);
    else
        arm_name(cpuinfo, out);
}

/* ---- clocks ---- */

static double mhz_of(const char *root, const char *file)
{
    char path[PATH];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpufreq/%s", file);
    int64_t khz = topology_number(root, path);
    return khz > 0 ? (double)khz / 1000 : NAN;
}

static void read_clocks(const char *root, const char *cpuinfo, topology *out)
{
    char text[64];
    out->mhz_now = mhz_of(root, "scaling_cur_freq");
    out->mhz_min = mhz_of(root, "cpuinfo_min_freq");
    out->mhz_max = mhz_of(root, "cpuinfo_max_freq");
    out->mhz_base = mhz_of(root, "base_frequency");
    double mhz;
    if (isnan(out->mhz_now) && value_after(cpuinfo, "cpu MHz", text, sizeof text) &&
        str_to_f64(str_trim(str_of(text)), &mhz) && mhz > 0)
        out->mhz_now = mhz;
    topology_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", out->governor,
                  sizeof out->governor);
    topology_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", out->driver,
                  sizeof out->driver);
}

/* ---- who else is here ---- */

static const struct hypervisor_row {
    const char *sign, *name;
} hypervisors[] = {
    {"KVMKVMKVM", "KVM"},      {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
    {"XenVMMXenVMM", "Xen"},   {"prl hyperv  ", "Parallels"}, {"VBoxVBoxVBox", "VirtualBox"},
    {"bhyve bhyve ", "bhyve"}, {"TCGTCGTCGTCG", "QEMU"},      {"ACRNACRNACRN", "ACRN"},
};

#if defined(__x86_64__) || defined(__i386__)
/* Leaf 1, bit 31 of ecx, is reserved for hypervisors; leaf 0x40000000 has their signature. */
static bool ask_hypervisor(char *out, size_t cap)
{
    unsigned a, b, c, d, words[4] = {0};
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return false;
    snprintf(out, cap, "none");
    if (!(c & (1u << 31)))
        return true;
    __cpuid(0x40000000, words[3], words[0], words[1], words[2]);
    words[3] = 0;
    copy_safe(out, cap, *words ? (const char *)words : "unnamed");
    for (size_t i = 0; i < sizeof hypervisors / sizeof *hypervisors; i++)
        if (strncmp((const char *)words, hypervisors[i].sign, strlen(hypervisors[i].sign)) == 0)
            snprintf(out, cap, "%s", hypervisors[i].name);
    return true;
}
#else
static bool ask_hypervisor(char *out, size_t cap)
{
    (void)out, (void)cap;
    return false;
}
#endif

/* A word of the flags line. */
static bool has_flag(const char *cpuinfo, const char *flag)
{
    size_t n = strlen(flag);
    for (const char *p = strstr(cpuinfo, flag); p; p = strstr(p + 1, flag))
        if (p > cpuinfo && p[-1] == ' ' && (p[n] == ' ' || p[n] == '\n' || p[n] == '\0'))
            return true;
    return false;
}

static void find_hypervisor(const char *root, const char *cpuinfo, topology *out)
{
    char text[64], *to = out->hypervisor;
    size_t cap = sizeof out->hypervisor;
    if (!*root && ask_hypervisor(to, cap))
        return;
    if (topology_text(root, "/sys/hypervisor/type", text, sizeof text) > 0 ||
        topology_text(root, "/proc/device-tree/hypervisor/compatible", text, sizeof text) > 0 ||
        (topology_text(root, "/sys/class/dmi/id/sys_vendor", text, sizeof text) > 0 &&
         (strstr(text, "QEMU") || strstr(text, "Amazon EC2") || strstr(text, "Google"))))
        copy_safe(to, cap, text);
    else if (has_flag(cpuinfo, "hypervisor"))
        snprintf(to, cap, "unnamed");
    else if (strstr(cpuinfo, "flags\t"))
        snprintf(to, cap, "none");
}

static void find_container(const char *root, topology *out)
{
    static const struct {
        const char *path, *name;
    } signs[] = {{"/.dockerenv", "docker"},
                 {"/run/.containerenv", "podman"},
                 {"/var/run/secrets/kubernetes.io", "kubernetes"},
                 {"/proc/vz", "openvz"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (file_exists(root, signs[i].path)) {
            snprintf(out->container, sizeof out->container, "%s", signs[i].name);
            return;
        }
    if (file_exists(root, "/proc/stat"))
        snprintf(out->container, sizeof out->container, "none");
}

/* cgroup 2: "quota period" or "max period"; cgroup 1: two files, a quota below 0 for none. */
static double read_quota(const char *root)
{
    char text[64];
    double most, period;
    if (topology_text(root, "/sys/fs/cgroup/cpu.max", text, sizeof text) > 0) {
        str of_text = str_of(text), most_text = str_cut(&of_text, ' ');
        bool read = str_to_f64(most_text, &most) && str_to_f64(str_trim(of_text), &period);
        return read && period > 0 ? most / period : NAN;
    }
    int64_t us = topology_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
            of = topology_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    return us > 0 && of > 0 ? (double)us / (double)of : NAN;
}

static double read_steal(const char *root)
{
    char text[512];
    uint64_t t[8] = {0}, all = 0;
    if (topology_text(root, "/proc/stat", text, sizeof text) <= 0 ||
        sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
        return NAN;
    for (int i = 0; i < 8; i++)
        all += t[i];
    return all ? (double)t[7] * 100 / (double)all : NAN;
}

static uint64_t total_memory(const char *root)
{
    char text[4096];
    uint64_t kib;
    const char *line;
    if (topology_text(root, "/proc/meminfo", text, sizeof text) <= 0 ||
        !(line = strstr(text, "MemTotal:")) || sscanf(line + 9, " %" SCNu64, &kib) != 1)
        return 0;
    return kib * 1024;
}

/* ---- the whole ---- */

static void ask_system(topology *out)
{
    host_info h;
    host_describe(&h);
    snprintf(out->cpu, sizeof out->cpu, "%s", h.cpu);
    snprintf(out->machine, sizeof out->machine, "%s", h.machine);
    snprintf(out->host, sizeof out->host, "%s", h.host);
    snprintf(out->os, sizeof out->os, "%s", h.os);
    out->usable = (unsigned)h.cores;
    out->memory_bytes = h.memory_bytes;
}

void topology_read(const char *root, topology *out)
{
    char cpuinfo[TEXT];
    memset(out, 0, sizeof *out);
    if (!*root)
        ask_system(out);
    topology_text(root, "/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
    name_processor(cpuinfo, out);
    topology_processors(root, out);
    if (!out->memory_bytes)
        out->memory_bytes = total_memory(root);
    if (!*out->host)
        topology_text(root, "/proc/sys/kernel/hostname", out->host, sizeof out->host);
    read_clocks(root, cpuinfo, out);
    find_hypervisor(root, cpuinfo, out);
    find_container(root, out);
    out->quota_cpus = read_quota(root);
    out->steal_percent = read_steal(root);
    topology_find_gaps(out);
}

const topology_cache *topology_data_cache(const topology *t, unsigned level)
{
    for (unsigned i = 0; i < t->n_caches; i++)
        if (t->caches[i].level == level && strcmp(t->caches[i].kind, "instruction") != 0)
            return &t->caches[i];
    return NULL;
}

void topology_find_gaps(topology *t)
{
    const struct {
        bool missing;
        const char *what;
    } all[] = {
        {!*t->cpu, "the processor's name"},
        {!t->cpus, "the number of processors"},
        {!t->sockets, "sockets"},
        {!t->cores, "cores"},
        {!t->threads_per_core, "threads per core"},
        {!t->numa_nodes, "memory nodes"},
        {!t->n_caches, "caches"},
        {!t->memory_bytes, "memory"},
        {isnan(t->mhz_now), "the clock"},
        {isnan(t->mhz_max), "the highest clock"},
        {!*t->governor, "the governor"},
        {!*t->hypervisor, "whether it is virtual"},
        {!*t->container, "whether this is a container"},
        {isnan(t->steal_percent), "time stolen by the hypervisor"},
    };
    _Static_assert(sizeof all / sizeof *all <= TOPOLOGY_GAPS, "room for all");
    t->n_not_reported = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].missing)
            t->not_reported[t->n_not_reported++].what = all[i].what;
}

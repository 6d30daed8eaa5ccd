/* uname, the affinity mask, sysinfo, and on x86 the processor's own brand string (leaves 0x80000002 to
 * 0x80000004 of cpuid): /proc/cpuinfo would do for the rest of the world, but on many kernels reading
 * it wakes every core. */
#include "device/host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static void brand_string(char cpu[49])
{
    unsigned words[12] = {0};
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    memcpy(cpu, words, 48);
    cpu[48] = '\0';
}
/* Leaf 7: AVX512_VNNI is bit 11 of ecx, AVX_VNNI bit 4 of eax in subleaf 1. */
static bool has_vnni(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    unsigned subleaves = a;
    if (c & (1u << 11))
        return true;
    return subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 4));
}
#else
static void brand_string(char cpu[49])
{
    (void)cpu;
}

/* Elsewhere pairs of products are widened before they are added. */
static bool has_vnni(void)
{
    return true;
}
#endif

/* Blanks at both ends, and what is not printable: some hypervisors fill with anything. */
static void trim_spaces(char *s)
{
    size_t to = 0;
    for (const char *p = s; *p; p++)
        if (*p > ' ' && *p < 0x7f)
            s[to++] = *p;
        else if (to > 0 && s[to - 1] != ' ')
            s[to++] = ' ';
    while (to > 0 && s[to - 1] == ' ')
        to--;
    s[to] = '\0';
}

void host_describe(host_info *h)
{
    struct utsname u;
    struct sysinfo mem;
    cpu_set_t mask;
    memset(h, 0, sizeof *h);
    if (uname(&u) == 0) {
        snprintf(h->os, sizeof h->os, "%.60s %.60s", u.sysname, u.release);
        snprintf(h->machine, sizeof h->machine, "%.64s", u.machine);
        snprintf(h->host, sizeof h->host, "%.64s", u.nodename);
    }
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        h->cores = (uint64_t)CPU_COUNT(&mask);
    if (sysinfo(&mem) == 0)
        h->memory_bytes = (uint64_t)mem.totalram * mem.mem_unit;
    brand_string(h->cpu);
    h->saturates_int8 = !has_vnni();
    trim_spaces(h->cpu);
    trim_spaces(h->os);
    trim_spaces(h->host);
}

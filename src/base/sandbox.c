/* The filter is written by hand: a table of system calls, and what must hold of an argument. BPF is described in
 * Documentation/userspace-api/seccomp_filter.rst of the kernel. Only the low half of an argument is looked at: all that
 * are compared here are ints or small flags to the kernel. */
#include "base/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__LP64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#define SANDBOX_X32  0x40000000u /* calls of the x32 ABI have the same architecture and this bit */
#elif defined(__aarch64__)
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef SANDBOX_ARCH

/* ---- what is allowed ---- */

static const int free_calls[] = {
    SYS_read,        SYS_pread64,     SYS_lseek,         SYS_close,
    SYS_dup,         SYS_fstat,       SYS_fadvise64,     SYS_brk,
    SYS_munmap,      SYS_madvise,     SYS_clock_gettime, SYS_gettimeofday,
    SYS_exit,        SYS_exit_group,  SYS_rt_sigreturn,  SYS_rt_sigprocmask,
    SYS_futex,       SYS_getrandom,   SYS_sysinfo,       SYS_restart_syscall,
    SYS_getpid,      SYS_gettid,      SYS_uname,         SYS_sched_getaffinity,
#ifdef ASSAY_SANITIZED /* whose run-time library reports what it finds, and waits */
    SYS_sched_yield, SYS_sigaltstack, SYS_nanosleep,     SYS_clock_nanosleep,
#endif
};
enum { FREE_CALLS = sizeof free_calls / sizeof *free_calls, RULED_CALLS = 6 };

typedef enum rule_kind {
    RULE_FREE,
    RULE_EQUALS, /* the argument is one of two values */
    RULE_LACKS,  /* memory: not executable */
    RULE_MEMORY  /* mmap: the same, and not of a file */
} rule_kind;

typedef struct call_rule {
    int call;
    rule_kind kind;
    int argument;
    uint32_t a, b;
} call_rule;

static int by_call(const void *a, const void *b)
{
    return ((const call_rule *)a)->call - ((const call_rule *)b)->call;
}

/* All that is allowed, sorted. */
static void list_rules(call_rule rules[FREE_CALLS + RULED_CALLS], int out, int broker)
{
    const uint32_t to = (uint32_t)out, other = (uint32_t)(broker < 0 ? out : broker);
    const uint32_t self = (uint32_t)getpid();
    const call_rule ruled[RULED_CALLS] = {
#ifdef ASSAY_SANITIZED
        {SYS_write, RULE_FREE, 0, 0, 0},
#else
        {SYS_write, RULE_EQUALS, 0, to, other},
#endif
        {SYS_recvmsg, RULE_EQUALS, 0, other, other},
        {SYS_mmap, RULE_MEMORY, 2, 0, 0},
        {SYS_mprotect, RULE_LACKS, 2, 0, 0},
        {SYS_mremap, RULE_EQUALS, 3, MREMAP_MAYMOVE, 0},
        {SYS_tgkill, RULE_EQUALS, 0, self, self}, /* abort(): a signal to itself */
    };
    (void)to;
    memcpy(rules, ruled, sizeof ruled);
    for (int i = 0; i < FREE_CALLS; i++)
        rules[RULED_CALLS + i] = (call_rule){.call = free_calls[i], .kind = RULE_FREE};
    qsort(rules, FREE_CALLS + RULED_CALLS, sizeof *rules, by_call);
}

/* ---- the program ---- */

enum { PROGRAM_MOST = 200 };

typedef struct program {
    struct sock_filter code[PROGRAM_MOST];
    unsigned short n;
} program;

static void emit(program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    assert(p->n < PROGRAM_MOST);
    p->code[p->n++] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = k};
}

static void emit_load(program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Little endian, as both architectures are. */
static void emit_load_argument(program *p, int i)
{
    emit_load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)i);
}

static void emit_return(program *p, uint32_t action)
{
    emit(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Goes on behind the next `skip` instructions unless the accumulator is k. */
static void emit_unless_equal(program *p, uint32_t k, uint8_t skip)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, skip);
}

static void emit_argument_rule(program *p, const call_rule *r)
{
    emit_load_argument(p, r->argument);
    if (r->kind == RULE_EQUALS) {
        emit_unless_equal(p, r->a, 1);
        emit_return(p, SECCOMP_RET_ALLOW);
        emit_unless_equal(p, r->b, 1);
        emit_return(p, SECCOMP_RET_ALLOW);
        return;
    }
    emit(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, r->kind == RULE_MEMORY ? 3 : 1, 0);
    if (r->kind == RULE_MEMORY) {
        emit_load_argument(p, 3);
        emit(p, BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1);
    }
    emit_return(p, SECCOMP_RET_ALLOW);
}

/* A binary search: the kernel tries the filter with every call when it is installed. */
static void emit_search(program *p, const call_rule *rules, int n)
{
    unsigned short at = p->n;
    if (n > 1) {
        emit(p, BPF_JMP | BPF_JGE | BPF_K, (uint32_t)rules[n / 2].call, 0, 0);
        emit_search(p, rules, n / 2);
        p->code[at].jt = (uint8_t)(p->n - at - 1);
        emit_search(p, rules + n / 2, n - n / 2);
        return;
    }
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rules->call, 0, 0);
    if (rules->kind == RULE_FREE)
        emit_return(p, SECCOMP_RET_ALLOW);
    else
        emit_argument_rule(p, rules);
    p->code[at].jf = (uint8_t)(p->n - at - 1);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
}

static void emit_architecture(program *p)
{
    emit_load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
    emit_load(p, offsetof(struct seccomp_data, nr));
#ifdef SANDBOX_X32
    emit(p, BPF_JMP | BPF_JGE | BPF_K, SANDBOX_X32, 0, 1);
    emit_return(p, SECCOMP_RET_KILL_PROCESS);
#endif
}

static void write_program(program *p, int out, int broker)
{
    call_rule rules[FREE_CALLS + RULED_CALLS];
    list_rules(rules, out, broker);
    emit_architecture(p);
    emit_search(p, rules, FREE_CALLS + RULED_CALLS);
}

/* ---- entering ---- */

static int by_byte(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* What the C library looks up in files once: the time zone, and the memory that qsort() may use. */
static void look_up_first(void)
{
    unsigned char sorted[2048] = {1};
    struct tm t;
    time_t now = time(NULL);
    localtime_r(&now, &t);
    qsort(sorted, sizeof sorted, 1, by_byte);
}

static assay_status refuse(assay_error *err, const char *why)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "this system cannot confine a process: %s", why);
}

assay_status sandbox_check(assay_error *err)
{
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
        return ASSAY_OK;
    return refuse(err, errno == EOPNOTSUPP ? "the kernel is older than 4.14" : strerror(errno));
}

assay_status sandbox_enter(int out, int broker, assay_error *err)
{
    program p = {.n = 0};
    TRY(sandbox_check(err));
    look_up_first();
    write_program(&p, out, broker);
    const struct sock_fprog filter = {.len = p.n, .filter = p.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
        return refuse(err, strerror(errno));
    return ASSAY_OK;
}

#else

assay_status sandbox_check(assay_error *err)
{
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "processes can be confined on x86-64 and aarch64 only");
}

assay_status sandbox_enter(int out, int broker, assay_error *err)
{
    (void)out;
    (void)broker;
    return sandbox_check(err);
}

#endif

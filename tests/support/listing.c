#include "support/listing.h"

#include <ctype.h>
#include <fnmatch.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

/* "  4f0:\t{vex} vpdpbusd %ymm2,%ymm0,%ymm1"; behind "<" are names of addresses. */
static bool read_instruction(char *line, listing_instruction *out)
{
    char *end;
    out->at = strtoull(line, &end, 16);
    if (end == line || *end != ':')
        return false;
    end[strcspn(end, "<\n")] = 0;
    char *p = end + 1 + strspn(end + 1, " \t");
    if (*p == '{') /* a prefix that names the encoding */
        p += strcspn(p, " \t"), p += strspn(p, " \t");
    size_t n = strcspn(p, " \t");
    snprintf(out->name, sizeof out->name, "%.*s", (int)n, p);
    p += n + strspn(p + n, " \t");
    snprintf(out->operands, sizeof out->operands, "%s", p);
    return n > 0;
}

/* "0000000000000310 <int8_vnni>:" */
static bool read_heading(const char *line, char *symbol, size_t size)
{
    const char *from = strstr(line, " <"), *to = strstr(line, ">:");
    if (!isxdigit((unsigned char)line[0]) || !from || !to || to < from)
        return false;
    snprintf(symbol, size, "%.*s", (int)(to - from - 2), from + 2);
    return true;
}

bool listing_read(FILE *text, listing *out)
{
    char line[512], next[64];
    bool inside = false;
    out->n = 0;
    while (out->n < LISTING_INSTRUCTIONS && fgets(line, sizeof line, text)) {
        if (inside && read_heading(line, next, sizeof next))
            break;
        inside = inside || read_heading(line, out->symbol, sizeof out->symbol);
        if (inside && read_instruction(line, &out->code[out->n]))
            out->n++;
    }
    while (fgets(line, sizeof line, text)) /* the writer shall not see a closed pipe */
        continue;
    return out->n > 0;
}

/* What the loader added to this program's addresses. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(uint64_t *)out = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

bool listing_of_function(const void *function, listing *out)
{
    enum { LONGEST = 4096 };
    char self[512], command[768];
    uint64_t bias = 0;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    dl_iterate_phdr(take_bias, &bias);
    uint64_t at = (uint64_t)(uintptr_t)function - bias;
    snprintf(command, sizeof command,
             "objdump -d --no-show-raw-insn --start-address=0x%llx --stop-address=0x%llx '%.*s' "
             "2>/dev/null",
             (unsigned long long)at, (unsigned long long)at + LONGEST, (int)n, self);
    FILE *text = n > 0 ? popen(command, "r") : NULL;
    bool read = text && listing_read(text, out) && out->code[0].at == at;
    return text && pclose(text) == 0 && read;
}

/* ---- counting ---- */

typedef struct operation_row {
    const char *name; /* a pattern, without the v of AVX */
    double each;      /* operations of a lane, or of the instruction where bits is 0 */
    unsigned bits;    /* of a lane */
} operation_row;

/* pmaddubsw: a product a byte and a sum for two. pmaddwd by ones: the sum of two of those. */
static const operation_row operations[] = {
    {"fmadd[123][123][123]ps", 2, 32},
    {"fmadd[123][123][123]pd", 2, 64},
    {"fmadd[123][123][123]ph", 2, 16},
    {"pdpbusd", 2, 8},
    {"dpbf16ps", 2, 16},
    {"mulps", 1, 32},
    {"addps", 1, 32},
    {"mulpd", 1, 64},
    {"addpd", 1, 64},
    {"mul[sd][sd]", 1, 0},
    {"add[sd][sd]", 1, 0},
    {"pmaddubsw", 3, 16},
    {"pmaddwd", 1, 32},
    {"paddd", 1, 32},
    {"pmuludq", 1, 64},
    {"pmulld", 1, 32},
    {"imul", 1, 0},
    {"tdpbssd", 2 * 16 * 16 * 64, 0},
    {"tdpbf16ps", 2 * 16 * 16 * 32, 0},
    /* arm64: lanes by their arrangement */
    {"fmla", 2, 1},
    {"fmul", 1, 1},
    {"fadd", 1, 1},
    {"mla", 2, 1},
    {"fmadd", 2, 0},
    {"madd", 2, 0},
    {"mul", 1, 1},
    {"sdot", 2 * 16, 0},
    {"smmla", 2 * 32, 0},
    {"bfmmla", 2 * 16, 0},
    /* both: a sum of two registers */
    {"add", 1, 1},
};

static unsigned vector_bits(const char *operands)
{
    return strstr(operands, "%zmm")   ? 512
           : strstr(operands, "%ymm") ? 256
           : strstr(operands, "%xmm") ? 128
                                      : 0;
}

static double lanes_of(const listing_instruction *i, unsigned bits)
{
    if (bits != 1)
        return bits ? (double)vector_bits(i->operands) / bits : 1;
    return strstr(i->operands, ".8h")   ? 8
           : strstr(i->operands, ".4s") ? 4
           : strstr(i->operands, ".2d") ? 2
                                        : 1;
}

static bool has_constant(const listing_instruction *i)
{
    return strpbrk(i->operands, "$#") != NULL;
}

static double operations_of(const listing_instruction *i)
{
    const char *name = i->name + (i->name[0] == 'v');
    if (has_constant(i))
        return 0;
    for (size_t r = 0; r < sizeof operations / sizeof *operations; r++)
        if (fnmatch(operations[r].name, name, 0) == 0)
            return operations[r].each * lanes_of(i, operations[r].bits);
    return 0;
}

/* "ldp q0, q1, [x1, #32]" moves two registers, "vmovaps (%rax),%ymm0" one. */
static uint64_t bytes_of(const listing_instruction *i)
{
    if (i->operands[0] == 'q' && strchr(i->operands, '['))
        return fnmatch("*p", i->name, 0) == 0 ? 32 : 16;
    return strchr(i->operands, '(') && strncmp(i->name, "lea", 3) ? vector_bits(i->operands) / 8
                                                                  : 0;
}

/* Of "sub $0x1,%rdi", "subs x0, x0, #0x1", "dec %rdi", "lea 0x80(%rax),%rax"; else 0. */
static uint64_t step_of(const listing_instruction *i)
{
    const char *at = strpbrk(i->operands, "$#");
    if (strcmp(i->name, "dec") == 0 || strcmp(i->name, "inc") == 0)
        return 1;
    if (strcmp(i->name, "lea") == 0)
        at = i->operands - 1;
    else if (strncmp(i->name, "add", 3) != 0 && strncmp(i->name, "sub", 3) != 0)
        return 0;
    int64_t v = at ? (int64_t)strtoull(at + 1, NULL, 0) : 0;
    return (uint64_t)(v < 0 ? -v : v);
}

/* "movdqa %xmm1,%xmm4": x86 processors rename registers instead of copying. */
static bool is_free_copy(const listing_instruction *i)
{
    return fnmatch("?(v)mov*", i->name, FNM_EXTMATCH) == 0 &&
           fnmatch("%[xyz]mm*([0-9]),%[xyz]mm*([0-9])", i->operands, FNM_EXTMATCH) == 0;
}

/* ---- loops ---- */

/* Where a branch goes: "jne 330", "b.ne 40", "cbnz x0, 40"; else NO_BRANCH. */
#define NO_BRANCH UINT64_MAX
static uint64_t branch_target(const listing_instruction *i)
{
    const char *comma = strrchr(i->operands, ',');
    if (i->name[0] != 'j' && strncmp(i->name, "b.", 2) != 0 && strncmp(i->name, "cb", 2) != 0)
        return NO_BRANCH;
    return strtoull(comma ? comma + 1 : i->operands, NULL, 16);
}

/* The instruction that the branch at `last` goes back to; -1: it does not go back. */
static int loop_start(const listing *l, int last)
{
    uint64_t target = branch_target(&l->code[last]);
    for (int k = target != NO_BRANCH ? last : -1; k >= 0; k--)
        if (l->code[k].at == target)
            return k;
    return -1;
}

bool listing_next_loop(const listing *l, int *at, listing_loop *out)
{
    int last = *at, first = -1;
    while (last < l->n && (first = loop_start(l, last)) < *at)
        last++;
    if (last >= l->n)
        return false;
    *out = (listing_loop){.first = first, .last = last};
    for (int k = first; k <= last; k++) {
        const listing_instruction *i = &l->code[k];
        uint64_t step = step_of(i);
        double ops = operations_of(i);
        out->ops += ops;
        out->bytes += bytes_of(i);
        out->step = step > out->step ? step : out->step;
        out->others += !(ops > 0) && !is_free_copy(i);
    }
    *at = last + 1;
    return true;
}

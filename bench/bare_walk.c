/* The yardstick of static.c: opens an ONNX file, walks every message of its wire format down to the
 * tensors' heads, and counts fields. It resolves nothing, checks only lengths and keeps nothing.
 *
 *   bare_walk FILE
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct span {
    const uint8_t *p, *end;
} span;

/* Which fields of a message are messages of which kind; the rest is skipped. */
typedef enum kind {
    LEAF,
    MODEL,
    GRAPH,
    NODE,
    ATTR,
    TENSOR,
    INFO,
    TYPE,
    TENSOR_TYPE,
    SHAPE,
    DIM
} kind;

static const uint8_t inner[][32] = {
    [MODEL] = {[7] = GRAPH},
    [GRAPH] = {[1] = NODE, [5] = TENSOR, [11] = INFO, [12] = INFO, [13] = INFO},
    [NODE] = {[5] = ATTR},
    [ATTR] = {[5] = TENSOR, [6] = GRAPH, [10] = TENSOR, [11] = GRAPH},
    [TENSOR] = {[13] = LEAF},
    [INFO] = {[2] = TYPE},
    [TYPE] = {[1] = TENSOR_TYPE},
    [TENSOR_TYPE] = {[2] = SHAPE},
    [SHAPE] = {[1] = DIM},
    [DIM] = {[1] = LEAF},
};

static uint64_t varint(span *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->p < s->end && shift < 64; shift += 7) {
        uint8_t b = *s->p++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    s->p = s->end;
    return v;
}

static span take(span *s, uint64_t n)
{
    span part = {s->p, s->p};
    if (n > (uint64_t)(s->end - s->p))
        n = (uint64_t)(s->end - s->p);
    part.end += n;
    s->p += n;
    return part;
}

static uint64_t walk(span s, kind of)
{
    uint64_t fields = 0;
    while (s.p < s.end) {
        uint64_t tag = varint(&s), field = tag >> 3;
        fields++;
        if ((tag & 7) == 0) {
            varint(&s);
        } else if ((tag & 7) == 2) {
            span part = take(&s, varint(&s));
            if (field < 32 && inner[of][field])
                fields += walk(part, (kind)inner[of][field]);
        } else {
            take(&s, (tag & 7) == 1 ? 8 : 4);
        }
    }
    return fields;
}

int main(int argc, char **argv)
{
    struct stat st;
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
        return 1;
    const uint8_t *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 1;
    printf("%llu fields\n", (unsigned long long)walk((span){p, p + st.st_size}, MODEL));
    return 0;
}

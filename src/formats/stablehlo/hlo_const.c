/* Constants of StableHLO: dense<...> : tensor<...>, as numbers, as hexadecimal bytes, or by name (dense_resource). */
#include <stdlib.h>
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

enum { HLO_NUMBER = 64 };
#define HLO_MAX_LOOKED ((uint64_t)1 << 30) /* bytes of text that are searched for resources */

static int nibble(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Bytes of "0x...": how many were written. */
static uint64_t hex_bytes(str s, uint64_t skip, uint8_t *out, uint64_t room)
{
    uint64_t n = 0;
    for (uint64_t i = 2 + 2 * skip; i + 1 < s.n && n < room; i += 2) {
        int a = nibble(s.p[i]), b = nibble(s.p[i + 1]);
        if (a < 0 || b < 0)
            break;
        out[n++] = (uint8_t)(a << 4 | b);
    }
    return n;
}

/* One number of a type as bytes; false: it is none. Hexadecimal floats are bits. */
static bool put_number(ir_dtype t, str word, uint8_t *out)
{
    char text[HLO_NUMBER] = {0};
    char *end;
    uint64_t bits;
    if (word.n == 0 || word.n >= sizeof text)
        return false;
    memcpy(text, word.p, word.n);
    if (str_is(word, "true") || str_is(word, "false")) {
        bits = str_is(word, "true");
    } else if (ir_is_float(t) && !str_starts(word, "0x")) {
        double v = strtod(text, &end);
        float single = (float)v;
        uint32_t b32;
        if (*end)
            return false;
        memcpy(&b32, &single, sizeof b32);
        memcpy(&bits, &v, sizeof bits);
        bits = t == IR_FLOAT64    ? bits
               : t == IR_FLOAT32  ? b32
               : t == IR_BFLOAT16 ? ir_bfloat_of(single)
                                  : ir_half_of(single);
    } else {
        bits = text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 0);
        if (*end)
            return false;
    }
    memcpy(out, &bits, ir_dtype_get(t)->bits / 8u);
    return true;
}

static bool is_number(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

/* The numbers of a nested list: how many, at most room. */
static uint64_t list_numbers(ir_dtype t, str s, uint8_t *out, uint64_t room)
{
    unsigned size = ir_dtype_get(t)->bits / 8u;
    uint64_t n = 0;
    for (uint32_t i = 0; i < s.n && n < room;) {
        uint32_t k = i;
        while (k < s.n && is_number(s.p[k]))
            k++;
        if (k == i) {
            i++;
            continue;
        }
        if (!put_number(t, (str){s.p + i, k - i}, out + n * size))
            return 0;
        n++;
        i = k;
    }
    return n;
}

/* The bytes of dense_resource<name>: "name: "0x<4 bytes of alignment><bytes>"" at the end of the file. */
static str resource_of(hlo_reader *r, str name)
{
    r->looked += (uint64_t)(r->end - r->text);
    for (const char *p = r->text; r->looked < HLO_MAX_LOOKED && p + name.n + 6 < r->end; p++) {
        p = memchr(p, '"', (size_t)(r->end - p));
        if (!p)
            break;
        if (r->end - p < 4 || p[1] != '0' || p[2] != 'x')
            continue;
        const char *q = p;
        while (q > r->text && (q[-1] == ' ' || q[-1] == ':'))
            q--;
        if ((size_t)(q - r->text) > name.n && memcmp(q - name.n, name.p, name.n) == 0 &&
            (q[-(ptrdiff_t)name.n - 1] == ' ' || q[-(ptrdiff_t)name.n - 1] == '\n')) {
            const char *close = memchr(p + 1, '"', (size_t)(r->end - p - 1));
            return close ? (str){p + 1, (uint32_t)(close - p - 1)} : (str){0};
        }
    }
    return (str){0};
}

/* Bytes of the whole tensor in *out; one element of them where it is repeated (*splat). */
static bool decode(hlo_op *o, str value, const hlo_type *t, ir_tensor *as, bool *splat)
{
    unsigned bits = ir_dtype_get(t->dtype)->bits, size = bits / 8u;
    bool named = str_starts(value, "dense_resource<");
    const char *open = memchr(value.p, '<', value.n);
    const char *close = open ? hlo_close(open, value.p + value.n) : NULL;
    str inner = close ? str_trim((str){open + 1, (uint32_t)(close - 1 - open - 1)}) : (str){0};
    *splat = false;
    if (!close || bits < 8 || bits > 64 || ir_dtype_get(t->dtype)->cls == IR_CLASS_COMPLEX)
        return false;
    str hex = named                              ? resource_of(o->r, inner)
              : inner.n > 3 && inner.p[0] == '"' ? (str){inner.p + 1, inner.n - 2}
                                                 : (str){0};
    /* Text of n bytes has at most n numbers: a short one cannot ask for much memory. */
    uint64_t room = hex.p ? hex.n / 2 : inner.n;
    room = room < as->n_elems ? room : as->n_elems;
    uint8_t *bytes =
        room ? arena_alloc(o->r->f.m->arena,
                           (size_t)(as->size_bytes < 8 * room + 8 ? as->size_bytes : 8 * room) + 8)
             : NULL;
    if (!bytes)
        return false;
    uint64_t n = hex.p ? hex_bytes(hex, named ? 4 : 0, bytes, room * size) / size
                       : list_numbers(t->dtype, inner, bytes, room);
    *splat = n == 1 && as->n_elems > 1;
    as->bytes = bytes;
    return n == as->n_elems || *splat;
}

static bool set_content(hlo_op *o, str value, const hlo_type *t, ir_tensor *as)
{
    bool splat;
    if (as->n_elems == 0)
        return true;
    if (!decode(o, value, t, as, &splat)) {
        as->bytes = NULL;
        o->r->absent = true;
        return !arena_failed(o->r->f.m->arena);
    }
    as->storage = IR_DATA_INLINE;
    return !splat || foreign_splat(&o->r->f, as, as->bytes);
}

/* A function that is called twice has its constants once: they are kept by their place in the text. */
static str place_of(const hlo_op *o)
{
    return str_printf(o->r->f.scratch, "%zu", (size_t)(o->body.p - o->r->text));
}

static bool keep_place(hlo_op *o, ir_id id)
{
    str place = place_of(o);
    return place.p && map_put(&o->r->constants, place, id);
}

bool hlo_constant(hlo_op *o)
{
    const hlo_type *t = hlo_out(o, 0);
    str value = hlo_attr(o, "value");
    foreign *f = &o->r->f;
    if (!value.p) { /* dense<...> or a number behind the name */
        const char *end = o->body.p + o->body.n, *p = end;
        for (const char *q = o->body.p; q + 6 < end && p == end; q++)
            p = memcmp(q, "dense", 5) == 0 ? q : p;
        value = (str){p, (uint32_t)(end - p)};
    }
    if (value.n == 0) { /* arith.constant 5 : i32 */
        str rest = o->body;
        str word = str_trim(str_cut(&rest, ':'));
        value = str_printf(f->scratch, "dense<" STR_FMT ">", STR_ARG(word));
    }
    if (t->dtype == IR_UNDEFINED || t->rank < 0 || value.n == 0)
        return false;
    uint32_t known = map_get(&o->r->constants, place_of(o));
    if (known != MAP_NONE)
        return hlo_stand(o, 0, &(hlo_value){known, *t});
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] < 0)
            return false;
    static const int64_t none[1];
    ir_tensor *as = ir_make_tensor_borrowed(f->m, STR(""), t->dtype, t->rank,
                                            t->rank ? t->dims : none);
    str own = as ? ir_kit_name(&f->kit, o->l.name) : (str){0};
    if (!own.p || !set_content(o, value, t, as))
        return false;
    as->name = own;
    foreign_count(f, as->n_elems, as->size_bytes);
    ir_id id = ir_kit_const_of(f->m, 0, own, as, 0);
    hlo_set_quant(o->r, id, t);
    return id != IR_NONE && keep_place(o, id) && hlo_stand(o, 0, &(hlo_value){id, *t});
}

/* MLIR text: words, brackets, types, attributes, and one operator at a time; see stablehlo.h. Comments were blanked out. */
#include <stdlib.h>
#include <string.h>

#include "formats/stablehlo/hlo_impl.h"

assay_status hlo_fail(hlo_reader *r, const char *at, const char *what)
{
    unsigned long line = 1, column = 1;
    for (const char *p = r->text; p < at && p < r->end; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    return err_fail_at(r->f.err, ASSAY_ERR_MALFORMED, (uint64_t)(at - r->text),
                       "line %lu, column %lu: %s", line, column, what);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '-';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *hlo_skip(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

str hlo_word(const char *p, const char *end)
{
    const char *q = p;
    while (q < end && is_letter(*q) && !(*q == '-' && q + 1 < end && q[1] == '>'))
        q++;
    return (str){p, (uint32_t)(q - p)};
}

/* Behind a text in quotes. */
static const char *skip_quoted(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        p += *p == '\\' && p + 1 < end;
    return p < end ? p + 1 : end;
}

/* '>' of "->" and ">=" is no bracket. */
static int bracket_at(const char *p, const char *begin, const char *end)
{
    if (*p == '(' || *p == '[' || *p == '{' || *p == '<')
        return 1;
    if (*p == '>' && ((p > begin && p[-1] == '-') || (p + 1 < end && p[1] == '=')))
        return 0;
    return *p == ')' || *p == ']' || *p == '}' || *p == '>' ? -1 : 0;
}

const char *hlo_close(const char *p, const char *end)
{
    const char *begin = p;
    uint64_t depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = skip_quoted(p, end);
            continue;
        }
        int b = bracket_at(p++, begin, end);
        depth += b > 0;
        if (b < 0 && --depth == 0)
            return p;
    }
    return NULL;
}

str hlo_short(str name)
{
    const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
    return dot ? (str){dot + 1, (uint32_t)(name.p + name.n - dot - 1)} : name;
}

/* ---- types ---- */

static ir_dtype element_type(str s)
{
    static const struct {
        ir_dtype t;
        const char *names;
    } rows[] = {
        {IR_FLOAT32, "f32"},
        {IR_FLOAT64, "f64"},
        {IR_FLOAT16, "f16"},
        {IR_BFLOAT16, "bf16"},
        {IR_BOOL, "i1"},
        {IR_INT8, "i8|si8"},
        {IR_INT16, "i16|si16"},
        {IR_INT32, "i32|si32"},
        {IR_INT64, "i64|si64"},
        {IR_INT64, "index"},
        {IR_UINT8, "ui8|u8"},
        {IR_UINT16, "ui16|u16"},
        {IR_UINT32, "ui32"},
        {IR_UINT64, "ui64"},
        {IR_INT4, "i4"},
        {IR_UINT4, "ui4|u4"},
        {IR_INT2, "i2"},
        {IR_UINT2, "ui2"},
        {IR_FLOAT8E5M2, "f8E5M2"},
        {IR_FLOAT8E5M2FNUZ, "f8E5M2FNUZ"},
        {IR_FLOAT4E2M1, "f4E2M1FN"},
        {IR_FLOAT8E4M3FN, "f8E4M3FN"},
        {IR_FLOAT8E8M0, "f8E8M0FNU"},
        {IR_FLOAT8E4M3FNUZ, "f8E4M3FNUZ"},
    };
    if (str_starts(s, "complex<"))
        return str_starts(s, "complex<f64") ? IR_COMPLEX128 : IR_COMPLEX64;
    if (str_starts(s, "!quant.uniform<")) { /* what is stored */
        str inner = {s.p + 15, s.n - 15};
        const char *angle = memchr(inner.p, '<', inner.n), *colon = memchr(inner.p, ':', inner.n);
        uint32_t n = colon ? (uint32_t)(colon - inner.p) : inner.n;
        if (angle && (!colon || angle < colon))
            n = (uint32_t)(angle - inner.p);
        return element_type((str){inner.p, n});
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_in_list(s, rows[i].names, '|'))
            return rows[i].t;
    return IR_UNDEFINED;
}

/* "2x?x3xf32, encoding"; "*xf32" has no sizes */
static bool parse_tensor(str s, hlo_type *t)
{
    *t = (hlo_type){.rank = 0};
    if (s.n > 1 && s.p[0] == '*') {
        t->rank = -1;
        s = (str){s.p + 2, s.n - 2};
    }
    while (t->rank >= 0 && s.n > 1 && (s.p[0] == '?' || (s.p[0] >= '0' && s.p[0] <= '9'))) {
        uint64_t v = 0;
        str rest = s;
        bool open = s.p[0] == '?';
        if (open)
            rest = (str){s.p + 1, s.n - 1};
        else if (!str_take_u64(&rest, &v))
            return false;
        if (rest.n == 0 || rest.p[0] != 'x' || t->rank >= IR_MAX_RANK || v > INT64_MAX)
            return false;
        t->dims[t->rank++] = open ? -1 : (int64_t)v;
        s = (str){rest.p + 1, rest.n - 1};
    }
    const char *close = s.n ? memchr(s.p, '<', s.n) : NULL;
    const char *comma = s.n ? memchr(s.p, ',', s.n) : NULL;
    if (comma && !close)
        s.n = (uint32_t)(comma - s.p);
    s = str_trim(s);
    t->dtype = element_type(s);
    if (str_starts(s, "!quant.uniform<") && s.n > 16)
        t->quant = (str){s.p + 15, s.n - 16};
    return t->dtype != IR_UNDEFINED;
}

bool hlo_parse_type(str text, hlo_type *t)
{
    str s = str_trim(text);
    *t = (hlo_type){.rank = -1};
    if (str_starts(s, "tensor<") && s.n > 8)
        return parse_tensor((str){s.p + 7, s.n - 8}, t);
    t->rank = 0;
    t->dtype = element_type(s);
    return t->dtype != IR_UNDEFINED;
}

/* A type is a word, perhaps with '!' before and brackets behind. */
bool hlo_next_type(const char **p, const char *end, hlo_type *t)
{
    const char *at = hlo_skip(*p, end), *q = at + (at < end && *at == '!');
    str word = hlo_word(q, end);
    q += word.n;
    if (word.n == 0)
        return false;
    if (q < end && *q == '<') {
        const char *close = hlo_close(q, end);
        if (!close)
            return false;
        q = close;
    }
    hlo_parse_type((str){at, (uint32_t)(q - at)}, t);
    *p = hlo_skip(q, end);
    return true;
}

/* ---- attributes ---- */

/* To the comma or the bracket behind it, or the ':' of the types. */
static str value_at(const char *p, const char *end)
{
    const char *begin = p = hlo_skip(p, end);
    while (p < end && *p != ',') {
        if (*p == '"') {
            p = skip_quoted(p, end);
            continue;
        }
        int b = bracket_at(p, begin, end);
        if (b < 0 || (*p == '{' && p > begin)) /* attributes behind a pretty form */
            break;
        const char *close = b > 0 ? hlo_close(p, end) : p + 1;
        if (!close)
            break;
        p = close;
    }
    return (str){begin, (uint32_t)(p - begin)};
}

static bool in_region(const hlo_op *o, const char **p)
{
    for (uint32_t i = 0; i < o->n_regions; i++)
        if (*p >= o->regions[i].p && *p < o->regions[i].p + o->regions[i].n) {
            *p = o->regions[i].p + o->regions[i].n;
            return true;
        }
    return false;
}

str hlo_attr(const hlo_op *o, const char *key)
{
    const char *end = o->body.p + o->body.n;
    size_t n = strlen(key);
    for (const char *p = o->body.p; p < end;) {
        if (o->n_regions && in_region(o, &p))
            continue;
        if (*p == '"') {
            p = skip_quoted(p, end);
            continue;
        }
        str word = hlo_word(p, end);
        const char *q = hlo_skip(p + word.n, end);
        if (word.n == n && memcmp(p, key, n) == 0 && q < end && *q == '=')
            return value_at(q + 1, end);
        p += word.n ? word.n : 1;
    }
    return (str){0};
}

/* How many numbers a dense<> of one number stands for: the sizes of its type behind it. */
static int64_t splat_count(str value)
{
    hlo_type t;
    const char *colon = NULL;
    for (uint32_t i = 0; i < value.n; i++)
        colon = value.p[i] == ':' ? value.p + i : colon;
    if (!colon || !hlo_parse_type((str){colon + 1, (uint32_t)(value.p + value.n - colon - 1)}, &t))
        return 1;
    int64_t n = 1;
    for (int d = 0; d < t.rank; d++)
        n = t.dims[d] < 0 || t.dims[d] > HLO_LIST || n > HLO_LIST ? HLO_LIST + 1 : n * t.dims[d];
    return n;
}

int hlo_ints_of(str value, int64_t *list)
{
    if (!value.p)
        return -1;
    bool dense = str_starts(value, "dense<"), array = str_starts(value, "array<");
    const char *p = value.p, *end = value.p + value.n;
    int n = 0;
    if (dense || array) {
        const char *close = hlo_close(p + 5, end);
        end = close ? close - 1 : end;
        p += 6;
        const char *colon = array ? memchr(p, ':', (size_t)(end - p)) : NULL;
        p = colon ? colon + 1 : array ? end : p; /* "array<i64>" is empty */
    }
    while (p < end && (dense || array || *p != ':')) {
        if (!str_is_digit(*p)) {
            p++;
            continue;
        }
        str rest = {p, (uint32_t)(end - p)};
        uint64_t v;
        bool minus = p > value.p && p[-1] == '-';
        if (n == HLO_LIST || !str_take_u64(&rest, &v) || v > INT64_MAX)
            return -1;
        list[n++] = minus ? -(int64_t)v : (int64_t)v;
        p = rest.p;
    }
    int64_t want = dense && n == 1 ? splat_count(value) : n;
    if (want > HLO_LIST)
        return -1;
    for (; n && n < want; n++)
        list[n] = list[0];
    return (int)want;
}

int hlo_ints(const hlo_op *o, const char *key, const char *generic, int64_t *list)
{
    str value = hlo_attr(o, key);
    return hlo_ints_of(value.p ? value : hlo_attr(o, generic), list);
}

int64_t hlo_int(const hlo_op *o, const char *key, const char *generic, int64_t def)
{
    int64_t list[HLO_LIST];
    return hlo_ints(o, key, generic, list) == 1 ? list[0] : def;
}

/* ---- operators ---- */

/* Whether a line begins another operator, or ends the region. */
static bool begins_operator(const char *p, const char *end)
{
    static const char *const words[] = {"return", "func", "call", "module", "yield"};
    if (p >= end || *p == '%' || *p == '}' || *p == '^' || *p == '"' || *p == '#')
        return true;
    str word = hlo_word(p, end);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return word.n && memchr(word.p, '.', word.n) && !(word.p[0] >= '0' && word.p[0] <= '9');
}

static const char *operator_end(const char *p, const char *end)
{
    const char *begin = p;
    while (p < end) {
        if (*p == '"') {
            p = skip_quoted(p, end);
            continue;
        }
        int b = bracket_at(p, begin, end);
        if (b < 0)
            return p;
        if (b > 0) {
            p = hlo_close(p, end);
            if (!p)
                return NULL;
            continue;
        }
        if (*p++ == '\n') {
            p = hlo_skip(p, end);
            if (begins_operator(p, end))
                return p;
        }
    }
    return p;
}

/* The word before a position, over a group of brackets that ends there. */
static str word_before(const char *begin, const char *p)
{
    while (p > begin && is_blank(p[-1]))
        p--;
    const char *q = p;
    while (q > begin && is_letter(q[-1]))
        q--;
    return (str){q, (uint32_t)(p - q)};
}

typedef struct walk {
    bool generic;      /* "name"(...) */
    bool reducer;      /* a group reducer(...) was just read */
    int in_group;      /* depth of "({" */
    const char *colon; /* the last at depth 0 */
} walk;

static bool add_region(hlo_op *o, const char *open, const char *close)
{
    if (o->n_regions == HLO_MAX_REGIONS)
        return false;
    o->regions[o->n_regions++] = (str){open + 1, (uint32_t)(close - 1 - open - 1)};
    return true;
}

static bool is_region(const walk *w, const char *begin, const char *p)
{
    const char *q = p;
    while (q > begin && is_blank(q[-1]))
        q--;
    char before = q > begin ? q[-1] : 0;
    str word = word_before(begin, p);
    if (before == '(' || (before == ',' && w->in_group))
        return true;
    return str_is(word, "cond") || str_is(word, "do") || w->reducer;
}

static const char *take_operand(hlo_op *o, arena *a, const char *p, const char *end)
{
    str word = hlo_word(p + 1, end);
    const char *q = p + 1 + word.n;
    if (q + 1 < end && *q == '#' && q[1] >= '0' && q[1] <= '9')
        q += 1 + hlo_word(q + 1, end).n;
    if (o->operands.n < HLO_MAX_PORTS)
        VEC_ADD(a, &o->operands, (str){p, (uint32_t)(q - p)});
    return q;
}

/* Operands, regions and the ':' before the types. Arguments of a reducer are none of its operands. */
static bool walk_body(hlo_op *o, arena *a, walk *w)
{
    const char *begin = o->body.p, *end = begin + o->body.n;
    int depth = 0;
    for (const char *p = begin; p < end;) {
        if (*p == '"') {
            p = skip_quoted(p, end);
        } else if (*p == '%') {
            p = take_operand(o, a, p, end);
        } else if (*p == '{') {
            const char *close = hlo_close(p, end);
            if (!close || (is_region(w, begin, p) && !add_region(o, p, close)))
                return false;
            w->in_group = is_region(w, begin, p) ? depth : w->in_group;
            w->reducer = false;
            p = close;
        } else if (*p == '(' && str_is(word_before(begin, p), "reducer")) {
            p = hlo_close(p, end);
            w->reducer = p != NULL;
            if (!p)
                return false;
        } else {
            int b = bracket_at(p, begin, end);
            depth += b;
            w->colon = *p == ':' && depth == 0 ? p : w->colon;
            p++;
        }
    }
    return true;
}

static bool read_types(hlo_op *o, arena *a, const char *p)
{
    const char *end = o->body.p + o->body.n;
    hlo_type t;
    bool list;
    p = hlo_skip(p, end);
    list = p < end && *p == '(';
    p += list;
    for (int n = 0; n < HLO_MAX_PORTS && hlo_next_type(&p, end, &t); n++) {
        if (!VEC_ADD(a, &o->in_types, t))
            return false;
        if (p >= end || *p != ',')
            break;
        p++;
    }
    if (list && p < end && *p == ')')
        p = hlo_skip(p + 1, end);
    if (end - p < 2 || p[0] != '-' || p[1] != '>') { /* the type of operands and results */
        uint32_t n = o->in_types.n, first = n > o->n_results ? n - o->n_results : 0;
        o->out_types.items = n ? o->in_types.items + first
                               : NULL; /* select: two, the last counts */
        o->out_types.n = n - first;
        return true;
    }
    p = hlo_skip(p + 2, end);
    p += p < end && *p == '(';
    for (int n = 0; n < HLO_MAX_PORTS && hlo_next_type(&p, end, &t); n++) {
        if (!VEC_ADD(a, &o->out_types, t))
            return false;
        if (p >= end || *p != ',')
            break;
        p++;
    }
    return true;
}

/* "%0, %1:2 =" */
static const char *read_results(hlo_reader *r, const char *p, const char *end, hlo_op *o)
{
    while (p < end && *p == '%') {
        str word = hlo_word(p + 1, end);
        str name = {p, word.n + 1};
        uint64_t n = 1;
        p = hlo_skip(p + name.n, end);
        if (p < end && *p == ':') {
            str rest = {p + 1, (uint32_t)(end - p - 1)};
            if (!str_take_u64(&rest, &n) || n > HLO_MAX_PORTS)
                return NULL;
            p = hlo_skip(rest.p, end);
        }
        o->n_results += (uint32_t)n;
        if (!VEC_ADD(r->f.scratch, &o->results, name) ||
            !VEC_ADD(r->f.scratch, &o->counts, (uint32_t)n) || o->n_results > HLO_MAX_PORTS)
            return NULL;
        if (p < end && *p == ',')
            p = hlo_skip(p + 1, end);
    }
    if (o->results.n == 0)
        return p;
    return p < end && *p == '=' ? hlo_skip(p + 1, end) : NULL;
}

assay_status hlo_read_op(hlo_reader *r, const char **at, const char *end, hlo_op *o, bool *found)
{
    const char *p = hlo_skip(*at, end), *begin = p;
    walk w = {.generic = false};
    *o = (hlo_op){.r = r};
    *found = p < end && *p != '}';
    if (!*found)
        return ASSAY_OK;
    if (*p == '^')
        return err_fail_at(r->f.err, ASSAY_ERR_UNSUPPORTED, (uint64_t)(p - r->text),
                           "jumps between blocks (cf.br) are not read. Convert the module with "
                           "operators stablehlo.while and stablehlo.if.");
    p = read_results(r, p, end, o);
    if (!p)
        return hlo_fail(r, begin, "cannot parse the results of an operator");
    w.generic = p < end && *p == '"';
    o->name = hlo_word(p + w.generic, end);
    if (o->name.n == 0)
        return hlo_fail(r, p < end ? p : begin, "an operator is expected here");
    p += o->name.n + 2 * (size_t)w.generic;
    if (p > end)
        return hlo_fail(r, begin, "the text ends within an operator");
    const char *stop = operator_end(p, end);
    if (!stop)
        return hlo_fail(r, begin, "unclosed bracket in this operator");
    o->body = (str){p, (uint32_t)(stop - p)};
    if (!walk_body(o, r->f.scratch, &w))
        return hlo_fail(r, begin, "cannot parse this operator: unclosed bracket");
    if (w.colon && !read_types(o, r->f.scratch, w.colon + 1))
        return err_no_memory(r->f.err);
    *at = stop;
    return ++r->n_ops > FOREIGN_MAX_NODES
               ? err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "too many operators")
               : ASSAY_OK;
}

/* JSON that protocols write: members of objects that the user gives, and tensors of random numbers. */
#include "base/json_tree.h"
#include "measure/load_protocol.h"

enum { ELEMENTS_MOST = 1 << 24 };

assay_status load_object_members(str text, const char *shown, const char *const *keys, arena *a,
                                 str *members, unsigned *has, assay_error *err)
{
    json_value v;
    arena *work = arena_new((size_t)64 << 20);
    assay_status s = work ? json_tree_parse(text, shown, NULL, work, &v, err) : err_no_memory(err);
    if (s == ASSAY_OK && v.kind != JSON_OBJECT)
        s = err_fail(err, ASSAY_ERR_USAGE, "%s: a request must be a JSON object", shown);
    *has = 0;
    for (uint32_t i = 0; s == ASSAY_OK && keys[i]; i++)
        *has |= json_get(&v, keys[i]) ? 1u << i : 0;
    arena_free(work);
    TRY(s);
    str inside = str_trim(text);
    *members = str_copy(a, str_trim((str){inside.p + 1, inside.n - 2}));
    return members->p ? ASSAY_OK : err_no_memory(err);
}

/* ---- tensors ---- */

static void write_element(const load_tensor *t, rng *r, sbuf *out)
{
    if (strcmp(t->kind, "float") == 0)
        sbuf_printf(out, "0.%03u", (unsigned)(rng_next(r) % 1000));
    else if (strcmp(t->kind, "int") == 0)
        sbuf_printf(out, "%.0f", (double)(rng_next(r) % (uint64_t)(t->most + 1)));
    else
        sbuf_puts(out, strcmp(t->kind, "bool") != 0 ? "\"text\""
                       : rng_next(r) & 1            ? "true"
                                                    : "false");
}

/* Brackets by how many of the inner dimensions begin or end at element i. */
static void put_brackets(const load_tensor *t, int64_t i, char bracket, sbuf *out)
{
    int64_t inner = 1;
    for (uint32_t d = t->rank; d-- > 1;) {
        inner *= t->dims[d];
        if (i % inner == 0)
            sbuf_putc(out, bracket);
    }
}

bool load_write_tensor(const load_tensor *t, bool flat, rng *r, sbuf *out)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (t->dims[d] < 1 || t->dims[d] > ELEMENTS_MOST / n)
            return false;
        n *= t->dims[d];
    }
    if (!t->rank && !flat) {
        write_element(t, r, out);
        return true;
    }
    sbuf_putc(out, '[');
    for (int64_t i = 0; i < n; i++) {
        if (i)
            sbuf_putc(out, ',');
        if (!flat)
            put_brackets(t, i, '[', out);
        write_element(t, r, out);
        if (!flat)
            put_brackets(t, i + 1, ']', out);
    }
    sbuf_putc(out, ']');
    return !out->failed;
}

/* Sums of names of weights, and the table of those of the catalogue; see names.h. */
#include "zoo/names.h"

#include <stdio.h>

#include "base/embedded.h"
#include "base/map.h"

enum { NAME_MAX_BYTES = 1024 };

static const char *const no_part[] = {
    "running_mean", "running_var",  "num_batches_tracked",   "relative_position_index",
    "attn_mask",    "position_ids", "relative_coords_table", "inv_freq",
    "masked_bias",  ".attn.bias",   ".attention.bias",
};
static const char *const auxiliary[] = {"AuxLogits.", "aux1.", "aux2.", "aux_classifier."};

bool zoo_name_is_auxiliary(str name)
{
    for (size_t i = 0; i < sizeof auxiliary / sizeof *auxiliary; i++)
        if (str_starts(name, auxiliary[i]))
            return true;
    return false;
}

bool zoo_name_counts(str name)
{
    for (size_t i = 0; i < sizeof no_part / sizeof *no_part; i++)
        if (str_ends(name, no_part[i]))
            return false;
    return name.n > 0 && name.n < NAME_MAX_BYTES && !zoo_name_is_auxiliary(name);
}

/* The sums are kept in a file; adding them up must not let short hashes cancel out. */
static uint64_t hash_name(str name)
{
    uint64_t h = (str_hash_stored(name) + ((uint64_t)name.n << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* "layer1.0.conv2" is "layer#.#.conv#". */
static str without_numbers(str name, char *buf)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < name.n; i++) {
        bool digit = name.p[i] >= '0' && name.p[i] <= '9';
        if (!digit || n == 0 || buf[n - 1] != '#')
            buf[n++] = digit ? '#' : name.p[i];
    }
    return (str){buf, n};
}

bool zoo_names_sum(const str *names, uint32_t n, arena *scratch, zoo_names *out)
{
    map seen;
    *out = (zoo_names){.n = n};
    if (!map_init(&seen, scratch, 64))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        char buf[NAME_MAX_BYTES];
        str plain = without_numbers(names[i], buf);
        uint32_t before = seen.n;
        out->exact += hash_name(names[i]);
        if (map_intern(&seen, scratch, &plain, 0) == MAP_NONE)
            return false;
        out->plain += seen.n > before ? hash_name(plain) : 0;
    }
    return true;
}

bool zoo_names_of(const ir_model *m, arena *scratch, zoo_names *out)
{
    str *names = ARENA_ARRAY(scratch, str, (size_t)m->values.n + 1);
    uint32_t n = 0;
    for (ir_id id = 0; names && id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (v->constant && v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER) &&
            zoo_name_counts(v->name))
            names[n++] = v->name;
    }
    return names && zoo_names_sum(names, n, scratch, out);
}

bool zoo_names_has(const zoo_row *row)
{
    bool teaching = strcmp(row->family, "mlp") == 0 || strcmp(row->family, "lenet") == 0;
    return !teaching && !(row->defaults && str_contains(str_of(row->defaults), "quantize=true"));
}

/* ---- the table ---- */

static str table(void)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "zoo_names.csv") == 0)
            return (str){f->data, (uint32_t)f->size};
    return (str){0};
}

static bool is_sum(str digits, uint64_t sum)
{
    char buf[24];
    int n = snprintf(buf, sizeof buf, "%016llx", (unsigned long long)sum);
    return digits.n == (uint32_t)n && memcmp(digits.p, buf, digits.n) == 0;
}

uint32_t zoo_by_names(const zoo_names *of, bool plain, const zoo_row **out, uint32_t max)
{
    enum { NAME, TENSORS, EXACT, PLAIN, FIELDS };
    uint32_t found = 0;
    str text = table(), f[FIELDS];
    for (str line; found < max && str_split(&text, '\n', &line);) {
        int n = 0;
        while (n < FIELDS && str_split(&line, ',', &f[n]))
            n++;
        if (n < FIELDS || !is_sum(f[plain ? PLAIN : EXACT], plain ? of->plain : of->exact))
            continue;
        const zoo_row *row = zoo_find(f[NAME]);
        if (row)
            out[found++] = row;
    }
    return found;
}

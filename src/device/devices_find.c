/* Finds devices by name; case, blanks and punctuation are ignored. A word may also select several: a class (gpu,
 * edge) or a word of their names (jetson, apple). */
#include <ctype.h>

#include "base/near.h"
#include "base/sbuf.h"
#include "device/devices.h"
#include "device/machine.h"

/* The next letter or digit from *i on, in lower case; 0 at the end. */
static int next_letter(str s, uint32_t *i)
{
    while (*i < s.n) {
        int c = tolower((unsigned char)s.p[(*i)++]);
        if (isalnum(c) || c == '+')
            return c;
    }
    return 0;
}

static bool same_name(str a, str b)
{
    uint32_t i = 0, j = 0;
    for (;;) {
        int x = next_letter(a, &i), y = next_letter(b, &j);
        if (x != y)
            return false;
        if (!x)
            return i > 0 && j > 0;
    }
}

static bool has_alias(str aliases, str word)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i <= aliases.n; i++) {
        if (i < aliases.n && aliases.p[i] != ' ')
            continue;
        if (i > from && same_name((str){aliases.p + from, i - from}, word))
            return true;
        from = i + 1;
    }
    return false;
}

const device *devices_called(const device_list *in, str word)
{
    for (uint32_t i = 0; i < in->rows.n; i++) {
        const device *d = &in->rows.items[i];
        if (same_name(d->id, word) || same_name(d->name, word) || has_alias(d->aliases, word))
            return d;
    }
    return NULL;
}

/* A row that several words name is taken once. */
static assay_status push_device(device_list *out, const device *d, assay_error *err)
{
    for (uint32_t i = 0; i < out->rows.n; i++)
        if (out->rows.items[i].id.p == d->id.p)
            return ASSAY_OK;
    device *slot = VEC_PUSH(out->arena, &out->rows);
    TRY_MEMORY(slot, err);
    *slot = *d;
    return ASSAY_OK;
}

/* Those of a class, of a word in their names, or all. */
static bool is_selected(const device *d, str word)
{
    return str_is(word, "all") || same_name(d->kind, word) || has_alias(d->name, word);
}

/* *any: whether the word selects a row, new or not. */
static assay_status push_selected(const device_list *in, str word, device_list *out, bool *any,
                                  assay_error *err)
{
    *any = false;
    for (uint32_t i = 0; i < in->rows.n; i++)
        if (is_selected(&in->rows.items[i], word)) {
            *any = true;
            TRY(push_device(out, &in->rows.items[i], err));
        }
    return ASSAY_OK;
}

static const char *device_id_at(uint32_t i, const void *ctx)
{
    const device_list *in = ctx;
    return i < in->rows.n ? arena_printf(in->arena, STR_FMT, STR_ARG(in->rows.items[i].id)) : NULL;
}

static assay_status fail_unknown(const device_list *in, str word, assay_error *err)
{
    sbuf text = {0};
    const char *near[3];
    uint32_t n = near_names(word, device_id_at, in, near, 3);
    near_put(&text, near, n);
    sbuf_puts(&text, n ? " List the devices with `assay devices`."
                       : " Use a name from `assay devices`, a class (gpu, edge, soc, tpu, cpu), a "
                         "word of a name (jetson), all, this, or a .json or .csv file.");
    assay_status s = err_fail(err, ASSAY_ERR_USAGE, "unknown device '%.*s'.%s",
                              (int)(word.n < 60 ? word.n : 60), word.p, sbuf_cstr(&text));
    sbuf_free(&text);
    return s;
}

static bool is_path(str word)
{
    return memchr(word.p, '/', word.n) || str_ends(word, ".json") || str_ends(word, ".csv");
}

/* As `assay machine` measured it. */
static assay_status choose_this(device_list *out, assay_error *err)
{
    machine *m;
    device d;
    TRY(machine_this(out->arena, &m, err));
    TRY(machine_device(m, out->arena, &d, err));
    return push_device(out, &d, err);
}

static assay_status choose_one(const device_list *built_in, str word, device_list *out,
                               assay_error *err)
{
    if (is_path(word)) {
        str path = str_copy(out->arena, word);
        return path.p ? devices_file(path.p, out, err) : err_no_memory(err);
    }
    if (str_is(word, "this"))
        return choose_this(out, err);
    const device *d = devices_called(built_in, word);
    bool any = false;
    if (d)
        return push_device(out, d, err);
    TRY(push_selected(built_in, word, out, &any, err));
    return any ? ASSAY_OK : fail_unknown(built_in, word, err);
}

assay_status devices_choose(str words, device_list *out, assay_error *err)
{
    device_list built_in = {.arena = out->arena};
    TRY(devices_builtin(&built_in, err));
    for (str word; str_split(&words, ',', &word);)
        if (word.n)
            TRY(choose_one(&built_in, word, out, err));
    return out->rows.n ? ASSAY_OK
                       : err_fail(err, ASSAY_ERR_USAGE,
                                  "hardware needs device names or files. List the devices with "
                                  "`assay devices`.");
}

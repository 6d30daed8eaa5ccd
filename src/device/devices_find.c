/* Devices by what people call them: case, blanks and punctuation make no difference. */
#include <ctype.h>

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

static const device *find_device(const device_list *in, str word)
{
    for (uint32_t i = 0; i < in->rows.n; i++) {
        const device *d = &in->rows.items[i];
        if (same_name(d->id, word) || same_name(d->name, word) || has_alias(d->aliases, word))
            return d;
    }
    return NULL;
}

static assay_status fail_unknown(const device_list *in, str word, assay_error *err)
{
    sbuf text = {0};
    unsigned least = word.n < 5 ? 1 : 2;
    str near = {0};
    for (uint32_t i = 0; i < in->rows.n; i++) {
        unsigned d = str_distance(word, in->rows.items[i].id, least);
        if (d > least || (near.n && d == least))
            continue;
        near = in->rows.items[i].id;
        least = d;
    }
    if (near.n)
        sbuf_printf(&text, " Did you mean '" STR_FMT "'?", STR_ARG(near));
    sbuf_puts(&text, " The devices are:");
    for (uint32_t i = 0; i < in->rows.n; i++)
        sbuf_printf(&text, "%s " STR_FMT, i ? "," : "", STR_ARG(in->rows.items[i].id));
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "unknown device '%.*s'.%s; all; this; or a .json or .csv file.",
                              (int)(word.n < 60 ? word.n : 60), word.p, sbuf_cstr(&text));
    sbuf_free(&text);
    return s;
}

static bool is_path(str word)
{
    return memchr(word.p, '/', word.n) || str_ends(word, ".json") || str_ends(word, ".csv");
}

static assay_status push_device(device_list *out, const device *d, assay_error *err)
{
    device *slot = VEC_PUSH(out->arena, &out->rows);
    if (!slot)
        return err_no_memory(err);
    *slot = *d;
    return ASSAY_OK;
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
    if (str_is(word, "all")) {
        for (uint32_t i = 0; i < built_in->rows.n; i++)
            TRY(push_device(out, &built_in->rows.items[i], err));
        return ASSAY_OK;
    }
    const device *d = find_device(built_in, word);
    return d ? push_device(out, d, err) : fail_unknown(built_in, word, err);
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

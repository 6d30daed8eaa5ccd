/* Ceilings by name, the device row `this`, and the file. */
#include "device/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define FILE_BYTES_MAX ((uint64_t)4 << 20)

/* ---- ceilings ---- */

/* Measured with no more threads than asked for; of those the most threads, then the most of it. */
static bool is_better(unsigned threads, double value, unsigned than_threads, double than_value,
                      unsigned wanted)
{
    if (threads > wanted || !(value > 0))
        return false;
    return threads != than_threads ? threads > than_threads : value > than_value;
}

double machine_peak(const machine *m, str dtype, unsigned threads)
{
    unsigned best = 0;
    double value = 0;
    for (uint32_t i = 0; i < m->n_rates; i++) {
        const machine_rate *r = &m->rates[i];
        if (str_is(dtype, r->dtype) && is_better(r->threads, r->ops.value, best, value, threads)) {
            best = r->threads;
            value = r->ops.value;
        }
    }
    return value;
}

double machine_bandwidth(const machine *m, const char *level, const char *kind, unsigned threads)
{
    unsigned best = 0;
    double value = 0;
    for (uint32_t i = 0; i < m->n_flows; i++) {
        const machine_flow *f = &m->flows[i];
        if (strcmp(f->level, level) != 0 || (kind && strcmp(f->kind, kind) != 0))
            continue;
        if (is_better(f->threads, f->bytes.value, best, value, threads)) {
            best = f->threads;
            value = f->bytes.value;
        }
    }
    return value;
}

double machine_roof(const machine *m, str dtype, unsigned threads, double intensity)
{
    double peak = machine_peak(m, dtype, threads),
           memory = intensity * machine_bandwidth(m, "DRAM", NULL, threads);
    return memory > 0 && memory < peak ? memory : peak;
}

/* ---- the device row ---- */

static const struct {
    device_precision p;
    const char *dtype;
} precision_dtypes[] = {
    {DEVICE_FP32, "float32"},
    {DEVICE_BF16, "bfloat16"},
    {DEVICE_INT8, "int8"},
};

/* fp16 arithmetic of processors accumulates in fp16. With fp32 accumulation numbers are converted, and the
 * rate is that of fp32. */
static void set_fp16(const machine *m, device *out)
{
    out->fp16_acc16 = machine_peak(m, STR("float16"), UINT32_MAX);
    out->peak[DEVICE_FP16] = out->fp16_acc16 > 0 ? out->peak[DEVICE_FP32] : 0;
}

assay_status machine_device(const machine *m, arena *a, device *out, assay_error *err)
{
    const topology *t = &m->where;
    *out = (device){
        .id = STR("this"),
        .name = str_printf(a, "%s, %u processors", *t->cpu ? t->cpu : "This machine", t->usable),
        .kind = STR("cpu"),
        .certainty = STR("measured"),
        .source = str_printf(a, "assay machine%s on %s", m->quick ? " --quick" : "", m->timestamp),
        .memory_bytes = (double)t->memory_bytes,
        .bandwidth = machine_bandwidth(m, "DRAM", NULL, UINT32_MAX),
        .overhead_s = m->dispatch.present ? m->dispatch.seconds.value : 1e-6,
        .measured = m};
    for (size_t i = 0; i < sizeof precision_dtypes / sizeof *precision_dtypes; i++)
        out->peak[precision_dtypes[i].p] = machine_peak(m, str_of(precision_dtypes[i].dtype),
                                                        UINT32_MAX);
    set_fp16(m, out);
    TRY_MEMORY(!arena_failed(a), err);
    if (!(out->peak[DEVICE_FP32] > 0) || !(out->bandwidth > 0) || !(out->memory_bytes > 0))
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "the machine measurement has no fp32 peak, memory or bandwidth. Run `assay "
                        "machine` again.");
    return ASSAY_OK;
}

/* ---- where it is kept ---- */

/* Letters and digits in lower case, everything else as single dashes. */
static void put_slug(sbuf *b, const char *text)
{
    bool gap = false;
    for (; *text; text++) {
        if (isalnum((unsigned char)*text)) {
            if (gap)
                sbuf_putc(b, '-');
            sbuf_putc(b, (char)tolower((unsigned char)*text));
        }
        gap = !isalnum((unsigned char)*text) && b->n > 0;
    }
}

static char *file_name(arena *a)
{
    topology t;
    sbuf b = {0};
    topology_read("", &t);
    put_slug(&b, *t.cpu ? t.cpu : t.machine);
    sbuf_printf(&b, "-%u", t.usable);
    if (*t.host) {
        sbuf_putc(&b, '-');
        put_slug(&b, t.host);
    }
    char *name = b.failed ? NULL : arena_printf(a, "%s.json", sbuf_cstr(&b));
    sbuf_free(&b);
    return name;
}

char *machine_path(arena *a)
{
    const char *given = getenv("ASSAY_MACHINE"), *data = getenv("XDG_DATA_HOME"),
               *home = getenv("HOME");
    if (given && *given)
        return arena_strdup(a, given);
    char *name = file_name(a);
    if (name && data && data[0] == '/')
        return arena_printf(a, "%s/assay/machines/%s", data, name);
    return name && home && *home ? arena_printf(a, "%s/.local/share/assay/machines/%s", home, name)
                                 : NULL;
}

assay_status machine_save(const machine *m, const char *path, assay_error *err)
{
    sbuf text = {0};
    file_out *out = NULL;
    result_write(&machine_kind, m, 2, &text);
    assay_status s = text.failed ? err_no_memory(err) : file_out_open(path, &out, err);
    if (s == ASSAY_OK) {
        s = file_out_write(out, text.p, text.n, err);
        if (s == ASSAY_OK)
            s = file_out_commit(out, err);
        else
            file_out_abandon(out);
    }
    sbuf_free(&text);
    return s;
}

assay_status machine_load(const char *path, arena *a, machine **out, assay_error *err)
{
    char buf[FILE_SHOWN];
    const char *shown = file_shown(path, buf);
    str text;
    *out = NULL;
    if (!file_stat(path).exists)
        return err_fail(err, ASSAY_ERR_SYSTEM,
                        "%s: no such file: the device `this` is not measured yet. Run `assay "
                        "machine` (30 s, 5 s with --quick).",
                        shown);
    TRY(file_read_all(path, FILE_BYTES_MAX, a, &text, err));
    machine *m = ARENA_NEW(a, machine);
    TRY_MEMORY(m, err);
    TRY(result_read_as(&machine_kind, text, shown, a, m, err));
    *out = m;
    return ASSAY_OK;
}

assay_status machine_this(arena *a, machine **out, assay_error *err)
{
    const char *path = machine_path(a);
    *out = NULL;
    if (!path)
        return arena_failed(a) ? err_no_memory(err)
                               : err_fail(err, ASSAY_ERR_SYSTEM,
                                          "no folder for machine measurements. Set HOME, "
                                          "XDG_DATA_HOME or ASSAY_MACHINE.");
    return machine_load(path, a, out, err);
}

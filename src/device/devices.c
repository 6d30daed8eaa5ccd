/* Device rows by column: one table has the name, destination and unit of each column. CSV is RFC 4180 with a header
 * line, so that a file may hold the columns in any order and leave some out; lines that start with # are remarks.
 */
#include "device/devices.h"

#include "base/csv.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/sbuf.h"
#include "device/machine.h"

#define FILE_BYTES_MAX ((uint64_t)1 << 20)
enum { COLUMNS_MAX = 32, ROWS_MAX = 1000 };

/* ---- precisions ---- */

typedef struct precision_names {
    const char *name, *numpy;
    unsigned bytes;
} precision_names;

static const precision_names precisions[DEVICE_PRECISIONS] = {
    [DEVICE_FP32] = {"fp32", "float32", 4},     [DEVICE_TF32] = {"tf32", "tfloat32", 4},
    [DEVICE_FP16] = {"fp16", "float16", 2},     [DEVICE_BF16] = {"bf16", "bfloat16", 2},
    [DEVICE_FP8] = {"fp8", "float8_e4m3fn", 1}, [DEVICE_INT8] = {"int8", "uint8", 1},
};

const char *device_precision_name(device_precision p)
{
    return precisions[p].name;
}

device_precision device_precision_find(str name)
{
    int p = 0;
    while (p < DEVICE_PRECISIONS && !str_is(name, precisions[p].name) &&
           !str_is(name, precisions[p].numpy))
        p++;
    return (device_precision)p;
}

/* Weights that are stored in fewer bits than the units take are widened on the way. */
static const device_precision ways[][4] = {
    {DEVICE_FP32, DEVICE_TF32, DEVICE_PRECISIONS, DEVICE_PRECISIONS},
    {DEVICE_BF16, DEVICE_FP16, DEVICE_FP32, DEVICE_PRECISIONS},
    {DEVICE_FP16, DEVICE_BF16, DEVICE_FP32, DEVICE_PRECISIONS},
    {DEVICE_FP8, DEVICE_FP16, DEVICE_BF16, DEVICE_FP32},
    {DEVICE_INT8, DEVICE_FP16, DEVICE_BF16, DEVICE_FP32},
};

device_precision device_precision_on(const device *d, str dtype)
{
    device_precision wanted = device_precision_find(dtype);
    size_t row = 1;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i][0] == wanted)
            row = i;
    for (int i = 0; i < 4; i++)
        if (ways[row][i] != DEVICE_PRECISIONS && d->peak[ways[row][i]] > 0)
            return ways[row][i];
    return DEVICE_PRECISIONS;
}

unsigned device_precision_bytes(device_precision p)
{
    return precisions[p].bytes;
}

double device_vector_peak(const device *d, device_precision p)
{
    return d->peak[DEVICE_FP32] > 0 ? d->peak[DEVICE_FP32] : d->peak[p];
}

double device_ridge(const device *d, device_precision p)
{
    return d->bandwidth > 0 ? d->peak[p] / d->bandwidth : 0;
}

/* ---- columns ---- */

typedef struct column {
    const char *name;
    bool number;
    size_t at;
    double unit; /* of one in the file */
} column;

#define TEXT(key, field)                           \
    {                                              \
        .name = key, .at = offsetof(device, field) \
    }
#define NUMBER(key, field, size)                                                 \
    {                                                                            \
        .name = key, .number = true, .at = offsetof(device, field), .unit = size \
    }

static const column columns[] = {
    TEXT("id", id),
    TEXT("aliases", aliases),
    TEXT("name", name),
    TEXT("class", kind),
    NUMBER("fp32_tflops", peak[DEVICE_FP32], 1e12),
    NUMBER("tf32_tflops", peak[DEVICE_TF32], 1e12),
    NUMBER("fp16_tflops", peak[DEVICE_FP16], 1e12),
    NUMBER("fp16_acc16_tflops", fp16_acc16, 1e12),
    NUMBER("bf16_tflops", peak[DEVICE_BF16], 1e12),
    NUMBER("fp8_tflops", peak[DEVICE_FP8], 1e12),
    NUMBER("int8_tops", peak[DEVICE_INT8], 1e12),
    NUMBER("fp4_tflops", fp4, 1e12),
    NUMBER("units", units, 1),
    NUMBER("clock_mhz", clock_hz, 1e6),
    NUMBER("cache_mib", cache_bytes, 1024.0 * 1024),
    NUMBER("link_gbs", link, 1e9),
    NUMBER("memory_gib", memory_bytes, 1024.0 * 1024 * 1024),
    NUMBER("bandwidth_gbs", bandwidth, 1e9),
    NUMBER("tdp_w", power_w, 1),
    NUMBER("overhead_us", overhead_s, 1e-6),
    NUMBER("price_usd", price_usd, 1),
    TEXT("price_date", price_date),
    TEXT("price_source", price_source),
    TEXT("certainty", certainty),
    TEXT("source", source),
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static const column *find_column(str key)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (str_is(key, columns[i].name))
            return &columns[i];
    return NULL;
}

static assay_status no_such_column(str key, const char *shown, assay_error *err)
{
    sbuf all = {0};
    for (int i = 0; i < N_COLUMNS; i++)
        sbuf_printf(&all, "%s%s", i ? ", " : "", columns[i].name);
    assay_status s = err_fail(err, ASSAY_ERR_MALFORMED,
                              "%s: unknown device field '%.*s'. The fields are: %s.", shown,
                              (int)(key.n < 60 ? key.n : 60), key.p ? key.p : "", sbuf_cstr(&all));
    sbuf_free(&all);
    return s;
}

assay_status device_set(device *d, str key, str value, const char *shown, arena *a,
                        assay_error *err)
{
    const column *c = find_column(key);
    double v;
    if (!c)
        return no_such_column(key, shown, err);
    if (!c->number) {
        str copy = str_copy(a, value);
        memcpy((char *)d + c->at, &copy, sizeof copy);
        return copy.p ? ASSAY_OK : err_no_memory(err);
    }
    if (value.n == 0)
        return ASSAY_OK;
    if (!str_to_f64(value, &v) || v <= 0)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: %s must be a positive number, or empty if unknown, not '%.*s'", shown,
                        c->name, (int)(value.n < 60 ? value.n : 60), value.p);
    v *= c->unit;
    memcpy((char *)d + c->at, &v, sizeof v);
    return ASSAY_OK;
}

/* What a row may leave out. */
static void fill_defaults(device *d)
{
    if (!d->id.n)
        d->id = d->name;
    if (!d->name.n)
        d->name = d->id;
    if (!d->kind.n)
        d->kind = STR("other");
    if (!d->certainty.n)
        d->certainty = STR("yours");
    if (!(d->overhead_s > 0))
        d->overhead_s = str_is(d->kind, "cpu") ? 1e-6 : 4e-6;
}

assay_status device_add(device_list *list, device *d, const char *shown, assay_error *err)
{
    fill_defaults(d);
    TRY(device_lint(d, shown, err));
    if (list->rows.n >= ROWS_MAX)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: more than %d devices", shown, ROWS_MAX);
    return VEC_ADD(list->arena, &list->rows, *d) ? ASSAY_OK : err_no_memory(err);
}

/* ---- CSV ---- */

static assay_status csv_row(csv *c, const str *titles, int n_titles, const char *shown,
                            device_list *out, assay_error *err)
{
    str cells[COLUMNS_MAX];
    device d = {0};
    int n = csv_line(c, cells, COLUMNS_MAX);
    if (n != n_titles)
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "%s: a row does not have the %d fields of the header", shown, n_titles);
    for (int i = 0; i < n; i++)
        TRY(device_set(&d, titles[i], cells[i], shown, out->arena, err));
    return device_add(out, &d, shown, err);
}

assay_status devices_csv(str text, const char *shown, device_list *out, assay_error *err)
{
    csv c = csv_of(text, out->arena);
    str titles[COLUMNS_MAX];
    int n = csv_more(&c) ? csv_line(&c, titles, COLUMNS_MAX) : -1;
    if (n < 1)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: no header row", shown);
    while (csv_more(&c))
        TRY(csv_row(&c, titles, n, shown, out, err));
    return ASSAY_OK;
}

/* ---- where rows come from ---- */

assay_status devices_builtin(device_list *out, assay_error *err)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "devices.csv") == 0)
            return devices_csv((str){f->data, (uint32_t)f->size}, "devices.csv", out, err);
    return err_fail(err, ASSAY_ERR_SYSTEM, "this build has no device table");
}

/* Not linted: it is what was measured. */
static assay_status add_machine(str text, const char *shown, device_list *out, assay_error *err)
{
    machine *m = ARENA_NEW(out->arena, machine);
    device *slot = m ? VEC_PUSH(out->arena, &out->rows) : NULL;
    assay_error why = {0};
    TRY_MEMORY(slot, err);
    TRY(result_read_as(&machine_kind, text, shown, out->arena, m, err));
    if (machine_device(m, out->arena, slot, &why) != ASSAY_OK)
        return err_fail(err, why.code, "%s: %s", shown, why.message);
    slot->id = str_of(*m->where.host ? m->where.host : "measured");
    return ASSAY_OK;
}

static assay_status add_json(str text, const char *shown, device_list *out, assay_error *err)
{
    return (result_is(&machine_kind, text) ? add_machine : devices_json)(text, shown, out, err);
}

assay_status devices_file(const char *path, device_list *out, assay_error *err)
{
    char buf[FILE_SHOWN];
    const char *shown = file_shown(path, buf);
    uint32_t before = out->rows.n;
    str text;
    TRY(file_read_all(path, FILE_BYTES_MAX, out->arena, &text, err));
    TRY((str_ends(str_of(path), ".json") ? add_json : devices_csv)(text, shown, out, err));
    return out->rows.n > before ? ASSAY_OK
                                : err_fail(err, ASSAY_ERR_MALFORMED, "%s: no devices", shown);
}

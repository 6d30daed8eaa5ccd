/* The two forms of PyTorch's files; see torch.h. */
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "formats/torch/torch_impl.h"

#define SCRATCH_BYTES ((size_t)2 << 30)

static assay_status fail_file(const torch_file *f, assay_status status, const char *what)
{
    return err_fail(f->err, status, "%s: %s", f->shown, what);
}

static assay_status list_pickle(torch_file *f, cursor *c, str prefix)
{
    pickle_value *object = NULL;
    TRY(pickle_read(c, f->scratch, &object));
    TRY(torch_note_globals(f, object));
    TRY(torch_describe(f, object));
    if (!prefix.n && torch_whole_module(object))
        TRY(torch_read_modules(f, torch_whole_module(object)));
    return torch_list(f, object, prefix);
}

/* ---- zip ---- */

/* A deflated pickle is unpacked; its cursor is over that memory. */
static assay_status list_packed(torch_file *f, const zip_entry *e, str prefix)
{
    str bytes;
    source *own = NULL;
    TRY(zip_unpack(f->src, e, ZIP_MAX_UNPACKED, f->scratch, &bytes, f->err));
    TRY(source_memory(bytes.p, bytes.n, &own, f->err));
    cursor c = cursor_at(own, 0, bytes.n, f->err);
    assay_status s = list_pickle(f, &c, prefix);
    source_close(own);
    return s;
}

static assay_status list_entry(torch_file *f, const char *name, str prefix, bool *there)
{
    cursor c;
    const str path = str_printf(f->scratch, STR_FMT "%s", STR_ARG(f->root), name);
    const zip_entry *e = zip_find(f->zip, path);
    *there = e != NULL;
    if (!e)
        return ASSAY_OK;
    if (e->method != ZIP_STORED)
        return list_packed(f, e, prefix);
    TRY(zip_open(f->src, e, &c, f->err));
    return list_pickle(f, &c, prefix);
}

/* The folder that holds data.pkl: its name is that of the file when it was saved. */
static bool find_root(torch_file *f)
{
    for (uint32_t i = 0; i < f->zip->entries.n; i++) {
        str name = f->zip->entries.items[i].name;
        uint32_t n = (uint32_t)strlen("data.pkl");
        if (!str_ends(name, "data.pkl") || memchr(name.p, '/', name.n) == NULL)
            continue;
        f->root = (str){name.p, name.n - n};
        if (f->root.p[f->root.n - 1] == '/' &&
            memchr(f->root.p, '/', f->root.n) == f->root.p + f->root.n - 1)
            return true;
    }
    return false;
}

static assay_status read_zip(torch_file *f)
{
    zip_directory z;
    bool there = false;
    f->zip = &z;
    TRY(zip_read(f->src, f->scratch, &z, f->err));
    if (!find_root(f))
        return fail_file(
            f, ASSAY_ERR_UNSUPPORTED,
            "not a PyTorch file: the zip archive has no data.pkl. Unpack it and use the "
            "model file inside.");
    TRY(list_entry(f, "data.pkl", (str){0}, &there));
    return list_entry(f, "constants.pkl", STR("constants."), &there);
}

/* ---- the older form ---- */

/* Each storage is its length and its bytes, in the order of the list of keys. Tensors whose key is not
 * in it have no place. */
static assay_status place_storages(torch_file *f, const pickle_value *keys, uint64_t from)
{
    uint64_t *starts = ARENA_ARRAY(f->scratch, uint64_t, (size_t)f->lengths.n + 1), at = from;
    TRY_MEMORY(starts, f->err);
    for (uint32_t i = 0; keys && i < keys->items.n; i++) {
        uint32_t k = map_get(&f->storages, keys->items.items[i]->text);
        if (k == MAP_NONE || starts[k])
            break;
        starts[k] = at + 8;
        at = sat_add(starts[k], f->lengths.items[k]);
    }
    for (uint32_t i = 0; i < f->places.n; i++) {
        const torch_place *p = &f->places.items[i];
        weight_item *x = p->item < f->set->items.n ? &f->set->items.items[p->item] : NULL;
        if (x && starts[p->storage])
            x->offset += starts[p->storage];
        else if (x)
            x->placed = false;
    }
    return ASSAY_OK;
}

/* Magic, version and system precede the object; the list of keys and the storages follow it. */
static assay_status read_legacy(torch_file *f)
{
    enum { BEFORE = 3 };
    cursor c = cursor_at(f->src, 0, source_size(f->src), f->err);
    pickle_value *other;
    TRY_MEMORY(map_init(&f->storages, f->scratch, 64), f->err);
    for (int i = 0; i < BEFORE; i++)
        TRY(pickle_read(&c, f->scratch, &other));
    TRY(list_pickle(f, &c, (str){0}));
    TRY(pickle_read(&c, f->scratch, &other));
    if (f->storage_bytes > cursor_left(&c))
        return err_fail_at(f->err, ASSAY_ERR_MALFORMED, c.pos,
                           "%s: truncated: storages of %" PRIu64 " bytes, but only %" PRIu64
                           " follow",
                           f->shown, f->storage_bytes, cursor_left(&c));
    return place_storages(f, other, c.pos);
}

/* Arrays of NumPy are weights if a third of them are named so, and nothing of another package is there: samples and
 * results are pickled, too. */
static bool arrays_are_weights(const torch_file *f)
{
    static const char *const words[] = {"weight", "bias", "_w", "_b", "kernel"};
    uint32_t named = 0;
    for (uint32_t i = 0; i < f->set->items.n; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            named += str_ends(f->set->items.items[i].name, words[k]);
    return !f->has_strangers && named >= (f->set->items.n + 2) / 3;
}

/* One pickle: what pickle.dump writes. */
static assay_status read_plain(torch_file *f)
{
    cursor c = cursor_at(f->src, 0, source_size(f->src), f->err);
    f->plain = true;
    TRY(list_pickle(f, &c, (str){0}));
    if (!f->set->items.n || (!f->has_tensors && !arrays_are_weights(f)))
        return fail_file(f, ASSAY_ERR_UNSUPPORTED,
                         "a Python pickle without weights. Load it in the environment that wrote "
                         "it and export it as ONNX.");
    return ASSAY_OK;
}

/* The number with which the older form begins, in any protocol of pickles; its last 8 bytes. */
static bool is_magic(const pickle_value *v)
{
    return v->kind == PICKLE_INT && (uint64_t)v->whole == UINT64_C(0xa86a20f9469cfc6c);
}

static assay_status read_pickles(torch_file *f)
{
    cursor c = cursor_at(f->src, 0, source_size(f->src), f->err);
    pickle_value *first = NULL;
    if (pickle_read(&c, f->scratch, &first) == ASSAY_OK && is_magic(first))
        return read_legacy(f);
    err_clear(f->err);
    return read_plain(f);
}

/* ---- opening ---- */

static assay_status read_form(torch_file *f)
{
    uint8_t head[2];
    if (source_size(f->src) < 16)
        return fail_file(f, ASSAY_ERR_MALFORMED, "too short for a PyTorch file");
    TRY(source_read(f->src, 0, head, sizeof head, f->err));
    if (memcmp(head, "PK", 2) == 0)
        return read_zip(f);
    if (head[0] == 0x80 && head[1] >= 1 && head[1] <= 5)
        return read_pickles(f);
    return fail_file(f, ASSAY_ERR_UNSUPPORTED,
                     "not a PyTorch file: neither a zip archive nor a pickle");
}

static assay_status read_source(source *src, const char *shown, str name, weight_set *set,
                                assay_error *err)
{
    torch_file f = {.src = src, .shown = shown, .set = set, .err = err};
    f.scratch = arena_new(SCRATCH_BYTES);
    f.file = f.scratch ? weight_set_file(set, name, source_size(src)) : UINT32_MAX;
    assay_status s = f.file != UINT32_MAX ? read_form(&f) : err_no_memory(err);
    if (s == ASSAY_OK && arena_failed(f.scratch))
        s = err_no_memory(err);
    arena_free(f.scratch);
    return s;
}

const weight_reader torch_reader = {"pytorch", read_source};

assay_status torch_read_bytes(const void *p, uint64_t n, arena *a, weight_set **out,
                              assay_error *err)
{
    return weights_read_bytes(&torch_reader, p, n, a, out, err);
}

assay_status torch_read_within(source *src, uint64_t at, uint64_t size, uint32_t file,
                               weight_set *set, assay_error *err)
{
    torch_file f = {.src = src, .shown = source_name(src), .set = set, .err = err, .file = file};
    zip_directory z;
    bool there = false;
    f.scratch = arena_new(SCRATCH_BYTES);
    TRY_MEMORY(f.scratch, err);
    f.zip = &z;
    assay_status s = zip_read_within(src, at, size, f.scratch, &z, err);
    if (s == ASSAY_OK && !find_root(&f))
        s = fail_file(&f, ASSAY_ERR_MALFORMED, "weights without data.pkl");
    if (s == ASSAY_OK)
        s = list_entry(&f, "data.pkl", (str){0}, &there);
    if (s == ASSAY_OK && arena_failed(f.scratch))
        s = err_no_memory(err);
    arena_free(f.scratch);
    return s;
}

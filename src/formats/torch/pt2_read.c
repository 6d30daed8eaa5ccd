/* The archive of a torch.export program: where its graph and its weights lie; see pt2.h. */
#include "formats/torch/pt2.h"

#include <string.h>

#include "base/num.h"
#include "formats/torch/pt2_impl.h"

bool pt2_is_inside(const zip_directory *z)
{
    for (uint32_t i = 0; i < z->entries.n; i++)
        if (str_ends(z->entries.items[i].name, "serialized_exported_program.json") ||
            str_ends(z->entries.items[i].name, "archive_format"))
            return true;
    return false;
}

static assay_status fail_pt2(pt2_reader *r, assay_status status, const char *what)
{
    return err_fail(r->f.err, status, "torch.export program: %s", what);
}

/* ---- entries ---- */

static const zip_entry *entry_of(pt2_reader *r, const char *folder, str name)
{
    const str path = str_printf(r->f.scratch, STR_FMT "%s" STR_FMT, STR_ARG(r->root), folder,
                                STR_ARG(name));
    return path.p ? zip_find(&r->z, path) : NULL;
}

static assay_status parse_entry(pt2_reader *r, const zip_entry *e, json_value *out)
{
    str text;
    const json_tree_options how = {.lenient = true};
    TRY(zip_unpack(r->f.src, e, PT2_MAX_JSON, r->f.scratch, &text, r->f.err));
    return json_tree_parse(text, str_copy(r->f.scratch, e->name).p, &how, r->f.scratch, out,
                           r->f.err);
}

/* ---- tensors in archives of torch.save ---- */

static uint32_t add_source(pt2_reader *r, source *src, str name)
{
    r->sources[r->n_sources++] = src;
    return weight_set_file(r->set, name, source_size(src));
}

static assay_status read_state(pt2_reader *r, const zip_entry *e)
{
    cursor c;
    str bytes;
    source *own = NULL;
    if (e->method == ZIP_STORED) {
        TRY(zip_open(r->f.src, e, &c, r->f.err));
        return torch_read_within(r->f.src, c.pos, cursor_left(&c), 0, r->set, r->f.err);
    }
    if (r->n_sources == PT2_SOURCES)
        return fail_pt2(r, ASSAY_ERR_MALFORMED, "too many compressed files of weights");
    TRY(zip_unpack(r->f.src, e, ZIP_MAX_UNPACKED, r->f.m->arena, &bytes, r->f.err));
    TRY(source_memory(bytes.p, bytes.n, &own, r->f.err));
    uint32_t file = add_source(r, own, e->name);
    return file == UINT32_MAX ? err_no_memory(r->f.err)
                              : torch_read_within(own, 0, bytes.n, file, r->set, r->f.err);
}

/* ---- tensors as entries ---- */

static bool read_strides(pt2_reader *r, const json_value *meta, weight_item *item)
{
    const json_value *list = json_get(meta, "strides");
    int64_t *strides = ARENA_ARRAY(r->f.scratch, int64_t, (size_t)item->rank + 1), plain = 1;
    bool in_order = true;
    if (!strides || !list || list->kind != JSON_LIST || list->n != (uint32_t)item->rank)
        return strides != NULL;
    for (int d = item->rank - 1; d >= 0; plain *= item->dims[d--]) {
        str key;
        const json_value *v = pt2_union(&list->items[d], &key);
        strides[d] = v && v->kind == JSON_INT ? v->i : plain;
        in_order &= strides[d] == plain || item->dims[d] == 1;
    }
    item->strides = in_order ? NULL : strides;
    return true;
}

/* The last element must lie within the entry. */
static bool lies_within(const weight_item *x, uint64_t offset, uint64_t bytes, uint64_t size)
{
    uint64_t last = offset;
    for (int d = 0; x->strides && d < x->rank; d++) {
        if (x->strides[d] < 0)
            return false;
        last = sat_add(last,
                       sat_mul((uint64_t)(x->dims[d] - (x->dims[d] > 0)), (uint64_t)x->strides[d]));
    }
    if (!x->strides)
        last = sat_add(last, x->n_elems ? x->n_elems - 1 : 0);
    return sat_mul(sat_add(last, 1), bytes) <= size;
}

static assay_status add_payload(pt2_reader *r, const char *folder, const json_value *v)
{
    const json_value *path = json_get(v, "path_name"), *param = json_get(v, "is_param");
    const json_value *tensor = json_get(v, "tensor_meta");
    pt2_meta m;
    str key;
    if (!tensor || !pt2_read_meta(tensor, &m) || !path || path->kind != JSON_TEXT)
        return ASSAY_OK; /* an object, not a tensor */
    weight_item item = {.name = v->key,
                        .rank = m.rank,
                        .dims = arena_copy(r->f.scratch, m.dims, sizeof m.dims),
                        .n_elems = 1};
    const zip_entry *e = entry_of(r, folder, path->s);
    uint64_t bytes = ir_dtype_bytes(m.dtype, 1);
    for (int d = 0; d < m.rank; d++)
        item.n_elems = sat_mul(item.n_elems, m.dims[d] < 0 ? 0 : (uint64_t)m.dims[d]);
    const json_value *offset = pt2_union(json_get(tensor, "storage_offset"), &key);
    uint64_t first = offset && offset->kind == JSON_INT && offset->i > 0 ? (uint64_t)offset->i : 0;
    const json_value *pickled = json_get(v, "use_pickle");
    TRY_MEMORY(item.dims && read_strides(r, tensor, &item), r->f.err);
    item.stored = str_of(ir_dtype_get(m.dtype)->name);
    item.integer = !ir_is_float(m.dtype);
    item.size_bytes = sat_mul(item.n_elems, bytes);
    item.role = param && json_is_true(param) ? WEIGHT_ROLE_PARAMETER : WEIGHT_ROLE_BUFFER;
    item.placed = e && !(pickled && json_is_true(pickled)) &&
                  lies_within(&item, first, bytes, e->size);
    if (item.placed) {
        item.offset = first * bytes;
        item.entry = e->header + 1;
        item.packed = e->method == ZIP_DEFLATED ? e->packed : 0;
        item.unpacked = e->method == ZIP_DEFLATED ? e->size : 0;
    }
    return weight_set_add(r->set, &item, source_name(r->f.src), r->f.err);
}

static assay_status read_payloads(pt2_reader *r, const char *folder, const zip_entry *config)
{
    json_value v;
    TRY(parse_entry(r, config, &v));
    const json_value *list = json_get(&v, "config");
    for (uint32_t i = 0; list && list->kind == JSON_OBJECT && i < list->n; i++)
        TRY(add_payload(r, folder, &list->items[i]));
    return ASSAY_OK;
}

/* ---- both layouts ---- */

static assay_status read_new_weights(pt2_reader *r, const char *kind)
{
    const char *folder = arena_printf(r->f.scratch, "data/%s/", kind);
    const str config = str_printf(r->f.scratch, STR_FMT "_%s_config.json", STR_ARG(r->model), kind);
    const str state = str_printf(r->f.scratch, STR_FMT ".pt", STR_ARG(r->model));
    TRY_MEMORY(folder && config.p && state.p, r->f.err);
    const zip_entry *e = entry_of(r, folder, config);
    if (e)
        return read_payloads(r, folder, e);
    e = entry_of(r, folder, state);
    return e ? read_state(r, e) : ASSAY_OK;
}

static assay_status read_old_weights(pt2_reader *r, const char *name)
{
    static const char *const suffixes[] = {".pt", ".json"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const zip_entry *e = entry_of(r, name, str_of(suffixes[i]));
        if (e && e->size > 0)
            return read_state(r, e);
    }
    return ASSAY_OK;
}

/* The folder that holds `name`: "" or one level. */
static const zip_entry *find_in_root(pt2_reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->z.entries.n; i++) {
        const zip_entry *e = &r->z.entries.items[i];
        uint32_t n = (uint32_t)strlen(name);
        if (!str_ends(e->name, name))
            continue;
        r->root = (str){e->name.p, e->name.n - n};
        if (!r->root.n || r->root.p[r->root.n - 1] == '/')
            return e;
    }
    return NULL;
}

/* models/NAME.json; "model" before others, which are named in a note. */
static const zip_entry *find_model(pt2_reader *r)
{
    const str folder = str_printf(r->f.scratch, STR_FMT "models/", STR_ARG(r->root));
    const zip_entry *found = NULL;
    for (uint32_t i = 0; folder.p && i < r->z.entries.n; i++) {
        const zip_entry *e = &r->z.entries.items[i];
        if (!str_starts(e->name, folder.p) || !str_ends(e->name, ".json"))
            continue;
        str name = {e->name.p + folder.n, e->name.n - folder.n - (uint32_t)strlen(".json")};
        if (found && !str_is(name, "model")) {
            notes_add(&r->f.m->notes, "model-other", name, NULL,
                      "The archive has another model, '" STR_FMT "', which is not analysed.",
                      STR_ARG(name));
            continue;
        }
        found = e;
        r->model = name;
    }
    return found;
}

static assay_status read_archive(pt2_reader *r)
{
    const zip_entry *e = find_in_root(r, "serialized_exported_program.json");
    if (e) {
        TRY(parse_entry(r, e, &r->program));
        TRY(read_old_weights(r, "serialized_state_dict"));
        return read_old_weights(r, "serialized_constants");
    }
    if (!find_in_root(r, "archive_format"))
        return fail_pt2(r, ASSAY_ERR_UNSUPPORTED, "the archive has no exported program");
    e = find_model(r);
    if (!e)
        return fail_pt2(r, ASSAY_ERR_UNSUPPORTED,
                        "the archive has compiled code and no graph. Use the file that "
                        "torch.export.save wrote of the same model.");
    TRY(parse_entry(r, e, &r->program));
    TRY(read_new_weights(r, "weights"));
    return read_new_weights(r, "constants");
}

/* ---- opening ---- */

static assay_status read_model(pt2_reader *r)
{
    TRY(zip_read(r->f.src, r->f.scratch, &r->z, r->f.err));
    r->set = weight_set_new(r->f.scratch, "pytorch", 256);
    if (!r->set || !map_init(&r->names, r->f.scratch, 256) || !aten_begin(&r->t, &r->f) ||
        add_source(r, r->f.src, STR("model")) == UINT32_MAX)
        return err_no_memory(r->f.err);
    TRY(read_archive(r));
    r->files = weights_bind_sources(r->f.m, r->sources, r->n_sources);
    r->read = ARENA_ARRAY(r->f.scratch, uint8_t, (size_t)r->set->items.n + 1);
    TRY_MEMORY(r->files && r->read, r->f.err);
    notes_join(&r->f.m->notes, &r->set->notes);
    return pt2_build(r);
}

/* Unpacked weights are the model's from the end of weights_bind_end() on. */
static void close_unpacked(const pt2_reader *r)
{
    for (uint32_t i = 1; i < r->n_sources; i++)
        source_close(r->sources[i]);
}

assay_status pt2_read(source *src, const char *path, size_t limit, ir_model **out, assay_error *err)
{
    pt2_reader r = {.depth = 0};
    (void)path;
    assay_status s = foreign_new(&r.f, "torch.export", src, limit, err);
    if (s == ASSAY_OK)
        s = read_model(&r);
    r.f.err = err;
    s = foreign_done(&r.f, s, out);
    if (s == ASSAY_OK) {
        s = weights_bind_end(*out, r.files, err);
        if (s != ASSAY_OK) {
            (*out)->reader = (ir_reader){0}; /* the caller closes its source */
            ir_model_free(*out);
            *out = NULL;
        }
    }
    if (s != ASSAY_OK)
        close_unpacked(&r);
    return s;
}

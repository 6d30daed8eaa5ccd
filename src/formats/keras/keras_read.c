/* Files of Keras: finding the architecture and the weights; see keras.h. */
#include "formats/keras/keras.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "formats/keras/keras_impl.h"
#include "formats/zip.h"

/* ---- texts ---- */

static assay_status parse_config(keras_reader *r, str text, const char *shown, json_value *out)
{
    const json_tree_options how = {.lenient = true};
    return json_tree_parse(text, shown, &how, r->a, out, r->f.err);
}

/* Some programs write the text of the model as a JSON text once more. */
static assay_status parse_model(keras_reader *r, str text, const char *shown)
{
    json_value *v = ARENA_NEW(r->a, json_value);
    TRY_MEMORY(v, r->f.err);
    TRY(parse_config(r, text, shown, v));
    if (v->kind == JSON_TEXT)
        TRY(parse_config(r, v->s, shown, v));
    /* {"model_config": {...}}, as some wrappers save it */
    const json_value *inner = v->kind == JSON_OBJECT && !json_get(v, "class_name")
                                  ? keras_get(v, "model_config|config")
                                  : NULL;
    r->root = inner && json_get(inner, "class_name") ? inner : v;
    if (r->root->kind != JSON_OBJECT || !json_get(r->root, "class_name"))
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "%s: not a Keras model: the JSON has no class_name", shown);
    return ASSAY_OK;
}

static void take_version(keras_reader *r, str version)
{
    uint64_t major = 0;
    str rest = version;
    if (!version.n || !str_take_u64(&rest, &major) || major > 99)
        return;
    r->major = (int)major;
    r->f.m->producer = str_printf(r->f.m->arena, "Keras " STR_FMT, STR_ARG(version));
}

static assay_status read_text(keras_reader *r, uint64_t at, uint64_t n, str *out)
{
    char *p = n <= KERAS_MAX_JSON ? arena_alloc(r->a, (size_t)n + 1) : NULL;
    if (n > KERAS_MAX_JSON)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED, "Keras model: JSON above 64 MiB");
    TRY_MEMORY(p, r->f.err);
    TRY(source_read(r->f.src, at, p, n, r->f.err));
    *out = (str){p, (uint32_t)n};
    return ASSAY_OK;
}

/* ---- weights without an architecture ---- */

static bool names_state(str path)
{
    return str_contains(path, "moving_") || str_contains(path, "running_") ||
           str_contains(path, "seed_generator");
}

/* BatchNormalization by path: its third and fourth weights. */
static bool is_statistics(str path)
{
    return str_contains(path, "batch_normalization") &&
           (str_ends(path, "/vars/2") || str_ends(path, "/vars/3"));
}

static void note_no_graph(keras_reader *r)
{
    str cls = keras_word(r->root, "class_name", "");
    if (cls.n)
        notes_add(&r->f.m->notes, "no-graph", (str){0},
                  "Export the model in Python: model.export('model.onnx', format='onnx').",
                  "The model is of the class '" STR_FMT
                  "', whose code is not in the file. The weights are listed, but FLOPs and memory "
                  "are not computed.",
                  STR_ARG(cls));
    else
        notes_add(&r->f.m->notes, "no-graph", (str){0},
                  "Put the model's JSON (model.to_json()) next to it under the same name, or save "
                  "the whole model with model.save().",
                  "The file holds weights without the architecture. The weights are listed, but "
                  "FLOPs and memory are not computed.");
}

static assay_status list_weights(keras_reader *r)
{
    r->f.m->inventory = true;
    for (uint32_t i = 0; i < r->store.items.n; i++) {
        const keras_data *d = &r->store.items.items[i];
        if (d->data.dtype == IR_UNDEFINED || d->data.dtype == IR_STRING)
            continue;
        str name = str_copy(r->f.m->arena, d->path);
        ir_tensor *t = name.p ? ir_make_tensor_borrowed(r->f.m, name, d->data.dtype, d->data.rank,
                                                        d->data.dims)
                              : NULL;
        if (!t)
            return err_fail(r->f.err, ASSAY_ERR_MALFORMED,
                            "Keras weights: '" STR_FMT "' is too large", STR_ARG(d->path));
        ir_id id = foreign_slice(&r->f, name, t, d->data.offset, d->data.length);
        if (id == IR_NONE)
            return err_no_memory(r->f.err);
        bool state = names_state(name) || is_statistics(name) || !ir_is_float(t->dtype);
        ir_value_at(r->f.m, id)->flags |= state ? IR_VALUE_BUFFER : IR_VALUE_PARAM;
        foreign_count(&r->f, t->n_elems, t->size_bytes);
    }
    note_no_graph(r);
    return ASSAY_OK;
}

/* ---- an architecture beside the weights ---- */

/* The path with another end: "a/net.weights.h5" and ".json" give "a/net.json". */
static str beside(keras_reader *r, const char *path, const char *name, bool stem)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    size_t n = (size_t)(start - path), end = strlen(path);
    if (!stem)
        return str_printf(r->a, "%.*s%s", (int)n, path, name);
    static const char *const ends[] = {".hdf5",    ".h5",     ".weights", "_weights",
                                       "-weights", ".weight", "_weight"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t m = strlen(ends[i]);
        if (end - n > m && memcmp(path + end - m, ends[i], m) == 0)
            end -= m;
    }
    return str_printf(r->a, "%.*s%s", (int)end, path, name);
}

/* Whether the architecture has a layer for every group of weights, which is how a stray file is told. */
static bool names_layers(const keras_reader *r)
{
    const json_value *config = keras_get(r->root, "config");
    const json_value *layers = config && config->kind == JSON_LIST ? config
                                                                   : keras_get(config, "layers");
    uint32_t n = 0, found = 0;
    for (uint32_t i = 0; i < r->store.bags.n; i++) {
        bool there = false;
        for (uint32_t k = 0; layers && layers->kind == JSON_LIST && k < layers->n && !there; k++)
            there = str_eq(keras_word(keras_get(&layers->items[k], "config"), "name", ""),
                           r->store.bags.items[i].layer);
        n += r->store.bags.items[i].n > 0;
        found += there && r->store.bags.items[i].n > 0;
    }
    return layers && found == n;
}

static bool try_beside(keras_reader *r, str path)
{
    assay_error *kept = r->f.err, own;
    json_value *v = ARENA_NEW(r->a, json_value);
    err_clear(&own);
    if (!path.p || !v || !file_stat(path.p).is_regular)
        return false;
    r->f.err = &own;
    bool read = json_tree_read(path.p, r->a, v, &own) == ASSAY_OK;
    if (read && v->kind == JSON_TEXT)
        read = parse_config(r, v->s, path.p, v) == ASSAY_OK;
    r->f.err = kept;
    r->root = read ? v : NULL;
    bool fits = read && v->kind == JSON_OBJECT && json_get(v, "class_name") && names_layers(r);
    if (!fits)
        r->root = NULL;
    else
        notes_add(&r->f.m->notes, "architecture-beside", (str){0}, NULL,
                  "The architecture is that of '%s', which is beside the weights.",
                  FILE_NAME(path.p));
    return fits;
}

static bool find_beside(keras_reader *r, const char *path)
{
    static const struct {
        const char *name;
        bool stem;
    } places[] = {{".json", true},
                  {"_architecture.json", true},
                  {"_config.json", true},
                  {"_model.json", true},
                  {"model.json", false},
                  {"model_architecture.json", false},
                  {"architecture.json", false},
                  {"model_config.json", false},
                  {"config.json", false}};
    for (size_t i = 0; path && i < sizeof places / sizeof *places; i++)
        if (try_beside(r, beside(r, path, places[i].name, places[i].stem)))
            return true;
    return false;
}

/* ---- forms ---- */

static assay_status open_weights(keras_reader *r, uint64_t start, uint64_t size)
{
    TRY(hdf5_open(&r->h5, r->f.src, start, size, r->a, r->f.err));
    return keras_store_read(&r->store, &r->h5, r->a);
}

/* A model whose code is elsewhere has weights all the same. */
static assay_status build_or_list(keras_reader *r)
{
    const json_value *config = keras_get(r->root, "config");
    str cls = keras_word(r->root, "class_name", "");
    bool known = keras_is_model(cls, config) || (config && config->kind == JSON_LIST);
    return known || !r->store.items.n ? keras_build(r, r->root) : list_weights(r);
}

static assay_status read_h5(keras_reader *r, const char *path)
{
    TRY(open_weights(r, 0, source_size(r->f.src)));
    const hdf5_texts config = hdf5_attribute(&r->h5, r->h5.root, "model_config"),
                     version = hdf5_attribute(&r->h5, r->h5.root, "keras_version");
    TRY(hdf5_status(&r->h5));
    take_version(r, version.list.n ? version.list.items[0] : (str){0});
    if (config.list.n)
        TRY(parse_model(r, config.list.items[0], "model_config"));
    else if (r->store.form == KERAS_NO_WEIGHTS)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "an HDF5 file without a model: it has neither model_config nor weights of "
                        "Keras");
    else if (!find_beside(r, path))
        return list_weights(r);
    return build_or_list(r);
}

/* Entries are in the root of the archive, or all in one folder. */
static const zip_entry *find_entry(const zip_directory *z, const char *name)
{
    const zip_entry *e = zip_find(z, str_of(name));
    for (uint32_t i = 0; !e && i < z->entries.n; i++) {
        str own = z->entries.items[i].name;
        size_t n = strlen(name);
        if (str_ends(own, name) && own.n > n && own.p[own.n - n - 1] == '/' &&
            memchr(own.p, '/', own.n) == own.p + own.n - n - 1)
            e = &z->entries.items[i];
    }
    return e;
}

static assay_status read_metadata(keras_reader *r, const zip_directory *z)
{
    const zip_entry *e = find_entry(z, "metadata.json");
    str text;
    json_value v = {0};
    if (!e)
        return ASSAY_OK;
    TRY(zip_unpack(r->f.src, e, KERAS_MAX_JSON, r->a, &text, r->f.err));
    TRY(parse_config(r, text, "metadata.json", &v));
    take_version(r, keras_word(&v, "keras_version", ""));
    return ASSAY_OK;
}

/* Compressed weights are unpacked into memory, which is the model's source from then on. */
static assay_status open_packed_weights(keras_reader *r, const zip_entry *weights)
{
    str bytes;
    TRY(zip_unpack(r->f.src, weights, ZIP_MAX_UNPACKED, r->f.m->arena, &bytes, r->f.err));
    TRY(source_memory(bytes.p, bytes.n, &r->unpacked, r->f.err));
    r->f.src = r->unpacked;
    return open_weights(r, 0, bytes.n);
}

static assay_status read_zip(keras_reader *r)
{
    zip_directory z;
    cursor c;
    str text;
    TRY(zip_read(r->f.src, r->a, &z, r->f.err));
    const zip_entry *config = find_entry(&z, "config.json"),
                    *weights = find_entry(&z, "model.weights.h5");
    if (!config)
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "not a Keras model: the zip archive has no config.json. Unpack it and use "
                        "the model file inside.");
    TRY(read_metadata(r, &z));
    TRY(zip_unpack(r->f.src, config, KERAS_MAX_JSON, r->a, &text, r->f.err));
    TRY(parse_model(r, text, "config.json"));
    if (weights && weights->method != ZIP_STORED) {
        TRY(open_packed_weights(r, weights));
    } else if (weights) {
        TRY(zip_open(r->f.src, weights, &c, r->f.err));
        TRY(open_weights(r, c.pos, cursor_left(&c)));
    }
    return build_or_list(r);
}

static assay_status read_json(keras_reader *r)
{
    str text;
    TRY(read_text(r, 0, source_size(r->f.src), &text));
    TRY(parse_model(r, text, "model"));
    take_version(r, keras_word(r->root, "keras_version", ""));
    return keras_build(r, r->root);
}

static assay_status read_form(keras_reader *r, const char *path)
{
    char head[4] = {0};
    uint64_t size = source_size(r->f.src);
    if (size < sizeof head)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "too short for a Keras model");
    TRY(source_read(r->f.src, 0, head, sizeof head, r->f.err));
    if (memcmp(head, "\x89HDF", 4) == 0)
        return read_h5(r, path);
    if (memcmp(head, "PK", 2) == 0)
        return read_zip(r);
    if (!strchr("{\" \t\r\n\xef", head[0]) || !head[0])
        return err_fail(r->f.err, ASSAY_ERR_UNSUPPORTED,
                        "not a Keras model: it is neither HDF5, nor a zip archive, nor "
                        "JSON");
    return read_json(r);
}

static assay_status read_once(source *src, const char *path, size_t limit, bool *trust,
                              ir_model **out, assay_error *err)
{
    keras_reader r = {.trust_lambdas = *trust};
    assay_status status = foreign_new(&r.f, KERAS_DOMAIN, src, limit, err);
    r.a = r.f.scratch;
    if (status == ASSAY_OK)
        status = read_form(&r, path);
    r.f.err = err;
    *trust = !r.refuted;
    if (status == ASSAY_OK && r.refuted)
        status = err_fail(err, ASSAY_ERR_UNSUPPORTED, "a Lambda layer changes the shape");
    status = foreign_done(&r.f, status, out);
    if (r.unpacked)
        source_close(status == ASSAY_OK ? src : r.unpacked);
    return status;
}

assay_status keras_read(source *src, const char *path, size_t limit, ir_model **out,
                        assay_error *err)
{
    bool trust = true;
    assay_status status = read_once(src, path, limit, &trust, out, err);
    if (status == ASSAY_OK || trust)
        return status;
    err_clear(err);
    return read_once(src, path, limit, &trust, out, err);
}

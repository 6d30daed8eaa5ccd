/* Weights of one file, of several, and of those that an index names; see weights_index.h. */
#include "formats/weights_index.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/json_scan.h"

#define INDEX_WORK ((size_t)384 << 20)
enum { TENSORS_EXPECTED = 512 };

static str last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return str_of(slash ? slash + 1 : path);
}

/* Scanning needs an error to write into. */
static assay_error *error_or(assay_error *err, assay_error *own)
{
    err_clear(own);
    return err ? err : own;
}

static assay_status read_path(const weight_reader *r, const char *path, str name, weight_set *set,
                              assay_error *err)
{
    char shown[FILE_SHOWN];
    source *src = NULL;
    TRY(source_open(path, &src, err));
    assay_status s = r->read(src, file_shown(path, shown), name, set, err);
    source_close(src);
    err_name_file(err, path);
    if (s == ASSAY_OK && set->files.n)
        set->files.items[set->files.n - 1].path = str_copy(set->arena, str_of(path));
    return s;
}

assay_status weights_read_file(const weight_reader *r, const char *path, arena *a, weight_set **out,
                               assay_error *err)
{
    assay_error own;
    err = error_or(err, &own);
    *out = weight_set_new(a, r->format, TENSORS_EXPECTED);
    return *out ? read_path(r, path, last_part(path), *out, err) : err_no_memory(err);
}

assay_status weights_read_bytes(const weight_reader *r, const void *p, uint64_t n, arena *a,
                                weight_set **out, assay_error *err)
{
    assay_error own;
    source *src = NULL;
    err = error_or(err, &own);
    *out = weight_set_new(a, r->format, TENSORS_EXPECTED);
    TRY_MEMORY(*out, err);
    TRY(source_memory(p, n, &src, err));
    assay_status s = r->read(src, "<memory>", STR("<memory>"), *out, err);
    source_close(src);
    return s;
}

static assay_status read_files(const weight_reader *r, const char *folder, const str *names,
                               uint32_t n, arena *a, weight_set **out, assay_error *err)
{
    *out = weight_set_new(a, r->format, TENSORS_EXPECTED);
    TRY_MEMORY(*out, err);
    for (uint32_t i = 0; i < n; i++) {
        const char *path = arena_printf(a, "%s%s" STR_FMT, folder, *folder ? "/" : "",
                                        STR_ARG(names[i]));
        TRY_MEMORY(path, err);
        TRY(read_path(r, path, names[i], *out, err));
    }
    return ASSAY_OK;
}

assay_status weights_read_files(const weight_reader *r, const char *folder, const str *names,
                                uint32_t n, arena *a, weight_set **out, assay_error *err)
{
    assay_error own;
    return read_files(r, folder, names, n, a, out, error_or(err, &own));
}

/* ---- an index ---- */

typedef struct sharding {
    json_scan scan;
    arena *scratch;
    VEC(weight_pair) map; /* tensor, file */
    VEC(str) files;
    struct map seen; /* files */
    uint64_t total_size;
} sharding;

static assay_status add_shard(sharding *x, str tensor, str file)
{
    weight_pair *p = VEC_PUSH(x->scratch, &x->map);
    TRY_MEMORY(p, x->scan.err);
    *p = (weight_pair){tensor, file};
    if (map_get(&x->seen, file) != MAP_NONE)
        return ASSAY_OK;
    if (!file.n || memchr(file.p, '/', file.n) || str_is(file, "..") || memchr(file.p, 0, file.n))
        return err_fail_node(x->scan.err, ASSAY_ERR_MALFORMED, "weight_map",
                             "%s: weight_map names '" STR_FMT
                             "', which is not a file next to the index",
                             x->scan.shown, STR_ARG(file));
    str *slot = VEC_PUSH(x->scratch, &x->files);
    TRY_MEMORY(slot && map_put(&x->seen, file, 1), x->scan.err);
    *slot = file;
    return ASSAY_OK;
}

static assay_status read_map(sharding *x)
{
    str tensor, file;
    scan_open(&x->scan, '{');
    while (scan_key(&x->scan, &tensor) && scan_str(&x->scan, &file))
        TRY(add_shard(x, tensor, file));
    return x->scan.failed ? x->scan.err->code : ASSAY_OK;
}

static void read_total(sharding *x)
{
    str key;
    scan_open(&x->scan, '{');
    while (scan_key(&x->scan, &key)) {
        bool number = str_is(key, "total_size") && !scan_is(&x->scan, '"');
        if (number)
            scan_u63(&x->scan, &x->total_size);
        else
            scan_skip(&x->scan);
    }
}

static assay_status read_index(sharding *x)
{
    bool has_map = false;
    str key;
    scan_open(&x->scan, '{');
    while (scan_key(&x->scan, &key)) {
        if (str_is(key, "weight_map")) {
            if (has_map)
                scan_fail(&x->scan, "duplicate key 'weight_map'");
            has_map = true;
            TRY(read_map(x));
        } else if (str_is(key, "metadata") && scan_is(&x->scan, '{')) {
            read_total(x);
        } else {
            scan_skip(&x->scan);
        }
    }
    if (!scan_end(&x->scan))
        return x->scan.err->code;
    if (!has_map)
        return err_fail_node(x->scan.err, ASSAY_ERR_MALFORMED, "weight_map",
                             "%s: not an index of weights: no weight_map", x->scan.shown);
    return ASSAY_OK;
}

/* Every tensor of the index must be where the index says. */
static assay_status check_map(const sharding *x, const weight_set *w)
{
    uint8_t *seen = ARENA_ARRAY(x->scratch, uint8_t, (size_t)w->items.n + 1);
    TRY_MEMORY(seen, x->scan.err);
    for (uint32_t i = 0; i < x->map.n; i++) {
        const weight_pair *p = &x->map.items[i];
        uint32_t at = map_get(&w->by_name, p->key);
        assert(at == MAP_NONE || (w->items.items && at < w->items.n));
        if (at == MAP_NONE || !str_eq(w->files.items[w->items.items[at].file].name, p->value))
            return err_fail_node(x->scan.err, ASSAY_ERR_MALFORMED, "weight_map",
                                 "%s: weight_map places tensor '" STR_FMT "' in '" STR_FMT
                                 "', which does not contain it",
                                 x->scan.shown, STR_ARG(p->key), STR_ARG(p->value));
        if (seen[at])
            return err_fail_node(x->scan.err, ASSAY_ERR_MALFORMED, "weight_map",
                                 "%s: weight_map has a duplicate key '" STR_FMT "'", x->scan.shown,
                                 STR_ARG(p->key));
        seen[at] = 1;
    }
    return ASSAY_OK;
}

static void note_rest(const sharding *x, weight_set *w)
{
    if (w->items.n > x->map.n)
        notes_add(&w->notes, "index-incomplete", (str){0}, NULL,
                  "The index names %u tensors, but its files contain %u.", x->map.n, w->items.n);
    if (x->total_size && x->total_size != w->size_bytes)
        notes_add(&w->notes, "index-total", (str){0}, NULL,
                  "The index gives total_size %" PRIu64 ", but the tensors take %" PRIu64 " bytes.",
                  x->total_size, w->size_bytes);
}

static assay_status read_set(const weight_reader *r, const char *path, sharding *x, arena *a,
                             weight_set **out, assay_error *err)
{
    size_t n = (size_t)(last_part(path).p - path);
    const char *folder = arena_printf(x->scratch, "%.*s", n ? (int)n - 1 : 0, path);
    if (n == 1)
        folder = "/.";
    TRY_MEMORY(folder && map_init(&x->seen, x->scratch, 64), err);
    TRY(read_index(x));
    TRY(read_files(r, folder, x->files.items, x->files.n, a, out, err));
    assert(*out);
    TRY(check_map(x, *out));
    note_rest(x, *out);
    return ASSAY_OK;
}

assay_status weights_read_index(const weight_reader *r, const char *path, arena *a,
                                weight_set **out, assay_error *err)
{
    assay_error own;
    char shown[FILE_SHOWN];
    str text;
    err = error_or(err, &own);
    arena *scratch = arena_new(INDEX_WORK);
    TRY_MEMORY(scratch, err);
    assay_status s = file_check_regular(path, err);
    if (s == ASSAY_OK)
        s = file_read_limited(path, LIMIT_INDEX, scratch, &text, err);
    if (s == ASSAY_OK) {
        sharding x = {.scan = scan_text(text, 0, file_shown(path, shown), scratch, err),
                      .scratch = scratch};
        s = read_set(r, path, &x, a, out, err);
    }
    arena_free(scratch);
    return s;
}

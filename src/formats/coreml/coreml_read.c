/* Core ML models: the Model message and pipelines; see coreml.h. */
#include "formats/coreml/coreml.h"

#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "formats/coreml/coreml_impl.h"

/* ---- fields ---- */

int ml_list(cursor message, uint32_t field, int64_t *list)
{
    wire_field f;
    int n = 0;
    uint64_t v;
    while (message.src && wire_next(&message, &f)) {
        if (f.number != field || (f.type != WIRE_LEN && f.type != WIRE_VARINT))
            continue;
        while (n < ML_LIST && wire_scalar(&f, WIRE_VARINT, &v))
            list[n++] = (int64_t)v;
    }
    return n;
}

str ml_text(ml_reader *r, wire_field *f)
{
    return f->type == WIRE_LEN
               ? cursor_str(&f->body, cursor_left(&f->body), r->f.m->arena, FOREIGN_MAX_NAME)
               : (str){0};
}

/* ---- values ---- */

ml_value *ml_get(ml_reader *r, str name)
{
    uint32_t at = map_get(&r->values, name);
    return at == MAP_NONE ? NULL : &r->list.items[at];
}

ml_value *ml_put(ml_reader *r, str name, ir_id id)
{
    if (!map_put(&r->values, name, r->list.n) ||
        !VEC_ADD(r->f.scratch, &r->list, (ml_value){.name = name, .id = id, .rank = -1}))
        return NULL;
    return &r->list.items[r->list.n - 1];
}

/* ---- models ---- */

enum { PIPELINE_CLASSIFIER = 200, PIPELINE_REGRESSOR = 201, PIPELINE = 202, PROGRAM = 502 };

static bool is_network(uint32_t kind)
{
    return kind == 303 || kind == 403 || kind == 500;
}

static const char *kind_name(uint32_t kind)
{
    static const struct {
        uint32_t kind;
        const char *name;
    } rows[] = {{300, "a linear regressor"},
                {301, "a support vector machine"},
                {302, "a tree ensemble"},
                {304, "a Bayesian regressor"},
                {400, "a linear classifier"},
                {401, "a support vector machine"},
                {402, "a tree ensemble"},
                {404, "a nearest-neighbour classifier"},
                {501, "a recommender"},
                {555, "a custom model"},
                {556, "a linked model"},
                {2000, "a text classifier of the system"},
                {2001, "a word tagger of the system"},
                {2002, "a Vision feature print of the system"},
                {2003, "sound preprocessing of the system"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return rows[i].name;
    return "feature engineering";
}

/* The field that says what a model is; 0: none. */
static uint32_t find_kind(cursor model, wire_field *out)
{
    wire_field f;
    uint32_t kind = 0;
    while (wire_next(&model, &f))
        if (f.number >= 200 && f.type == WIRE_LEN) {
            kind = f.number;
            *out = f;
        }
    return model.failed ? 0 : kind;
}

static assay_status read_model(ml_reader *r, cursor model, int depth, bool *found);

/* The first model of a pipeline that has a network; the others are named. */
static assay_status read_pipeline(ml_reader *r, cursor pipeline, int depth, bool *found)
{
    wire_field f, kind;
    while (wire_next(&pipeline, &f)) {
        if (f.number != 1 || f.type != WIRE_LEN)
            continue;
        uint32_t number = find_kind(f.body, &kind);
        bool net = is_network(number) || number == PROGRAM || number == PIPELINE ||
                   number == PIPELINE_CLASSIFIER || number == PIPELINE_REGRESSOR;
        if (net && !*found)
            TRY(read_model(r, f.body, depth + 1, found));
        else
            notes_add(&r->f.m->notes, "pipeline-part", STR(""), NULL,
                      "The pipeline has another part, %s, which is not counted.",
                      number == 610 ? "non-maximum suppression"
                      : net         ? "a second network"
                                    : kind_name(number));
    }
    return wire_status(&pipeline);
}

static assay_status read_model(ml_reader *r, cursor model, int depth, bool *found)
{
    wire_field f;
    uint32_t kind = find_kind(model, &f);
    if (model.failed || depth > ML_MAX_DEPTH)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "models are nested too deeply");
    if (kind == PIPELINE_CLASSIFIER || kind == PIPELINE_REGRESSOR) {
        cursor inner = wire_sub(f.body, 1);
        return read_pipeline(r, inner, depth, found);
    }
    if (kind == PIPELINE)
        return read_pipeline(r, f.body, depth, found);
    cursor description = wire_sub(model, 2);
    if (is_network(kind) || kind == PROGRAM)
        *found = true;
    if (is_network(kind))
        return ml_read_network(r, f.body, description);
    return kind == PROGRAM ? ml_read_program(r, f.body, description) : ASSAY_OK;
}

static assay_status refuse_kind(ml_reader *r, cursor model)
{
    wire_field f;
    uint32_t kind = find_kind(model, &f);
    bool pipeline = kind >= PIPELINE_CLASSIFIER && kind <= PIPELINE;
    if (kind == 0)
        return err_fail(r->f.err, ASSAY_ERR_MALFORMED, "not a Core ML model: no model type");
    return err_fail(
        r->f.err, ASSAY_ERR_UNSUPPORTED,
        "this Core ML model is %s and has no neural network. There is nothing to count.",
        pipeline ? "a pipeline of models of the system or of classic models" : kind_name(kind));
}

/* weights/weight.bin beside the model of a package. */
static assay_status open_blobs(ml_reader *r, const char *path)
{
    if (!path)
        return ASSAY_OK;
    const char *slash = strrchr(path, '/');
    char *name = arena_printf(r->f.scratch, "%.*sweights/weight.bin",
                              slash ? (int)(slash - path + 1) : 0, path);
    return foreign_open_beside(&r->f, name, &r->blobs);
}

static assay_status read_file(ml_reader *r)
{
    cursor all = cursor_at(r->f.src, 0, source_size(r->f.src), r->f.err);
    bool found = false;
    TRY_MEMORY(map_init(&r->values, r->f.scratch, 256), r->f.err);
    r->version = wire_find_u64(all, 1, 0);
    r->f.m->ir_version = (int64_t)(r->version & INT32_MAX);
    TRY(read_model(r, all, 0, &found));
    if (r->f.err->code != ASSAY_OK)
        return r->f.err->code;
    if (!found)
        return refuse_kind(r, all);
    if (r->guess)
        notes_add(&r->f.m->notes, "weights-absent", STR(""),
                  "Name the .mlpackage folder, with its weights.",
                  "The file weights/weight.bin is missing. Weights are counted by their types.");
    return ASSAY_OK;
}

/* The constants of an ML program are in the second file, those of a network in the first. */
assay_status coreml_read(source *src, const char *path, size_t limit, ir_model **out,
                         assay_error *err)
{
    ml_reader r = {.version = 0};
    assay_status status = foreign_new(&r.f, ML_DOMAIN, src, limit, err);
    if (status == ASSAY_OK)
        status = open_blobs(&r, path);
    if (status == ASSAY_OK)
        status = read_file(&r);
    bool own = r.blobs && r.program;
    if (status == ASSAY_OK && own) {
        r.f.m->file_size_bytes = sat_add(source_size(src), source_size(r.blobs));
        r.f.src = r.blobs;
    }
    r.f.err = err;
    status = foreign_done(&r.f, status, out);
    if (r.blobs)
        source_close(status == ASSAY_OK && own ? src : r.blobs);
    return status;
}

/* 1 version, then 2 description, which begins with an input. ONNX has a name there. */
bool coreml_looks_like(const void *head, uint64_t n)
{
    const uint8_t *p = head;
    uint64_t at = 3;
    if (n < 8 || p[0] != 0x08 || p[1] == 0 || p[1] > 32 || p[2] != 0x12)
        return false;
    while (at < n && at < 8 && p[at] & 0x80)
        at++;
    return at + 1 < n && p[at + 1] == 0x0a;
}

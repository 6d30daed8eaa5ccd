#include "formats/stored.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"
#include "formats/recognise.h"
#include "formats/safetensors.h"
#include "formats/torch/torch.h"
#include "zoo/custom.h"

/* ---- what becomes of them ---- */

static assay_status take_inventory(stored_model *m, const weight_set *w, str kind, assay_error *err)
{
    TRY(weights_inventory(w, m->memory_limit, &m->ir, err));
    m->ir->name = m->name;
    if (kind.n)
        notes_add(
            &m->ir->notes, "no-graph", (str){0},
            "For FLOPs and memory, export the model: optimum-cli export onnx --model FOLDER "
            "out/",
            "Architecture '" STR_FMT
            "' is not built in. The weights are listed, but FLOPs and memory are not computed.",
            STR_ARG(kind));
    else if (w->why_no_graph.n)
        notes_add(&m->ir->notes, "no-graph", (str){0},
                  "Export the model in Python: torch.onnx.export(model, example_input, "
                  "'model.onnx').",
                  "The module " STR_FMT ". The weights are listed, but FLOPs and memory are not "
                  "computed.",
                  STR_ARG(w->why_no_graph));
    else
        notes_add(&m->ir->notes, "no-graph", (str){0},
                  "Put the model's config.json next to it, or pass the model's folder.",
                  "A weights file does not describe the architecture. The weights are listed, but "
                  "FLOPs and memory are not computed.");
    notes_join(&m->ir->notes, &m->said);
    return ASSAY_OK;
}

static void take_config(stored_model *m, const model_config *c, str config_file, weight_set *w)
{
    m->row = c->row;
    m->config = c->args;
    m->config_file = config_file;
    m->weights = w;
}

/* ---- weights without a configuration ---- */

static void put_value(sbuf *b, const json_value *v)
{
    if (v->kind == JSON_INT)
        sbuf_printf(b, "%lld", (long long)v->i);
    else if (v->kind == JSON_REAL)
        sbuf_printf(b, "%g", v->f);
    else if (v->kind == JSON_TEXT)
        sbuf_str(b, v->s);
    else if (v->kind == JSON_BOOL)
        sbuf_puts(b, v->i ? "true" : "false");
    for (uint32_t i = 0; v->kind == JSON_LIST && i < v->n; i++) {
        sbuf_puts(b, i ? "," : "");
        put_value(b, &v->items[i]);
    }
}

/* "resnet50 num_classes=10": what --set would say. */
static str describe_row(arena *a, const zoo_row *row, const zoo_args *args)
{
    sbuf b = {0};
    sbuf_puts(&b, row->name);
    for (uint32_t i = 0; i < args->list.n; i++) {
        const json_value *v = &args->list.items[i].value;
        if (v->kind == JSON_OBJECT ||
            (v->kind == JSON_LIST && v->n && v->items[0].kind == JSON_LIST))
            continue; /* a table */
        sbuf_printf(&b, " " STR_FMT "=", STR_ARG(args->list.items[i].key));
        put_value(&b, v);
    }
    str text = str_copy(a, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return text;
}

static void note_recognised(stored_model *m, const recognised *r, const weight_set *w)
{
    sbuf more = {0};
    if (r->prefix.n)
        sbuf_printf(&more, " Names have the prefix '" STR_FMT "'.", STR_ARG(r->prefix));
    if (r->names_of)
        sbuf_printf(&more, " Names are those of %s.", r->names_of);
    if (r->others.n)
        sbuf_printf(&more, " The same weights fit " STR_FMT ".", STR_ARG(r->others));
    if (w->classes.n)
        sbuf_printf(&more, " Its classes are: " STR_FMT ".", STR_ARG(w->classes));
    if (r->row == &zoo_custom_row)
        notes_add(&m->said, "rebuilt", (str){0}, NULL,
                  "The graph was rebuilt from the layers of torch.nn.Sequential.");
    else
        notes_add(&m->said, "recognised", (str){0}, NULL,
                  "The architecture was recognised by %s: " STR_FMT ".%s",
                  r->row == zoo_find_family(STR("yolo")) ? "its table of layers"
                                                         : "names and shapes",
                  STR_ARG(m->recognised), sbuf_cstr(&more));
    sbuf_free(&more);
}

/* Whether the model builds from images of this size; *why says what is wrong. */
static bool builds_at(stored_model *m, const recognised *r, int64_t size, assay_error *why)
{
    ir_model *ir = NULL;
    m->config = r->args;
    if (!zoo_args_put(&m->config, STR("image_size"), json_of_int(size), false))
        return false;
    const zoo_request q = {.row = r->row, .set = &m->config, .memory_limit = m->memory_limit};
    err_clear(why);
    assay_status s = zoo_build(&q, &ir, why);
    ir_model_free(ir);
    return s == ASSAY_OK;
}

/* The size of the images that it was trained with. The trainer enlarges it to a multiple of the largest stride. */
static bool put_image_size(stored_model *m, const recognised *r, const weight_set *w)
{
    static const int64_t strides[] = {1, 64, 128};
    assay_error why;
    m->input_stated = w->image_size != 0;
    m->config = r->args;
    for (size_t i = 0; i < sizeof strides / sizeof *strides && w->image_size; i++)
        if (builds_at(m, r, (w->image_size + strides[i] - 1) / strides[i] * strides[i], &why))
            return true;
    if (w->image_size)
        notes_add(&m->said, "layers-differ", (str){0}, NULL,
                  "The model was recognised (" STR_FMT "), but does not build from images of "
                  "%lld pixels, which the file states: %s.",
                  STR_ARG(m->recognised), (long long)w->image_size, why.message);
    return !w->image_size;
}

static assay_status take_recognised(stored_model *m, const recognised *r, weight_set *w,
                                    assay_error *err)
{
    m->recognised = describe_row(m->arena, r->row, &r->args);
    TRY_MEMORY(m->recognised.p, err);
    if (!put_image_size(m, r, w)) {
        m->recognised = (str){0};
        m->input_stated = false;
        return take_inventory(m, w, (str){0}, err);
    }
    m->row = r->row;
    m->weights = w;
    note_recognised(m, r, w);
    return ASSAY_OK;
}

/* Weights with a table of layers are a YOLO model of any size. */
static assay_status try_layers(stored_model *m, weight_set *w, recognised *r, assay_error *err)
{
    zoo_args args;
    str why = {0};
    zoo_args_init(&args, m->arena);
    TRY_MEMORY(ultralytics_args(w, &args), err);
    TRY(weights_recognise_as(w, zoo_find_family(STR("yolo")), &args, m->arena, r, &why, err));
    if (!r->row)
        notes_add(&m->said, "layers-differ", (str){0}, NULL,
                  "The file has a table of layers that does not give its weights: " STR_FMT ".",
                  STR_ARG(why));
    return ASSAY_OK;
}

/* [1, channels, size, size], or what else the first layer takes. */
static json_value module_shape(arena *a, const module_input *in, int64_t size)
{
    enum { TOKENS = 128, FRAMES = 16 };
    json_value *d = ARENA_ARRAY(a, json_value, 5);
    uint32_t n = 0;
    if (!d)
        return (json_value){.kind = JSON_NULL};
    d[n++] = json_of_int(1);
    d[n++] = json_of_int(in->tokens ? TOKENS : in->channels);
    for (int i = 0; i < in->spatial; i++)
        d[n++] = json_of_int(in->spatial == 3 && i == 0 ? FRAMES : size);
    json_value shape = {.kind = JSON_LIST, .items = d, .n = n};
    if (!in->tokens)
        return shape;
    json_value *pair = ARENA_ARRAY(a, json_value, 2);
    if (!pair)
        return (json_value){.kind = JSON_NULL};
    pair[0] = json_of_text(STR("int64"));
    pair[0].key = STR("dtype");
    pair[1] = shape;
    pair[1].key = STR("shape");
    return (json_value){.kind = JSON_OBJECT, .items = pair, .n = 2};
}

/* The layers of a whole module. Of the sizes of the input, the first with which its weights fit is taken. */
static assay_status try_modules(stored_model *m, weight_set *w, recognised *r, assay_error *err)
{
    static const int16_t usual[] = {224, 256, 32, 28, 64, 128, 96, 299, 512, 84, 48, 16, 8, 4, 1};
    enum { USUAL = sizeof usual / sizeof *usual, LARGEST = 320 };
    str why = {0};
    int tries = w->module_input.spatial ? USUAL + LARGEST : 1;
    for (int i = 0; i < tries && !r->row; i++) {
        zoo_args args;
        json_value shape = module_shape(m->arena, &w->module_input,
                                        i < USUAL ? usual[i] : i - USUAL + 1);
        zoo_args_init(&args, m->arena);
        if (!zoo_args_put(&args, STR("layers"), *w->modules, false) ||
            !zoo_args_put(&args, STR("input"), shape, false))
            return err_no_memory(err);
        TRY(weights_recognise_as(w, &zoo_custom_row, &args, m->arena, r, &why, err));
    }
    if (!r->row)
        w->why_no_graph = why;
    return ASSAY_OK;
}

static assay_status take_modules(stored_model *m, const recognised *r, weight_set *w,
                                 assay_error *err)
{
    TRY(take_recognised(m, r, w, err));
    if (m->row)
        m->recognised = STR("torch.nn.Sequential");
    return ASSAY_OK;
}

assay_status stored_take_weights(stored_model *m, weight_set *w, assay_error *err)
{
    recognised r;
    TRY(weights_recognise(w, m->arena, &r, err));
    if (!r.row && w->layers)
        TRY(try_layers(m, w, &r, err));
    if (r.row)
        return take_recognised(m, &r, w, err);
    if (w->modules)
        TRY(try_modules(m, w, &r, err));
    return r.row ? take_modules(m, &r, w, err) : take_inventory(m, w, (str){0}, err);
}

/* ---- directories ---- */

static void describe_pipeline(stored_model *m, const hf_folder *f, const hf_component *shown)
{
    sbuf list = {0};
    for (uint32_t i = 0; i < f->components.n; i++) {
        const hf_component *c = &f->components.items[i];
        if (c->is_model)
            sbuf_printf(&list, "%s" STR_FMT " (" STR_FMT ")", list.n ? ", " : "", STR_ARG(c->name),
                        STR_ARG(c->class_name));
    }
    notes_add(&m->said, "pipeline-component", shown->name,
              "Pass the folder of another component to profile it, or use `assay pipeline` for all "
              "components.",
              "This is a pipeline (" STR_FMT ") of %s. The figures are for one pass of " STR_FMT
              ".",
              STR_ARG(f->pipeline), sbuf_cstr(&list), STR_ARG(shown->name));
    sbuf_free(&list);
}

static assay_status take_folder(stored_model *m, const hf_folder *f, const char *path,
                                assay_error *err)
{
    char shown[FILE_SHOWN];
    notes_join(&m->said, &f->notes);
    if (f->config.row) {
        take_config(m, &f->config, f->config_path, f->weights);
        return ASSAY_OK;
    }
    if (f->weights && !f->kind.n)
        return stored_take_weights(m, f->weights, err);
    if (f->weights)
        return take_inventory(m, f->weights, f->kind, err);
    if (f->kind.n)
        return hf_config_refuse(file_shown(f->config_path.p, shown), f->kind, err);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: no config.json and no supported weights",
                    file_shown(path, shown));
}

static assay_status take_pipeline(stored_model *m, const hf_folder *f, const char *path,
                                  assay_error *err)
{
    char shown[FILE_SHOWN];
    const hf_component *c = hf_folder_denoiser(f);
    hf_folder inner;
    if (!c)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "%s: no component has a folder with a config.json",
                        file_shown(path, shown));
    describe_pipeline(m, f, c);
    TRY(hf_folder_read(c->path.p, m->arena, &inner, err));
    return take_folder(m, &inner, c->path.p, err);
}

static assay_status load_folder(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f;
    TRY(hf_folder_read(m->name.p, m->arena, &f, err));
    return f.pipeline.n ? take_pipeline(m, &f, path, err) : take_folder(m, &f, path, err);
}

/* ---- single files ---- */

/* A config.json beside it describes it, unless the file is one of several in the directory. */
static assay_status load_safetensors(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f = {0};
    weight_set *w = NULL;
    bool index = str_ends(str_of(path), ".json");
    if (file_stat(path).is_regular)
        TRY(hf_folder_of(path, m->arena, &f, err));
    if (f.weights)
        return take_folder(m, &f, path, err);
    TRY(index ? weights_read_index(&safetensors_reader, path, m->arena, &w, err)
              : weights_read_file(&safetensors_reader, path, m->arena, &w, err));
    return stored_take_weights(m, w, err);
}

static assay_status take_gguf(stored_model *m, gguf_file *g, const char *path, assay_error *err)
{
    model_config c;
    TRY(gguf_configure(g, FILE_NAME(path), m->arena, &c, err));
    if (!c.row)
        return take_inventory(m, g->weights, g->architecture, err);
    take_config(m, &c, str_copy(m->arena, str_of(path)), g->weights);
    return m->config_file.p ? ASSAY_OK : err_no_memory(err);
}

static assay_status load_gguf(stored_model *m, const char *path, assay_error *err)
{
    gguf_file g;
    TRY(gguf_read(path, m->arena, &g, err));
    return take_gguf(m, &g, path, err);
}

/* pytorch_model.bin beside its config.json is a folder's; any other file is read by itself. */
static assay_status load_torch(stored_model *m, const char *path, assay_error *err)
{
    hf_folder f = {0};
    weight_set *w = NULL;
    if (str_ends(str_of(path), ".bin"))
        TRY(hf_folder_of(path, m->arena, &f, err));
    if (f.weights)
        return take_folder(m, &f, path, err);
    TRY(weights_read_file(&torch_reader, path, m->arena, &w, err));
    return stored_take_weights(m, w, err);
}

/* ---- opening ---- */

typedef assay_status load_fn(stored_model *m, const char *path, assay_error *err);

static load_fn *loader_of(const format_row *f, bool folder)
{
    static load_fn *const loaders[FORMAT_READERS] = {
        [FORMAT_SAFETENSORS] = load_safetensors,
        [FORMAT_GGUF] = load_gguf,
        [FORMAT_TORCH] = load_torch,
    };
    return folder ? load_folder : f ? loaders[f->reader] : NULL;
}

bool stored_reads(const format_row *f, bool folder)
{
    return loader_of(f, folder) != NULL;
}

assay_status stored_read(const format_row *f, const char *path, stored_model *m, assay_error *err)
{
    TRY(loader_of(f, file_stat(path).is_dir)(m, path, err));
    return arena_failed(m->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* ---- bytes ---- */

typedef assay_status load_bytes_fn(stored_model *m, const void *p, uint64_t n, assay_error *err);

static assay_status load_gguf_bytes(stored_model *m, const void *p, uint64_t n, assay_error *err)
{
    gguf_file g;
    TRY(gguf_read_bytes(p, n, m->arena, &g, err));
    return take_gguf(m, &g, m->name.p, err);
}

static assay_status load_safetensors_bytes(stored_model *m, const void *p, uint64_t n,
                                           assay_error *err)
{
    weight_set *w = NULL;
    TRY(safetensors_read_bytes(p, n, m->arena, &w, err));
    return stored_take_weights(m, w, err);
}

static assay_status load_torch_bytes(stored_model *m, const void *p, uint64_t n, assay_error *err)
{
    weight_set *w = NULL;
    TRY(torch_read_bytes(p, n, m->arena, &w, err));
    return stored_take_weights(m, w, err);
}

static load_bytes_fn *bytes_loader_of(const format_row *f)
{
    static load_bytes_fn *const loaders[FORMAT_READERS] = {
        [FORMAT_SAFETENSORS] = load_safetensors_bytes,
        [FORMAT_GGUF] = load_gguf_bytes,
        [FORMAT_TORCH] = load_torch_bytes,
    };
    return f ? loaders[f->reader] : NULL;
}

bool stored_reads_bytes(const format_row *f)
{
    return bytes_loader_of(f) != NULL;
}

assay_status stored_read_bytes(const format_row *f, const void *p, uint64_t n, stored_model *m,
                               assay_error *err)
{
    TRY(bytes_loader_of(f)(m, p, n, err));
    return arena_failed(m->arena) ? err_no_memory(err) : ASSAY_OK;
}

/* "FOLDER/name" exists. */
static bool folder_holds(const char *folder, const char *name)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && file_stat(path).exists;
}

assay_status stored_refuse_folder(const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    file_shown(path, shown);
    for (size_t n = strlen(shown); n > 1 && shown[n - 1] == '/'; n--)
        shown[n - 1] = '\0';
    if (folder_holds(path, "model.onnx"))
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: a folder. Did you mean '%s/model.onnx'?",
                        shown, shown);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "%s: a folder without a model that assay knows (no config.json). Name a model "
                    "file in it.",
                    shown);
}

bool stored_is_folder(const char *path)
{
    return hf_folder_is(path) &&
           (!folder_holds(path, "model.onnx") || folder_holds(path, "model.safetensors"));
}

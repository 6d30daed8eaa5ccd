/* Models that come as a configuration, as weights, or as both: Hugging Face folders, safetensors and GGUF
 * files. Where the architecture is known it is built as a built-in one and the weights say how they are
 * stored; where it is not, the weights alone are an inventory.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/sbuf.h"
#include "formats/gguf.h"
#include "formats/hf_config.h"
#include "formats/hf_folder.h"
#include "formats/safetensors.h"
#include "jobs/job.h"

static str plain_path(arena *a, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return str_copy(a, (str){path, (uint32_t)n});
}

/* ---- what becomes of them ---- */

static assay_status take_inventory(assay_model *m, const weight_set *w, str kind, assay_error *err)
{
    TRY(weights_inventory(w, JOB_MODEL_BYTES, &m->ir, err));
    m->ir->name = m->name;
    if (kind.n)
        notes_add(&m->ir->notes, "no-graph", (str){0},
                  "For FLOPs and memory, export the model: optimum-cli export onnx --model FOLDER "
                  "out/",
                  "There is no builder for the architecture '" STR_FMT
                  "': the weights are listed, nothing is computed from them.",
                  STR_ARG(kind));
    else
        notes_add(&m->ir->notes, "no-graph", (str){0},
                  "Put the config.json of the model beside it, or give the model's folder.",
                  "A file of weights says nothing of the architecture: the weights are listed, "
                  "nothing is computed from them.");
    notes_join(&m->ir->notes, &m->said);
    return ASSAY_OK;
}

static void take_config(assay_model *m, const model_config *c, str config_file, weight_set *w)
{
    m->row = c->row;
    m->config = c->args;
    m->config_file = config_file;
    m->weights = w;
}

/* ---- folders ---- */

static void describe_pipeline(assay_model *m, const hf_folder *f, const hf_component *shown)
{
    sbuf list = {0};
    for (uint32_t i = 0; i < f->components.n; i++) {
        const hf_component *c = &f->components.items[i];
        if (c->is_model)
            sbuf_printf(&list, "%s" STR_FMT " (" STR_FMT ")", list.n ? ", " : "", STR_ARG(c->name),
                        STR_ARG(c->class_name));
    }
    notes_add(&m->said, "pipeline-component", shown->name,
              "For another component give its folder; `assay pipeline` takes all of them together.",
              "This is a pipeline (" STR_FMT ") of %s. The figures are one pass of " STR_FMT ".",
              STR_ARG(f->pipeline), sbuf_cstr(&list), STR_ARG(shown->name));
    sbuf_free(&list);
}

static assay_status take_folder(assay_model *m, const hf_folder *f, const char *path,
                                assay_error *err)
{
    char shown[FILE_SHOWN];
    notes_join(&m->said, &f->notes);
    if (f->config.row) {
        take_config(m, &f->config, f->config_path, f->weights);
        return ASSAY_OK;
    }
    if (f->weights)
        return take_inventory(m, f->weights, f->kind, err);
    if (f->kind.n)
        return hf_config_refuse(file_shown(f->config_path.p, shown), f->kind, err);
    return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                    "'%s' holds neither a config.json nor weights that are read.",
                    file_shown(path, shown));
}

static assay_status take_pipeline(assay_model *m, const hf_folder *f, const char *path,
                                  assay_error *err)
{
    char shown[FILE_SHOWN];
    const hf_component *c = hf_folder_denoiser(f);
    hf_folder inner;
    if (!c)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "None of the components that '%s' names has a folder with a config.json.",
                        file_shown(path, shown));
    describe_pipeline(m, f, c);
    TRY(hf_folder_read(c->path.p, m->arena, &inner, err));
    return take_folder(m, &inner, c->path.p, err);
}

assay_status job_load_folder(assay_model *m, const char *path, assay_error *err)
{
    hf_folder f;
    TRY(hf_folder_read(m->name.p, m->arena, &f, err));
    return f.pipeline.n ? take_pipeline(m, &f, path, err) : take_folder(m, &f, path, err);
}

bool job_is_folder(const char *path)
{
    return hf_folder_is(path);
}

/* ---- single files ---- */

/* A config.json beside it describes it, unless the file is one of several in the folder. */
assay_status job_load_safetensors(assay_model *m, const char *path, assay_error *err)
{
    hf_folder f = {0};
    weight_set *w = NULL;
    bool index = str_ends(str_of(path), ".json");
    if (file_stat(path).is_regular)
        TRY(hf_folder_of(path, m->arena, &f, err));
    if (f.weights)
        return take_folder(m, &f, path, err);
    TRY(index ? safetensors_read_index(path, m->arena, &w, err)
              : safetensors_read(path, m->arena, &w, err));
    return take_inventory(m, w, (str){0}, err);
}

assay_status job_load_gguf(assay_model *m, const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    gguf_file g;
    model_config c;
    TRY(gguf_read(path, m->arena, &g, err));
    TRY(gguf_configure(&g, file_shown(path, shown), m->arena, &c, err));
    if (!c.row)
        return take_inventory(m, g.weights, g.architecture, err);
    take_config(m, &c, str_copy(m->arena, str_of(path)), g.weights);
    return m->config_file.p ? ASSAY_OK : err_no_memory(err);
}

/* ---- opening ---- */

assay_status job_open_loaded(job_load_fn *load, const char *path, assay_model **out,
                             assay_error *err)
{
    assay_model *m = calloc(1, sizeof *m);
    assay_status s = m ? ASSAY_OK : err_no_memory(err);
    if (m && !(m->arena = arena_new(JOB_MODEL_BYTES)))
        s = err_no_memory(err);
    if (s == ASSAY_OK) {
        notes_init(&m->said, m->arena);
        m->name = plain_path(m->arena, path);
        s = m->name.p ? load(m, path, err) : err_no_memory(err);
    }
    if (s == ASSAY_OK && arena_failed(m->arena))
        s = err_no_memory(err);
    if (s == ASSAY_OK)
        *out = m;
    else
        job_model_free(m);
    return s;
}

assay_status job_match_weights(const assay_model *m, ir_model *ir, assay_error *err)
{
    if (m->weights)
        TRY(weights_match(m->weights, ir, err));
    notes_join(&ir->notes, &m->said);
    return ASSAY_OK;
}

assay_status job_no_graph(const assay_model *m, assay_error *err)
{
    char shown[FILE_SHOWN];
    return err_fail(
        err, ASSAY_ERR_UNSUPPORTED,
        "'%s' holds weights whose architecture is not known, so there is no graph to work "
        "on. Export the model as ONNX and give that file.",
        file_shown(m->name.p, shown));
}

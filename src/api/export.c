/* Writing a model as an ONNX file: built with the parameters asked for, brought to the opset asked for,
 * written with its own weights or reproducible random ones. */
#include "api/api.h"
#include "formats/onnx_write.h"
#include "rewrite/lower.h"

/* A built-in architecture is made in every size; a file is what it is. */
static assay_status check_file(const assay_options *o, assay_error *err)
{
    if (o->shapes.n == 0 && o->dims.n == 0 && o->batch == 0)
        return ASSAY_OK;
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "A model from a file is written with the sizes it has; input-shape, dim and batch "
        "are for built-in architectures.");
}

static assay_status to_opset(assay_model *m, const assay_options *o, assay_error *err)
{
    if (o->opset)
        return rewrite_lower(m->ir, (int)o->opset, err);
    return m->row ? rewrite_lower(m->ir, LOWER_DEFAULT, err) : ASSAY_OK;
}

static assay_status write_model(assay_model *m, const char *path, const assay_options *o,
                                onnx_written *got, assay_error *err)
{
    const onnx_write_options opt = {.seed = (uint64_t)o->seed,
                                    .external_data = o->external_data || o->holes,
                                    .holes = o->holes};
    TRY(api_model_build(m, o, err));
    if (!m->row)
        TRY(check_file(o, err));
    TRY(to_opset(m, o, err));
    return onnx_write_file(m->ir, path, &opt, got, err);
}

assay_status assay_export(assay_model *model, const char *path, const assay_options *options,
                          assay_export_info *out, assay_error *err)
{
    const assay_options none = API_NO_OPTIONS;
    onnx_written got = {0};
    err_clear(err);
    assay_status s = write_model(model, path, options ? options : &none, &got, err);
    if (!out || s != ASSAY_OK)
        return s;
    assay_export_info info = {.size = out->size,
                              .model_bytes = got.model_bytes,
                              .data_bytes = got.data_bytes,
                              .tensors = got.n_tensors,
                              .random_tensors = got.n_random};
    memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
    return ASSAY_OK;
}

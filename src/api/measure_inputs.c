/* --input: data of the user's own. A file that says its shape sets the input's; raw bytes must fit the
 * shape that is known. */
#include "api/measure.h"
#include "base/file.h"
#include "base/sbuf.h"
#include "formats/tensor_file.h"

static input_want *find(api_runnable *x, str name)
{
    for (uint32_t i = 0; i < x->n_wants; i++)
        if (name.n ? str_eq(x->wants[i].name, name) : !x->wants[i].data)
            return &x->wants[i];
    return NULL;
}

static assay_status no_such_input(const api_runnable *x, str name, assay_error *err)
{
    sbuf names = {0};
    for (uint32_t i = 0; i < x->n_wants && i < 8; i++)
        sbuf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(x->wants[i].name));
    assay_status s = err_fail(err, ASSAY_ERR_USAGE,
                              "The model has no input '" STR_FMT "'. It has: %s.", STR_ARG(name),
                              sbuf_cstr(&names));
    sbuf_free(&names);
    return s;
}

static assay_status check_shape(const input_want *w, const tensor_file *t, const api_input *in,
                                assay_error *err)
{
    char shown[FILE_SHOWN];
    bool same = t->rank == w->rank;
    for (int i = 0; same && i < w->rank; i++)
        same = w->dims[i] < 0 || w->dims[i] == t->dims[i];
    if (!same)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "'%s' has another shape than input '" STR_FMT
                        "' at this batch size; give it with --input-shape or --batch.",
                        file_shown(in->path.p, shown), STR_ARG(w->name));
    if (t->dtype != w->dtype)
        return err_fail(err, ASSAY_ERR_USAGE, "'%s' holds %s, input '" STR_FMT "' takes %s.",
                        file_shown(in->path.p, shown), ir_dtype_get(t->dtype)->name,
                        STR_ARG(w->name), ir_dtype_get(w->dtype)->name);
    return ASSAY_OK;
}

assay_status api_runnable_inputs(const assay_options *o, api_runnable *x, assay_error *err)
{
    for (uint32_t i = 0; i < o->inputs.n; i++) {
        const api_input *in = &o->inputs.items[i];
        input_want *w = find(x, in->name);
        tensor_file t;
        if (!w)
            return no_such_input(x, in->name, err);
        TRY(tensor_file_read(in->path.p, x->work, &t, err));
        if (t.rank >= 0)
            TRY(check_shape(w, &t, in, err));
        w->data = t.data;
        w->data_bytes = t.size_bytes;
    }
    return ASSAY_OK;
}

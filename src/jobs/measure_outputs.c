/* --save-outputs: writes the outputs of a run as .npy files, which numpy and --input read. */
#include "base/file.h"
#include "base/sbuf.h"
#include "formats/tensor_file.h"
#include "jobs/measure.h"

/* Names of values may hold anything; those of files may not. */
static void put_name(sbuf *path, const char *name)
{
    for (; *name; name++) {
        bool plain = (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
                     (*name >= 'A' && *name <= 'Z') || strchr("._-", *name);
        sbuf_printf(path, "%c", plain ? *name : '_');
    }
}

assay_status job_outputs_prepare(const assay_options *o, assay_error *err)
{
    sbuf path = {0};
    file_out *f = NULL;
    if (!o->measure.save_outputs.n)
        return ASSAY_OK;
    sbuf_printf(&path, STR_FMT "/output.npy", STR_ARG(o->measure.save_outputs));
    assay_status s = path.failed ? err_no_memory(err) : file_out_open(sbuf_cstr(&path), &f, err);
    file_out_abandon(f);
    sbuf_free(&path);
    return s;
}

static assay_status save_one(const assay_options *o, const profile_config *c, bool several,
                             const output_copy *x, assay_error *err)
{
    const tensor_file t = {.dtype = x->dtype,
                           .rank = x->rank,
                           .dims = x->dims,
                           .data = x->data,
                           .size_bytes = x->size_bytes};
    sbuf path = {0};
    sbuf_printf(&path, STR_FMT "/", STR_ARG(o->measure.save_outputs));
    if (several)
        sbuf_printf(&path, "%llu-" STR_FMT "/", (unsigned long long)c->batch,
                    STR_ARG(c->precision));
    put_name(&path, x->name);
    sbuf_puts(&path, ".npy");
    assay_status s = path.failed ? err_no_memory(err)
                                 : tensor_file_write(sbuf_cstr(&path), &t, err);
    sbuf_free(&path);
    return s;
}

assay_status job_outputs_save(const assay_options *o, const profile_config *c, bool several,
                              const output_set *outputs, profile *p, assay_error *err)
{
    if (!outputs->n)
        return err_fail(err, ASSAY_ERR_ENGINE, "no outputs to save");
    for (uint32_t i = 0; i < outputs->n; i++) {
        const output_copy *x = &outputs->items[i];
        assay_status s = x->data ? save_one(o, c, several, x, err) : ASSAY_ERR_UNSUPPORTED;
        if (s == ASSAY_ERR_UNSUPPORTED)
            notes_add(&p->warnings, "output-not-saved", str_copy(p->arena, str_of(x->name)), NULL,
                      "Output '%s' is not a numeric tensor and was not saved.", x->name);
        else
            TRY(s);
    }
    return ASSAY_OK;
}

/* Tensors of PyTorch's archives as constants of a graph that a reader builds. Their numbers stay in the file. */
#include "formats/torch/torch_impl.h"

assay_status torch_constant(foreign *f, struct bound_files *files, const weight_item *x,
                            uint32_t flags, ir_id *id)
{
    ir_dtype t = ir_dtype_by_name(x->stored);
    *id = IR_NONE;
    if (t == IR_UNDEFINED)
        return err_fail(f->err, ASSAY_ERR_UNSUPPORTED, "tensor '" STR_FMT "' has an unknown type",
                        STR_ARG(x->name));
    static const int64_t none[1];
    ir_tensor *as = ir_make_tensor_borrowed(f->m, STR(""), t, x->rank, x->rank ? x->dims : none);
    str name = str_copy(f->m->arena, x->name);
    *id = as && name.p ? foreign_slice(f, name, as, 0, 0) : IR_NONE;
    ir_tensor *own = *id == IR_NONE
                         ? NULL
                         : arena_copy(f->m->arena, ir_value_at(f->m, *id)->constant, sizeof *own);
    TRY_MEMORY(own, f->err);
    own->storage = IR_DATA_NONE;
    ir_value_at(f->m, *id)->constant = own;
    ir_value_at(f->m, *id)->flags |= flags;
    foreign_count(f, x->n_elems, x->size_bytes);
    return weights_bind(f->m, files, x, *id) ? ASSAY_OK : err_no_memory(f->err);
}

/* Which rules of the user (--ops) were used, and for how many nodes, load-time work included. */
#include "analyze/count.h"
#include "base/map.h"
#include "ops/user_ops.h"

typedef struct user_list {
    VEC(profile_user_operator) all;
    map by_op;
} user_list;

static assay_status add_user_node(user_list *x, const op_row *row, profile *p, assay_error *err)
{
    str op = row->domain[0] ? str_printf(p->arena, "%s::%s", row->domain, row->name)
                            : str_copy(p->arena, str_of(row->name));
    uint32_t at = op.p ? map_get(&x->by_op, op) : MAP_NONE;
    if (op.p && at == MAP_NONE) {
        at = x->all.n;
        profile_user_operator *u = VEC_PUSH(p->arena, &x->all);
        TRY_MEMORY(u && map_put(&x->by_op, op, at), err);
        *u = (profile_user_operator){.op = op, .file = str_copy(p->arena, user_ops_file(row))};
    }
    if (at == MAP_NONE)
        return err_no_memory(err);
    x->all.items[at].nodes++;
    return ASSAY_OK;
}

assay_status count_user_operators(const infer_result *r, profile *p, assay_error *err)
{
    user_list x = {0};
    TRY_MEMORY(map_init(&x.by_op, r->arena, 0), err);
    for (ir_id node = 0; node < r->model->nodes.n; node++)
        if (r->rows[node] && r->rows[node]->flags & OPF_USER && r->state[node] & INFER_REACHED)
            TRY(add_user_node(&x, r->rows[node], p, err));
    p->user_operators = x.all.items;
    p->n_user_operators = x.all.n;
    return ASSAY_OK;
}

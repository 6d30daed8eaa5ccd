/* Operators that change between opsets, and the pass that lowers a model.
 *
 * A node needs work when the version of its operator that holds at the target is not the one that holds
 * at the model's opset. Every such step is a row: a function, or an attribute that did not exist before
 * and may be dropped while it has the value that the older version means. Steps without a row only
 * widened the element types. Steps that cannot be undone have a row with neither.
 */
#include "rewrite/lower.h"

#include <stdio.h>

#include "ops/op.h"
#include "rewrite/raise.h"

#define SCRATCH_BYTES ((size_t)256 << 20)
#define NAME_FMT      "'%.*s'"
#define NAME_ARG(s)   (int)((s).n < 100 ? (s).n : 100), ((s).p ? (s).p : "")

typedef struct lower_row {
    const char *ops; /* blanks between */
    int since;       /* the step: this version is not there below */
    lower_fn *lower;
    const char *attr; /* may be dropped when absent or equal to the default */
    int64_t def;      /* of a number; of a list, each item */
    const char *word; /* of a word */
} lower_row;

#define DROP(op_, since_, attr_, def_)                                  \
    {                                                                   \
        .ops = (op_), .since = (since_), .attr = (attr_), .def = (def_) \
    }
#define WORD(op_, since_, attr_, word_)                                   \
    {                                                                     \
        .ops = (op_), .since = (since_), .attr = (attr_), .word = (word_) \
    }
#define NEVER(op_, since_)              \
    {                                   \
        .ops = (op_), .since = (since_) \
    }

static const lower_row rows[] = {
    /* composite operators */
    {.ops = "Attention", .since = 24, .lower = lower_attention_24},
    {.ops = "Attention", .since = 23, .lower = lower_attention},
    {.ops = "RotaryEmbedding", .since = 23, .lower = lower_rotary},
    {.ops = "RMSNormalization", .since = 23, .lower = lower_rms_norm},
    {.ops = "GroupNormalization", .since = 21, .lower = lower_group_norm},
    {.ops = "LayerNormalization", .since = 17, .lower = lower_layer_norm},
    {.ops = "Swish", .since = 24, .lower = lower_swish},
    {.ops = "Gelu", .since = 20, .lower = lower_gelu},
    {.ops = "Mish", .since = 18, .lower = lower_mish},
    {.ops = "HardSwish", .since = 14, .lower = lower_hard_swish},
    {.ops = "GreaterOrEqual", .since = 12, .lower = lower_greater_or_equal},
    {.ops = "LessOrEqual", .since = 12, .lower = lower_less_or_equal},
    /* lists that became inputs */
    {.ops =
         "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
         "ReduceSumSquare",
     .since = 18,
     .lower = lower_axes},
    {.ops = "ReduceSum Squeeze Unsqueeze", .since = 13, .lower = lower_axes},
    {.ops = "Split", .since = 18, .lower = lower_split_18},
    {.ops = "Split", .since = 13, .lower = lower_split_13},
    {.ops = "Pad", .since = 18, .lower = lower_pad_axes},
    {.ops = "Resize", .since = 13, .lower = lower_resize_13},
    /* other forms */
    {.ops = "Softmax LogSoftmax Hardmax", .since = 13, .lower = lower_softmax},
    {.ops = "GridSample", .since = 20, .lower = lower_grid_sample},
    {.ops = "RoiAlign", .since = 16, .lower = lower_roi_align},
    {.ops = "Constant", .since = 12, .lower = lower_constant},
    /* attributes that were added */
    DROP("ArgMax ArgMin", 12, "select_last_index", 0),
    DROP("AveragePool", 19, "dilations", 1),
    DROP("BatchNormalization", 14, "training_mode", 0),
    DROP("Cast CastLike", 19, "saturate", 1),
    WORD("Cast CastLike", 24, "round_mode", "up"),
    DROP("DequantizeLinear", 13, "axis", 1),
    DROP("DequantizeLinear", 21, "block_size", 0),
    DROP("DequantizeLinear", 23, "output_dtype", 0),
    DROP("QuantizeLinear", 13, "axis", 1),
    DROP("QuantizeLinear", 19, "saturate", 1),
    DROP("QuantizeLinear", 21, "block_size", 0),
    DROP("QuantizeLinear", 21, "output_dtype", 0),
    DROP("QuantizeLinear", 23, "precision", 0),
    DROP("GatherND", 12, "batch_dims", 0),
    DROP("GRU LSTM RNN", 14, "layout", 0),
    DROP("LpPool", 18, "dilations", 1),
    DROP("LpPool", 18, "ceil_mode", 0),
    DROP("Reshape", 14, "allowzero", 0),
    DROP("Resize", 18, "antialias", 0),
    WORD("Resize", 18, "keep_aspect_ratio_policy", "stretch"),
    DROP("Resize", 18, "axes", INT64_MIN),
    WORD("ScatterElements ScatterND", 16, "reduction", "none"),
    DROP("Shape", 15, "start", 0),
    DROP("Shape", 15, "end", INT64_MIN),
    /* what cannot be said in the older form */
    NEVER("DFT", 20),
    NEVER("Dropout", 12),
    NEVER("OptionalHasElement OptionalGetElement", 18),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- versions ---- */

/* The largest of "1,6,13" that is at most `opset`; 0 when there is none. *first is the smallest. */
static int version_at(const char *versions, int opset, int *first)
{
    int best = 0;
    int64_t v;
    *first = 0;
    for (str rest = str_of(versions), item; str_split(&rest, ',', &item) && str_to_i64(item, &v);) {
        *first = *first ? *first : (int)v;
        best = v <= opset ? (int)v : best;
    }
    return best;
}

static assay_status no_such_operator(lowering *x, int first)
{
    return err_fail_node(x->err, ASSAY_ERR_UNSUPPORTED, x->node.name.p,
                         "node " NAME_FMT ": operator " STR_FMT
                         " is not in opset %d (it is new in opset %d) and cannot be composed of "
                         "other operators. Use --opset %d or newer.",
                         NAME_ARG(x->node.name), STR_ARG(x->node.op), x->target, first, first);
}

/* ---- one node ---- */

static bool has_default(const ir_attr *a, const lower_row *row)
{
    if (a->kind == IR_ATTR_INT)
        return a->v.i == row->def;
    if (a->kind == IR_ATTR_STRING)
        return row->word && str_is(a->v.s, row->word);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->kind != IR_ATTR_INTS || a->v.ints[i] != row->def)
            return false;
    return a->kind == IR_ATTR_INTS;
}

static assay_status drop_attr_row(lowering *x, const lower_row *row)
{
    const ir_attr *a = ir_attr_find(&x->node, row->attr);
    char why[160];
    if (!a)
        return ASSAY_OK;
    if (has_default(a, row))
        return low_drop_attr(x, row->attr);
    snprintf(why, sizeof why, "attribute %s is new in opset %d", row->attr, row->since);
    return low_fail(x, why);
}

static assay_status apply_row(lowering *x, const lower_row *row)
{
    if (row->lower)
        return row->lower(x);
    if (row->attr)
        return drop_attr_row(x, row);
    return low_fail(x, "its operator has no equivalent older form");
}

/* The newest crossed step that was not done yet; rows of one version go in their order. */
static const lower_row *next_step(const lowering *x, int from, const uint8_t *done)
{
    const lower_row *best = NULL;
    for (int i = 0; i < N_ROWS; i++)
        if (!done[i] && rows[i].since > x->target && rows[i].since <= from &&
            str_in_list(x->node.op, rows[i].ops, ' ') && (!best || rows[i].since > best->since))
            best = &rows[i];
    return best;
}

static assay_status step_down(lowering *x, int from, int first)
{
    uint8_t done[N_ROWS] = {0};
    const lower_row *row;
    while (!x->replaced && (row = next_step(x, from, done))) {
        done[row - rows] = 1;
        TRY(apply_row(x, row));
        TRY(x->status);
    }
    if (x->replaced)
        return ASSAY_OK;
    if (first > x->target)
        return no_such_operator(x, first);
    return low_keep(x);
}

static assay_status one_node(lowering *x, const op_index *ops)
{
    int first = 0, from = x->from;
    const op_row *row = str_empty(x->node.domain) ? op_find(ops, STR(""), x->node.op) : NULL;
    if (!row)
        return low_keep(x);
    if (from < x->target && x->node.version > 0) /* bodies of functions have opsets of their own */
        from = x->node.version;
    int was = version_at(row->versions, from, &first);
    int is = version_at(row->versions, x->target, &first);
    if (was == is)
        return low_keep(x);
    return from < x->target ? raise_node(x, row->versions, from) : step_down(x, from, first);
}

/* ---- the walk ---- */

static assay_status walk_graph(lowering *x, const op_index *ops, ir_id graph)
{
    uint32_t n;
    const ir_id *old = ir_kit_take_nodes(x->m, graph, x->scratch, &n);
    TRY_MEMORY(!arena_failed(x->scratch), x->err);
    for (uint32_t i = 0; i < n; i++) {
        x->id = old[i];
        x->node = *ir_node_at(x->m, old[i]);
        x->into = UINT32_MAX;
        x->replaced = false;
        TRY(one_node(x, ops));
        TRY(x->status);
    }
    return ASSAY_OK;
}

typedef struct orphan_search {
    const ir_model *m;
    const uint32_t *used;
} orphan_search;

static bool is_kept(const void *ctx, ir_id value)
{
    const orphan_search *s = ctx;
    return s->used[value] || !(ir_value_at(s->m, value)->flags & IR_VALUE_NOT_PARAM);
}

/* Tables that only the other form's inputs were: axes, sizes. */
static assay_status drop_orphans(lowering *x)
{
    ir_model *m = x->m;
    const orphan_search s = {.m = m, .used = ir_kit_uses(m, NULL, m->graphs.n, x->scratch)};
    TRY_MEMORY(s.used, x->err);
    for (ir_id id = 0; id < m->graphs.n; id++)
        ir_kit_keep_constants(m, id, is_kept, &s);
    return ASSAY_OK;
}

static assay_status lower_model(lowering *x)
{
    const op_index *ops = op_index_new(x->scratch, NULL);
    uint32_t n_graphs = x->m->graphs.n;
    x->uses = ir_kit_uses(x->m, NULL, n_graphs, x->scratch);
    TRY_MEMORY(ops && x->uses && ir_kit_begin(&x->kit, x->m, x->scratch, 0), x->err);
    for (ir_id g = 0; g < n_graphs; g++)
        TRY(walk_graph(x, ops, g));
    TRY(drop_orphans(x));
    x->m->ir_version = 0;
    return ir_set_opset(x->m, STR(""), x->target) ? ASSAY_OK : err_no_memory(x->err);
}

static assay_status check_range(int from, int opset, assay_error *err)
{
    if (opset < LOWER_OLDEST || opset > LOWER_NEWEST)
        return err_fail(err, ASSAY_ERR_USAGE, "--opset must be %d to %d, got %d", LOWER_OLDEST,
                        LOWER_NEWEST, opset);
    if (from > LOWER_NEWEST)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the model uses opset %d; only models up to opset %d can be lowered", from,
                        LOWER_NEWEST);
    return ASSAY_OK;
}

static assay_status run_or_undo(lowering *x)
{
    const raise_copy *before = x->from < x->target ? raise_keep(x) : NULL;
    if (x->from < x->target && !before)
        return err_no_memory(x->err);
    assay_status s = lower_model(x);
    if (s != ASSAY_OK && before)
        raise_undo(x, before);
    return s;
}

assay_status rewrite_to_opset(ir_model *m, value_facts facts, int opset, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    lowering x = {.m = m,
                  .err = err ? err : &own,
                  .from = ir_opset_version(m, STR("")),
                  .target = opset,
                  .facts = facts,
                  .into = UINT32_MAX};
    if (x.from == opset)
        return ASSAY_OK;
    TRY(check_range(x.from, opset, x.err));
    x.scratch = arena_new(SCRATCH_BYTES);
    assay_status s = x.scratch ? run_or_undo(&x) : err_no_memory(x.err);
    arena_free(x.scratch);
    return s;
}

assay_status rewrite_lower(ir_model *m, int opset, assay_error *err)
{
    return rewrite_to_opset(m, (value_facts){0}, opset, err);
}

/* ai.onnx.ml, the operators on features: selecting, scaling, encoding, maps. The models (linear,
 * SVM, trees) have files of their own.
 *
 * A look-up in a table of keys counts as one compare per element, however it is done.
 */
#include "ops/op_util_cost.h"
#include "ops/op_util_info.h"
#include "ops/op_util_ml.h"

/* ---- selecting and joining ---- */

/* A vector gives [1,n], as the runtimes have it; the specification leaves that open. */
static assay_status infer_extractor(op_ctx *c)
{
    int rank = op_rank(c, 0);
    if (rank < 0)
        return op_set_unknown(c, 0, op_dtype(c, 0));
    if (rank == 0)
        return op_fail(c, "the input is a scalar, which has no axis to select along");
    int64_t dims[IR_MAX_RANK + 1] = {1, 1};
    for (int d = 0; d < rank - 1; d++)
        dims[d] = op_dim(c, 0, d);
    int wide = rank == 1 ? 2 : rank;
    dims[wide - 1] = op_has(c, 1) ? op_numel(c->in[1]) : -1;
    return op_set(c, 0, op_dtype(c, 0), wide, dims);
}

static void cost_extractor(const op_ctx *c, op_cost *k)
{
    op_read_elems(c, k, 0, op_out_elems(c, 0));
}

/* Width that input i adds: as the attribute says, else its own columns. */
static int64_t columns_of(const op_ctx *c, uint32_t i)
{
    const int64_t *given = NULL;
    int n = op_attr_ints(c, "inputdimensions", &given);
    if (n > 0 && i < (uint32_t)n && given[i] >= 0)
        return given[i];
    return op_rank(c, i) == 2 ? op_dim(c, i, 1) : op_rank(c, i) == 1 ? op_dim(c, i, 0) : -1;
}

static assay_status infer_vectorizer(op_ctx *c)
{
    int64_t rows = -1, sum = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        int64_t columns = columns_of(c, i);
        if (op_rank(c, i) > 2)
            return op_fail(c, "input %u must be [C] or [N,C], not %s", i, op_shape_text(c, i));
        if (op_rank(c, i) == 2)
            TRY(op_same_dim(c, rows, op_dim(c, i, 0), "the number of rows", &rows));
        if (sum < 0 || columns < 0 || !num_add(sum, columns, &sum))
            sum = -1;
    }
    if (rows < 0 && op_rank(c, 0) == 1)
        rows = 1;
    return op_set(c, 0, IR_FLOAT32, 2, (const int64_t[]){rows, sum});
}

/* ---- element by element ---- */

static assay_status infer_same(op_ctx *c)
{
    return op_set_shape_of(c, 0, op_dtype(c, 0), 0);
}

static assay_status infer_same_float(op_ctx *c)
{
    return op_set_shape_of(c, 0, IR_FLOAT32, 0);
}

static void cost_scaler(const op_ctx *c, op_cost *k)
{
    k->add = sat_add(k->add, op_out_elems(c, 0));
    k->mul = sat_add(k->mul, op_out_elems(c, 0));
}

static void cost_normalizer(const op_ctx *c, op_cost *k)
{
    uint64_t n = op_out_elems(c, 0);
    str norm = op_attr_str(c, "norm", "MAX");
    k->div = sat_add(k->div, n);
    if (str_is(norm, "MAX"))
        k->cmp = sat_add(k->cmp, n);
    else
        k->add = sat_add(k->add, n);
    if (str_is(norm, "L2"))
        k->mul = sat_add(k->mul, n);
}

/* ---- encoders ---- */

/* Strings become integers and integers strings (CategoryMapper, LabelEncoder 1). */
static ir_dtype other_type(const op_ctx *c)
{
    ir_dtype t = op_dtype(c, 0);
    return t == IR_STRING ? IR_INT64 : t == IR_UNDEFINED ? IR_UNDEFINED : IR_STRING;
}

static assay_status infer_category(op_ctx *c)
{
    return op_set_shape_of(c, 0, other_type(c), 0);
}

static ir_dtype label_type(const op_ctx *c)
{
    const ir_attr *values = ir_attr_find(c->node, "values_tensor");
    if (values && values->kind == IR_ATTR_TENSOR && values->v.tensor)
        return values->v.tensor->dtype;
    if (op_attr_has(c, "values_strings"))
        return IR_STRING;
    if (op_attr_has(c, "values_int64s"))
        return IR_INT64;
    return op_attr_has(c, "values_floats") ? IR_FLOAT32 : other_type(c);
}

static assay_status infer_label(op_ctx *c)
{
    return op_set_shape_of(c, 0, label_type(c), 0);
}

static assay_status infer_one_hot(op_ctx *c)
{
    uint64_t cats = op_ml_len(c, "cats_int64s");
    cats = cats ? cats : op_ml_len(c, "cats_strings");
    if (op_rank(c, 0) < 0)
        return op_set_unknown(c, 0, IR_FLOAT32);
    op_info x = op_info_tensor(IR_FLOAT32), hot;
    x.rank = op_rank(c, 0);
    x.dims = op_dims(c, 0);
    TRY(op_info_add_axis(c, &x, x.rank, (int64_t)cats, &hot));
    op_info_put(c, 0, &hot);
    return ASSAY_OK;
}

/* ---- maps ---- */

static assay_status infer_cast_map(op_ctx *c)
{
    str to = op_attr_str(c, "cast_to", "TO_FLOAT");
    ir_dtype t = str_is(to, "TO_STRING")  ? IR_STRING
                 : str_is(to, "TO_INT64") ? IR_INT64
                                          : IR_FLOAT32;
    bool sparse = str_is(op_attr_str(c, "map_form", "DENSE"), "SPARSE");
    int64_t length = sparse ? op_attr_int(c, "max_map", 1) : -1;
    return op_set(c, 0, t, 2, (const int64_t[]){1, length < 0 ? -1 : length});
}

static assay_status infer_dict(op_ctx *c)
{
    uint64_t words = op_ml_len(c, "string_vocabulary");
    words = words ? words : op_ml_len(c, "int64_vocabulary");
    const op_info *values = op_has(c, 0) ? c->in[0]->elem : NULL;
    return op_set(c, 0, values ? values->dtype : IR_UNDEFINED, 2,
                  (const int64_t[]){1, (int64_t)words});
}

static assay_status infer_zip(op_ctx *c)
{
    int64_t rows, columns;
    ir_dtype key;
    uint64_t keys = op_ml_labels(c, "classlabels_strings", "classlabels_int64s", &key);
    TRY(op_ml_matrix(c, &rows, &columns));
    if (keys && columns >= 0 && (uint64_t)columns != keys)
        return op_fail(c, "%llu keys for %lld columns", (unsigned long long)keys,
                       (long long)columns);
    op_info row = {.kind = IR_KIND_MAP, .dtype = key, .rank = -1, .length = -1};
    op_info value = op_info_tensor(IR_FLOAT32);
    value.rank = 0;
    row.elem = arena_copy(c->arena, &value, sizeof value);
    return row.elem ? op_set_sequence(c, 0, &row, rows) : err_no_memory(c->err);
}

#define ML         "ai.onnx.ml"
#define ONE_TO_ONE .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1
#define LOOK_UP    "per element: 1 cmp (a lookup); its table is an attribute, not a parameter"

static const op_row rows[] = {
    {OP_ROW(ML, "ArrayFeatureExtractor", "gather", "1", "no arithmetic: elements are picked",
            infer_extractor, cost_extractor),
     OP_SLOTS(2, 2, 1, 1), .aux = 2, .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW(ML, "Binarizer", "binarizer", "1", "per element: 1 cmp", infer_same, op_cost_cmp_in),
     .flags = OPF_INPLACE, ONE_TO_ONE},
    {OP_ROW(ML, "CastMap", "map", "1", "no arithmetic: a map becomes a tensor", infer_cast_map,
            NULL),
     .flags = OPF_DATA_MOVE, ONE_TO_ONE},
    {OP_ROW(ML, "CategoryMapper", "encoder", "1", LOOK_UP, infer_category, op_cost_cmp_in),
     ONE_TO_ONE},
    {OP_ROW(ML, "DictVectorizer", "map", "1", "no arithmetic: a map becomes a tensor", infer_dict,
            NULL),
     .flags = OPF_DATA_MOVE, ONE_TO_ONE},
    {OP_ROW(ML, "FeatureVectorizer", "concat", "1", "no arithmetic: features are joined",
            infer_vectorizer, NULL),
     OP_SLOTS(1, 255, 1, 1), .flags = OPF_DATA_MOVE, .backward = OP_BW_MOVE},
    {OP_ROW(ML, "Imputer", "imputer", "1", "per element: 1 cmp", infer_same, op_cost_cmp_in),
     .flags = OPF_INPLACE, ONE_TO_ONE},
    {OP_ROW(ML, "LabelEncoder", "encoder", "1,2,4", LOOK_UP, infer_label, op_cost_cmp_in),
     ONE_TO_ONE},
    {OP_ROW(ML, "Normalizer", "normalizer", "1",
            "per element: MAX 1 cmp + 1 div; L1 1 add + 1 div; L2 1 mul + 1 add + 1 div",
            infer_same_float, cost_normalizer),
     .backward = OP_BW_NORM, .saves = OP_SAVE_INPUTS, ONE_TO_ONE},
    {OP_ROW(ML, "OneHotEncoder", "encoder", "1", LOOK_UP, infer_one_hot, op_cost_cmp_in),
     ONE_TO_ONE},
    {OP_ROW(ML, "Scaler", "scaler", "1", "per element: 1 add + 1 mul", infer_same_float,
            cost_scaler),
     .flags = OPF_INPLACE, .backward = OP_BW_ELEMENTWISE, ONE_TO_ONE},
    {OP_ROW(ML, "ZipMap", "map", "1", "no arithmetic: rows become maps", infer_zip,
            op_cost_as_read),
     .flags = OPF_DATA_MOVE, ONE_TO_ONE},
};

const op_rows op_ml_rows = OP_ROWS(rows);

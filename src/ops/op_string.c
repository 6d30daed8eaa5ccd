/* Operators on strings and the n-gram counter. Contents of strings are not followed, so what
 * depends on them (removed stop words, the number of substrings) is an upper bound where one
 * exists. One look-up, match or case change of a string counts as one integer operation.
 */
#include "ops/op_util_info.h"

/* [C] or [1,C]; stop words can only make C smaller. */
static assay_status infer_normalizer(op_ctx *c)
{
    int rank = op_rank(c, 0);
    if (rank == 0 || rank > 2 || (rank == 2 && op_dim(c, 0, 0) > 1))
        return op_fail(c, "the input must be [C] or [1,C], not %s", op_shape_text(c, 0));
    TRY(op_set_shape_of(c, 0, IR_STRING, 0));
    const ir_attr *stop = ir_attr_find(c->node, "stopwords");
    if (stop && stop->kind == IR_ATTR_STRINGS && stop->n > 0)
        op_assume(c, "the number of stop words depends on data; none was assumed");
    return ASSAY_OK;
}

static assay_status infer_concat(op_ctx *c)
{
    return op_broadcast_inputs(c, 0, 1, 0, IR_STRING);
}

static assay_status infer_match(op_ctx *c)
{
    return op_set_shape_of(c, 0, IR_BOOL, 0);
}

static int64_t substrings(const op_ctx *c)
{
    int64_t splits = op_attr_int(c, "maxsplit", -1);
    if (op_numel(c->in[0]) == 0)
        return 0;
    return splits >= 0 && splits < INT64_MAX ? splits + 1 : -1;
}

static assay_status infer_split(op_ctx *c)
{
    TRY(op_set_shape_of(c, 1, IR_INT64, 0));
    if (op_rank(c, 0) < 0)
        return op_set_unknown(c, 0, IR_STRING);
    int64_t most = substrings(c);
    op_info x = op_info_tensor(IR_STRING), split;
    x.rank = op_rank(c, 0);
    x.dims = op_dims(c, 0);
    TRY(op_info_add_axis(c, &x, x.rank, most, &split));
    op_info_put(c, 0, &split);
    if (most > 0)
        op_assume(c, "the number of substrings depends on data; maxsplit + 1 was assumed");
    return ASSAY_OK;
}

static void cost_per_string(const op_ctx *c, op_cost *k)
{
    k->int_ops = sat_add(k->int_ops, op_out_elems(c, 0));
}

static void cost_per_input(const op_ctx *c, op_cost *k)
{
    k->int_ops = sat_add(k->int_ops, op_in_elems(c, 0));
}

/* ---- TfIdfVectorizer ---- */

static int64_t output_width(const op_ctx *c)
{
    const int64_t *at = NULL;
    int64_t most = -1;
    int n = op_attr_ints(c, "ngram_indexes", &at);
    for (int k = 0; k < n; k++)
        most = at[k] > most ? at[k] : most;
    return n > 0 && most >= 0 && most < INT64_MAX ? most + 1 : -1;
}

static assay_status infer_tfidf(op_ctx *c)
{
    int rank = op_rank(c, 0);
    if (rank > 2)
        return op_fail(c, "the input must be [C] or [N,C], not %s", op_shape_text(c, 0));
    if (rank < 0)
        return op_set_unknown(c, 0, IR_FLOAT32);
    int64_t rows_out = rank == 2 ? op_dim(c, 0, 0) : -1, width = output_width(c);
    int64_t dims[2] = {rank == 2 ? rows_out : width, width};
    return op_set(c, 0, IR_FLOAT32, rank == 2 ? 2 : 1, dims);
}

#define GRAM_MAX 1024 /* n-gram lengths and skips above this are not distinguished */

static uint64_t capped_attr(const op_ctx *c, const char *name, int64_t least)
{
    int64_t v = op_attr_int(c, name, least);
    return (uint64_t)(v < least ? least : v > GRAM_MAX ? GRAM_MAX : v);
}

/* Windows of n items, each `skip` + 1 apart, that fit in `columns`; a single item has no skips. */
static uint64_t windows(uint64_t columns, uint64_t n, uint64_t skips)
{
    uint64_t sum = 0;
    for (uint64_t skip = 0; skip <= (n > 1 ? skips : 0); skip++) {
        uint64_t span = (n - 1) * (skip + 1);
        if (span >= columns)
            break;
        sum = sat_add(sum, columns - span);
    }
    return sum;
}

static void cost_tfidf(const op_ctx *c, op_cost *k)
{
    uint64_t total = op_in_elems(c, 0), grams = 0;
    int64_t last = op_rank(c, 0) > 0 ? op_dim(c, 0, -1) : 1;
    uint64_t columns = last > 0 ? (uint64_t)last : 1;
    uint64_t most = capped_attr(c, "max_gram_length", 1),
             skips = capped_attr(c, "max_skip_count", 0);
    for (uint64_t n = capped_attr(c, "min_gram_length", 1); n <= most; n++)
        grams = sat_add(grams, windows(columns, n, skips));
    k->int_ops = sat_add(k->int_ops, sat_mul(total / columns, grams));
    if (!str_is(op_attr_str(c, "mode", "TF"), "TF"))
        k->mul = sat_add(k->mul, op_out_elems(c, 0));
}

static const op_row rows[] = {
    {OP_ROW("", "StringNormalizer", "string", "10", "per string: 1 integer operation",
            infer_normalizer, cost_per_string),
     OP_SLOTS(1, 1, 1, 1)},
    {OP_ROW("", "StringConcat", "string", "20", "no arithmetic: strings are joined", infer_concat,
            NULL),
     OP_SLOTS(2, 2, 1, 1), .flags = OPF_DATA_MOVE},
    {OP_ROW("", "StringSplit", "string", "20", "per string: 1 integer operation", infer_split,
            cost_per_input),
     OP_SLOTS(1, 1, 1, 2)},
    {OP_ROW("", "RegexFullMatch", "string", "20", "per string: 1 integer operation", infer_match,
            cost_per_input),
     OP_SLOTS(1, 1, 1, 1)},
    {OP_ROW(
         "", "TfIdfVectorizer", "tfidf", "9",
         "per row: 1 integer operation per n-gram window and skip; IDF and TFIDF: 1 mul per output",
         infer_tfidf, cost_tfidf),
     OP_SLOTS(1, 1, 1, 1)},
};

const op_rows op_string_rows = OP_ROWS(rows);

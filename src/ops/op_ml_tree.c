/* ai.onnx.ml, ensembles of decision trees. A row walks every tree from its root to a leaf, one
 * compare per inner node. How deep it gets depends on the data, so the longest path of each tree
 * is counted: an upper bound, computed exactly from the tree itself.
 *
 * Nodes of the older operators are (tree id, node id) pairs in parallel lists and are found by
 * binary search; those of TreeEnsemble are indices. Ids come from a file: a child that does not
 * exist ends the path, and a node met again while its own path is still open (a cycle) adds
 * nothing.
 */
#include <stdlib.h>

#include "ops/op_util_ml.h"

#define NO_CHILD UINT32_MAX

typedef struct forest {
    uint32_t n;               /* nodes */
    const uint32_t *yes, *no; /* [n] child's place in these lists, or NO_CHILD for a leaf */
    const uint8_t *inner;     /* [n] whether the node compares */
    const uint32_t *roots;
    uint32_t n_roots;
    uint32_t n_leaves;
} forest;

/* ---- longest paths ---- */

enum { FRESH, OPEN, DONE };

typedef struct frame {
    uint32_t node;
    uint8_t next; /* which child comes next */
} frame;

static uint32_t child_of(const forest *f, uint32_t node, uint8_t which)
{
    return which == 0 ? f->yes[node] : f->no[node];
}

static uint32_t deeper_child(const forest *f, const uint32_t *depth, const uint8_t *mark,
                             uint32_t node)
{
    uint32_t most = 0;
    for (uint8_t which = 0; which < 2; which++) {
        uint32_t child = child_of(f, node, which);
        if (child != NO_CHILD && mark[child] == DONE && depth[child] > most)
            most = depth[child];
    }
    return most;
}

/* Compares on the longest path below root; every node is closed once, whatever its shape. */
static void measure(const forest *f, uint32_t root, uint32_t *depth, uint8_t *mark, frame *stack)
{
    uint32_t top = 0;
    if (mark[root] != FRESH)
        return;
    stack[top++] = (frame){root, 0};
    mark[root] = OPEN;
    while (top) {
        frame *at = &stack[top - 1];
        if (at->next == 2 || !f->inner[at->node]) {
            depth[at->node] = f->inner[at->node] ? 1 + deeper_child(f, depth, mark, at->node) : 0;
            mark[at->node] = DONE;
            top--;
            continue;
        }
        uint32_t child = child_of(f, at->node, at->next++);
        if (child != NO_CHILD && mark[child] == FRESH) {
            mark[child] = OPEN;
            stack[top++] = (frame){child, 0};
        }
    }
}

static uint64_t sum_of_depths(const op_ctx *c, const forest *f)
{
    uint32_t *depth = ARENA_ARRAY(c->arena, uint32_t, (size_t)f->n + 1);
    uint8_t *mark = ARENA_ARRAY(c->arena, uint8_t, (size_t)f->n + 1);
    frame *stack = ARENA_ARRAY(c->arena, frame, (size_t)f->n + 1);
    uint64_t sum = 0;
    for (uint32_t k = 0; depth && mark && stack && k < f->n_roots; k++) {
        measure(f, f->roots[k], depth, mark, stack);
        sum = sat_add(sum, depth[f->roots[k]]);
    }
    return sum;
}

/* ---- the older lists: (tree id, node id) ---- */

typedef struct key {
    int64_t tree, node;
    uint32_t place;
} key;

static int key_cmp(const void *pa, const void *pb)
{
    const key *a = pa, *b = pb;
    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static uint32_t find_node(const key *keys, uint32_t n, int64_t tree, int64_t node)
{
    key wanted = {.tree = tree, .node = node};
    const key *hit = bsearch(&wanted, keys, n, sizeof *keys, key_cmp);
    return hit ? hit->place : NO_CHILD;
}

typedef struct lists {
    const int64_t *trees, *ids, *yes, *no;
    const str *modes;
    uint32_t n;
} lists;

/* The parallel lists of the nodes, as long as the shortest of them. */
static bool read_lists(const op_ctx *c, lists *l)
{
    const ir_attr *modes = ir_attr_find(c->node, "nodes_modes");
    int n[4] = {op_attr_ints(c, "nodes_treeids", &l->trees),
                op_attr_ints(c, "nodes_nodeids", &l->ids),
                op_attr_ints(c, "nodes_truenodeids", &l->yes),
                op_attr_ints(c, "nodes_falsenodeids", &l->no)};
    if (!modes || modes->kind != IR_ATTR_STRINGS)
        return false;
    l->modes = modes->v.strings;
    l->n = modes->n;
    for (int k = 0; k < 4; k++) {
        if (n[k] < 0)
            return false;
        l->n = (uint32_t)n[k] < l->n ? (uint32_t)n[k] : l->n;
    }
    return true;
}

static key *sorted_keys(const op_ctx *c, const lists *l)
{
    key *keys = ARENA_ARRAY(c->arena, key, (size_t)l->n + 1);
    for (uint32_t k = 0; keys && k < l->n; k++)
        keys[k] = (key){l->trees[k], l->ids[k], k};
    if (keys)
        qsort(keys, l->n, sizeof *keys, key_cmp);
    return keys;
}

/* The root of a tree is its lowest node id. */
static bool link_lists(const op_ctx *c, const lists *l, forest *f)
{
    key *keys = sorted_keys(c, l);
    uint32_t *yes = ARENA_ARRAY(c->arena, uint32_t, (size_t)l->n + 1);
    uint32_t *no = ARENA_ARRAY(c->arena, uint32_t, (size_t)l->n + 1);
    uint32_t *roots = ARENA_ARRAY(c->arena, uint32_t, (size_t)l->n + 1);
    uint8_t *inner = ARENA_ARRAY(c->arena, uint8_t, (size_t)l->n + 1);
    if (!keys || !yes || !no || !roots || !inner)
        return false;
    *f = (forest){.n = l->n, .yes = yes, .no = no, .inner = inner, .roots = roots};
    for (uint32_t k = 0; k < l->n; k++) {
        inner[k] = !str_is(l->modes[k], "LEAF");
        f->n_leaves += !inner[k];
        yes[k] = inner[k] ? find_node(keys, l->n, l->trees[k], l->yes[k]) : NO_CHILD;
        no[k] = inner[k] ? find_node(keys, l->n, l->trees[k], l->no[k]) : NO_CHILD;
        if (k == 0 || keys[k].tree != keys[k - 1].tree)
            roots[f->n_roots++] = keys[k].place;
    }
    return true;
}

/* ---- the lists of TreeEnsemble: indices ---- */

static uint32_t index_or_leaf(int64_t leaf, int64_t at, uint32_t n)
{
    return leaf || at < 0 || at >= n ? NO_CHILD : (uint32_t)at;
}

static bool link_indices(const op_ctx *c, forest *f)
{
    const int64_t *given = NULL, *yes_leaf = NULL, *no_leaf = NULL, *yes_at = NULL, *no_at = NULL;
    int n_roots = op_attr_ints(c, "tree_roots", &given);
    int n = op_attr_ints(c, "nodes_trueleafs", &yes_leaf);
    if (n_roots < 0 || n < 0 || op_attr_ints(c, "nodes_falseleafs", &no_leaf) != n ||
        op_attr_ints(c, "nodes_truenodeids", &yes_at) != n ||
        op_attr_ints(c, "nodes_falsenodeids", &no_at) != n)
        return false;
    uint32_t *yes = ARENA_ARRAY(c->arena, uint32_t, (size_t)n + 1);
    uint32_t *no = ARENA_ARRAY(c->arena, uint32_t, (size_t)n + 1);
    uint32_t *roots = ARENA_ARRAY(c->arena, uint32_t, (size_t)n_roots + 1);
    uint8_t *inner = ARENA_ARRAY(c->arena, uint8_t, (size_t)n + 1);
    if (!yes || !no || !roots || !inner)
        return false;
    *f = (forest){.n = (uint32_t)n, .yes = yes, .no = no, .inner = inner, .roots = roots};
    for (int k = 0; k < n; k++) {
        inner[k] = 1;
        yes[k] = index_or_leaf(yes_leaf[k], yes_at[k], f->n);
        no[k] = index_or_leaf(no_leaf[k], no_at[k], f->n);
    }
    for (int k = 0; k < n_roots; k++)
        if (given[k] >= 0 && given[k] < n)
            roots[f->n_roots++] = (uint32_t)given[k];
    f->n_leaves = (uint32_t)op_ml_len(c, "leaf_targetids");
    return true;
}

/* ---- costs ---- */

/* Adds of one row: the votes of one leaf per tree; a leaf of a multi-class tree has several. */
static uint64_t votes_per_row(const forest *f, uint64_t votes)
{
    uint64_t leaves = f->n_leaves ? f->n_leaves : 1;
    uint64_t per_leaf = votes / leaves + (votes % leaves != 0);
    return sat_mul(f->n_roots, per_leaf);
}

static void cost_forest(const op_ctx *c, op_cost *k, const forest *f, uint64_t votes)
{
    uint64_t rows = op_ml_n_rows(c);
    k->cmp = sat_add(k->cmp, sat_mul(rows, sum_of_depths(c, f)));
    k->add = sat_add(k->add, sat_mul(rows, votes_per_row(f, votes)));
}

static void cost_lists(const op_ctx *c, op_cost *k, const char *votes)
{
    lists l = {0};
    forest f;
    if (read_lists(c, &l) && link_lists(c, &l, &f))
        cost_forest(c, k, &f, op_ml_len(c, votes));
}

static uint64_t base_values(const op_ctx *c)
{
    return op_attr_has(c, "base_values") || op_attr_has(c, "base_values_as_tensor");
}

static void cost_classifier(const op_ctx *c, op_cost *k)
{
    uint64_t scores = op_out_elems(c, 1);
    cost_lists(c, k, "class_ids");
    k->add = sat_add(k->add, sat_mul(scores, base_values(c)));
    k->cmp = sat_add(k->cmp, scores);
    op_ml_cost_post(k, op_ml_post_by_name(c), scores);
}

static void cost_regressor(const op_ctx *c, op_cost *k)
{
    uint64_t scores = op_out_elems(c, 0);
    cost_lists(c, k, "target_ids");
    k->add = sat_add(k->add, sat_mul(scores, base_values(c)));
    k->div = sat_add(k->div,
                     str_is(op_attr_str(c, "aggregate_function", "SUM"), "AVERAGE") ? scores : 0);
    op_ml_cost_post(k, op_ml_post_by_name(c), scores);
}

static void cost_ensemble(const op_ctx *c, op_cost *k)
{
    forest f;
    uint64_t scores = op_out_elems(c, 0);
    int64_t post = op_attr_int(c, "post_transform", ML_NONE);
    if (link_indices(c, &f))
        cost_forest(c, k, &f, op_ml_len(c, "leaf_targetids"));
    k->div = sat_add(k->div, op_attr_int(c, "aggregate_function", 1) == 0 ? scores : 0);
    if (post >= ML_NONE && post <= ML_PROBIT)
        op_ml_cost_post(k, (op_ml_post)post, scores);
}

/* ---- shapes ---- */

static assay_status infer_classifier(op_ctx *c)
{
    ir_dtype label;
    uint64_t classes = op_ml_labels(c, "classlabels_strings", "classlabels_int64s", &label);
    return op_ml_set_classes(c, label, classes ? (int64_t)classes : -1);
}

static assay_status set_targets(op_ctx *c, ir_dtype t)
{
    int64_t rows, features, n = op_attr_int(c, "n_targets", -1);
    TRY(op_ml_matrix(c, &rows, &features));
    return op_set(c, 0, t, 2, (const int64_t[]){rows, n < 0 ? -1 : n});
}

static assay_status infer_regressor(op_ctx *c)
{
    return set_targets(c, IR_FLOAT32);
}

static assay_status infer_ensemble(op_ctx *c)
{
    return set_targets(c, op_dtype(c, 0));
}

#define ML "ai.onnx.ml"
#define WALK                                                                                   \
    "per row: 1 cmp per node on the longest path of every tree (upper bound by depth), 1 add " \
    "per vote of a leaf (votes / leaves, rounded up)"
#define ATTR "; the trees are attributes, not parameters"

static const op_row rows[] = {
    {OP_ROW(ML, "TreeEnsemble", "trees", "5", WALK " + post transform" ATTR, infer_ensemble,
            cost_ensemble),
     OP_SLOTS(1, 1, 1, 1)},
    {OP_ROW(ML, "TreeEnsembleClassifier", "trees", "1,3,5",
            WALK " + 1 cmp per score (best class) + post transform" ATTR, infer_classifier,
            cost_classifier),
     OP_SLOTS(1, 1, 1, 2)},
    {OP_ROW(ML, "TreeEnsembleRegressor", "trees", "1,3,5", WALK " + post transform" ATTR,
            infer_regressor, cost_regressor),
     OP_SLOTS(1, 1, 1, 1)},
};

const op_rows op_ml_tree_rows = OP_ROWS(rows);

/* The ONNX backend tests as an oracle for shapes: each folder has a model and, beside it, the tensors
 * it was really given and really answered. Declared shapes of intermediate values and outputs are
 * ignored; the shapes of the given inputs are used. Every output that our rules claim to know must have
 * the true shape and dtype; one that depends on data may stay unknown or be marked as assumed.
 *
 *   node_suite FOLDER...     each FOLDER holds test folders
 *   -v                       also lists what was not inferable
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/count.h"
#include "analyze/infer.h"
#include "analyze/memory.h"
#include "analyze/training.h"
#include "base/source.h"
#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "rewrite/inline.h"

typedef struct truth {
    int kind; /* 0 tensor, 1 something else */
    int dtype, rank;
    int64_t dims[IR_MAX_RANK];
} truth;

typedef struct tally {
    unsigned right, wrong, open, assumed, models, failed;
    bool verbose;
} tally;

static bool is_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

/* dims (1) and data_type (2) of a TensorProto. */
static bool read_tensor(const char *path, truth *t)
{
    assay_error err;
    source *s = NULL;
    *t = (truth){0};
    if (source_open(path, &s, &err) != ASSAY_OK)
        return false;
    cursor c = cursor_at(s, 0, source_size(s), &err);
    while (cursor_more(&c)) {
        uint64_t tag = cursor_varint(&c);
        if (tag == (1 << 3 | 0) && t->rank < IR_MAX_RANK) {
            t->dims[t->rank++] = (int64_t)cursor_varint(&c);
        } else if (tag == (1 << 3 | 2)) {
            cursor packed = cursor_sub(&c, cursor_varint(&c));
            while (cursor_more(&packed) && t->rank < IR_MAX_RANK)
                t->dims[t->rank++] = (int64_t)cursor_varint(&packed);
        } else if (tag == (2 << 3 | 0)) {
            t->dtype = (int)cursor_varint(&c);
        } else if ((tag & 7) == 2) {
            cursor_skip(&c, cursor_varint(&c));
        } else if ((tag & 7) == 0) {
            cursor_varint(&c);
        } else if ((tag & 7) == 5) {
            cursor_skip(&c, 4);
        } else if ((tag & 7) == 1) {
            cursor_skip(&c, 8);
        } else {
            cursor_fail(&c, "odd wire type");
        }
    }
    bool ok = cursor_ok(&c);
    source_close(s);
    return ok;
}

static bool truth_of(const char *folder, const char *what, unsigned k, truth *t)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%u.pb", folder, what, k);
    return is_file(path) && read_tensor(path, t);
}

static void shape_text(char *buf, size_t n, int rank, const int64_t *dims)
{
    int at = snprintf(buf, n, rank < 0 ? "?" : "[");
    for (int d = 0; d < rank && at < (int)n; d++)
        at += snprintf(buf + at, n - (size_t)at, d ? ",%lld" : "%lld", (long long)dims[d]);
    if (rank >= 0 && at < (int)n)
        snprintf(buf + at, n - (size_t)at, "]");
}

static void judge(tally *sum, const char *folder, const ir_value *v, const op_info *x,
                  const truth *t)
{
    char ours[512], theirs[512];
    shape_text(ours, sizeof ours, x->rank, x->dims);
    shape_text(theirs, sizeof theirs, t->rank, t->dims);
    truth exact = *t;
    if (t->dtype == IR_UINT16 && v->declared.dtype == IR_BFLOAT16)
        exact.dtype = IR_BFLOAT16; /* old suites store bfloat16 answers as their bits */
    t = &exact;
    bool wrong = x->dtype != IR_UNDEFINED && (int)x->dtype != t->dtype;
    wrong |= x->rank >= 0 && x->rank != t->rank;
    bool full = op_shape_full(x) && x->dtype != IR_UNDEFINED;
    for (int d = 0; !wrong && x->rank >= 0 && d < x->rank; d++)
        wrong |= x->dims[d] >= 0 && x->dims[d] != t->dims[d];
    if (wrong && x->assumed && (int)x->dtype == t->dtype) {
        sum->assumed++;
    } else if (wrong) {
        sum->wrong++;
        printf("WRONG %s: " STR_FMT " is %s %s, ours %s %s\n", folder, STR_ARG(v->name),
               ir_dtype_get((ir_dtype)t->dtype)->name, theirs, ir_dtype_get(x->dtype)->name, ours);
    } else if (!full) {
        sum->open++;
        if (sum->verbose)
            printf("open  %s: " STR_FMT " is %s %s, ours %s %s\n", folder, STR_ARG(v->name),
                   ir_dtype_get((ir_dtype)t->dtype)->name, theirs, ir_dtype_get(x->dtype)->name,
                   ours);
    } else {
        sum->right++;
    }
}

/* The shapes of the tensors that were really fed. */
static uint32_t given_shapes(const ir_model *m, const char *folder, infer_shape *shapes,
                             truth *truths, uint32_t max)
{
    const ir_graph *g = ir_graph_at(m, 0);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->inputs.n && n < max; i++) {
        const ir_value *v = ir_value_at(m, g->inputs.items[i]);
        if (v->declared.kind != IR_KIND_TENSOR || !truth_of(folder, "input", i, &truths[n]))
            continue;
        if (v->declared.rank >= 0 && v->declared.rank != truths[n].rank)
            continue;
        shapes[n] = (infer_shape){.input = v->name, .rank = truths[n].rank, .dims = truths[n].dims};
        n++;
    }
    return n;
}

static assay_status analyse(ir_model *m, const char *folder, tally *sum, assay_error *err)
{
    static truth truths[64];
    infer_shape shapes[64];
    arena *a = arena_new((size_t)1 << 30);
    profile *p = profile_new((size_t)1 << 30);
    infer_result *r = NULL;
    infer_options opt = {.shapes = shapes, .ignore_declared = true};
    opt.n_shapes = given_shapes(m, folder, shapes, truths, 64);
    assay_status status = infer_run(m, &opt, a, &r, err);
    if (status == ASSAY_OK) {
        const ir_graph *g = ir_graph_at(m, 0);
        for (uint32_t o = 0; o < g->outputs.n; o++) {
            truth t;
            const ir_value *v = ir_value_at(m, g->outputs.items[o]);
            if (v->declared.kind == IR_KIND_TENSOR && truth_of(folder, "output", o, &t))
                judge(sum, folder, v, &r->info[g->outputs.items[o]], &t);
        }
        counted of;
        status = count_run(r, NULL, p, &of, err);
        if (status == ASSAY_OK)
            status = memory_run(r, &of, IR_UNDEFINED, &(memory_detail){.events = true}, p, err);
        if (status == ASSAY_OK)
            status = training_run(r, &of, p, err);
        for (uint32_t k = 0; k < r->items.n && sum->verbose; k++)
            if (r->items.items[k].unknown)
                printf("unknown %s: " STR_FMT "\n", folder, STR_ARG(r->items.items[k].reason));
    }
    profile_free(p);
    arena_free(a);
    return status;
}

static void run_model(const char *folder, tally *sum)
{
    char path[1024];
    assay_error err;
    ir_model *m = NULL;
    onnx_read_options opt = {.memory_limit = (uint64_t)1 << 30};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (!is_file(path))
        return;
    sum->models++;
    err_clear(&err);
    assay_status status = onnx_read_file(path, &opt, &m, &err);
    if (status == ASSAY_OK)
        status = rewrite_inline(m, &err);
    if (status == ASSAY_OK)
        status = ir_verify(m, &err);
    if (status == ASSAY_OK)
        status = analyse(m, folder, sum, &err);
    if (status != ASSAY_OK) {
        sum->failed++;
        printf("FAIL  %s: %s\n", folder, err.message);
    }
    ir_model_free(m);
}

static void run_folder(const char *root, tally *sum)
{
    DIR *d = opendir(root);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[768];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", root, e->d_name);
        run_model(path, sum);
    }
    if (d)
        closedir(d);
}

int main(int argc, char **argv)
{
    tally sum = {0};
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "-v") == 0)
            sum.verbose = true;
        else
            run_folder(argv[k], &sum);
    }
    if (sum.models == 0) {
        printf("skipped: libonnx-testdata is not installed\n");
        return 77;
    }
    printf(
        "%u models, %u failed; outputs: %u right, %u wrong, %u upper bounds (marked assumed), %u depend on data\n",
        sum.models, sum.failed, sum.right, sum.wrong, sum.assumed, sum.open);
    printf("%u passed, %u failed\n", sum.right, sum.wrong + sum.failed);
    return sum.wrong || sum.failed;
}

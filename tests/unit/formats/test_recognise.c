/* Recognising architectures by names and shapes: every float model of the catalogue that files of PyTorch hold, with
 * other classes, depths and widths and with prefixes; and sets of weights that are none of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "formats/recognise.h"
#include "formats/stored.h"
#include "zoo/names.h"

#define MEMORY ((size_t)1 << 30)

/* The tensors that a file of a built-in model holds. */
static weight_set *weights_of(arena *a, const char *name, const char *set, const char *prefix)
{
    assay_error err;
    zoo_args args;
    ir_model *m = NULL;
    weight_set *w = weight_set_new(a, "pytorch", 512);
    err_clear(&err);
    zoo_args_init(&args, a);
    assert_int_equal(zoo_args_parse(&args, str_of(set), false, &err), ASSAY_OK);
    const zoo_request q = {.row = zoo_find(str_of(name)), .set = &args, .memory_limit = MEMORY};
    assert_non_null(q.row);
    if (zoo_build(&q, &m, &err) != ASSAY_OK)
        fail_msg("%s %s: %s", name, set, err.message);
    weight_set_file(w, STR("file"), 1);
    for (ir_id id = 0; id < m->values.n; id++) {
        const ir_value *v = ir_value_at(m, id);
        if (!v->constant || !(v->flags & (IR_VALUE_PARAM | IR_VALUE_BUFFER)))
            continue;
        int64_t *dims = ARENA_ARRAY(a, int64_t, (size_t)v->constant->rank + 1);
        int rank = v->constant->rank;
        for (int d = 0; d < rank; d++)
            dims[d] = v->constant->dims[d];
        if (v->flags & IR_VALUE_TRANSPOSED && rank >= 2) {
            int64_t last = dims[rank - 1];
            dims[rank - 1] = dims[rank - 2];
            dims[rank - 2] = last;
        }
        const weight_item item = {.name = str_printf(a, "%s" STR_FMT, prefix, STR_ARG(v->name)),
                                  .stored = STR("float32"),
                                  .role = WEIGHT_ROLE_PARAMETER,
                                  .rank = rank,
                                  .dims = dims,
                                  .n_elems = v->constant->n_elems,
                                  .size_bytes = v->constant->n_elems * 4};
        assert_int_equal(weight_set_add(w, &item, "test", &err), ASSAY_OK);
    }
    ir_model_free(m);
    return w;
}

static recognised recognise(weight_set *w, arena *a)
{
    recognised r;
    assay_error err;
    err_clear(&err);
    if (weights_recognise(w, a, &r, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    return r;
}

static int64_t whole_of(const recognised *r, const char *key, int64_t def)
{
    const zoo_arg *arg = zoo_args_get(&r->args, key);
    return arg ? arg->value.i : def;
}

/* Whether a row may be meant by another name: its weights are the same. */
static bool fits_name(const recognised *r, const char *name)
{
    return r->row && (strcmp(r->row->name, name) == 0 || str_contains(r->others, name));
}

static bool is_image_model(const zoo_row *row)
{
    return str_in_list(str_of(row->task), "classification detection segmentation video pose", ' ');
}

/* Every second row, with its own number of classes and with seven; the others are covered by their families. */
static void test_catalogue(void **state)
{
    (void)state;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < zoo_count(); i += 2) {
        const zoo_row *row = zoo_at(i);
        if (!zoo_names_has(row) || !is_image_model(row))
            continue;
        arena *a = arena_new(MEMORY);
        bool classes = i % 4 == 0;
        weight_set *w = weights_of(a, row->name, classes ? "num_classes=7" : "", "");
        recognised r = recognise(w, a);
        if (!fits_name(&r, row->name) || (classes && whole_of(&r, "num_classes", 0) != 7) ||
            r.args.list.n != classes)
            fail_msg("%s is recognised as %s with %u parameters", row->name,
                     r.row ? r.row->name : "nothing", r.args.list.n);
        tried++;
        arena_free(a);
    }
    assert_true(tried > 80);
}

static void test_parameters(void **state)
{
    static const struct {
        const char *name, *set, *prefix, *key;
        int64_t value;
    } rows[] = {
        {"resnet18", "num_classes=10 in_chans=1", "module.", "in_chans", 1},
        {"resnet50", "num_classes=2", "model.module.", "num_classes", 2},
        {"resnet50", "width_per_group=32", "", "width_per_group", 32},
        {"resnet18", "planes=32", "backbone.", "planes", 32},
        {"vit_b_16", "image_size=384 num_classes=5", "", "image_size", 384},
        {"vit_b_16", "num_layers=7", "_orig_mod.", "num_layers", 7},
        {"yolov8n", "num_classes=3", "", "num_classes", 3},
        {"yolo11s", "num_classes=150", "", "num_classes", 150},
        {"retinanet_resnet50_fpn", "num_classes=4", "", "num_classes", 4},
        {"swin_t", "num_classes=3", "net.", "num_classes", 3},
        {"bert-base-uncased", "", "", "vocab_size", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena *a = arena_new(MEMORY);
        weight_set *w = weights_of(a, rows[i].name, rows[i].set, rows[i].prefix);
        recognised r = recognise(w, a);
        if (!fits_name(&r, rows[i].name) || whole_of(&r, rows[i].key, -1) != rows[i].value ||
            !str_is(r.prefix, strcmp(rows[i].prefix, "_orig_mod.") ? rows[i].prefix : ""))
            fail_msg("%s %s: %s, %s=%lld, prefix '" STR_FMT "'", rows[i].name, rows[i].set,
                     r.row ? r.row->name : "nothing", rows[i].key,
                     (long long)whole_of(&r, rows[i].key, -1), STR_ARG(r.prefix));
        arena_free(a);
    }
}

static void test_depths(void **state)
{
    arena *a = arena_new(MEMORY);
    (void)state;
    weight_set *w = weights_of(a, "resnet50", "layers=1,2,3,1 num_classes=9", "");
    recognised r = recognise(w, a);
    assert_non_null(r.row);
    assert_string_equal(r.row->family, "resnet");
    const zoo_arg *layers = zoo_args_get(&r.args, "layers");
    assert_non_null(layers);
    assert_int_equal(layers->value.n, 4);
    assert_int_equal(layers->value.items[1].i, 2);
    assert_int_equal(layers->value.items[2].i, 3);
    assert_int_equal(whole_of(&r, "num_classes", 0), 9);
    arena_free(a);
}

/* One shape, one name too many, one too few: nothing is guessed. */
static void test_strangers(void **state)
{
    static const int64_t big[] = {5, 5, 5, 5};
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        arena *a = arena_new(MEMORY);
        assay_error err;
        weight_set *w = weights_of(a, kind == 3 ? "mlp" : "resnet18", "", "");
        weight_item *x = &w->items.items[7];
        err_clear(&err);
        if (kind == 0) {
            x->dims = big;
            x->rank = 4;
        } else if (kind == 1) {
            x->name = STR("layer1.0.extra.weight");
        } else if (kind == 2) {
            weight_item more = *x;
            more.name = STR("head.weight");
            assert_int_equal(weight_set_add(w, &more, "test", &err), ASSAY_OK);
        }
        assert_null(recognise(w, a).row);
        arena_free(a);
    }
}

/* Heads that only training uses, counters and optimizer states are no obstacle. */
static void test_more_than_the_model(void **state)
{
    static const int64_t dims[] = {3};
    arena *a = arena_new(MEMORY);
    assay_error err;
    (void)state;
    err_clear(&err);
    weight_set *w = weights_of(a, "inception_v3", "", "");
    const weight_item more[] = {
        {.name = STR("AuxLogits.conv0.conv.weight"), .role = WEIGHT_ROLE_PARAMETER},
        {.name = STR("Mixed_5b.branch1x1.bn.num_batches_tracked"),
         .role = WEIGHT_ROLE_BUFFER,
         .integer = true},
        {.name = STR("optimizer.state.0.exp_avg"), .role = WEIGHT_ROLE_TRAINING},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        weight_item x = more[i];
        x.stored = STR("float32");
        x.rank = 1;
        x.dims = dims;
        x.n_elems = 3;
        assert_int_equal(weight_set_add(w, &x, "test", &err), ASSAY_OK);
    }
    recognised r = recognise(w, a);
    assert_non_null(r.row);
    assert_string_equal(r.row->name, "inception_v3");
    arena_free(a);
}

/* A table of layers of any size. */
static void test_given_row(void **state)
{
    arena *a = arena_new(MEMORY);
    assay_error err;
    recognised r;
    str why;
    zoo_args args;
    (void)state;
    err_clear(&err);
    zoo_args_init(&args, a);
    const char *const size = "table=yolov8 width_multiple=0.125 depth_multiple=0.33 num_classes=2";
    assert_int_equal(zoo_args_parse(&args, str_of(size), false, &err), ASSAY_OK);
    weight_set *w = weights_of(a, "yolov8n", "width_multiple=0.125 num_classes=2", "ema.");
    assert_int_equal(
        weights_recognise_as(w, zoo_find_family(STR("yolo")), &args, a, &r, &why, &err), ASSAY_OK);
    assert_non_null(r.row);
    assert_true(str_is(r.prefix, "ema."));
    assert_true(zoo_args_put(&args, STR("num_classes"), json_of_int(3), false));
    assert_int_equal(
        weights_recognise_as(w, zoo_find_family(STR("yolo")), &args, a, &r, &why, &err), ASSAY_OK);
    assert_null(r.row);
    assert_true(why.n > 0);
    arena_free(a);
}

/* ---- names of other packages ---- */

/* Replaces the first such word of every name. */
static void rename_all(weight_set *w, arena *a, const char *from, const char *to)
{
    for (uint32_t i = 0; i < w->items.n; i++) {
        weight_item *x = &w->items.items[i];
        const char *at = strstr(x->name.p, from);
        if (at)
            x->name = str_printf(a, "%.*s%s%s", (int)(at - x->name.p), x->name.p, to,
                                 at + strlen(from));
    }
}

typedef struct renamed {
    const char *name, *set;
    const char *pairs[2 * 8]; /* our words and theirs */
    const char *package;      /* or NULL: known by its head */
} renamed;

/* Our names with the words of another package. */
static void test_other_names(void **state)
{
    static const renamed rows[] = {
        {"vit_b_16",
         "num_classes=3 num_layers=2",
         {"encoder.layers.encoder_layer_", "blocks.", ".ln_1", ".norm1", ".ln_2", ".norm2",
          "self_attention.in_proj_", "attn.qkv.", "self_attention.out_proj", "attn.proj", "mlp.0",
          "mlp.fc1", "mlp.3", "mlp.fc2", "heads.head", "head"},
         NULL},
        {"resnet18", "num_classes=3", {"fc.", "head.fc."}, "MMPretrain"},
        {"densenet121",
         "num_classes=3",
         {".norm1.", ".norm.1.", ".norm2.", ".norm.2.", ".conv1.", ".conv.1.", ".conv2.",
          ".conv.2."},
         "torchvision before 0.4"},
        {"bert-base-uncased",
         "architectures=BertForSequenceClassification num_labels=5",
         {"LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta"},
         "older transformers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena *a = arena_new(MEMORY);
        weight_set *w = weights_of(a, rows[i].name, rows[i].set, "");
        for (int k = 0; k < 16 && rows[i].pairs[k]; k += 2)
            rename_all(w, a, rows[i].pairs[k], rows[i].pairs[k + 1]);
        if (i == 0) {
            rename_all(w, a, "class_token", "cls_token");
            rename_all(w, a, "encoder.pos_embedding", "pos_embed");
            rename_all(w, a, "conv_proj", "patch_embed.proj");
            rename_all(w, a, "encoder.ln", "norm");
        }
        recognised r = recognise(w, a);
        if (!fits_name(&r, rows[i].name) || !r.names_of)
            fail_msg("%s is recognised as %s", rows[i].name, r.row ? r.row->name : "nothing");
        if (rows[i].package)
            assert_string_equal(r.names_of, rows[i].package);
        arena_free(a);
    }
}

/* Blocks that are numbered otherwise are found by their order; a head as a convolution is one of the same weights. One
 * other shape, or another order, is another model. */
static void test_order(void **state)
{
    static const int64_t wide[] = {1280, 960, 1, 1};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        arena *a = arena_new(MEMORY);
        weight_set *w = weights_of(a, "mobilenet_v3_large", "num_classes=3", "");
        for (uint32_t i = 0; i < w->items.n; i++) {
            weight_item *x = &w->items.items[i];
            if (str_is(x->name, "classifier.0.weight")) {
                x->dims = wide;
                x->rank = 4;
            }
            const char *last = strrchr(x->name.p, '.');
            x->name = i == 0 ? STR("conv_stem.weight")
                             : str_printf(a, "blocks.%.*s%s", (int)(last - x->name.p), x->name.p,
                                          last);
        }
        if (kind == 1)
            w->items.items[40].dims = (const int64_t[]){7, 7, 7, 7};
        if (kind == 2) {
            weight_item first = w->items.items[5];
            w->items.items[5] = w->items.items[6];
            w->items.items[6] = first;
        }
        recognised r = recognise(w, a);
        assert_int_equal(r.row != NULL, kind == 0);
        if (r.row)
            assert_string_equal(r.row->name, "mobilenet_v3_large");
        arena_free(a);
    }
}

/* The head of a language model tells its class; other widths and depths are derived. */
static void test_heads(void **state)
{
    static const struct {
        const char *name, *set;
        uint32_t differing;
    } rows[] = {
        {"bert-large-cased", "architectures=BertForSequenceClassification num_labels=3", 2},
        {"bert-base-uncased", "architectures=BertForTokenClassification num_labels=9", 2},
        {"bert-base-uncased",
         "architectures=BertForQuestionAnswering hidden_size=128 num_hidden_layers=2 "
         "num_attention_heads=2 intermediate_size=512",
         5},
        {"roberta-base", "architectures=RobertaForSequenceClassification num_labels=7", 2},
        {"distilbert-base-uncased", "architectures=DistilBertForMaskedLM", 1},
        {"gpt2", "architectures=GPT2Model", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        arena *a = arena_new(MEMORY);
        recognised r = recognise(weights_of(a, rows[i].name, rows[i].set, ""), a);
        assert_non_null(r.row);
        assert_non_null(zoo_args_get(&r.args, "architectures"));
        if (r.args.list.n < rows[i].differing || r.args.list.n > rows[i].differing + 1)
            fail_msg("%s %s: %s with %u parameters", rows[i].name, rows[i].set, r.row->name,
                     r.args.list.n);
        arena_free(a);
    }
}

/* A size of training that the strides do not divide is enlarged; one that nothing builds from gives the inventory. */
static void test_size_of_training(void **state)
{
    static const struct {
        int64_t stated, used;
    } sizes[] = {{640, 640}, {672, 704}, {-64, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assay_error err;
        stored_model m = {.arena = arena_new(MEMORY), .memory_limit = MEMORY};
        weight_set *w = weights_of(m.arena, "yolov5n6", "num_classes=2", "");
        err_clear(&err);
        notes_init(&m.said, m.arena);
        w->image_size = sizes[i].stated;
        assert_int_equal(stored_take_weights(&m, w, &err), ASSAY_OK);
        assert_int_equal(m.row != NULL, sizes[i].used != 0);
        assert_int_equal(m.ir != NULL, sizes[i].used == 0);
        if (m.row)
            assert_int_equal(zoo_args_get(&m.config, "image_size")->value.i, sizes[i].used);
        else
            assert_string_equal(m.said.list.items[0].code, "layers-differ");
        ir_model_free(m.ir);
        arena_free(m.arena);
    }
}

int run_test_recognise(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_more_than_the_model),
        cmocka_unit_test(test_given_row),
        cmocka_unit_test(test_size_of_training),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_heads),
    };
    return cmocka_run_group_tests_name("recognise", tests, NULL, NULL);
}

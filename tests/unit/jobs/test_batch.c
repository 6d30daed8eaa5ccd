/* Which dimension of a model's inputs is its batch: small models of every kind, as exporters write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jobs/measure.h"
#include "jobs/subject.h"
#include "rewrite/rebatch.h"
#include "support/net.h"
#include "support/values.h"

typedef struct wanted {
    void (*build)(net *n);
    bool present;
    batch_certainty certainty;
    int64_t fixed;
    int axes[4]; /* of the inputs there are */
    const char *why;
} wanted;

static assay_status again(void *ctx, ir_model **out, assay_error *err)
{
    (void)err;
    net n = net_open(17);
    ((const wanted *)ctx)->build(&n);
    *out = n.m;
    arena_free(n.scratch);
    return ASSAY_OK;
}

static batch_rule find(const wanted *w, net *n)
{
    batch_rule rule;
    w->build(n);
    const batch_question q = {.model = n->m, .again = again, .ctx = (void *)(uintptr_t)w};
    assert_int_equal(batch_find(&q, n->scratch, &rule, &n->err), ASSAY_OK);
    return rule;
}

static void check(const wanted *w)
{
    net n = net_open(17);
    batch_rule rule = find(w, &n);
    if (w->why && !str_contains_any_case(rule.why, w->why))
        fail_msg("'%.*s' does not say '%s'", STR_ARG(rule.why), w->why);
    assert_int_equal(rule.present, w->present);
    assert_int_equal(rule.certainty, w->certainty);
    assert_int_equal(rule.fixed, w->fixed);
    for (uint32_t i = 0; i < rule.n && i < 4; i++)
        assert_int_equal(rule.axes[i], w->axes[i]);
    net_close(&n);
}

/* Lists outlive the function that builds. */
static ir_attr kept(net *n, const char *name, int count, const int64_t *v)
{
    return at_ints(name, count, arena_copy(n->m->arena, v, sizeof *v * (size_t)count));
}

#define CONV ATTRS(kept(n, "kernel_shape", DIMS(3, 3)), kept(n, "pads", DIMS(1, 1, 1, 1)))

static ir_id convolve(net *n, ir_id x, int64_t channels)
{
    return net_op(n, 0, "Conv", IDS(x, net_weight(n, 0, DIMS(8, channels, 3, 3))), CONV);
}

static ir_id classify(net *n, ir_id x)
{
    x = net_op(n, 0, "GlobalAveragePool", IDS(x), NO_ATTRS);
    x = net_op(n, 0, "Flatten", IDS(x), NO_ATTRS);
    return net_op(n, 0, "MatMul", IDS(x, net_weight(n, 0, DIMS(8, 10))), NO_ATTRS);
}

/* ---- images ---- */

static void fixed_images(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(1, 3, 32, 32));
    x = convolve(n, x, 3);
    x = net_op(n, 0, "GlobalAveragePool", IDS(x), NO_ATTRS);
    const int64_t flat[] = {1, 8};
    x = net_op(n, 0, "Reshape", IDS(x, net_ints(n, 0, IR_INT64, DIMS(2), flat)), NO_ATTRS);
    net_outputs(n, 0, IDS(x));
}

static void named_images(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(-1, 3, 32, 32));
    net_call(n, x, 0, "batch_size");
    net_outputs(n, 0, IDS(classify(n, convolve(n, x, 3))));
}

static void open_images(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(-1, 3, 32, 32));
    net_call(n, x, 0, "unk__17");
    net_outputs(n, 0, IDS(classify(n, convolve(n, x, 3))));
}

/* [3,64,64] to [1,3,64,64]: as detectors take one picture. */
static void one_image(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(3, 64, 64));
    x = net_op(n, 0, "Unsqueeze", IDS(x, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0})),
               NO_ATTRS);
    net_outputs(n, 0, IDS(classify(n, convolve(n, x, 3))));
}

static void one_open_image(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_UINT8, DIMS(3, -1, -1));
    net_call(n, x, 1, "height");
    net_call(n, x, 2, "width");
    x = net_op(n, 0, "Cast", IDS(x), ATTRS(at_int("to", 1)));
    x = net_op(n, 0, "Sub", IDS(x, net_weight(n, 0, DIMS(3, 1, 1))), NO_ATTRS);
    net_outputs(n, 0, IDS(x));
}

/* Nothing binds the planes together; they are one picture all the same. */
static void loose_image(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(3, 64, 64));
    net_outputs(n, 0, IDS(net_op(n, 0, "Relu", IDS(x), NO_ATTRS)));
}

/* Grey pictures [1,28,28] that become [1,1,28,28]: here the first dimension is the batch. */
static void grey_images(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(1, 28, 28));
    x = net_op(n, 0, "Unsqueeze", IDS(x, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){1})),
               NO_ATTRS);
    net_outputs(n, 0, IDS(classify(n, convolve(n, x, 1))));
}

/* Windows that are cut with the batch written into the middle: no other size works. */
static void stubborn_images(net *n)
{
    const int64_t cut[] = {8, 1, 3, 128};
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(1, 3, 32, 32));
    x = net_op(n, 0, "Add", IDS(x, net_weight(n, 0, DIMS(1, 3, 32, 32))), NO_ATTRS);
    x = net_op(n, 0, "Reshape", IDS(x, net_ints(n, 0, IR_INT64, DIMS(4), cut)), NO_ATTRS);
    x = net_op(n, 0, "Add", IDS(x, net_weight(n, 0, DIMS(8, 1, 3, 128))), NO_ATTRS);
    net_outputs(n, 0, IDS(x));
}

static void test_images(void **state)
{
    (void)state;
    check(&(wanted){fixed_images, true, BATCH_TRIED, 1, {0}, "outputs"});
    check(&(wanted){named_images, true, BATCH_NAMED, -1, {0}, "'batch_size'"});
    check(&(wanted){open_images, true, BATCH_TRIED, -1, {0}, NULL});
    check(&(wanted){one_image, false, BATCH_TRIED, -1, {-1}, "image"});
    check(&(wanted){one_open_image, false, BATCH_TRIED, -1, {-1}, "image"});
    check(&(wanted){loose_image, false, BATCH_TRIED, -1, {-1}, "image"});
    check(&(wanted){grey_images, true, BATCH_TRIED, 1, {0}, NULL});
    check(&(wanted){stubborn_images, true, BATCH_LIKELY, 1, {0}, "no other size"});
}

/* ---- time ---- */

static ir_id look_up(net *n, ir_id ids)
{
    return net_op(n, 0, "Gather", IDS(net_weight(n, 0, DIMS(100, 16)), ids), NO_ATTRS);
}

static ir_id walk(net *n, ir_id x, ir_id state)
{
    return net_ops(n, 0, "GRU",
                   IDS(x, net_weight(n, 0, DIMS(1, 60, 16)), net_weight(n, 0, DIMS(1, 60, 20)),
                       IR_NONE, IR_NONE, state),
                   ATTRS(at_int("hidden_size", 20)), 2);
}

/* Steps first: [12, 2] ids, as a GRU takes them; the state that it begins with was written for two. */
static void steps_first(net *n)
{
    ir_id x = look_up(n, net_input(n, 0, "x", IR_INT64, DIMS(12, 2)));
    ir_id y = walk(n, x, net_weight(n, 0, DIMS(1, 2, 20)));
    net_outputs(n, 0, IDS(y, y + 1));
}

/* Samples first: [2, 12] ids that are turned for the GRU. */
static void samples_first(net *n)
{
    ir_id x = look_up(n, net_input(n, 0, "x", IR_INT64, DIMS(2, 12)));
    x = net_op(n, 0, "Transpose", IDS(x), ATTRS(kept(n, "perm", DIMS(1, 0, 2))));
    ir_id y = walk(n, x, IR_NONE);
    net_outputs(n, 0, IDS(y, y + 1));
}

/* One new vector and a state [layers, batch, units] beside it. */
static void with_state(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(1, 16));
    ir_id h = net_input(n, 0, "h", IR_FLOAT32, DIMS(1, 1, 20));
    x = net_op(n, 0, "Unsqueeze", IDS(x, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0})),
               NO_ATTRS);
    ir_id y = walk(n, x, h);
    net_outputs(n, 0, IDS(y, y + 1));
}

/* A state that a weight adds to for two samples: dimension 1 is the batch, and stays as it is. */
static void stubborn_steps(net *n)
{
    ir_id x = look_up(n, net_input(n, 0, "x", IR_INT64, DIMS(12, 2)));
    x = net_op(n, 0, "Add", IDS(x, net_weight(n, 0, DIMS(1, 2, 16))), NO_ATTRS);
    ir_id y = walk(n, x, IR_NONE);
    net_outputs(n, 0, IDS(y, y + 1));
}

/* [6, 2, 16]: every step is compared with every other. */
static void attention_over_steps(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(6, 2, 16));
    ir_id q = net_op(n, 0, "Transpose", IDS(x), ATTRS(kept(n, "perm", DIMS(1, 0, 2))));
    ir_id k = net_op(n, 0, "Transpose", IDS(x), ATTRS(kept(n, "perm", DIMS(1, 2, 0))));
    ir_id s = net_op(n, 0, "Softmax", IDS(net_op(n, 0, "MatMul", IDS(q, k), NO_ATTRS)), NO_ATTRS);
    ir_id y = net_op(n, 0, "MatMul", IDS(s, q), NO_ATTRS);
    net_outputs(n, 0,
                IDS(net_op(n, 0, "Transpose", IDS(y), ATTRS(kept(n, "perm", DIMS(1, 0, 2))))));
}

/* All of it is summed up: there is nothing that samples lie along. */
static void summed_up(net *n)
{
    ir_id x = net_input(n, 0, "points", IR_FLOAT32, DIMS(40, 5));
    x = net_op(n, 0, "MatMul", IDS(x, net_weight(n, 0, DIMS(5, 8))), NO_ATTRS);
    net_outputs(n, 0, IDS(net_op(n, 0, "ReduceMax", IDS(x), ATTRS(kept(n, "axes", DIMS(0))))));
}

static void called_time(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(-1, -1, 16));
    net_call(n, x, 0, "seq_len");
    net_call(n, x, 1, "unk__2");
    net_outputs(n, 0, IDS(net_op(n, 0, "Relu", IDS(x), NO_ATTRS)));
}

static void test_time(void **state)
{
    (void)state;
    check(&(wanted){steps_first, true, BATCH_TRIED, 2, {1}, "dimension 1"});
    check(&(wanted){samples_first, true, BATCH_TRIED, 2, {0}, "dimension 0"});
    check(&(wanted){with_state, true, BATCH_TRIED, 1, {0, 1}, NULL});
    check(&(wanted){stubborn_steps, true, BATCH_LIKELY, 2, {1}, "steps of a recurrence"});
    check(&(wanted){attention_over_steps, true, BATCH_TRIED, 2, {1}, "dimension 1"});
    check(&(wanted){summed_up, false, BATCH_TRIED, -1, {-1}, "output"});
    check(&(wanted){called_time, true, BATCH_TRIED, -1, {1}, "dimension 1"});
}

/* ---- several inputs ---- */

static void ids_and_mask(net *n)
{
    ir_id ids = net_input(n, 0, "input_ids", IR_INT64, DIMS(1, 12));
    ir_id mask = net_input(n, 0, "attention_mask", IR_INT64, DIMS(1, 12));
    ir_id m = net_op(n, 0, "Cast", IDS(mask), ATTRS(at_int("to", 1)));
    m = net_op(n, 0, "Unsqueeze", IDS(m, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){2})),
               NO_ATTRS);
    net_outputs(n, 0, IDS(net_op(n, 0, "Mul", IDS(look_up(n, ids), m), NO_ATTRS)));
}

/* Five prompts beside a picture: they are what it is compared with, not its batch. */
static void other_lead(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(2, 16));
    ir_id p = net_input(n, 0, "prompts", IR_FLOAT32, DIMS(5, 16));
    p = net_op(n, 0, "Transpose", IDS(p), ATTRS(kept(n, "perm", DIMS(1, 0))));
    net_outputs(n, 0, IDS(net_op(n, 0, "MatMul", IDS(x, p), NO_ATTRS)));
}

/* A rate, one length each, and samples. */
static void lists(net *n)
{
    ir_id x = net_input(n, 0, "x", IR_FLOAT32, DIMS(4, 16));
    ir_id lengths = net_input(n, 0, "lengths", IR_FLOAT32, DIMS(4));
    ir_id rate = net_input(n, 0, "sr", IR_FLOAT32, SCALAR);
    ir_id step = net_input(n, 0, "step", IR_FLOAT32, DIMS(1));
    lengths = net_op(n, 0, "Unsqueeze",
                     IDS(lengths, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){1})),
                     NO_ATTRS);
    x = net_op(n, 0, "Div", IDS(x, lengths), NO_ATTRS);
    x = net_op(n, 0, "Mul", IDS(x, rate), NO_ATTRS);
    net_outputs(n, 0, IDS(net_op(n, 0, "Mul", IDS(x, step), NO_ATTRS)));
}

static void only_lists(net *n)
{
    ir_id x = net_input(n, 0, "audio", IR_FLOAT32, DIMS(16000));
    net_outputs(n, 0, IDS(net_op(n, 0, "Relu", IDS(x), NO_ATTRS)));
}

static void named_list(net *n)
{
    ir_id x = net_input(n, 0, "user", IR_INT64, DIMS(-1));
    net_call(n, x, 0, "batch");
    net_outputs(n, 0, IDS(look_up(n, x)));
}

/* Keys [1, heads, past, size] beside one new token. */
static void keys_first(net *n)
{
    ir_id ids = net_input(n, 0, "input_ids", IR_INT64, DIMS(1, 1));
    ir_id past = net_input(n, 0, "past_key_values.0.key", IR_FLOAT32, DIMS(1, 1, 7, 16));
    ir_id k = net_op(n, 0, "Unsqueeze",
                     IDS(look_up(n, ids), net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){1})),
                     NO_ATTRS);
    net_outputs(n, 0, IDS(net_op(n, 0, "Concat", IDS(past, k), ATTRS(at_int("axis", 2)))));
}

/* Keys and values in one: [2, batch, heads, past, size]. */
static void keys_and_values(net *n)
{
    ir_id ids = net_input(n, 0, "input_ids", IR_INT64, DIMS(1, 1));
    ir_id past = net_input(n, 0, "past_0", IR_FLOAT32, DIMS(2, 1, 1, 7, 16));
    ir_id k = net_op(n, 0, "Unsqueeze",
                     IDS(look_up(n, ids), net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){1})),
                     NO_ATTRS);
    ir_id first = net_op(n, 0, "Gather", IDS(past, net_int(n, 0, 0)), NO_ATTRS);
    net_outputs(n, 0, IDS(net_op(n, 0, "Concat", IDS(first, k), ATTRS(at_int("axis", 2)))));
}

/* Silero's: a batch by name, second in the state. */
static void named_state(net *n)
{
    ir_id x = net_input(n, 0, "input", IR_FLOAT32, DIMS(-1, 16));
    ir_id h = net_input(n, 0, "state", IR_FLOAT32, DIMS(1, -1, 20));
    ir_id sr = net_input(n, 0, "sr", IR_INT64, SCALAR);
    net_call(n, x, 0, "batch");
    net_call(n, h, 1, "batch");
    (void)sr;
    x = net_op(n, 0, "Unsqueeze", IDS(x, net_ints(n, 0, IR_INT64, DIMS(1), (const int64_t[]){0})),
               NO_ATTRS);
    ir_id y = walk(n, x, h);
    net_outputs(n, 0, IDS(y, y + 1));
}

static void test_several(void **state)
{
    (void)state;
    check(&(wanted){ids_and_mask, true, BATCH_TRIED, 1, {0, 0}, NULL});
    check(&(wanted){other_lead, true, BATCH_TRIED, 2, {0, -1}, NULL});
    check(&(wanted){lists, true, BATCH_TRIED, 4, {0, 0, -1, -1}, NULL});
    check(&(wanted){only_lists, false, BATCH_TRIED, -1, {-1}, "two dimensions"});
    check(&(wanted){named_list, true, BATCH_NAMED, -1, {0}, NULL});
    check(&(wanted){keys_first, true, BATCH_TRIED, 1, {0, 0}, NULL});
    check(&(wanted){keys_and_values, true, BATCH_TRIED, 1, {0, 1}, NULL});
    check(&(wanted){named_state, true, BATCH_NAMED, -1, {0, 1, -1}, NULL});
}

/* ---- what is done with it ---- */

/* Shapes at another batch: of the copy that is run. */
static void infer_at(const wanted *w, int64_t batch, net *n)
{
    const batch_rule rule = find(w, n);
    assert_int_equal(rewrite_rebatch(n->m, rule.axes, batch, &n->err), ASSAY_OK);
    const infer_options with = {.batch = batch, .batch_axes = rule.axes};
    if (infer_run(n->m, &with, n->scratch, &n->r, &n->err) != ASSAY_OK)
        fail_msg("%s", n->err.message);
}

static void test_rebatched(void **state)
{
    (void)state;
    net n = net_open(17);
    infer_at(&(wanted){.build = fixed_images}, 5, &n);
    net_is(&n, ir_graph_at(n.m, 0)->outputs.items[0], IR_FLOAT32, DIMS(5, 8));
    net_close(&n);
    n = net_open(17);
    infer_at(&(wanted){.build = steps_first}, 5, &n);
    net_is(&n, ir_graph_at(n.m, 0)->outputs.items[0], IR_FLOAT32, DIMS(12, 1, 5, 20));
    net_is(&n, ir_graph_at(n.m, 0)->outputs.items[1], IR_FLOAT32, DIMS(1, 5, 20));
    net_close(&n);
    n = net_open(17);
    infer_at(&(wanted){.build = with_state}, 5, &n);
    net_is(&n, ir_graph_at(n.m, 0)->outputs.items[1], IR_FLOAT32, DIMS(1, 5, 20));
    net_close(&n);
}

static ir_id state_of(const net *n)
{
    for (ir_id id = 0; id < n->m->nodes.n; id++)
        if (str_is(ir_node_at(n->m, id)->op, "GRU"))
            return ir_node_at(n->m, id)->inputs[5];
    return IR_NONE;
}

/* [1, 2, 3] with content: the same for both samples, or not. */
static void begin_with(net *n, const float *content)
{
    ir_id x = look_up(n, net_input(n, 0, "x", IR_INT64, DIMS(12, 2)));
    ir_id h = net_weight(n, 0, DIMS(1, 2, 3));
    ir_tensor *t = (ir_tensor *)(uintptr_t)ir_value_at(n->m, h)->constant;
    t->storage = IR_DATA_INLINE;
    t->bytes = arena_copy(n->m->arena, content, sizeof *content * 6);
    ir_id y = net_ops(n, 0, "GRU",
                      IDS(x, net_weight(n, 0, DIMS(1, 9, 16)), net_weight(n, 0, DIMS(1, 9, 3)),
                          IR_NONE, IR_NONE, h),
                      ATTRS(at_int("hidden_size", 3)), 2);
    net_outputs(n, 0, IDS(y, y + 1));
}

static void test_states(void **state)
{
    (void)state;
    const float same[] = {1, 2, 3, 1, 2, 3}, other[] = {1, 2, 3, 4, 5, 6};
    const int axes[] = {1};
    const float five[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    net n = net_open(17);
    begin_with(&n, same);
    assert_int_equal(rewrite_rebatch(n.m, axes, 5, &n.err), ASSAY_OK);
    const ir_tensor *t = ir_value_at(n.m, state_of(&n))->constant;
    assert_int_equal(t->dims[1], 5);
    assert_memory_equal(t->bytes, five, sizeof five);
    net_close(&n);
    n = net_open(17);
    begin_with(&n, other);
    assert_int_equal(rewrite_rebatch(n.m, axes, 5, &n.err), ASSAY_OK);
    assert_int_equal(ir_value_at(n.m, state_of(&n))->constant->dims[1], 2);
    net_close(&n);
}

/* What no recurrence begins with, as a hostile file may have it: its bytes are not those of its elements. */
static void assert_state_stays(ir_dtype t, uint64_t bytes)
{
    const float zeros[6] = {0};
    const int axes[] = {1};
    net n = net_open(17);
    begin_with(&n, zeros);
    ir_tensor *h = (ir_tensor *)(uintptr_t)ir_value_at(n.m, state_of(&n))->constant;
    h->dtype = t;
    h->size_bytes = bytes;
    h->bytes = ARENA_ARRAY(n.m->arena, uint8_t, bytes);
    assert_int_equal(rewrite_rebatch(n.m, axes, 5, &n.err), ASSAY_OK);
    assert_ptr_equal(ir_value_at(n.m, state_of(&n))->constant, h);
    net_close(&n);
}

static void test_odd_states(void **state)
{
    (void)state;
    assert_state_stays(IR_STRING, 6000); /* text of a thousand bytes each */
    assert_state_stays(IR_INT4, 6);
    assert_state_stays(IR_FLOAT32, 48);
}

/* ---- through the API ---- */

static assay_status analyse_at(const char *model, const char *batch, assay_result **out,
                               assay_error *err)
{
    assay_model *m = NULL;
    assay_options *o = assay_options_new();
    assert_non_null(o);
    assert_int_equal(assay_model_open(model, &m, err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "batch", batch, err), ASSAY_OK);
    assay_status s = assay_analyze(m, o, out, err);
    assay_model_free(m);
    assay_options_free(o);
    return s;
}

static void test_api(void **state)
{
    (void)state;
    assay_result *p = NULL;
    assay_error err = {0};
    assert_int_equal(analyse_at("tests/models/gru_tagger.onnx", "7", &p, &err), ASSAY_OK);
    assert_true(number_at(p, "config.batch.present") == 1);
    assert_string_equal(text_at(p, "config.batch.certainty"), "tried");
    assert_true(number_at(p, "config.batch.axes.0.axis") == 1);
    assert_false(number_at(p, "config.batch.axes.1.axis") >= 0);
    assay_result_free(p);
    assert_int_equal(analyse_at("tests/models/fasterrcnn_320.onnx", "2", &p, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'input'"));
    assert_non_null(strstr(err.message, "--input-shape"));
    assert_int_equal(analyse_at("tests/models/fasterrcnn_320.onnx", "1", &p, &err), ASSAY_OK);
    assert_true(number_at(p, "config.batch.present") == 0);
    assay_result_free(p);
    assert_int_equal(analyse_at("lenet", "2", &p, &err), ASSAY_OK);
    assert_string_equal(text_at(p, "config.batch.certainty"), "built");
    assay_result_free(p);
}

int run_test_batch(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),  cmocka_unit_test(test_time),
        cmocka_unit_test(test_several), cmocka_unit_test(test_rebatched),
        cmocka_unit_test(test_states),  cmocka_unit_test(test_odd_states),
        cmocka_unit_test(test_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

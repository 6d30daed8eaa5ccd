/* The fusion partitioner and the patterns: on every built-in architecture and every fixture, by every strategy,
 * what fuse.h promises is checked by brute force that shares nothing with it but the cost of a node; known
 * counts of known models; and small graphs with forks, outputs, loops and formulas written oddly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/fuse.h"
#include "base/map.h"
#include "formats/onnx_read.h"
#include "ir/verify.h"
#include "rewrite/inline.h"
#include "rewrite/lower.h"
#include "support/cpu.h"
#include "support/net.h"
#include "zoo/zoo.h"

enum { MEMORY = 1 << 30 };

typedef struct road {
    ir_model *m;
    arena *a;
    profile *p;
    infer_result *r;
    counted *of;
    flow f;
    pattern_list patterns;
} road;

static void must(assay_status s, const char *name, const assay_error *err)
{
    if (s != ASSAY_OK)
        fail_msg("%s: status %d: %s", name, s, err->message);
}

static void study(road *w, const char *name)
{
    assay_error err;
    err_clear(&err);
    w->a = arena_new(MEMORY);
    w->p = profile_new(MEMORY);
    w->of = ARENA_NEW(w->a, counted);
    must(infer_run(w->m, NULL, w->a, &w->r, &err), name, &err);
    must(count_run(w->r, NULL, w->p, w->of, &err), name, &err);
    must(flow_build(w->r, w->of, w->p, IR_UNDEFINED, &w->f, &err), name, &err);
    must(pattern_find(&w->f, &w->patterns, &err), name, &err);
}

static road from_zoo(const char *name)
{
    assay_error err;
    road w = {0};
    const zoo_request q = {.row = zoo_find(str_of(name)), .memory_limit = MEMORY};
    err_clear(&err);
    assert_non_null(q.row);
    must(zoo_build(&q, &w.m, &err), name, &err);
    study(&w, name);
    return w;
}

static road from_file(const char *name)
{
    char path[256];
    assay_error err;
    road w = {0};
    err_clear(&err);
    snprintf(path, sizeof path, "tests/models/%s.onnx", name);
    must(onnx_read_file(path, NULL, &w.m, &err), name, &err);
    must(rewrite_inline(w.m, &err), name, &err);
    must(ir_verify(w.m, &err), name, &err);
    study(&w, name);
    return w;
}

static road from_net(net *n)
{
    road w = {.m = n->m};
    study(&w, "net");
    return w;
}

static void leave(road *w, bool model_too)
{
    profile_free(w->p);
    arena_free(w->a);
    if (model_too)
        ir_model_free(w->m);
}

static fuse_partition cut(road *w, fuse_strategy s)
{
    assay_error err;
    fuse_partition g;
    must(fuse_run(&w->f, &w->patterns, s, &g, &err), "fuse", &err);
    return g;
}

/* ---- brute force ---- */

typedef struct truth {
    const road *w;
    uint32_t *layer_of;        /* by node */
    uint32_t *first, *readers; /* layers that read a value */
    bool *output;              /* of a graph */
} truth;

static truth know(road *w)
{
    const ir_model *m = w->m;
    uint32_t n = w->p->n_layers;
    truth t = {.w = w};
    t.layer_of = ARENA_ARRAY(w->a, uint32_t, m->nodes.n + 1u);
    t.first = ARENA_ARRAY(w->a, uint32_t, m->values.n + 2u);
    memset(t.layer_of, 0xff, sizeof(uint32_t) * m->nodes.n);
    for (uint32_t k = 0; k < n; k++)
        t.layer_of[w->of->nodes[k]] = k;
    t.output = ARENA_ARRAY(w->a, bool, m->values.n + 1u);
    for (ir_id g = 0; g < m->graphs.n; g++)
        for (uint32_t k = 0; k < ir_graph_at(m, g)->outputs.n; k++)
            if (ir_graph_at(m, g)->outputs.items[k] != IR_NONE)
                t.output[ir_graph_at(m, g)->outputs.items[k]] = true;
    uint32_t total = 0;
    for (uint32_t k = 0; k < n; k++)
        total += ir_node_at(m, w->of->nodes[k])->n_inputs;
    t.readers = ARENA_ARRAY(w->a, uint32_t, total + 1u);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < n; k++) {
            const ir_node *node = ir_node_at(m, w->of->nodes[k]);
            for (uint32_t i = 0; i < node->n_inputs; i++)
                if (node->inputs[i] != IR_NONE && pass == 0)
                    t.first[node->inputs[i] + 2]++;
                else if (node->inputs[i] != IR_NONE)
                    t.readers[t.first[node->inputs[i] + 1]++] = k;
        }
        for (uint32_t v = 2; pass == 0 && v <= m->values.n + 1; v++)
            t.first[v] += t.first[v - 1];
    }
    return t;
}

/* Whether a buffer must be written: an alias of it is an output, is read in another group, or by nobody. */
static bool written(const truth *t, const fuse_partition *g, ir_id v, uint32_t group, bool *read)
{
    const road *w = t->w;
    if (t->output[v])
        return true;
    for (uint32_t k = t->first[v]; k < t->first[v + 1]; k++) {
        uint32_t layer = t->readers[k];
        const ir_node *n = ir_node_at(w->m, w->of->nodes[layer]);
        const op_row *row = w->r->rows[w->of->nodes[layer]];
        *read = true;
        if (g->group_of[layer] != group)
            return true;
        bool unused;
        if (row && (row->flags & OPF_VIEW) && n->inputs[0] == v && n->outputs[0] != IR_NONE &&
            written(t, g, n->outputs[0], group, &unused))
            return true;
    }
    return false;
}

/* The buffer behind a value: what is viewed, however often. */
static ir_id buffer_of(const truth *t, ir_id v)
{
    for (;;) {
        ir_id node = ir_value_at(t->w->m, v)->producer;
        if (node == IR_NONE || t->layer_of[node] == UINT32_MAX)
            return v;
        const op_row *row = t->w->r->rows[node];
        const ir_node *n = ir_node_at(t->w->m, node);
        if (!row || !(row->flags & OPF_VIEW) || n->outputs[0] != v || n->inputs[0] == IR_NONE)
            return v;
        v = n->inputs[0];
    }
}

static uint64_t brute_boundary(const truth *t, const fuse_partition *g, uint32_t group)
{
    enum { MOST = 4096 };
    static ir_id seen[MOST];
    static uint64_t most[MOST];
    const road *w = t->w;
    uint32_t n_seen = 0;
    uint64_t sum = 0, times = 1;
    for (uint32_t k = g->first[group]; k < g->first[group + 1]; k++) {
        uint32_t layer = g->members[k];
        ir_id node = w->of->nodes[layer];
        const ir_node *n = ir_node_at(w->m, node);
        const op_info **in = calloc(n->n_inputs + 1, sizeof *in);
        op_info *out = calloc(n->n_outputs + 1, sizeof *out);
        op_cost cost = {.read = calloc(n->n_inputs + 1, 8), .written = calloc(n->n_outputs + 1, 8)};
        op_ctx c;
        infer_context(w->r, node, in, out, &c);
        count_node(w->r, &c, IR_UNDEFINED, &cost);
        times = w->p->layers[layer].times;
        for (uint32_t i = 0; i < n->n_inputs; i++) {
            if (n->inputs[i] == IR_NONE)
                continue;
            ir_id b = buffer_of(t, n->inputs[i]);
            ir_id maker = ir_value_at(w->m, b)->producer;
            uint32_t from = maker == IR_NONE ? UINT32_MAX : t->layer_of[maker];
            if (from != UINT32_MAX && g->group_of[from] == group)
                continue;
            uint32_t s = 0;
            while (s < n_seen && seen[s] != b)
                s++;
            assert_true(s < MOST);
            if (s == n_seen) {
                seen[n_seen] = b;
                most[n_seen++] = 0;
            }
            if (cost.read[i] > most[s])
                most[s] = cost.read[i];
        }
        for (uint32_t o = 0; o < n->n_outputs; o++) {
            bool read = false;
            if (n->outputs[o] == IR_NONE || written(t, g, n->outputs[o], group, &read) || !read)
                sum += cost.written[o];
        }
        free(in);
        free(out);
        free(cost.read);
        free(cost.written);
    }
    for (uint32_t s = 0; s < n_seen; s++)
        sum += most[s];
    return sum * times;
}

/* Each layer in exactly one group, all of a group in one graph. */
static void check_members(const road *w, const fuse_partition *g, const char *name)
{
    uint32_t n = w->p->n_layers;
    uint8_t *times = calloc(n + 1, 1);
    for (uint32_t group = 0; group < g->n_groups; group++) {
        if (g->first[group] >= g->first[group + 1])
            fail_msg("%s: group %u is empty", name, group);
        for (uint32_t k = g->first[group]; k < g->first[group + 1]; k++) {
            times[g->members[k]]++;
            assert_int_equal(g->group_of[g->members[k]], group);
            assert_int_equal(ir_node_at(w->m, w->of->nodes[g->members[k]])->graph,
                             ir_node_at(w->m, w->of->nodes[g->members[g->first[group]]])->graph);
        }
    }
    for (uint32_t k = 0; k < n; k++)
        if (times[k] != 1)
            fail_msg("%s: layer %u is in %u groups", name, k, times[k]);
    free(times);
}

/* A cycle of groups is also what a group that is not convex makes: leaving it and coming back passes
 * through another. Kahn's algorithm must take every group. */
static void check_acyclic(const truth *t, const fuse_partition *g, const char *name)
{
    const road *w = t->w;
    uint32_t *waits = calloc(g->n_groups + 1, sizeof *waits);
    uint32_t *ready = calloc(g->n_groups + 1, sizeof *ready), n_ready = 0, done = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t at = 0; pass == 0 ? at < w->p->n_layers : done < n_ready;) {
            uint32_t from = pass == 0 ? 0 : g->first[ready[done]];
            uint32_t to = pass == 0 ? 1 : g->first[ready[done] + 1];
            for (uint32_t k = from; k < to; k++) {
                uint32_t layer = pass == 0 ? at : g->members[k];
                const ir_node *n = ir_node_at(w->m, w->of->nodes[layer]);
                for (uint32_t o = 0; o < n->n_outputs; o++)
                    for (uint32_t r = n->outputs[o] == IR_NONE ? 0 : t->first[n->outputs[o]];
                         n->outputs[o] != IR_NONE && r < t->first[n->outputs[o] + 1]; r++) {
                        uint32_t on = g->group_of[t->readers[r]];
                        if (on == g->group_of[layer])
                            continue;
                        if (pass == 0)
                            waits[on]++;
                        else if (--waits[on] == 0)
                            ready[n_ready++] = on;
                    }
            }
            at++;
            done += pass;
        }
        for (uint32_t group = 0; pass == 0 && group < g->n_groups; group++)
            if (!waits[group])
                ready[n_ready++] = group;
    }
    if (done != g->n_groups)
        fail_msg("%s: %u of %u groups are in a cycle", name, g->n_groups - done, g->n_groups);
    free(waits);
    free(ready);
}

static void check_figures(road *w, const fuse_partition *g, fuse_strategy s, const char *name)
{
    assay_error err;
    profile_fusion *f;
    uint64_t flops = 0, macs = 0, nodes = 0;
    must(fuse_figures(&w->f, g, s, w->p, &f, &err), name, &err);
    assert_int_equal(f->n_groups, g->n_groups);
    for (uint32_t k = 0; k < f->n_groups; k++) {
        const fusion_group *x = &f->groups[k];
        flops += x->flops;
        macs += x->macs;
        nodes += x->n_nodes;
        assert_true(x->kind.n > 0);
        uint32_t level = 0;
        for (uint32_t d = 0; d < x->n_depends_on; d++) {
            assert_true(x->depends_on[d] < k);
            uint32_t on = f->groups[x->depends_on[d]].level + 1;
            level = on > level ? on : level;
        }
        assert_int_equal(x->level, level);
    }
    assert_int_equal(flops, w->p->total_flops);
    assert_int_equal(macs, w->p->total_macs);
    assert_int_equal(nodes, w->p->n_layers);
    assert_true(f->launches_after <= f->launches_before);
    assert_true(f->bytes_after <= f->bytes_before);
    assert_true(f->critical_groups <= f->levels);
}

static void check(road *w, const char *name)
{
    truth t = know(w);
    for (int s = 0; s < FUSE_STRATEGIES; s++) {
        assay_error err;
        fuse_partition g = cut(w, (fuse_strategy)s);
        uint64_t *bytes = ARENA_ARRAY(w->a, uint64_t, g.n_groups + 1u);
        check_members(w, &g, name);
        check_acyclic(&t, &g, name);
        must(fuse_boundary(&w->f, &g, bytes, &err), name, &err);
        for (uint32_t group = 0; group < g.n_groups; group++)
            if (bytes[group] != brute_boundary(&t, &g, group))
                fail_msg("%s, %s: group %u at '%.*s' has a boundary of %llu bytes, not %llu", name,
                         fuse_strategy_name((fuse_strategy)s), group,
                         STR_ARG(w->p->layers[g.members[g.first[group]]].name),
                         (unsigned long long)bytes[group],
                         (unsigned long long)brute_boundary(&t, &g, group));
        check_figures(w, &g, (fuse_strategy)s, name);
    }
}

static void every_architecture_keeps_the_promises(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < zoo_count(); k++) {
        road w = from_zoo(zoo_at(k)->name);
        check(&w, zoo_at(k)->name);
        leave(&w, true);
    }
}

static const char *const fixtures[] = {
    "resnet18",        "resnet50",    "mobilenet_v2",        "mobilenet_v3_small",
    "efficientnet_b0", "densenet121", "shufflenet_v2",       "vit_b_16",
    "swin_t",          "swin_v2_t",   "convnext_tiny",       "r3d_18",
    "ssdlite320",      "gru_tagger",  "deeplabv3_mobilenet", "fasterrcnn_320",
    "lstm_text",       "unet",        "transformer_encoder",
};

static void every_fixture_keeps_the_promises(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof fixtures / sizeof *fixtures; k++) {
        road w = from_file(fixtures[k]);
        check(&w, fixtures[k]);
        leave(&w, true);
    }
}

/* ---- known counts ---- */

static void resnet50_has_73_and_57_groups(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        road w = file ? from_file("resnet50") : from_zoo("resnet50");
        assert_int_equal(cut(&w, FUSE_NONE).n_groups, w.p->n_layers);
        assert_int_equal(cut(&w, FUSE_CONVENTIONAL).n_groups, 73);
        assert_int_equal(cut(&w, FUSE_AGGRESSIVE).n_groups, 57);
        leave(&w, true);
    }
}

static uint32_t named(const road *w, const char *name)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->patterns.n; k++)
        n += strcmp(w->patterns.items[k].name, name) == 0;
    return n;
}

static void patterns_of_exporters_are_counted(void **state)
{
    static const struct {
        const char *file, *name;
        uint32_t count;
    } known[] = {
        {"vit_b_16", "attention", 12},
        {"vit_b_16", "layernorm", 25},
        {"vit_b_16", "gelu", 12},
        {"swin_t", "attention", 12},
        {"swin_t", "layernorm", 29},
        {"swin_t", "gelu", 12},
        {"swin_v2_t", "attention", 12},
        {"swin_v2_t", "layernorm", 29},
        {"swin_v2_t", "gelu", 12},
        {"swin_v2_t", "l2norm", 24},
        {"convnext_tiny", "layernorm", 23},
        {"convnext_tiny", "gelu", 18},
        {"transformer_encoder", "attention", 3},
        {"transformer_encoder", "layernorm", 6},
        {"transformer_encoder", "gelu", 3},
        {"efficientnet_b0", "silu", 49},
        {"efficientnet_b0", "squeeze-excite", 16},
        {"mobilenet_v3_small", "hardswish", 19},
        {"mobilenet_v3_small", "squeeze-excite", 9},
        {"unet", "groupnorm", 3},
        {"unet", "silu", 3},
        {"resnet50", "layernorm", 0},
        {"densenet121", "squeeze-excite", 0},
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        road w = from_file(known[k].file);
        if (named(&w, known[k].name) != known[k].count)
            fail_msg("%s has %u %s, not %u", known[k].file, known[k].count, known[k].name,
                     named(&w, known[k].name));
        leave(&w, true);
    }
}

/* One architecture of each family, with the newest operators and as opset 13 can say it: the same names, as
 * often. */
static void old_operators_have_the_same_names(void **state)
{
    static const char *const names[] = {"attention", "layernorm", "rmsnorm",       "groupnorm",
                                        "gelu",      "silu",      "hardswish",     "mish",
                                        "rotary",    "gated-mlp", "squeeze-excite"};
    enum { N = sizeof names / sizeof *names };
    const char *before = "";
    uint32_t lowered = 0, found = 0;
    (void)state;
    for (uint32_t k = 0; k < zoo_count(); k++) {
        const zoo_row *row = zoo_at(k);
        uint32_t count[N];
        assay_error err;
        if (strcmp(row->family, before) == 0)
            continue;
        before = row->family;
        road w = from_zoo(row->name);
        for (int i = 0; i < N; i++)
            count[i] = named(&w, names[i]);
        ir_model *m = w.m;
        leave(&w, false);
        if (rewrite_lower(m, 13, &err) == ASSAY_OK) {
            w = (road){.m = m};
            study(&w, row->name);
            for (int i = 0; i < N; i++)
                if (named(&w, names[i]) != count[i])
                    fail_msg("%s has %u %s, but %u at opset 13", row->name, count[i], names[i],
                             named(&w, names[i]));
                else
                    found += count[i];
            lowered++;
            leave(&w, false);
        }
        ir_model_free(m);
    }
    assert_true(lowered > 60 && found > 1000);
}

/* ---- small graphs ---- */

#define IN(n, name, ...) net_input(&(n), 0, name, IR_FLOAT32, DIMS(__VA_ARGS__))
#define OP(n, op, ...)   net_op(&(n), 0, op, IDS(__VA_ARGS__), NO_ATTRS)

static ir_id number(net *n, double v)
{
    const ir_attr a = {.name = STR("value_float"), .kind = IR_ATTR_FLOAT, .n = 1, .v.f = v};
    return net_op(n, 0, "Constant", NO_IDS, 1, &a);
}

static uint32_t group_count(net *n, ir_id out, fuse_strategy s)
{
    net_outputs(n, 0, IDS(out));
    road w = from_net(n);
    check(&w, "net");
    uint32_t groups = cut(&w, s).n_groups;
    leave(&w, false);
    return groups;
}

static ir_id conv(net *n, ir_id x, int64_t channels)
{
    ir_id w = net_weight(n, 0, DIMS(channels, channels, 1, 1));
    return net_op(n, 0, "Conv", IDS(x, w), NO_ATTRS);
}

static void a_fork_keeps_what_both_read(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id c = conv(&n, IN(n, "x", 1, 4, 8, 8), 4);
    ir_id y = OP(n, "Add", OP(n, "Relu", c), OP(n, "Sigmoid", c));
    /* conv | relu, sigmoid and add, which are one elementwise kernel */
    assert_int_equal(group_count(&n, y, FUSE_CONVENTIONAL), 2);
    net_close(&n);
}

static void an_output_is_not_hidden(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id c = conv(&n, IN(n, "x", 1, 4, 8, 8), 4), y = OP(n, "Relu", c);
    net_outputs(&n, 0, IDS(c, y));
    road w = from_net(&n);
    check(&w, "net");
    assert_int_equal(cut(&w, FUSE_AGGRESSIVE).n_groups, 2);
    leave(&w, false);
    net_close(&n);
}

/* x -> conv a -> relu -> conv b -> add(., conv a): joining the add to conv a would make a cycle. */
static void a_residual_makes_no_cycle(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id a = conv(&n, IN(n, "x", 1, 4, 8, 8), 4);
    ir_id b = conv(&n, OP(n, "Relu", a), 4);
    ir_id y = OP(n, "Add", a, b);
    assert_int_equal(group_count(&n, y, FUSE_AGGRESSIVE), 2); /* a | relu, b, add */
    net_close(&n);
}

/* A norm joins the residual sum although the next residual reads it too: add, norm | relu, add. Not when somebody
 * reads the sum before the norm runs, nor when the norm has another operand that is computed. */
static void a_norm_joins_the_sum_that_it_reads_first(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        net n = net_open(17);
        ir_id g = net_weight(&n, 0, DIMS(8)), x = IN(n, "x", 2, 4, 8), y = IN(n, "y", 2, 4, 8);
        ir_id scale = form == 2 ? OP(n, "Sqrt", IN(n, "s", 8)) : g;
        ir_id sum = OP(n, "Add", x, y), early = form == 1 ? OP(n, "Relu", sum) : IR_NONE;
        ir_id norm = OP(n, "LayerNormalization", sum, scale);
        ir_id late = form == 1 ? early : form == 3 ? sum : OP(n, "Relu", norm);
        ir_id out = OP(n, "Add", form == 3 ? norm : sum, late);
        static const uint32_t groups[] = {2, 3, 4, 2};
        assert_int_equal(
            group_count(&n, form == 1 ? OP(n, "Mul", out, norm) : out, FUSE_CONVENTIONAL),
            groups[form]);
        net_close(&n);
    }
}

static void views_come_along_when_both_sides_join(void **state)
{
    (void)state;
    net n = net_open(17);
    const int64_t shape[] = {1, 256};
    ir_id c = conv(&n, IN(n, "x", 1, 4, 8, 8), 4);
    ir_id r = OP(n, "Reshape", c, net_ints(&n, 0, IR_INT64, DIMS(2), shape));
    assert_int_equal(group_count(&n, OP(n, "Relu", r), FUSE_CONVENTIONAL), 1);
    net_close(&n);
}

static void a_small_operand_does_not_lead_a_large_result(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = IN(n, "x", 1, 4, 8, 8), s = conv(&n, IN(n, "s", 1, 4, 1, 1), 4);
    assert_int_equal(group_count(&n, OP(n, "Mul", x, s), FUSE_CONVENTIONAL), 2);
    net_close(&n);
}

static bool has_pattern(net *n, ir_id out, const char *name)
{
    net_outputs(n, 0, IDS(out));
    road w = from_net(n);
    check(&w, "net");
    bool found = named(&w, name) == 1;
    leave(&w, false);
    return found;
}

static void gelu_in_any_order(void **state)
{
    (void)state;
    for (int form = 0; form < 6; form++) {
        net n = net_open(17);
        ir_id x = IN(n, "x", 2, 8), half = number(&n, 0.5), one = number(&n, 1), y;
        ir_id inner = form & 1 ? OP(n, "Div", x, number(&n, 1.4142135))
                               : OP(n, "Mul", number(&n, 0.70710678), x);
        ir_id erf = OP(n, "Erf", inner);
        ir_id sum = form & 1 ? OP(n, "Add", one, erf) : OP(n, "Add", erf, one);
        if (form < 2)
            y = OP(n, "Mul", OP(n, "Mul", x, sum), half);
        else if (form < 4)
            y = OP(n, "Mul", sum, OP(n, "Mul", half, x));
        else
            y = OP(n, "Mul", x, OP(n, "Mul", half, sum));
        assert_true(has_pattern(&n, y, "gelu"));
        net_close(&n);
    }
}

static void what_is_nearly_gelu_is_not(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 3; wrong++) {
        net n = net_open(17);
        ir_id x = IN(n, "x", 2, 8), z = IN(n, "z", 2, 8);
        ir_id erf = OP(n, "Erf", OP(n, "Mul", x, number(&n, wrong == 0 ? 0.9 : 0.70710678)));
        ir_id sum = OP(n, "Add", erf, number(&n, wrong == 1 ? 2 : 1));
        ir_id y = OP(n, "Mul", OP(n, "Mul", wrong == 2 ? z : x, sum), number(&n, 0.5));
        assert_false(has_pattern(&n, y, "gelu"));
        net_close(&n);
    }
}

/* Interior that somebody else reads cannot go into a kernel. */
static void a_pattern_that_is_read_inside_is_none(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = IN(n, "x", 2, 8), s = OP(n, "Sigmoid", x), y = OP(n, "Mul", x, s);
    net_outputs(&n, 0, IDS(y, s));
    road w = from_net(&n);
    check(&w, "net");
    assert_int_equal(named(&w, "silu"), 0);
    leave(&w, false);
    net_close(&n);
}

static ir_id mean(net *n, ir_id x)
{
    static const int64_t axes[] = {-1};
    return net_op(n, 0, "ReduceMean", IDS(x), ATTRS(at_ints("axes", 1, axes)));
}

/* x * rsqrt(mean(x^2) + eps) * g with every way to write a root and a square. */
static void rms_norm_in_any_form(void **state)
{
    (void)state;
    for (int form = 0; form < 12; form++) {
        net n = net_open(17);
        ir_id x = IN(n, "x", 2, 4, 8), g = net_weight(&n, 0, DIMS(8)), y;
        ir_id square = form & 1 ? OP(n, "Mul", x, x) : OP(n, "Pow", x, number(&n, 2));
        ir_id v = OP(n, "Add", mean(&n, square), number(&n, 1e-6));
        if (form % 3 == 0)
            y = OP(n, "Div", x, OP(n, "Sqrt", v));
        else if (form % 3 == 1)
            y = OP(n, "Mul", x, OP(n, "Reciprocal", OP(n, "Sqrt", v)));
        else
            y = OP(n, "Mul", OP(n, "Pow", v, number(&n, -0.5)), x);
        if (form >= 6)
            y = net_op(&n, 0, "Cast", IDS(y), ATTRS(at_int("to", 1)));
        assert_true(has_pattern(&n, OP(n, "Mul", g, y), "rmsnorm"));
        net_close(&n);
    }
}

static void layer_norm_computed_twice_is_one(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = IN(n, "x", 2, 4, 8), m = mean(&n, x);
    ir_id d = OP(n, "Sub", x, m), e = OP(n, "Sub", x, m);
    ir_id v = OP(n, "Add", mean(&n, OP(n, "Pow", d, number(&n, 2))), number(&n, 1e-5));
    ir_id y = OP(n, "Div", e, OP(n, "Sqrt", v));
    y = OP(n, "Add", OP(n, "Mul", y, net_weight(&n, 0, DIMS(8))), net_weight(&n, 0, DIMS(8)));
    assert_true(has_pattern(&n, y, "layernorm"));
    net_close(&n);
}

/* Hugging Face's rotate_half: x cos + concat(-x2, x1) sin. */
static void rotary_as_transformers_writes_it(void **state)
{
    (void)state;
    net n = net_open(17);
    const int64_t at[] = {0, 4, 8, 3};
    ir_id x = IN(n, "x", 1, 2, 5, 8), c = IN(n, "cos", 1, 1, 5, 8), s = IN(n, "sin", 1, 1, 5, 8);
    ir_id k[4];
    for (int i = 0; i < 4; i++)
        k[i] = net_ints(&n, 0, IR_INT64, DIMS(1), &at[i]);
    ir_id first = OP(n, "Slice", x, k[0], k[1], k[3]), second = OP(n, "Slice", x, k[1], k[2], k[3]);
    ir_id turned = net_op(&n, 0, "Concat", IDS(OP(n, "Neg", second), first),
                          ATTRS(at_int("axis", 3)));
    ir_id y = OP(n, "Add", OP(n, "Mul", x, c), OP(n, "Mul", turned, s));
    assert_true(has_pattern(&n, y, "rotary"));
    net_close(&n);
}

static ir_id linear(net *n, ir_id x, int64_t in, int64_t out)
{
    return net_op(n, 0, "MatMul", IDS(x, net_weight(n, 0, DIMS(in, out))), NO_ATTRS);
}

static void a_gated_mlp_is_found(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = IN(n, "x", 2, 8), gate = linear(&n, x, 8, 16), up = linear(&n, x, 8, 16);
    ir_id y = OP(n, "Mul", OP(n, "Mul", gate, OP(n, "Sigmoid", gate)), up);
    net_outputs(&n, 0, IDS(linear(&n, y, 16, 8)));
    road w = from_net(&n);
    check(&w, "net");
    assert_int_equal(named(&w, "gated-mlp"), 1);
    assert_int_equal(named(&w, "silu"), 1);
    assert_int_equal(cut(&w, FUSE_AGGRESSIVE).n_groups, 2); /* gate and up | down */
    assert_int_equal(cut(&w, FUSE_CONVENTIONAL).n_groups,
                     4); /* gate | up | silu and product | down */
    leave(&w, false);
    net_close(&n);
}

/* A loop's body is another graph: nothing crosses its edge. */
static void bodies_are_kept_apart(void **state)
{
    (void)state;
    net n = net_open(17);
    ir_id x = IN(n, "x", 1, 4, 8, 8), c = conv(&n, x, 4);
    ir_id body = net_graph(&n, 0);
    ir_id trip = net_formal(&n, body, "i"), cond = net_formal(&n, body, "c");
    ir_id carried = net_formal(&n, body, "v");
    ir_id inner = net_op(&n, body, "Relu", IDS(net_op(&n, body, "Add", IDS(carried, c), NO_ATTRS)),
                         NO_ATTRS);
    ir_id go = net_op(&n, body, "Identity", IDS(cond), NO_ATTRS);
    (void)trip;
    net_outputs(&n, body, IDS(go, inner));
    ir_id y = net_op(&n, 0, "Loop", IDS(net_int(&n, 0, 3), net_bool(&n, 0, true), c),
                     ATTRS(at_graph("body", body)));
    net_outputs(&n, 0, IDS(OP(n, "Relu", y)));
    road w = from_net(&n);
    check(&w, "net");
    leave(&w, false);
    net_close(&n);
}

/* ---- size ---- */

static double seconds_for(uint32_t nodes, bool hub)
{
    net n = net_open(17);
    /* the families that formulas look for must be there, or none is tried */
    ir_id x = IN(n, "x", 1, 8), last = x, h = OP(n, "Erf", mean(&n, OP(n, "Tanh", x)));
    for (uint32_t k = 0; k < nodes; k++)
        last = hub ? OP(n, "Add", last, h) : OP(n, k % 2 ? "Mul" : "Add", last, last);
    net_outputs(&n, 0, IDS(last));
    road w = from_net(&n);
    double from = cpu_seconds();
    cut(&w, FUSE_AGGRESSIVE);
    assay_error err;
    pattern_list again;
    must(pattern_find(&w.f, &again, &err), "size", &err);
    double s = cpu_seconds() - from;
    leave(&w, false);
    net_close(&n);
    return s;
}

static void a_hundred_thousand_nodes_are_near_linear(void **state)
{
    (void)state;
    for (int hub = 0; hub < 2; hub++) {
        double small = seconds_for(10000, hub), large = seconds_for(100000, hub);
        /* ten times the nodes; quadratic would be a hundred times */
        if (large > 40 * small)
            fail_msg("10,000 nodes took %.3f s, 100,000 %.3f s", small, large);
    }
}

int run_test_fuse(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet50_has_73_and_57_groups),
        cmocka_unit_test(patterns_of_exporters_are_counted),
        cmocka_unit_test(old_operators_have_the_same_names),
        cmocka_unit_test(a_fork_keeps_what_both_read),
        cmocka_unit_test(an_output_is_not_hidden),
        cmocka_unit_test(a_residual_makes_no_cycle),
        cmocka_unit_test(a_norm_joins_the_sum_that_it_reads_first),
        cmocka_unit_test(views_come_along_when_both_sides_join),
        cmocka_unit_test(a_small_operand_does_not_lead_a_large_result),
        cmocka_unit_test(gelu_in_any_order),
        cmocka_unit_test(what_is_nearly_gelu_is_not),
        cmocka_unit_test(a_pattern_that_is_read_inside_is_none),
        cmocka_unit_test(rms_norm_in_any_form),
        cmocka_unit_test(layer_norm_computed_twice_is_one),
        cmocka_unit_test(rotary_as_transformers_writes_it),
        cmocka_unit_test(a_gated_mlp_is_found),
        cmocka_unit_test(bodies_are_kept_apart),
        cmocka_unit_test(every_fixture_keeps_the_promises),
        cmocka_unit_test(every_architecture_keeps_the_promises),
        cmocka_unit_test(a_hundred_thousand_nodes_are_near_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

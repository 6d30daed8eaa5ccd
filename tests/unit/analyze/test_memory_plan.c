/* The memory plan through the public functions: what is done in which order adds up to what is alive, no two
 * buffers that live together overlap, snapshots hold what is alive, and a saved result tells the same. */
#include "support/values.h"
#include <assay/assay.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static assay_result *plan_of(const char *model, const char *at)
{
    assay_error err;
    assay_model *m = NULL;
    assay_result *p = NULL;
    assay_options *o = assay_options_new();
    assert_int_equal(assay_model_open(model, &m, &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "allocations", NULL, &err), ASSAY_OK);
    if (at)
        assert_int_equal(assay_options_set(o, "at", at, &err), ASSAY_OK);
    if (assay_analyze(m, o, &p, &err) != ASSAY_OK)
        fail_msg("%s: %s", model, err.message);
    assay_options_free(o);
    assay_model_free(m);
    return p;
}

typedef struct plan_head {
    uint64_t activations_peak_bytes, planned_bytes;
    double fragmentation;
    const char *peak_node;
    size_t n_moments, n_witnesses, n_slots, n_events, n_snapshots;
} plan_head;

static plan_head head_of(const assay_result *p)
{
    return (plan_head){.activations_peak_bytes = whole_at(p, "memory_plan.activations_peak_bytes"),
                       .planned_bytes = whole_at(p, "memory_plan.planned_bytes"),
                       .fragmentation = number_at(p, "memory_plan.fragmentation"),
                       .peak_node = text_at(p, "memory_plan.peak_node"),
                       .n_moments = count_at(p, "memory_plan.timeline"),
                       .n_witnesses = count_at(p, "memory_plan.witnesses"),
                       .n_slots = count_at(p, "memory_plan.slots"),
                       .n_events = count_at(p, "memory_plan.events"),
                       .n_snapshots = count_at(p, "memory_plan.snapshots")};
}

typedef struct plan_event {
    const char *kind, *node, *value, *of;
    size_t step, slot;
    uint64_t bytes, offset, live_bytes;
} plan_event;

#define EVENT "memory_plan.events.%zu."
static plan_event event_at(const assay_result *p, size_t i)
{
    assert_true(i < count_at(p, "memory_plan.events"));
    return (plan_event){.kind = text_at(p, EVENT "kind", i),
                        .node = text_at(p, EVENT "node", i),
                        .value = text_at(p, EVENT "value", i),
                        .of = text_at(p, EVENT "of", i),
                        .step = whole_at(p, EVENT "step", i),
                        .slot = whole_at(p, EVENT "slot", i),
                        .bytes = whole_at(p, EVENT "bytes", i),
                        .offset = whole_at(p, EVENT "offset", i),
                        .live_bytes = whole_at(p, EVENT "live_bytes", i)};
}

typedef struct plan_slot {
    const char *value;
    uint64_t offset, bytes;
    size_t first_step, last_step;
} plan_slot;

#define SLOT "memory_plan.slots.%zu."
static plan_slot slot_at(const assay_result *p, size_t i)
{
    assert_true(i < count_at(p, "memory_plan.slots"));
    return (plan_slot){.value = text_at(p, SLOT "value", i),
                       .offset = whole_at(p, SLOT "offset", i),
                       .bytes = whole_at(p, SLOT "bytes", i),
                       .first_step = whole_at(p, SLOT "from", i),
                       .last_step = whole_at(p, SLOT "to", i)};
}

typedef struct plan_snapshot {
    const char *kind, *node;
    size_t step, n_values;
    uint64_t live_bytes, values_left_out;
} plan_snapshot;

#define SNAPSHOT "memory_plan.snapshots.%zu."
static plan_snapshot snapshot_at(const assay_result *p, size_t i)
{
    assert_true(i < count_at(p, "memory_plan.snapshots"));
    return (plan_snapshot){.kind = text_at(p, SNAPSHOT "kind", i),
                           .node = text_at(p, SNAPSHOT "node", i),
                           .step = whole_at(p, SNAPSHOT "step", i),
                           .n_values = count_at(p, SNAPSHOT "values", i),
                           .live_bytes = whole_at(p, SNAPSHOT "live_bytes", i),
                           .values_left_out = whole_at(p, SNAPSHOT "values_left_out", i)};
}

/* ---- of every model ---- */

static bool apart(const plan_slot *a, const plan_slot *b)
{
    bool in_time = a->last_step < b->first_step || b->last_step < a->first_step;
    return in_time || a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
}

static void slots_do_not_overlap(const assay_result *p, const plan_head *m)
{
    for (size_t i = 0; i < m->n_slots; i++) {
        plan_slot a = slot_at(p, i);
        assert_true(a.first_step <= a.last_step && a.last_step < m->n_moments);
        assert_true(a.offset + a.bytes <= m->planned_bytes);
        for (size_t k = 0; a.bytes && k < i; k++) {
            plan_slot b = slot_at(p, k);
            assert_true(!b.bytes || apart(&a, &b));
        }
    }
}

/* Allocated once, shared only while it is there, freed once. */
static void take_event(const plan_event *e, const plan_slot *s, int *state, uint64_t *live)
{
    assert_true(s->bytes == e->bytes && s->offset == e->offset);
    if (strcmp(e->kind, "allocate") == 0) {
        assert_true(*state == 0 && e->step == s->first_step);
        assert_string_equal(e->value, s->value);
        *state = 1;
        *live += e->bytes;
    } else if (strcmp(e->kind, "free") == 0) {
        assert_true(*state == 1 && e->step == s->last_step);
        *state = 2;
        *live -= e->bytes;
    } else {
        assert_true(strcmp(e->kind, "reuse") == 0 || strcmp(e->kind, "alias") == 0);
        assert_true(*state == 1 && e->of[0]);
    }
    assert_int_equal(*live, e->live_bytes);
}

/* Before its first free, a step has everything alive that its layer needs. */
static void is_the_moments(const assay_result *p, size_t step, uint64_t live)
{
    assert_true(step < count_at(p, "memory_plan.timeline"));
    assert_int_equal(whole_at(p, "memory_plan.timeline.%zu.live_bytes", step), live);
}

static void events_add_up(const assay_result *p, const plan_head *m)
{
    int *states = calloc(m->n_slots + 1, sizeof *states);
    uint64_t live = 0;
    size_t checked = 0; /* steps */
    for (size_t i = 0; i < m->n_events; i++) {
        plan_event e = event_at(p, i);
        bool frees = strcmp(e.kind, "free") == 0;
        for (; checked < e.step || (frees && checked == e.step); checked++)
            is_the_moments(p, checked, live);
        plan_slot s = slot_at(p, e.slot);
        take_event(&e, &s, &states[e.slot], &live);
    }
    assert_int_equal(live, 0);
    for (size_t i = 0; i < m->n_slots; i++)
        assert_int_equal(states[i], 2);
    assert_int_equal(checked, m->n_moments);
    free(states);
}

static void snapshot_adds_up(const assay_result *p, size_t index)
{
    plan_snapshot s = snapshot_at(p, index);
    uint64_t sum = 0, before = UINT64_MAX;
    for (size_t i = 0; i < s.n_values; i++) {
        uint64_t bytes = whole_at(p, SNAPSHOT "values.%zu.bytes", index, i);
        assert_true(bytes <= before);
        before = bytes;
        sum += bytes;
    }
    assert_int_equal(s.values_left_out, 0);
    assert_int_equal(sum, s.live_bytes);
    is_the_moments(p, s.step, s.live_bytes);
}

static void snapshots_add_up(const assay_result *p, const plan_head *m)
{
    unsigned starts = 0, peaks = 0, ends = 0;
    for (size_t i = 0; i < m->n_snapshots; i++) {
        plan_snapshot s = snapshot_at(p, i);
        snapshot_adds_up(p, i);
        assert_true(i == 0 || s.step >= snapshot_at(p, i - 1).step);
        starts += strcmp(s.kind, "start") == 0 && s.step == 0;
        ends += strcmp(s.kind, "end") == 0 && s.step == m->n_moments - 1;
        peaks += strcmp(s.kind, "peak") == 0 && s.live_bytes == m->activations_peak_bytes;
    }
    assert_true(starts == 1 && ends == 1 && peaks == 1);
}

static void the_plan_of_a_model_adds_up(void **state)
{
    static const char *const models[] = {
        "lenet",
        "googlenet",
        "gpt2",
        "sd15-unet",
        "tests/models/resnet50.onnx",
        "tests/models/densenet121.onnx",
        "tests/models/gru_tagger.onnx",
        "tests/models/transformer_encoder.onnx",
        "tests/models/fasterrcnn_320.onnx",
        "tests/cli/models/symbolic.onnx",
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        assay_result *p = plan_of(models[i], NULL);
        plan_head m = head_of(p);
        assert_int_equal(m.n_moments, count_at(p, "layers"));
        assert_true(m.n_events > 0 && m.planned_bytes >= m.activations_peak_bytes);
        slots_do_not_overlap(p, &m);
        events_add_up(p, &m);
        snapshots_add_up(p, &m);
        assay_result_free(p);
    }
}

/* ---- of one that is known by heart ---- */

static void lenets_events_are_these(void **state)
{
    /* 1×6×28×28 floats, pooled to 14×14; 1×16×10×10, pooled to 5×5; 120, 84, 10 floats. */
    static const struct {
        size_t step;
        const char *kind, *value, *of;
        uint64_t bytes, live;
    } expected[] = {
        {0, "allocate", "output", "", 40, 40},
        {0, "allocate", "conv1_out", "", 18816, 18856},
        {1, "reuse", "relu1_out", "conv1_out", 18816, 18856},
        {2, "allocate", "pool1_out", "", 4704, 23560},
        {2, "free", "conv1_out", "", 18816, 4744},
        {3, "allocate", "conv2_out", "", 6400, 11144},
        {3, "free", "pool1_out", "", 4704, 6440},
        {4, "reuse", "relu2_out", "conv2_out", 6400, 6440},
        {5, "allocate", "pool2_out", "", 1600, 8040},
        {5, "free", "conv2_out", "", 6400, 1640},
        {6, "alias", NULL, "pool2_out", 1600, 1640},
        {7, "allocate", "fc1_out", "", 480, 2120},
        {7, "free", "pool2_out", "", 1600, 520},
        {8, "reuse", NULL, "fc1_out", 480, 520},
        {9, "allocate", "fc2_out", "", 336, 856},
        {9, "free", "fc1_out", "", 480, 376},
        {10, "reuse", NULL, "fc2_out", 336, 376},
        {11, "free", "output", "", 40, 336},
        {11, "free", "fc2_out", "", 336, 0},
    };
    (void)state;
    assay_result *p = plan_of("lenet", "fc1");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        plan_event e = event_at(p, i);
        assert_int_equal(e.step, expected[i].step);
        assert_string_equal(e.kind, expected[i].kind);
        if (expected[i].value)
            assert_string_equal(e.value, expected[i].value);
        assert_string_equal(e.of, expected[i].of);
        assert_int_equal(e.bytes, expected[i].bytes);
        assert_int_equal(e.live_bytes, expected[i].live);
    }
    assert_int_equal(count_at(p, "memory_plan.events"), sizeof expected / sizeof *expected);
    plan_head m = head_of(p);
    assert_int_equal(m.activations_peak_bytes, 23560);
    assert_string_equal(m.peak_node, "pool1");
    assert_string_equal(text_at(p, "memory_plan.witnesses.1.value"), "pool1_out");
    assert_string_equal(text_at(p, "memory_plan.witnesses.1.producer"), "pool1");
    assert_int_equal(m.n_witnesses, 3);
    assay_result_free(p);
}

static size_t find_asked(const assay_result *p)
{
    plan_head m = head_of(p);
    for (size_t i = 0; i < m.n_snapshots; i++)
        if (strcmp(snapshot_at(p, i).kind, "asked") == 0)
            return i;
    fail_msg("nobody answered");
    return 0;
}

static void a_moment_may_be_asked_for(void **state)
{
    static const char *const ways[] = {"fc1", "fc1_out", "7"};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assay_result *p = plan_of("lenet", ways[i]);
        plan_snapshot s = snapshot_at(p, find_asked(p));
        assert_int_equal(s.step, 7);
        assert_string_equal(s.node, "fc1");
        assert_int_equal(s.live_bytes, 2120);
        assert_string_equal(text_at(p, SNAPSHOT "values.0.value", find_asked(p)), "pool2_out");
        assert_int_equal(s.n_values, 3);
        assay_result_free(p);
    }
}

static void a_moment_that_is_not_there_is_said(void **state)
{
    static const char *const wrong[] = {"fc9", "12", "99999999999999999999999"};
    assay_error err;
    assay_model *m = NULL;
    (void)state;
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assay_options *o = assay_options_new();
        assay_result *p = NULL;
        assert_int_equal(assay_options_set(o, "at", wrong[i], &err), ASSAY_OK);
        assert_int_equal(assay_analyze(m, o, &p, &err), ASSAY_ERR_USAGE);
        assert_null(p);
        assert_non_null(strstr(err.message, wrong[i]));
        if (i == 0)
            assert_non_null(strstr(err.message, "'fc"));
        assay_options_free(o);
    }
    assay_options *o = assay_options_new();
    for (int i = 0; i < 64; i++)
        assert_int_equal(assay_options_set(o, "at", "fc1", &err), ASSAY_OK);
    assert_int_equal(assay_options_set(o, "at", "fc1", &err), ASSAY_ERR_USAGE);
    assert_int_equal(assay_options_set(o, "at", "", &err), ASSAY_ERR_USAGE);
    assay_options_free(o);
    assay_model_free(m);
}

/* ---- what was not asked for, what was saved ---- */

static void only_what_was_asked_for_is_listed(void **state)
{
    assay_error err;
    assay_model *m = NULL;
    assay_result *p = NULL;
    (void)state;
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    plan_head head = head_of(p);
    assert_true(head.n_moments == 12 && head.n_witnesses == 3);
    assert_true(head.n_slots == 0 && head.n_events == 0 && head.n_snapshots == 0);
    assay_result_free(p);
    assay_model_free(m);
}

static char *json_of(const assay_result *p, size_t *n)
{
    char *text = NULL;
    assay_error err;
    assert_int_equal(assay_result_write(p, "json", NULL, &text, n, &err), ASSAY_OK);
    return text;
}

static void same_events(const assay_result *p, const assay_result *q)
{
    for (size_t i = 0; i < head_of(p).n_events; i++) {
        plan_event a = event_at(p, i), b = event_at(q, i);
        assert_string_equal(a.kind, b.kind);
        assert_string_equal(a.node, b.node);
        assert_string_equal(a.value, b.value);
        assert_string_equal(a.of, b.of);
        assert_true(a.step == b.step && a.slot == b.slot && a.bytes == b.bytes &&
                    a.offset == b.offset && a.live_bytes == b.live_bytes);
    }
}

static void a_saved_result_tells_the_same(void **state)
{
    assay_error err;
    assay_result *p = plan_of("resnet18", "maxpool"), *q = NULL;
    size_t n, again;
    (void)state;
    char *text = json_of(p, &n);
    assert_int_equal(assay_result_from_json(text, n, "text", "profile", &q, &err), ASSAY_OK);
    plan_head a = head_of(p), b = head_of(q);
    assert_true(a.n_events == b.n_events && a.n_snapshots == b.n_snapshots &&
                a.n_slots == b.n_slots && a.fragmentation == b.fragmentation);
    same_events(p, q);
    snapshots_add_up(q, &b);
    events_add_up(q, &b);
    char *twice = json_of(q, &again);
    assert_int_equal(n, again);
    assert_string_equal(text, twice);
    assay_free(text);
    assay_free(twice);
    assay_result_free(p);
    assay_result_free(q);
}

/* Files may say anything: what they do not say is empty, and nothing is looked up by a number of theirs. */
static void odd_files_are_shown(void **state)
{
    static const char text[] =
        "{\"schema\": \"assay.profile/1\", \"model\": \"m\", \"memory_plan\": {\"timeline\": "
        "[{\"node\": \"a\", \"live_bytes\": 1}], \"events\": [{}, {\"kind\": null, \"slot\": "
        "4000000000, \"step\": 4000000000, \"bytes\": 18446744073709551615}, {\"kind\": "
        "\"\\u001b[31m,\\\"\"}], \"snapshots\": [{}, {\"kind\": null, \"values\": [{}]}]}}";
    static const char *const rows[] = {"events", "snapshots", "timeline", "slots", "curve"};
    assay_error err;
    assay_result *p = NULL;
    (void)state;
    assert_int_equal(assay_result_from_json(text, sizeof text - 1, "t", "profile", &p, &err),
                     ASSAY_OK);
    plan_event e = event_at(p, 0);
    assert_string_equal(e.kind, "");
    assert_string_equal(snapshot_at(p, 0).kind, "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_options *o = assay_options_new();
        char *out = NULL;
        size_t n;
        assert_int_equal(assay_options_set(o, "rows", rows[i], &err), ASSAY_OK);
        assert_int_equal(assay_result_write(p, "csv", o, &out, &n, &err), ASSAY_OK);
        assert_null(strchr(out, '\033'));
        assay_free(out);
        assert_int_equal(assay_result_write(p, "console", o, &out, &n, &err), ASSAY_OK);
        assert_null(strchr(out, '\033'));
        assay_free(out);
        assert_int_equal(assay_result_write(p, "md", o, &out, &n, &err), ASSAY_OK);
        assert_null(strchr(out, '\033'));
        assay_free(out);
        assay_options_free(o);
    }
    assay_result_free(p);
}

int run_test_memory_plan(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_of_a_model_adds_up),
        cmocka_unit_test(lenets_events_are_these),
        cmocka_unit_test(a_moment_may_be_asked_for),
        cmocka_unit_test(a_moment_that_is_not_there_is_said),
        cmocka_unit_test(only_what_was_asked_for_is_listed),
        cmocka_unit_test(a_saved_result_tells_the_same),
        cmocka_unit_test(odd_files_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The memory plan through the public functions: what is done in which order adds up to what is alive, no two
 * buffers that live together overlap, snapshots hold what is alive, and a saved result tells the same. */
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

static assay_memory_plan head_of(const assay_result *p)
{
    assay_memory_plan x = {.size = sizeof x};
    assert_true(assay_profile_memory_plan(p, &x));
    return x;
}

static assay_memory_event event_at(const assay_result *p, size_t i)
{
    assay_memory_event e = {.size = sizeof e};
    assert_true(assay_profile_memory_event(p, i, &e));
    return e;
}

static assay_memory_slot slot_at(const assay_result *p, size_t i)
{
    assay_memory_slot s = {.size = sizeof s};
    assert_true(assay_profile_memory_slot(p, i, &s));
    return s;
}

static assay_memory_snapshot snapshot_at(const assay_result *p, size_t i)
{
    assay_memory_snapshot s = {.size = sizeof s};
    assert_true(assay_profile_memory_snapshot(p, i, &s));
    return s;
}

/* ---- of every model ---- */

static bool apart(const assay_memory_slot *a, const assay_memory_slot *b)
{
    bool in_time = a->last_step < b->first_step || b->last_step < a->first_step;
    return in_time || a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
}

static void slots_do_not_overlap(const assay_result *p, const assay_memory_plan *m)
{
    for (size_t i = 0; i < m->n_slots; i++) {
        assay_memory_slot a = slot_at(p, i);
        assert_true(a.first_step <= a.last_step && a.last_step < m->n_moments);
        assert_true(a.offset + a.bytes <= m->planned_bytes);
        for (size_t k = 0; a.bytes && k < i; k++) {
            assay_memory_slot b = slot_at(p, k);
            assert_true(!b.bytes || apart(&a, &b));
        }
    }
}

/* Allocated once, shared only while it is there, freed once. */
static void take_event(const assay_memory_event *e, const assay_memory_slot *s, int *state,
                       uint64_t *live)
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
    assay_memory_moment m = {.size = sizeof m};
    assert_true(assay_profile_memory_moment(p, step, &m));
    assert_int_equal(m.live_bytes, live);
}

static void events_add_up(const assay_result *p, const assay_memory_plan *m)
{
    int *states = calloc(m->n_slots + 1, sizeof *states);
    uint64_t live = 0;
    size_t checked = 0; /* steps */
    for (size_t i = 0; i < m->n_events; i++) {
        assay_memory_event e = event_at(p, i);
        bool frees = strcmp(e.kind, "free") == 0;
        for (; checked < e.step || (frees && checked == e.step); checked++)
            is_the_moments(p, checked, live);
        assay_memory_slot s = slot_at(p, e.slot);
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
    assay_memory_snapshot s = snapshot_at(p, index);
    assay_live_value v = {.size = sizeof v};
    uint64_t sum = 0, before = UINT64_MAX;
    size_t n = 0;
    for (; assay_profile_snapshot_value(p, index, n, &v); n++) {
        assert_true(v.bytes <= before);
        before = v.bytes;
        sum += v.bytes;
    }
    assert_int_equal(n, s.n_values);
    assert_int_equal(s.values_left_out, 0);
    assert_int_equal(sum, s.live_bytes);
    is_the_moments(p, s.step, s.live_bytes);
}

static void snapshots_add_up(const assay_result *p, const assay_memory_plan *m)
{
    unsigned starts = 0, peaks = 0, ends = 0;
    for (size_t i = 0; i < m->n_snapshots; i++) {
        assay_memory_snapshot s = snapshot_at(p, i);
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
        assay_memory_plan m = head_of(p);
        assert_int_equal(m.n_moments, assay_profile_layer_count(p));
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
    assay_memory_event e = {.size = sizeof e};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        e = event_at(p, i);
        assert_int_equal(e.step, expected[i].step);
        assert_string_equal(e.kind, expected[i].kind);
        if (expected[i].value)
            assert_string_equal(e.value, expected[i].value);
        assert_string_equal(e.of, expected[i].of);
        assert_int_equal(e.bytes, expected[i].bytes);
        assert_int_equal(e.live_bytes, expected[i].live);
    }
    assert_false(assay_profile_memory_event(p, sizeof expected / sizeof *expected, &e));
    assay_memory_plan m = head_of(p);
    assert_int_equal(m.activations_peak_bytes, 23560);
    assert_string_equal(m.peak_node, "pool1");
    assay_live_value w = {.size = sizeof w};
    assert_true(assay_profile_memory_witness(p, 1, &w));
    assert_string_equal(w.value, "pool1_out");
    assert_string_equal(w.producer, "pool1");
    assert_false(assay_profile_memory_witness(p, 3, &w));
    assay_result_free(p);
}

static size_t find_asked(const assay_result *p)
{
    assay_memory_plan m = head_of(p);
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
        assay_memory_snapshot s = snapshot_at(p, find_asked(p));
        assay_live_value v = {.size = sizeof v};
        assert_int_equal(s.step, 7);
        assert_string_equal(s.node, "fc1");
        assert_int_equal(s.live_bytes, 2120);
        assert_true(assay_profile_snapshot_value(p, find_asked(p), 0, &v));
        assert_string_equal(v.value, "pool2_out");
        assert_false(assay_profile_snapshot_value(p, find_asked(p), 3, &v));
        assert_false(assay_profile_snapshot_value(p, 1000, 0, &v));
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
    assay_memory_event e = {.size = sizeof e};
    assay_memory_snapshot s = {.size = sizeof s};
    (void)state;
    assert_int_equal(assay_model_open("lenet", &m, &err), ASSAY_OK);
    assert_int_equal(assay_analyze(m, NULL, &p, &err), ASSAY_OK);
    assay_memory_plan head = head_of(p);
    assert_true(head.n_moments == 12 && head.n_witnesses == 3);
    assert_true(head.n_slots == 0 && head.n_events == 0 && head.n_snapshots == 0);
    assert_false(assay_profile_memory_event(p, 0, &e));
    assert_false(assay_profile_memory_snapshot(p, 0, &s));
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
        assay_memory_event a = event_at(p, i), b = event_at(q, i);
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
    assay_memory_plan a = head_of(p), b = head_of(q);
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
    assay_memory_event e = event_at(p, 0);
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

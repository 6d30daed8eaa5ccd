/* The load generator without sockets: arrivals, lengths, URLs, traces, events, statistics, objectives, search. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "measure/load_curve.h"
#include "measure/load_openai.h"
#include "measure/load_stats.h"
#include "measure/load_trace.h"

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

/* ---- arrivals and lengths ---- */

static void test_arrivals(void **state)
{
    load_arrivals a;
    (void)state;
    load_arrivals_begin(&a, 1000, false, 0);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(load_arrivals_peek(&a), (uint64_t)i * 1000000);
        load_arrivals_take(&a);
    }
    load_arrivals_begin(&a, 1000, true, 7);
    double sum = 0, squares = 0, last = 0;
    for (int i = 0; i < 20000; i++) {
        double at = (double)load_arrivals_peek(&a), gap = at - last;
        assert_true(gap >= 0);
        sum += gap;
        squares += gap * gap;
        last = at;
        load_arrivals_take(&a);
    }
    double mean = sum / 20000, deviation = sqrt(squares / 20000 - mean * mean);
    NEAR(mean, 1e6, 3e4);
    NEAR(deviation, 1e6, 5e4); /* exponential gaps: as large as the mean */
    const uint64_t at[] = {0, 5, 5};
    a = (load_arrivals){.at_ns = at, .n_at = 3};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(load_arrivals_peek(&a), at[i]);
        load_arrivals_take(&a);
    }
    assert_true(load_arrivals_peek(&a) == UINT64_MAX);
}

static void test_lengths(void **state)
{
    static const struct {
        const char *text;
        bool good;
        double mean;
    } cases[] = {{"12", true, 12},
                 {"10..20", true, 15},
                 {"normal:100:5", true, 100},
                 {"exponential:50", true, 50},
                 {"lognormal:100:0", true, 100},
                 {"0", false, 0},
                 {"20..10", false, 0},
                 {"normal:5", false, 0},
                 {"poisson:5", false, 0},
                 {"", false, 0},
                 {"exponential:5:6", false, 0},
                 {"9999999", false, 0}};
    rng r;
    (void)state;
    rng_seed(&r, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load_lengths l = {0};
        assert_int_equal(load_lengths_parse(str_of(cases[i].text), &l), cases[i].good);
        double sum = 0;
        for (int k = 0; cases[i].good && k < 4000; k++)
            sum += load_lengths_draw(&l, &r);
        NEAR(sum / 4000, cases[i].mean, 0.06 * cases[i].mean);
    }
}

/* ---- URLs, traces, events ---- */

static void test_targets(void **state)
{
    static const struct {
        const char *url, *host, *path, *shown;
        int port;
    } cases[] = {
        {"http://127.0.0.1:8000/v1?x=1#y", "127.0.0.1", "/v1?x=1", "http://127.0.0.1:8000/v1?x=1",
         8000},
        {"https://a.b", "a.b", "/", "https://a.b", 443},
        {"http://u:p@[::1]:9?q", "::1", "/?q", "http://[::1]:9?q", 9},
        {"ftp://x", NULL, NULL, NULL, 0},
        {"http://", NULL, NULL, NULL, 0},
        {"http://x:0/", NULL, NULL, NULL, 0},
        {"http://x:65536/", NULL, NULL, NULL, 0},
        {"http://x/a b", NULL, NULL, NULL, 0},
        {"http://[::1", NULL, NULL, NULL, 0},
    };
    arena *a = arena_new(1 << 20);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load_target t;
        assay_error err = {0};
        assay_status s = load_target_parse(str_of(cases[i].url), a, &t, &err);
        assert_int_equal(s, cases[i].host ? ASSAY_OK : ASSAY_ERR_USAGE);
        if (s != ASSAY_OK)
            continue;
        assert_true(str_is(t.host, cases[i].host) && str_is(t.path, cases[i].path));
        assert_true(str_is(t.url, cases[i].shown));
        assert_int_equal(t.port, cases[i].port);
    }
    arena_free(a);
}

static void test_traces(void **state)
{
    arena *a = arena_new(1 << 20);
    const load_item *items;
    uint32_t n;
    assay_error err = {0};
    (void)state;
    const char *json = "{\"timestamp\": 1000, \"input_length\": 3}\n\n"
                       "{\"time\": 2.5, \"body\": {\"a\": [1, 2]}, \"output_tokens\": 9}\n";
    assert_int_equal(load_trace_parse(str_of(json), "t", 2, a, &items, &n, &err), ASSAY_OK);
    assert_int_equal(n, 2);
    assert_int_equal(items[0].n_prompt, 3);
    assert_int_equal(items[1].at_ns, 750000000);
    assert_int_equal(items[1].n_output, 9);
    assert_true(str_is(items[1].body, "{\"a\": [1, 2]}"));
    const char *csv = "TIMESTAMP,A,B\n2023-12-31 23:59:59.500,7,8\n2024-01-01 00:00:00.250,1,2\n";
    assert_int_equal(load_trace_parse(str_of(csv), "t", 1, a, &items, &n, &err), ASSAY_OK);
    assert_int_equal(n, 2);
    NEAR((double)items[1].at_ns, 750000000.0, 100000.0);
    assert_int_equal(items[0].n_output, 8);
    static const char *const wrong[] = {"{\"x\": 1}\n", "{broken\n", "1\n0.5\n", "",
                                        "time\nsoon\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (assay_error){0};
        assert_int_equal(load_trace_parse(str_of(wrong[i]), "t", 1, a, &items, &n, &err),
                         ASSAY_ERR_MALFORMED);
    }
    arena_free(a);
}

static void test_events(void **state)
{
    load_event e;
    (void)state;
    assert_true(load_event_read(
        STR("{\"id\":\"x\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}"),
        &e));
    assert_true(e.has_choices && !e.has_text);
    assert_true(load_event_read(STR("{\"choices\":[{\"delta\":{\"content\":\"a\\u00e9\"},"
                                    "\"finish_reason\":\"stop\"}],\"usage\":null}"),
                                &e));
    assert_true(e.has_text && e.finished && !e.has_usage);
    assert_true(load_event_read(STR("{\"choices\":[],\"usage\":{\"prompt_tokens\":3,"
                                    "\"completion_tokens\":4,\"details\":{\"a\":[1]}}}"),
                                &e));
    assert_true(e.has_usage && e.in_tokens == 3 && e.out_tokens == 4);
    assert_true(load_event_read(STR("{\"error\":{\"message\":\"no\"}}"), &e) && e.is_error);
    assert_true(load_event_read(STR("{\"error\":null,\"choices\":[{\"text\":\"x\"}]}"), &e));
    assert_true(!e.is_error && e.has_text);
    assert_false(load_event_read(STR("{\"choices\":"), &e));
    assert_false(load_event_read(STR("[]"), &e));
}

/* ---- statistics ---- */

static void test_quantiles(void **state)
{
    float good[100], bad[4] = {1, 500, 2, 3};
    load_times t;
    (void)state;
    for (int i = 0; i < 100; i++)
        good[i] = (float)(100 - i);
    load_values v = {.good = good, .n_good = 100};
    assert_true(load_times_of(&v, &t));
    NEAR(t.p50, 50.5, 1e-6);
    NEAR(t.p99, 99.01, 1e-4);
    NEAR(t.mean, 50.5, 1e-6);
    assert_true(t.p50_low < t.p50 && t.p50 < t.p50_high && isnan(t.p99_high));
    /* Four failures, three of which came back at once: the highest percentiles are theirs, and not lower. */
    load_values w = {.good = good, .n_good = 100, .bad = bad, .n_bad = 4};
    load_times u;
    assert_true(load_times_of(&w, &u));
    assert_true(u.p50 > t.p50 && u.p99 >= t.p99 && u.p95 > t.p95);
    NEAR(u.p999, 500, 50);
    NEAR(u.mean, t.mean, 1e-6);
    load_values none = {.bad = bad, .n_bad = 4};
    assert_true(load_times_of(&none, &u) && !u.present && isnan(u.mean));
}

/* A run of a scripted clock: a request every 10 ms, answered in 5 ms; from 1 s on the server stalls for a second. */
static uint32_t script_stall(load_record *items)
{
    for (uint32_t i = 0; i < 400; i++) {
        double due = i * 10.0, end = due >= 1000 && due < 2000 ? 2000 + 5 : due + 5;
        items[i] = (load_record){.due_ns = (uint64_t)(due * 1e6),
                                 .first_ms = -1,
                                 .itl_ms = -1,
                                 .end_ms = (float)(end - due)};
    }
    return 400;
}

static void test_summary(void **state)
{
    load_record items[400];
    load_run_result run = {.items = items,
                           .wall_ns = 4000000000u,
                           .sending_ns = 4000000000u,
                           .cpu_ns = 40000000u,
                           .bytes_in = 1000};
    load_objectives slo = {0};
    load_result r = {0};
    arena *a = arena_new(1 << 20);
    (void)state;
    run.n = script_stall(items);
    items[0].outcome = LOAD_TIMEOUT;
    assert_true(load_objectives_parse(STR("p90:100ms"), &slo));
    const load_summary_request q = {.run = &run, .slo = &slo, .open = true};
    assert_int_equal(load_summarise(&q, a, &r, NULL), ASSAY_OK);
    assert_int_equal(r.good, 399);
    assert_int_equal(r.n_errors, 1);
    assert_true(str_is(r.errors[0].kind, "timeout"));
    NEAR(r.latency.p50, 5, 1e-3);
    assert_true(r.latency.p99 > 950);
    NEAR(r.throughput.requests, 399.0 / 4, 0.5);
    assert_false(r.slo.met);
    assert_int_equal(r.slo.good, 399 - 91); /* due from 1.00 to 1.90 s: more than 100 ms late */
    assert_true(r.n_timeline > 10 && r.n_cdf > 10 && !r.client.saturated);
    assert_false(r.ttft.present);
    run.cpu_ns = 3900000000u;
    r = (load_result){0};
    assert_int_equal(load_summarise(&q, a, &r, NULL), ASSAY_OK);
    assert_true(r.client.saturated && r.client.why.n);
    arena_free(a);
}

static void test_steady(void **state)
{
    double means[20];
    (void)state;
    for (int i = 0; i < 20; i++)
        means[i] = (i < 4 ? 50 : 10) + i % 3;
    load_steady s = load_find_steady(means, 20, 0.5);
    assert_true(s.steady);
    NEAR(s.after_s, 2, 1e-9);
    for (int i = 0; i < 20; i++)
        means[i] = 10 + 10 * i;
    assert_false(load_find_steady(means, 20, 0.5).steady);
    for (int i = 0; i < 20; i++)
        means[i] = i < 5 ? NAN : 10;
    s = load_find_steady(means, 20, 1);
    assert_true(s.steady && s.after_s >= 5);
    assert_false(load_find_steady(means, 3, 1).steady);
}

static void test_objectives(void **state)
{
    static const char *const wrong[] = {"",         "p99",      "p99:fast",
                                        "p0:1ms",   "p100:1ms", "speed:1",
                                        "ttft:0ms", "p99:1ms,", "p95_speed:1ms"};
    load_objectives o = {0};
    load_record r = {.end_ms = 90, .first_ms = 40, .itl_ms = 4};
    (void)state;
    assert_true(load_objectives_parse(STR("p99.9:0.1s, ttft:50ms,p95_itl:5ms"), &o));
    assert_int_equal(o.n, 3);
    NEAR(o.items[0].quantile, 0.999, 1e-9);
    NEAR(o.items[0].limit_ms, 100, 1e-9);
    assert_int_equal(o.items[2].metric, METRIC_ITL);
    assert_true(load_is_good(&r, &o));
    r.itl_ms = 6;
    assert_false(load_is_good(&r, &o));
    r.itl_ms = 1;
    r.outcome = LOAD_RESET;
    assert_false(load_is_good(&r, &o));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o = (load_objectives){0};
        assert_false(load_objectives_parse(str_of(wrong[i]), &o));
    }
}

/* ---- the search, on a queue whose answers are known: M/M/1 of 100 per second ---- */

static void answer_step(load_search *s, double rate, double limit_ms)
{
    double mean = rate < 100 ? 1000 / (100 - rate) : 1e5;
    s->steps[s->n++] = (load_curve_step){.rate = rate,
                                         .requests_per_second = fmin(rate, 100),
                                         .mean = mean,
                                         .p99 = 4.6 * mean,
                                         .has_slo = limit_ms > 0,
                                         .meets_slo = 4.6 * mean <= limit_ms,
                                         .saturated = rate >= 100};
}

static void test_search(void **state)
{
    load_search s = {.first = 5};
    load_curve_answer a;
    (void)state;
    for (double rate; (rate = load_search_next(&s)) > 0;)
        answer_step(&s, rate, 0);
    load_search_finish(&s, &a);
    assert_true(a.whole && s.n < LOAD_STEPS_MOST);
    assert_true(a.max_rate < 100 && a.next_rate >= 100 && a.next_rate / a.max_rate < 1.07);
    NEAR(a.knee_rate, 50, 30); /* of M/M/1 the power is highest at half of the capacity */
    for (uint32_t i = 1; i < s.n; i++)
        assert_true(s.steps[i - 1].rate < s.steps[i].rate);
    /* P99 within 100 ms: 46 ms per request in the system, so a rate of 100 - 46 = 54. */
    s = (load_search){.first = 5, .has_slo = true};
    for (double rate; (rate = load_search_next(&s)) > 0;)
        answer_step(&s, rate, 100);
    load_search_finish(&s, &a);
    assert_true(a.max_rate <= 54 && a.next_rate > 54 && a.next_rate / a.max_rate < 1.07);
    /* A limit that short steps never reach does not make a saturated rate good. */
    s = (load_search){.first = 5, .has_slo = true};
    for (double rate; (rate = load_search_next(&s)) > 0;)
        answer_step(&s, rate, 1e9);
    load_search_finish(&s, &a);
    assert_true(a.max_rate < 100 && a.next_rate >= 100);
    /* Nothing is good enough: it ends. */
    s = (load_search){.first = 5, .has_slo = true};
    for (double rate; (rate = load_search_next(&s)) > 0;)
        answer_step(&s, rate, 1);
    load_search_finish(&s, &a);
    assert_true(isnan(a.max_rate));
}

int run_test_load(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrivals),   cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_targets),    cmocka_unit_test(test_traces),
        cmocka_unit_test(test_events),     cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_summary),    cmocka_unit_test(test_steady),
        cmocka_unit_test(test_objectives), cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

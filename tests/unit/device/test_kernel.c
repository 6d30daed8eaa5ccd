/* The kernel model and the fit: synthetic tables give their coefficients back, a longer shape is never faster than its
 * limit, the built-in rows are complete and within their budget, and runtimes never undercut their limit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "device/kernel_routing.h"
#include "device/runtime.h"
#include "device/serving.h"

#define BYTES ((size_t)256 << 20)

/* ---- the fit ---- */

enum { ROWS = 400, TERMS = 3 };

static fit_problem synthetic(arena *a, fit_form form, const double *c)
{
    double *x = ARENA_ARRAY(a, double, ROWS *TERMS), *s = ARENA_ARRAY(a, double, ROWS);
    double *base = ARENA_ARRAY(a, double, ROWS);
    uint32_t *group = ARENA_ARRAY(a, uint32_t, ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        x[i * TERMS] = 1;
        x[i * TERMS + 1] = 1 + i % 17;
        x[i * TERMS + 2] = 1 + i * 7 % 23;
        base[i] = 1e-5 * (1 + i % 5);
        s[i] = fit_seconds(form, base[i], x + (size_t)i * TERMS, c, TERMS);
        group[i] = i % 29;
    }
    return (fit_problem){.form = form,
                         .n = ROWS,
                         .n_terms = TERMS,
                         .x = x,
                         .base = base,
                         .seconds = s,
                         .group = group,
                         .prior_rows = 1e-9};
}

static void a_fit_gives_coefficients_back(void **state)
{
    static const double c[TERMS] = {0.3, -0.02, 0.05};
    arena *a = arena_new(BYTES);
    assay_error err = {0};
    (void)state;
    for (int form = FIT_FACTORS; form <= FIT_SUM; form++) {
        fit_problem p = synthetic(a, (fit_form)form, c);
        fit_result r;
        assert_int_equal(fit_run(&p, a, &r, NULL, &err), ASSAY_OK);
        for (int j = 0; j < TERMS; j++)
            assert_true(fabs(r.c[j] - c[j]) < 1e-3);
        assert_true(r.mean_error < 1e-3 && r.groups == 29 && r.rows == ROWS);
        assert_true(r.low > 0.99 && r.high < 1.01);
    }
    arena_free(a);
}

/* One disturbed row of twenty moves nothing. */
static void disturbed_rows_count_little(void **state)
{
    static const double c[TERMS] = {0.3, -0.02, 0.05};
    arena *a = arena_new(BYTES);
    assay_error err = {0};
    fit_problem p = synthetic(a, FIT_FACTORS, c);
    double *s = ARENA_ARRAY(a, double, ROWS);
    fit_result r;
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        s[i] = p.seconds[i] * (i % 20 ? 1 : 6);
    p.seconds = s;
    assert_int_equal(fit_run(&p, a, &r, NULL, &err), ASSAY_OK);
    for (int j = 0; j < TERMS; j++)
        assert_true(fabs(r.c[j] - c[j]) < 0.05);
    assert_true(r.median_error < 0.05);
    arena_free(a);
}

static void a_fit_refuses_bad_times(void **state)
{
    static const double c[TERMS] = {0};
    arena *a = arena_new(BYTES);
    assay_error err = {0};
    fit_problem p = synthetic(a, FIT_FACTORS, c);
    double wrong[ROWS] = {0};
    fit_result r;
    (void)state;
    p.seconds = wrong;
    assert_int_equal(fit_run(&p, a, &r, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    p = synthetic(a, FIT_FACTORS, c);
    p.n = 1;
    assert_int_equal(fit_run(&p, a, &r, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    arena_free(a);
}

/* Where nothing was measured, the prior remains. */
static void an_unmeasured_term_keeps_its_prior(void **state)
{
    static const double c[TERMS] = {0.3, -0.02, 0.05}, prior[TERMS] = {0, 0, 0.7};
    arena *a = arena_new(BYTES);
    assay_error err = {0};
    fit_problem p = synthetic(a, FIT_SUM, c);
    double *x = ARENA_ARRAY(a, double, ROWS *TERMS);
    fit_result r;
    (void)state;
    for (uint32_t i = 0; i < ROWS * TERMS; i++)
        x[i] = i % TERMS == 2 ? 0 : p.x[i];
    p.x = x;
    p.prior = prior;
    p.prior_rows = 0.01;
    assert_int_equal(fit_run(&p, a, &r, NULL, &err), ASSAY_OK);
    assert_true(fabs(r.c[2] - 0.7) < 1e-6);
    arena_free(a);
}

/* ---- kernels ---- */

static const device *device_named(device_list *list, const char *id)
{
    for (uint32_t i = 0; i < list->rows.n; i++)
        if (str_is(list->rows.items[i].id, id))
            return &list->rows.items[i];
    fail_msg("no %s", id);
    return NULL;
}

/* No more than 150 numbers per device and family; errors and intervals are there. */
static void rows_are_complete(void **state)
{
    arena *a = arena_new(BYTES);
    kernel_table t = {0};
    assay_error err = {0};
    (void)state;
    if (kernel_table_read(a, &t, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    assert_true(t.rows.n > 100);
    for (uint32_t i = 0; i < t.rows.n; i++) {
        const kernel_row *r = &t.rows.items[i];
        uint32_t numbers = 0;
        assert_true(r->framework.n && r->version.n && r->kernel.n && r->rows > 0 && r->groups > 1);
        assert_true(r->mean_error > 0 && r->mean_error < 1 && r->low > 0 && r->low < r->high);
        for (uint32_t k = 0; k < t.rows.n; k++)
            if (str_eq(t.rows.items[k].family, r->family) &&
                str_eq(t.rows.items[k].device, r->device) && !str_is(r->device, "*"))
                numbers += t.rows.items[k].n_terms;
        assert_true(numbers <= 150);
    }
    arena_free(a);
}

static void kernels_stay_above_their_limit(void **state)
{
    static const char *const ids[] = {"a100-80", "h100-sxm", "b200", "rtx4090", "t4"};
    arena *a = arena_new(BYTES);
    device_list list = {.arena = a};
    kernel_table t = {0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(devices_builtin(&list, &err), ASSAY_OK);
    assert_int_equal(kernel_table_read(a, &t, &err), ASSAY_OK);
    for (size_t d = 0; d < sizeof ids / sizeof *ids; d++)
        for (double m = 1; m <= 65536; m *= 4) {
            kernel_call c = {.family = KERNEL_GEMM,
                             .dtype = kernel_dtype_find(STR("bfloat16")),
                             .m = m,
                             .n = 4096,
                             .k = 4096};
            kernel_time k = kernel_predict(&t, device_named(&list, ids[d]), &c);
            assert_true(k.seconds >= k.limit_s && k.low_s <= k.seconds && k.seconds <= k.high_s);
            assert_true(isfinite(k.seconds) && k.seconds > 1e-6 && k.from);
        }
    arena_free(a);
}

/* A product that is twice as large in its rows takes longer, once the device is full. */
static void larger_products_take_longer(void **state)
{
    arena *a = arena_new(BYTES);
    device_list list = {.arena = a};
    kernel_table t = {0};
    assay_error err = {0};
    double before = 0;
    (void)state;
    assert_int_equal(devices_builtin(&list, &err), ASSAY_OK);
    assert_int_equal(kernel_table_read(a, &t, &err), ASSAY_OK);
    for (double m = 256; m <= 65536; m *= 2) {
        kernel_call c = {.family = KERNEL_GEMM,
                         .dtype = kernel_dtype_find(STR("bfloat16")),
                         .m = m,
                         .n = 8192,
                         .k = 8192};
        double s = kernel_predict(&t, device_named(&list, "h100-sxm"), &c).seconds;
        assert_true(s > before);
        before = s;
    }
    arena_free(a);
}

/* Whole waves: one tile more than the units hold costs another wave. */
static void tiles_run_in_waves(void **state)
{
    const kernel_machine m = {1e15, 1e12, 132, 1.8e9, 50e6, 0, 4e3, false};
    kernel_call c = {.family = KERNEL_GEMM,
                     .dtype = kernel_dtype_find(STR("bfloat16")),
                     .m = 128 * 132,
                     .n = 128,
                     .k = 16384};
    kernel_terms full, over;
    (void)state;
    kernel_describe(&c, &m, &full);
    c.m *= 1.005;
    kernel_describe(&c, &m, &over);
    assert_true(over.base > full.base * 1.01);
    assert_true(full.limit <= full.base);
}

/* A window of keys bounds the work of attention. */
static void windows_bound_attention(void **state)
{
    const kernel_machine m = {1e15, 1e12, 132, 1.8e9, 50e6, 0, 4e3, false};
    kernel_call c = {.family = KERNEL_PREFILL,
                     .dtype = kernel_dtype_find(STR("bfloat16")),
                     .batch = 1,
                     .queries = 8192,
                     .heads = 32,
                     .kv_heads = 8,
                     .head_size = 128,
                     .kv_bytes = 2};
    kernel_terms full, windowed;
    (void)state;
    kernel_describe(&c, &m, &full);
    assert_true(full.flops == 4.0 * 128 * 32 * (8192.0 * 8193 / 2));
    c.window = 1024;
    kernel_describe(&c, &m, &windowed);
    assert_true(windowed.flops == 4.0 * 128 * 32 * (1024.0 * 1025 / 2 + 7168.0 * 1024));
}

/* What follows from the tensor cores: FlashAttention 2 copies grouped heads and adds up in a second kernel, kernels
 * for tensor memory do neither; exponentials limit short heads. */
static void kernels_follow_the_tensor_cores(void **state)
{
    enum { OLDER = 1, FURTHER = 3, OVERLAPPED = 4, PRODUCTS = 1, EXPONENTIALS = 3 };
    kernel_machine m = {1e15, 1e12, 132, 1.8e9, 50e6, 0, 1e3, false};
    kernel_call c = {.family = KERNEL_DECODE,
                     .dtype = kernel_dtype_find(STR("bfloat16")),
                     .batch = 2,
                     .queries = 1,
                     .past = 4095,
                     .heads = 32,
                     .kv_heads = 8,
                     .head_size = 128,
                     .kv_bytes = 2};
    kernel_terms old, hopper, blackwell, plain;
    (void)state;
    kernel_describe(&c, &m, &old);
    c.batch = 1;
    kernel_describe(&c, &m, &plain);
    c.batch = 2;
    m.tensor_rate = 4e3;
    kernel_describe(&c, &m, &hopper);
    m.tensor_rate = 8e3;
    kernel_describe(&c, &m, &blackwell);
    assert_true(old.parts[FURTHER] > 1.9 * plain.parts[FURTHER] && plain.parts[FURTHER] > 0);
    assert_true(hopper.parts[OVERLAPPED] > 0 && !(hopper.parts[FURTHER] > 0));
    assert_true(!(blackwell.parts[OVERLAPPED] > 0) && !(blackwell.parts[FURTHER] > 0));
    assert_true(blackwell.parts[OLDER] > 0);
    m.fp4 = true; /* launches sooner */
    kernel_describe(&c, &m, &blackwell);
    assert_true(!(blackwell.parts[OLDER] > 0));
    c.family = KERNEL_ENCODER;
    c.queries = 4096;
    c.kv_heads = 32;
    c.head_size = 72; /* computed as 96 */
    kernel_describe(&c, &m, &old);
    c.head_size = 96;
    kernel_describe(&c, &m, &plain);
    assert_true(fabs(old.parts[PRODUCTS] / plain.parts[PRODUCTS] - 1) < 1e-9);
    assert_true(old.parts[EXPONENTIALS] == plain.parts[EXPONENTIALS]);
}

/* Even routing: all experts have the same rows. Skewed: the device with the most has more than its part, never more
 * than every token to each of its experts; tiles hold all rows. */
static void experts_share_rows(void **state)
{
    kernel_call c = {.family = KERNEL_MOE, .tokens = 4096, .topk = 8, .experts = 256, .shares = 1};
    expert_loads l;
    (void)state;
    kernel_route(&c, &l);
    assert_true(l.rows == 4096 * 8 && l.reached == 256 && expert_tiles(&l, 64) == 512);
    c.tokens = 4;
    kernel_route(&c, &l);
    assert_true(l.rows == 32 && l.reached == 32 && expert_tiles(&l, 16) == 32);
    c.tokens = 4096;
    c.skew = 1.2;
    kernel_route(&c, &l);
    assert_true(fabs(l.rows / (4096 * 8) - 1) < 1e-9);
    assert_true(expert_tiles(&l, 64) > 4096 * 8 / 64 && expert_tiles(&l, 64) < 2 * 512);
    for (double shares = 2; shares <= 256; shares *= 2) {
        double before = l.rows;
        c.shares = shares;
        kernel_route(&c, &l);
        assert_true(l.held == 256 / shares && l.rows < before && l.rows > 4096 * 8 / shares);
        assert_true(l.rows <= l.held * 4096 && l.reached <= l.held);
        assert_true(expert_tiles(&l, 16) * 16 > 0.9 * l.rows);
    }
}

/* Without 4-bit tensor cores, unquantised experts run in Triton: tiles of 64 rows, and every pass takes all rows. */
static void experts_follow_the_framework(void **state)
{
    enum { PRODUCTS = 1, PASSES = 3 };
    kernel_machine m = {1e15, 1e12, 132, 1.8e9, 50e6, 0, 1e3, false};
    kernel_call c = {.family = KERNEL_MOE,
                     .dtype = kernel_dtype_find(STR("bfloat16")),
                     .tokens = 512,
                     .hidden = 4096,
                     .inner = 1024,
                     .topk = 8,
                     .experts = 256,
                     .shares = 8};
    kernel_terms triton, other;
    (void)state;
    kernel_describe(&c, &m, &triton);
    m.fp4 = true;
    kernel_describe(&c, &m, &other);
    assert_true(fabs(triton.parts[PRODUCTS] / other.parts[PRODUCTS] - 4) < 1e-9);
    assert_true(triton.parts[PASSES] > 4 * other.parts[PASSES]);
}

/* ---- runtimes ---- */

static void runtimes_have_rows(void **state)
{
    arena *a = arena_new(BYTES);
    device_list list = {.arena = a};
    runtime_table t = {0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(devices_builtin(&list, &err), ASSAY_OK);
    if (runtime_table_read(a, &t, &err) != ASSAY_OK)
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < list.rows.n; i++)
        for (uint32_t r = 0; runtime_at(r); r++) {
            const runtime_row *row = runtime_row_for(&t, &list.rows.items[i], runtime_at(r));
            assert_non_null(row);
            assert_true(row->rows > 0 && row->source.n && row->software.n && row->median_error > 0);
        }
    assert_true(
        runtime_row_for(&t, device_named(&list, "rtx4090"), runtime_find(STR("eager")))->own);
    assert_false(runtime_row_for(&t, device_named(&list, "t4"), runtime_find(STR("eager")))->own);
    assert_string_equal(runtime_default(device_named(&list, "epyc-9654"))->name, "onnxruntime");
    assert_string_equal(runtime_default(device_named(&list, "pi5"))->name, "onnxruntime");
    assert_string_equal(runtime_default(device_named(&list, "agx-orin"))->name, "compiled");
    assert_null(runtime_find(STR("eagre")));
    arena_free(a);
}

static void runtimes_stay_above_their_limit(void **state)
{
    const runtime_row row = {.low = 0.8, .high = 1.3, .c = {0.1}};
    const runtime *r = runtime_find(STR("compiled"));
    double rates[RUNTIME_TERMS] = {[TERM_CONV] = 1e-12, [TERM_CORE_BYTES] = 1e-9};
    double x[RUNTIME_TERMS] = {[TERM_CONV] = 1e12, [TERM_CORE_BYTES] = 2e9, [TERM_KERNELS] = 10};
    (void)state;
    double limit = runtime_limit(rates, x);
    assert_true(limit == 2);
    runtime_time t = runtime_predict(&row, r, rates, x, limit);
    assert_true(t.seconds == 2 && t.low_s == 2 && t.high_s > 2);
    x[TERM_KERNELS] = 1e6; /* the host is slower than the device */
    t = runtime_predict(&row, r, rates, x, limit);
    assert_true(fabs(t.seconds - 1e6 * r->gap_s) < 1e-9);
}

static void broken_rows_are_refused(void **state)
{
    arena *a = arena_new(BYTES);
    runtime_table t = {0};
    kernel_table k = {0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(runtime_table_csv(STR("runtime,device\nx,y\n"), a, &t, &err),
                     ASSAY_ERR_MALFORMED);
    assert_int_equal(kernel_table_csv(STR(""), a, &k, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(kernel_table_csv(STR("a,b,c,d,e,f,g,h,i,j,k,l,m\n1,2\n"), a, &k, &err),
                     ASSAY_ERR_MALFORMED);
    arena_free(a);
}

/* A device that was measured, under another name: coefficients of all devices are near its own. */
static void pooled_kernels_are_near_measured_ones(void **state)
{
    static const char *const ids[] = {"a100-80", "h100-sxm", "b200", "rtx-pro-6000"};
    arena *a = arena_new(BYTES);
    device_list list = {.arena = a};
    kernel_table t = {0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(devices_builtin(&list, &err), ASSAY_OK);
    assert_int_equal(kernel_table_read(a, &t, &err), ASSAY_OK);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (double m = 1; m <= 4096; m *= 8) {
            const kernel_call c = {.family = KERNEL_GEMM,
                                   .dtype = kernel_dtype_find(STR("bfloat16")),
                                   .m = m,
                                   .n = 28672,
                                   .k = 4096};
            device stranger = *device_named(&list, ids[i]);
            kernel_time own = kernel_predict(&t, &stranger, &c);
            stranger.id = STR("stranger");
            kernel_time pooled = kernel_predict(&t, &stranger, &c);
            assert_true(str_eq(own.from->device, str_of(ids[i])));
            assert_true(str_is(pooled.from->device, "*"));
            assert_true(fabs(pooled.seconds / own.seconds - 1) < 0.3);
        }
    arena_free(a);
}

typedef struct server {
    arena *a;
    device_list list;
    serving_table t;
    serving_model m;
    serving_on on;
} server;

static void start_server(server *s)
{
    static const serving_shape shape = {64, 5120, 64, 8, 128, 25600, 151936};
    const kernel_dtype *fp8 = kernel_dtype_find(STR("fp8"));
    assay_error err = {0};
    *s = (server){.a = arena_new(BYTES)};
    s->list.arena = s->a;
    assert_int_equal(devices_builtin(&s->list, &err), ASSAY_OK);
    assert_int_equal(serving_table_read(s->a, &s->t, &err), ASSAY_OK);
    serving_dense(&shape, &s->m);
    s->on = (serving_on){.table = &s->t,
                         .device = device_named(&s->list, "h100-sxm"),
                         .model = &s->m,
                         .engine = serving_engine_find(&s->t, STR("vllm")),
                         .types = {*fp8, *fp8, *kernel_dtype_find(STR("bfloat16")), 1}};
    assert_non_null(s->on.engine);
}

/* More requests at once: later first tokens, slower tokens, more tokens in all. */
static void serving_follows_the_load(void **state)
{
    server x;
    serving_time before = {.tokens = 0};
    (void)state;
    start_server(&x);
    for (double n = 1; n <= 64; n *= 4) {
        serving_time s = serving_predict(&x.on, &(serving_load){1024, 512, n, 0});
        assert_true(s.ttft.measured && s.ttft.expected >= s.prefill_s &&
                    s.tpot.expected >= s.step_s);
        assert_true(s.ttft.expected > before.ttft.expected &&
                    s.tpot.expected > before.tpot.expected && s.tokens > before.tokens);
        assert_true(s.tpot.low < s.tpot.expected && s.tpot.high > s.tpot.expected);
        before = s;
    }
    arena_free(x.a);
}

/* Users beyond those that run wait: the rate stays, and Little's law holds. */
static void requests_beyond_the_memory_wait(void **state)
{
    server x;
    (void)state;
    start_server(&x);
    serving_time full = serving_predict(&x.on, &(serving_load){1024, 512, 16, 16});
    serving_time over = serving_predict(&x.on, &(serving_load){1024, 512, 48, 16});
    assert_true(fabs(over.requests / full.requests - 1) < 1e-9 && over.running < 16.5);
    assert_true(full.wait_s < 1e-9 && over.wait_s > 0);
    assert_true(fabs(over.requests * over.residence_s - 48) < 1e-6);
    assert_true(fabs(over.tpot.expected / full.tpot.expected - 1) < 1e-9);
    arena_free(x.a);
}

/* Percentiles: one user alone sees no variation; waiting is exponential; the median gap is near the mean; the higher the
 * percentile and the load, the longer. */
static void percentiles_follow_the_load(void **state)
{
    server x;
    (void)state;
    start_server(&x);
    const serving_load alone = {1024, 512, 1, 0}, many = {1024, 512, 32, 0},
                       full = {1024, 512, 48, 16};
    serving_time t = serving_predict(&x.on, &alone);
    for (int m = SERVING_LATENCY; m <= SERVING_ITL; m++)
        assert_true(fabs(serving_quantile(&t, &alone, (serving_metric)m, 0.99) /
                             serving_quantile(&t, &alone, (serving_metric)m, 0.5) -
                         1) < 1e-9);
    assert_true(fabs(serving_quantile(&t, &alone, SERVING_TTFT, 0.99) / t.ttft.expected - 1) <
                1e-9);
    assert_true(fabs(serving_quantile(&t, &alone, SERVING_ITL, 0.5) / t.tpot.expected - 1) < 1e-9);
    t = serving_predict(&x.on, &many);
    double wait = t.ttft.expected - t.prefill_s;
    double p99 = serving_quantile(&t, &many, SERVING_TTFT, 0.99);
    assert_true(fabs((p99 - t.prefill_s) / (wait * log(100)) - 1) < 0.01);
    double median = serving_quantile(&t, &many, SERVING_ITL, 0.5);
    assert_true(fabs(median / t.tpot.expected - 1) < 0.02);
    assert_true(serving_quantile(&t, &many, SERVING_ITL, 0.99) > median);
    assert_true(serving_quantile(&t, &many, SERVING_LATENCY, 0.99) > t.residence_s);
    assert_true(serving_quantile(&t, &many, SERVING_LATENCY, 0.99) <
                p99 + 512 * 1.5 * t.tpot.expected);
    t = serving_predict(&x.on, &full);
    assert_true(serving_quantile(&t, &full, SERVING_TTFT, 0.99) > t.ttft.expected &&
                serving_quantile(&t, &full, SERVING_TTFT, 0.01) < t.ttft.expected);
    arena_free(x.a);
}

/* Kernels of other types and devices: the interval is wider than that of measured ones. */
static void unmeasured_devices_have_wider_intervals(void **state)
{
    server x;
    (void)state;
    start_server(&x);
    serving_span own = serving_step(&x.on, 1, 1024);
    x.on.device = device_named(&x.list, "l40s");
    serving_span other = serving_step(&x.on, 1, 1024);
    assert_true(own.measured && !other.measured);
    assert_true(other.high / other.low > own.high / own.low);
    arena_free(x.a);
}

/* Weights of published decoders: products of a pass, embedding and logits are all but the norms. */
static void a_decoder_has_its_published_weights(void **state)
{
    static const struct {
        serving_shape shape;
        double parameters;
    } models[] = {{{80, 8192, 64, 8, 128, 28672, 128256}, 70553706496},  /* Llama 3.1 70B */
                  {{32, 4096, 32, 8, 128, 14336, 128256}, 8030261248},   /* Llama 3.1 8B */
                  {{64, 5120, 64, 8, 128, 25600, 151936}, 32762123264}}; /* Qwen3 32B */
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const serving_shape *s = &models[i].shape;
        serving_model m;
        serving_dense(s, &m);
        double sum = 2 * s->vocabulary * s->hidden;
        for (uint32_t k = 0; k < m.step.n_products; k++)
            sum += m.step.products[k].columns * m.step.products[k].depth * m.step.products[k].count;
        assert_true(fabs(sum / models[i].parameters - 1) < 1e-3);
        assert_true(m.step.attentions[0].kv_heads == s->kv_heads && m.layers == s->layers);
    }
}

/* Products of one shape are one row; others are not. */
static void equal_products_are_added(void **state)
{
    serving_pass p = {.n_products = 0};
    (void)state;
    serving_add_product(&p, 4096, 1024, 3);
    serving_add_product(&p, 4096, 1024, 4);
    serving_add_product(&p, 1024, 4096, 5);
    serving_add_product(&p, 4096, 2048, 6);
    assert_int_equal(p.n_products, 3);
    assert_true(p.products[0].count == 7);
}

/* The time of one product in a step: what ten more of it add, a tenth. */
static double seconds_of_product(const server *x, const kernel_dtype *type, double *low,
                                 double *high)
{
    serving_model few = {.layers = 1}, many = {.layers = 1};
    serving_on on = x->on;
    serving_add_product(&few.step, 8192, 4096, 10);
    serving_add_product(&many.step, 8192, 4096, 20);
    on.types.linear = *type;
    on.model = &few;
    serving_span a = serving_step(&on, 8, 128);
    on.model = &many;
    serving_span b = serving_step(&on, 8, 128);
    *low = b.low;
    *high = b.high;
    assert_true(b.low <= b.expected && b.expected <= b.high);
    return (b.expected - a.expected) / 10;
}

/* Engines quantise in the norm before: a product of a narrow type is faster than the kernel that was measured with it,
 * and never below its limit; one of bfloat16 is the kernel. A type that no table has is a wide interval. */
static void products_take_their_kernels_time(void **state)
{
    static const char *const types[] = {"bfloat16", "fp8", "float32"};
    server x;
    double spread[3];
    (void)state;
    start_server(&x);
    for (size_t i = 0; i < 3; i++) {
        const kernel_dtype *t = kernel_dtype_find(str_of(types[i]));
        const kernel_call c = {.family = KERNEL_GEMM, .dtype = t, .m = 8, .n = 8192, .k = 4096};
        kernel_time k = kernel_predict(&x.t.kernels, x.on.device, &c);
        double low, high, s = seconds_of_product(&x, t, &low, &high);
        assert_true(s >= k.limit_s &&
                    (i == 1 ? s < 0.95 * k.seconds : fabs(s / k.seconds - 1) < 1e-6));
        assert_true((k.from != NULL) == (i < 2));
        spread[i] = high / low;
    }
    assert_true(spread[2] > spread[0] && spread[2] > spread[1]);
    arena_free(x.a);
}

static void too_many_products_keep_their_cost(void **state)
{
    serving_pass p = {.n_products = 0};
    double cost = 0, kept = 0;
    (void)state;
    for (int i = 1; i <= 100; i++) {
        serving_add_product(&p, 64.0 * i, 128, 2);
        cost += 64.0 * i * 128 * 2;
    }
    for (uint32_t i = 0; i < p.n_products; i++)
        kept += p.products[i].columns * p.products[i].depth * p.products[i].count;
    assert_int_equal(p.n_products, SERVING_PRODUCTS);
    assert_true(fabs(kept / cost - 1) < 1e-9);
}

static void serving_rows_are_checked(void **state)
{
    arena *a = arena_new(BYTES);
    serving_table t = {.engines.n = 0};
    assay_error err = {0};
    (void)state;
    assert_int_equal(serving_engines_csv(STR(""), a, &t, &err), ASSAY_ERR_MALFORMED);
    assert_int_equal(serving_engines_csv(STR("a,b,c,d,e,f,g,h,i,j,k,l\nx,1\n"), a, &t, &err),
                     ASSAY_ERR_MALFORMED);
    assert_int_equal(serving_engines_csv(STR("a,b,c,d,e,f,g,h,i,j,k,l\n"), a, &t, &err),
                     ASSAY_ERR_MALFORMED);
    arena_free(a);
}

int run_test_kernel(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_gives_coefficients_back),
        cmocka_unit_test(disturbed_rows_count_little),
        cmocka_unit_test(a_fit_refuses_bad_times),
        cmocka_unit_test(an_unmeasured_term_keeps_its_prior),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(kernels_stay_above_their_limit),
        cmocka_unit_test(larger_products_take_longer),
        cmocka_unit_test(tiles_run_in_waves),
        cmocka_unit_test(windows_bound_attention),
        cmocka_unit_test(kernels_follow_the_tensor_cores),
        cmocka_unit_test(experts_share_rows),
        cmocka_unit_test(experts_follow_the_framework),
        cmocka_unit_test(runtimes_have_rows),
        cmocka_unit_test(runtimes_stay_above_their_limit),
        cmocka_unit_test(broken_rows_are_refused),
        cmocka_unit_test(serving_follows_the_load),
        cmocka_unit_test(pooled_kernels_are_near_measured_ones),
        cmocka_unit_test(requests_beyond_the_memory_wait),
        cmocka_unit_test(percentiles_follow_the_load),
        cmocka_unit_test(unmeasured_devices_have_wider_intervals),
        cmocka_unit_test(a_decoder_has_its_published_weights),
        cmocka_unit_test(equal_products_are_added),
        cmocka_unit_test(products_take_their_kernels_time),
        cmocka_unit_test(too_many_products_keep_their_cost),
        cmocka_unit_test(serving_rows_are_checked),
    };
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}

/* What the clock said: configurations, how sure their numbers are, resources, cold start, verdicts. */
#include <math.h>

#include "base/text.h"
#include "profile/batch_choice.h"
#include "profile/metrics.h"
#include "profile/plan_ledger.h"
#include "report/console.h"

enum { SHOWN_OUTLIERS = 4 };

void console_ms(sbuf *b, double ms)
{
    if (ms < 0.1) {
        report_fixed(b, ms * 1000, ms < 0.01 ? 2 : 1);
        sbuf_puts(b, " µs");
    } else if (ms < 10000) {
        report_fixed(b, ms, ms < 1 ? 3 : ms < 100 ? 2 : 1);
        sbuf_puts(b, " ms");
    } else {
        report_fixed(b, ms / 1000, 2);
        sbuf_puts(b, " s");
    }
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- configurations ---- */

/* What was not measured, or cannot be, has no number. */
static void add_told(console_table *t, console_style s, double v, int decimals)
{
    sbuf *b = table_cell(t, s);
    if (isnan(v))
        sbuf_puts(b, "–");
    else
        report_fixed(b, v, decimals);
}

static void add_rate(console_table *t, double v)
{
    add_told(t, STYLE_TITLE, v, v < 10 ? 2 : v < 1000 ? 1 : 0);
}

static void add_config(console_table *t, const profile_measured *m, const profile_config *c)
{
    const profile_stats *s = &c->latency;
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%llu", (unsigned long long)c->batch);
    table_str(t, STYLE_DIM, c->precision);
    console_ms(table_cell(t, STYLE_TITLE), s->mean);
    sbuf *b = table_cell(t, STYLE_DIM);
    sbuf_puts(b, "± ");
    console_ms(b, s->std);
    console_ms(table_cell(t, STYLE_PLAIN), s->median);
    console_ms(table_cell(t, STYLE_PLAIN), s->p95);
    console_ms(table_cell(t, STYLE_PLAIN), s->p99);
    add_rate(t, profile_rate(m, c));
    add_told(t, STYLE_PLAIN, c->gflops_per_s, c->gflops_per_s < 100 ? 1 : 0);
    if (c->memory.peak)
        table_bytes(t, STYLE_PLAIN, above(c->memory.peak, c->memory.before_session));
    else
        table_str(t, STYLE_PLAIN, STR("–"));
    add_told(t, STYLE_DIM, c->use.cpu_percent, 0);
}

static bool any_error(const profile_measured *m)
{
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].output_error.present)
            return true;
    return false;
}

/* Relative, for the table. */
static void add_error(console_table *t, const profile_output_error *e)
{
    sbuf *b = table_cell(t, STYLE_PLAIN);
    if (e->present && e->relative >= 0)
        sbuf_printf(b, "%.3g %%", 100 * e->relative);
}

/* A precision is chosen by its size too. */
static void add_size(console_table *t, const profile_config *g)
{
    if (g->file_bytes)
        table_bytes(t, STYLE_PLAIN, g->file_bytes);
    else
        table_str(t, STYLE_PLAIN, STR("–"));
}

static void put_refused(console *c, const profile_config *g)
{
    sbuf b = {0};
    sbuf_printf(&b, "batch %llu " STR_FMT ": " STR_FMT, (unsigned long long)g->batch,
                STR_ARG(g->precision), STR_ARG(g->error));
    console_put(c, STYLE_WARN, "  ⚠ ");
    console_words(c, STYLE_WARN, 4, true, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
}

static void put_error(console *c, const profile_config *g)
{
    const profile_output_error *e = &g->output_error;
    sbuf b = {0};
    sbuf_printf(&b,
                "Batch %llu " STR_FMT " against the model as stored: off by %.3g at most, %.3g on "
                "average, cosine ",
                (unsigned long long)g->batch, STR_ARG(g->precision), e->max_abs, e->mean_abs);
    if (isnan(e->cosine))
        sbuf_puts(&b, "undefined (all zeros)");
    else
        sbuf_printf(&b, "%.6f", e->cosine);
    if (e->not_finite)
        sbuf_printf(&b, "; %llu of %llu elements are not finite", (unsigned long long)e->not_finite,
                    (unsigned long long)(e->elements + e->not_finite));
    sbuf_putc(&b, '.');
    console_words(c, e->not_finite ? STYLE_WARN : STYLE_DIM, 2, false, str_of(sbuf_cstr(&b)));
    sbuf_free(&b);
}

static void put_configs(console *c)
{
    const profile_measured *m = c->p->measured;
    sbuf unit = {0};
    sbuf_printf(&unit, "%s/s", m->unit ? m->unit : "samples");
    const console_column columns[] = {
        {.title = "batch", .right = true},
        {.title = "as"},
        {.title = "mean", .right = true},
        {.title = "", .drop = 4},
        {.title = "median", .right = true},
        {.title = "P95", .right = true, .drop = 2},
        {.title = "P99", .right = true, .drop = 3},
        {.title = sbuf_cstr(&unit), .right = true},
        {.title = "GFLOP/s", .right = true, .drop = 6},
        {.title = "peak memory", .right = true, .drop = 1},
        {.title = "CPU %", .right = true, .drop = 7},
        {.title = "on disk", .right = true}, /* both only when something was compared */
        {.title = "error", .right = true},
    };
    console_table t;
    bool errors = any_error(m);
    table_begin(&t, columns, errors ? 13 : 11, 2);
    for (uint32_t i = 0; i < m->n_configs; i++) {
        if (!m->configs[i].latency.runs)
            continue;
        add_config(&t, m, &m->configs[i]);
        if (!errors)
            continue;
        add_size(&t, &m->configs[i]);
        add_error(&t, &m->configs[i].output_error);
    }
    table_print(&t, c);
    sbuf_free(&unit);
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].output_error.present)
            put_error(c, &m->configs[i]);
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].error.n)
            put_refused(c, &m->configs[i]);
}

static const profile_config *first_good(const profile_measured *m)
{
    const profile_config *best = NULL;
    for (uint32_t i = 0; i < m->n_configs; i++)
        if (m->configs[i].latency.runs && (!best || m->configs[i].batch < best->batch))
            best = &m->configs[i];
    return best;
}

/* ---- how sure ---- */

static void say(console *c, console_style s, sbuf *text)
{
    console_words(c, s, 2, false, str_of(sbuf_cstr(text)));
    sbuf_free(text);
    *text = (sbuf){0};
}

static void put_interval(sbuf *b, const profile_stats *s)
{
    if (profile_no_interval(s)) {
        sbuf_puts(b, s->runs < 2 ? "one run tells no interval of the mean"
                                 : "too few or too scattered for an interval of the mean");
        return;
    }
    if (!(s->ci95_high > 0)) {
        sbuf_puts(b, "no interval of the mean is told");
        return;
    }
    sbuf_puts(b, "mean within ");
    console_ms(b, s->ci95_low);
    sbuf_puts(b, " to ");
    console_ms(b, s->ci95_high);
    sbuf_printf(b, " (95 %%, %.0f independent runs)", s->effective_runs);
}

static void put_certainty(console *c, const profile_config *g)
{
    const profile_stats *s = &g->latency;
    sbuf b = {0};
    sbuf_printf(&b, "Batch %llu: %llu run%s after %llu of warm-up%s; ",
                (unsigned long long)g->batch, (unsigned long long)s->runs, s->runs == 1 ? "" : "s",
                (unsigned long long)g->warmup_runs, g->steady ? "" : " (not steady)");
    put_interval(&b, s);
    sbuf_puts(&b, "; min ");
    console_ms(&b, s->min);
    sbuf_puts(&b, ", max ");
    console_ms(&b, s->max);
    sbuf_putc(&b, '.');
    say(c, STYLE_PLAIN, &b);
    if (s->runs < s->p99_runs_needed) {
        sbuf_printf(
            &b, "P99 of %llu runs is a guess: %llu are needed to bound it with 99 %% confidence.",
            (unsigned long long)s->runs, (unsigned long long)s->p99_runs_needed);
        say(c, STYLE_DIM, &b);
    }
    for (uint32_t i = 0; i < g->n_outliers && i < SHOWN_OUTLIERS; i++) {
        sbuf_printf(&b, "Slow run %llu: ", (unsigned long long)g->outliers[i].run);
        console_ms(&b, g->outliers[i].ms);
        sbuf_printf(&b, ", %s%s.", strcmp(g->outliers[i].cause, "unknown") == 0 ? "cause " : "",
                    g->outliers[i].cause);
        if (i + 1 == SHOWN_OUTLIERS && g->n_outliers > SHOWN_OUTLIERS)
            sbuf_printf(&b, " And %u more.", g->n_outliers - SHOWN_OUTLIERS);
        say(c, STYLE_DIM, &b);
    }
}

/* ---- resources ---- */

static void put_memory(console *c, const profile_resident *m)
{
    sbuf b = {0};
    if (!m->peak)
        return;
    sbuf_puts(&b, "Memory: peak ");
    text_bytes(&b, above(m->peak, m->before_session));
    sbuf_puts(&b, " above what was there (anonymous ");
    text_bytes(&b, above(m->peak_anon, m->before_anon));
    sbuf_puts(&b, ", file-backed ");
    text_bytes(&b, above(m->peak_file, m->before_file));
    sbuf_puts(&b, "), average ");
    text_bytes(&b, above(m->average, m->before_session));
    if (m->arena_held != PROFILE_NOT_TOLD) {
        sbuf_puts(&b, "; engine arena in use at most ");
        text_bytes(&b, m->arena_peak);
        sbuf_puts(&b, " of ");
        text_bytes(&b, m->arena_held);
        sbuf_puts(&b, " held");
        if (m->fragmentation >= 0)
            sbuf_printf(&b, " (%.0f %% unused)", text_tie_away(100 * m->fragmentation, 0));
    }
    sbuf_puts(&b, "; activations planned ");
    text_bytes(&b, m->plan_activations);
    sbuf_putc(&b, '.');
    say(c, STYLE_PLAIN, &b);
}

static void put_share(sbuf *b, const profile_use *u)
{
    if (isnan(u->cpu_percent)) {
        sbuf_puts(b, "Processor: too short to tell");
        return;
    }
    sbuf_printf(b, "Processor: %.0f %%", text_tie_away(u->cpu_percent, 0));
    if (u->threads > 1)
        sbuf_printf(b, ", %.0f %% of each of %d threads", u->cpu_percent / u->threads, u->threads);
    sbuf_printf(b, " (%.2f s in %.2f s)", u->cpu_s, u->wall_s);
}

static void put_processor(console *c, const profile_use *u)
{
    sbuf b = {0};
    if (!u->present)
        return;
    put_share(&b, u);
    sbuf_printf(&b, ", %llu switches (%llu forced), %llu page faults",
                (unsigned long long)(u->voluntary_switches + u->involuntary_switches),
                (unsigned long long)u->involuntary_switches,
                (unsigned long long)(u->minor_faults + u->major_faults));
    if (u->io.read_bytes != PROFILE_NOT_TOLD) {
        sbuf_puts(&b, ", disk ");
        text_bytes(&b, u->io.read_bytes);
        sbuf_puts(&b, " read, ");
        text_bytes(&b, u->io.written_bytes);
        sbuf_puts(&b, " written");
    }
    if (u->frequency_mhz >= 0)
        sbuf_printf(&b, ", clock %.0f MHz", u->frequency_mhz);
    if (u->energy_j >= 0)
        sbuf_printf(&b, ", %.2f J", u->energy_j);
    else
        sbuf_puts(&b, "; energy: not available here");
    sbuf_putc(&b, '.');
    say(c, STYLE_DIM, &b);
}

static void put_cold(console *c, const profile_config *g)
{
    const struct {
        const char *name;
        double ms;
    } parts[] = {
        {"engine", g->load_ms}, {"session", g->session_ms}, {"first run", g->first_run_ms}};
    const char *before = "Cold start: ";
    sbuf b = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].ms >= 0) {
            sbuf_printf(&b, "%s%s ", before, parts[i].name);
            console_ms(&b, parts[i].ms);
            before = ", ";
        }
    if (b.n)
        sbuf_putc(&b, '.');
    if (b.n)
        say(c, STYLE_DIM, &b);
    sbuf_free(&b);
}

static void put_resources(console *c, const profile_config *g)
{
    put_memory(c, &g->memory);
    put_processor(c, &g->use);
    put_cold(c, g);
}

/* One line, whether there is one or not. */
static void put_gpu(console *c, const profile_gpu *g, const profile_gpu_use *u)
{
    sbuf b = {0};
    if (!g->available) {
        if (g->why.n)
            console_words(c, STYLE_DIM, 2, false, g->why);
        return;
    }
    sbuf_puts(&b, "GPU: ");
    profile_put_name(&b, g->name);
    if (u->percent >= 0)
        sbuf_printf(&b, ", %.0f %% busy (at most %.0f %%)", u->percent, u->percent_max);
    if (u->memory_peak != PROFILE_NOT_TOLD) {
        sbuf_puts(&b, ", memory ");
        text_bytes(&b, u->memory_peak);
        sbuf_puts(&b, " of ");
        text_bytes(&b, u->memory_total);
    }
    if (u->power_w >= 0)
        sbuf_printf(&b, ", %.0f W (at most %.0f W)", u->power_w, u->power_max_w);
    if (u->temperature_max_c >= 0)
        sbuf_printf(&b, ", %.0f degrees", u->temperature_max_c);
    sbuf_puts(&b, g->ranges ? "; NVTX ranges are marked." : ".");
    say(c, STYLE_DIM, &b);
}

static void put_ceilings(console *c, const profile_config *g)
{
    sbuf b = {0};
    if (isnan(g->percent_of_peak))
        return;
    sbuf_printf(&b, "Achieved: %.1f GFLOP/s, %.1f %% of this machine's peak; %.1f GB/s",
                g->gflops_per_s, g->percent_of_peak, g->gbytes_per_s);
    if (g->percent_of_bandwidth >= 0)
        sbuf_printf(&b, ", %.1f %% of its memory's", g->percent_of_bandwidth);
    sbuf_putc(&b, '.');
    say(c, STYLE_DIM, &b);
}

static void put_end_to_end(console *c, const profile_config *g)
{
    sbuf b = {0};
    if (isnan(g->pre_ms))
        return;
    sbuf_puts(&b, "End to end: decoding, resizing and normalising ");
    console_ms(&b, g->pre_ms);
    sbuf_puts(&b, ", run ");
    console_ms(&b, g->latency.median);
    if (g->post_ms >= 0) {
        sbuf_puts(&b, ", softmax and top five ");
        console_ms(&b, g->post_ms);
    }
    sbuf_puts(&b, "; ");
    console_ms(&b, g->pre_ms + g->latency.median + (g->post_ms > 0 ? g->post_ms : 0));
    sbuf_puts(&b, " in all.");
    say(c, STYLE_PLAIN, &b);
}

/* ---- verdicts ---- */

static void put_verdicts(console *c, const profile_config *g)
{
    const band *speed = g->bands.speed, *memory = g->bands.memory;
    sbuf b = {0};
    if (!speed)
        return;
    sbuf_printf(&b, "Verdict: %s, %s", speed->word, speed->range);
    if (memory)
        sbuf_printf(&b, "; memory: %s, %s", memory->word, memory->range);
    sbuf_putc(&b, '.');
    say(c, STYLE_GOOD, &b);
}

static void put_recommendation(console *c)
{
    const profile_measured *m = c->p->measured;
    const profile_config *best = profile_chosen(m);
    sbuf b = {0};
    if (m->n_configs < 2 || !best)
        return;
    sbuf_puts(&b, "For throughput: ");
    if (m->choice.why.n)
        sbuf_put(&b, m->choice.why.p, m->choice.why.n);
    else
        sbuf_printf(&b, "batch %llu, " STR_FMT ".", (unsigned long long)best->batch,
                    STR_ARG(best->precision));
    say(c, STYLE_GOOD, &b);
}

void console_measured(console *c)
{
    const profile_measured *m = c->p->measured;
    sbuf remark = {0};
    if (!m || m->n_configs == 0)
        return;
    sbuf_printf(&remark, STR_FMT " " STR_FMT " on " STR_FMT, STR_ARG(m->engine.title),
                STR_ARG(m->engine.version), STR_ARG(m->engine.device));
    if (m->engine.threads)
        sbuf_printf(&remark, ", %d threads", m->engine.threads);
    if (m->concurrency > 1)
        sbuf_printf(&remark, ", %llu runs at once", (unsigned long long)m->concurrency);
    if (m->rate > 0)
        sbuf_printf(&remark, ", %.4g requests/s from when they were due", m->rate);
    console_heading(c, "Measured", sbuf_cstr(&remark));
    sbuf_free(&remark);
    const profile_config *g = first_good(m);
    put_configs(c);
    if (g) {
        put_certainty(c, g);
        put_end_to_end(c, g);
        put_resources(c, g);
        put_gpu(c, &m->gpu, &g->use.gpu);
        put_ceilings(c, g);
        put_verdicts(c, g);
        put_recommendation(c);
    }
    if (m->stopped.n)
        console_words(c, STYLE_WARN, 2, false, m->stopped);
    if (m->interrupted)
        console_words(c, STYLE_WARN, 2, false,
                      STR("Interrupted: this is what was measured until then."));
}

/* ---- the plan against a run ---- */

static void put_curve(console *c, const char *label, const uint64_t *items, uint32_t n)
{
    sbuf b = {0};
    console_spark(&b, items, n, c->width > 30 ? c->width - 16 : 14);
    console_putf(c, STYLE_PLAIN, "  %-10s", label);
    console_put(c, STYLE_BAR, sbuf_cstr(&b));
    console_line(c);
    sbuf_free(&b);
}

static void put_signed(sbuf *b, int64_t bytes)
{
    sbuf_putc(b, bytes < 0 ? '-' : '+');
    text_bytes(b, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes);
}

/* From the plan to what was measured; a step that changes nothing is left out. */
static void put_plan_ledger(console *c, const profile_plan_check *k)
{
    static const console_column columns[] = {
        {"peak of activations", .min = 20}, {"step", .right = true}, {"in all", .right = true}};
    plan_ledger_row rows[PLAN_LEDGER_MAX];
    uint32_t n = plan_ledger(k, rows);
    console_table t;
    table_begin(&t, columns, 3, 2);
    for (uint32_t i = 0; i < n; i++) {
        bool end = str_is(str_of(rows[i].cause), "measured") || i == 0;
        if (!end && rows[i].bytes == 0)
            continue;
        sbuf_puts(table_cell(&t, end ? STYLE_TITLE : STYLE_PLAIN), rows[i].text);
        sbuf *step = table_cell(&t, STYLE_PLAIN);
        if (!end)
            put_signed(step, rows[i].bytes);
        table_bytes(&t, end ? STYLE_TITLE : STYLE_PLAIN, rows[i].total);
    }
    table_print(&t, c);
}

static void put_peaks(sbuf *b, const profile_plan_check *k)
{
    sbuf_puts(b, "Measured against planned: ");
    if (k->planned_peak)
        sbuf_printf(b, "%+.1f %%", 100 * ((double)k->measured_peak / (double)k->planned_peak - 1));
    else
        text_bytes(b, k->measured_peak);
    if (k->peak_node.n) {
        sbuf_puts(b, ", at ");
        profile_put_name(b, k->peak_node);
    }
    sbuf_putc(b, '.');
}

void console_plan_check(console *c)
{
    const profile_measured *m = c->p->measured;
    const profile_plan_check *k = m ? &m->plan : NULL;
    const profile_memory_plan *plan = &c->p->memory_plan;
    sbuf b = {0};
    if (!k || !k->present)
        return;
    console_heading(c, "Plan and run", "activations over time, engine without optimisations");
    arena *a = arena_new(SIZE_MAX);
    uint64_t *items = a ? ARENA_ARRAY(a, uint64_t, plan->n_timeline + k->n_moments + 1u) : NULL;
    for (uint32_t i = 0; items && i < plan->n_timeline; i++)
        items[i] = plan->timeline[i].live_bytes;
    if (items)
        put_curve(c, "planned", items, plan->n_timeline);
    for (uint32_t i = 0; items && i < k->n_moments; i++)
        items[i] = k->moments[i].requested;
    if (items)
        put_curve(c, "measured", items, k->n_moments);
    arena_free(a);
    put_plan_ledger(c, k);
    put_peaks(&b, k);
    say(c, STYLE_PLAIN, &b);
    sbuf_printf(&b, "Shapes: %llu of %llu outputs are as inferred.",
                (unsigned long long)k->shapes_equal, (unsigned long long)k->shapes_checked);
    say(c, k->shapes_equal == k->shapes_checked ? STYLE_GOOD : STYLE_WARN, &b);
}

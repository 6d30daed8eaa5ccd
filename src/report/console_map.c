/* The model on devices. Few devices: every precision and batch with its verdict. Many: a line each, at its
 * fastest precision. Then the Pareto table, and of a few devices the layers that take the time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/console.h"

enum {
    ROWS_SHOWN = 48,
    FRONT_SHOWN = 24,
    INTERVAL = 3,       /* column of a device's table */
    TOP_OF_SEVERAL = 3, /* layers of each of several devices, when nobody says how many */
};

static void put_rate(sbuf *b, double v)
{
    if (v < 1000)
        report_fixed(b, v, v < 10 ? 2 : v < 100 ? 1 : 0);
    else
        text_si(b, v, -1);
}

static void put_joule(sbuf *b, double j)
{
    if (!(j > 0))
        sbuf_puts(b, "?");
    else if (j < 1)
        report_fixed(b, j * 1000, j < 0.01 ? 2 : 1), sbuf_puts(b, " mJ");
    else
        report_fixed(b, j, 2), sbuf_puts(b, " J");
}

static void put_gain(sbuf *b, double percent)
{
    sbuf_puts(b, percent >= 0.05 ? "−" : "");
    report_fixed(b, percent, 1);
    sbuf_puts(b, " %");
}

static console_style verdict_style(const char *v)
{
    return strstr(v, "OOM") ? STYLE_WARN : STYLE_GOOD;
}

/* ---- few devices: everything ---- */

/* Nothing for a roofline's time: it has no error that is known. */
static void put_interval(sbuf *b, const mapping_row *r)
{
    if (!(r->latency_high_ms > 0))
        return;
    report_fixed(b, r->latency_low_ms,
                 r->latency_low_ms < 10    ? 2
                 : r->latency_low_ms < 100 ? 1
                                           : 0);
    sbuf_puts(b, "–");
    report_fixed(b, r->latency_high_ms,
                 r->latency_high_ms < 10    ? 2
                 : r->latency_high_ms < 100 ? 1
                                            : 0);
}

static void add_place(console_table *t, const profile_mapping *m, const mapping_row *r,
                      bool calibrated)
{
    const mapping_hardware *h = &m->hardware[r->hardware];
    sbuf_puts(table_cell(t, STYLE_PLAIN), r->precision);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%lld", (long long)r->batch);
    console_ms(table_cell(t, STYLE_TITLE), r->latency_ms);
    if (calibrated)
        put_interval(table_cell(t, STYLE_DIM), r);
    put_rate(table_cell(t, STYLE_PLAIN), r->throughput);
    table_bytes(t, STYLE_PLAIN, r->memory_bytes);
    table_percent(t, STYLE_DIM, (double)r->memory_bytes, h->memory_bytes);
    sbuf_puts(table_cell(t, verdict_style(r->verdict)), r->verdict);
    sbuf_puts(table_cell(t, STYLE_PLAIN), r->bound);
    put_joule(table_cell(t, STYLE_DIM), r->energy_j);
    if (r->trains) {
        console_ms(table_cell(t, STYLE_DIM), r->training_step_ms);
        table_bytes(t, STYLE_DIM, r->training_memory_bytes);
    } else {
        table_cell(t, STYLE_DIM);
        table_cell(t, STYLE_DIM);
    }
}

static void put_batches(console *c, const mapping_hardware *h)
{
    for (uint32_t i = 0; i < h->n_precisions; i++) {
        const mapping_precision *p = &h->precisions[i];
        sbuf b = {0};
        sbuf_printf(&b, "%s: ridge ", p->name);
        report_fixed(&b, p->ridge, 1);
        sbuf_puts(&b, " FLOPs per byte; with 20 % free the largest batch is ");
        sbuf_printf(&b, p->largest_batch ? "%lld" : "none", (long long)p->largest_batch);
        if (p->largest_training_batch >= 0) {
            sbuf_puts(&b, ", for training ");
            sbuf_printf(&b, p->largest_training_batch ? "%lld" : "none",
                        (long long)p->largest_training_batch);
        }
        sbuf_putc(&b, '.');
        console_words(c, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
        sbuf_free(&b);
    }
}

static void put_choice(console *c, const mapping_hardware *h)
{
    sbuf b = {0};
    if (!h->widest)
        sbuf_puts(&b, "No precision fits with 20 % free.");
    else
        sbuf_printf(&b, "Widest precision that fits: %s. Fastest that fits: %s.", h->widest,
                    h->cheapest);
    console_words(c, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static bool has_interval(const profile_mapping *m, uint32_t hardware)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->rows[i].hardware == hardware && m->rows[i].latency_high_ms > 0)
            return true;
    return false;
}

static void put_device(console *c, const profile_mapping *m, uint32_t index)
{
    console_column columns[] = {
        {.title = "Precision"},
        {.title = "Batch", .right = true},
        {.title = "Latency", .right = true},
        {.title = "80 % within", .right = true}, /* of calibrated times only */
        {.title = "Samples/s", .right = true},
        {.title = "Memory", .right = true},
        {.title = "of it", .right = true, .drop = 3},
        {.title = "Verdict"},
        {.title = "Bound", .drop = 1},
        {.title = "J/sample", .right = true, .drop = 4},
        {.title = "Train step", .right = true, .drop = 6},
        {.title = "Train mem", .right = true, .drop = 5},
    };
    const mapping_hardware *h = &m->hardware[index];
    sbuf remark = {0};
    char name[120];
    console_table t;
    text_safe_into(name, sizeof name, h->name);
    text_bytes(&remark, (uint64_t)h->memory_bytes);
    sbuf_puts(&remark, ", ");
    text_si_unit(&remark, h->bandwidth, -1, "B/s");
    sbuf_puts(&remark, "; figures ");
    text_safe(&remark, h->certainty);
    console_heading(c, name, sbuf_cstr(&remark));
    sbuf_free(&remark);
    bool calibrated = has_interval(m, index);
    unsigned n = sizeof columns / sizeof *columns;
    if (!calibrated)
        memmove(&columns[INTERVAL], &columns[INTERVAL + 1], sizeof *columns * (--n - INTERVAL));
    table_begin(&t, columns, n, 2);
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (m->rows[i].hardware == index)
            add_place(&t, m, &m->rows[i], calibrated);
    table_print(&t, c);
    console_line(c);
    put_batches(c, h);
    put_choice(c, h);
}

/* ---- many devices: a line each ---- */

static const mapping_row *row_of(const profile_mapping *m, uint32_t device, const char *precision,
                                 bool best)
{
    const mapping_row *found = NULL;
    for (uint32_t i = 0; i < m->n_rows; i++) {
        const mapping_row *r = &m->rows[i];
        if (r->hardware != device || (precision && strcmp(r->precision, precision) != 0))
            continue;
        if (!found || (best && r->fits && r->throughput > found->throughput))
            found = r;
        if (!best)
            break;
    }
    return found;
}

static int64_t largest_of(const mapping_hardware *h, const char *precision)
{
    for (uint32_t i = 0; i < h->n_precisions; i++)
        if (precision && strcmp(h->precisions[i].name, precision) == 0)
            return h->precisions[i].largest_batch;
    return 0;
}

/* The most of all batches, and at which: "47.8 k at 16". */
static void put_best(sbuf *b, const mapping_row *best)
{
    put_rate(b, best->throughput);
    sbuf_printf(b, " at %lld", (long long)best->batch);
}

static void add_summary(console_table *t, const profile_mapping *m, uint32_t device)
{
    const mapping_hardware *h = &m->hardware[device];
    const mapping_row *first = row_of(m, device, h->cheapest, false),
                      *best = row_of(m, device, h->cheapest, true);
    if (!first)
        return;
    table_str(t, STYLE_PLAIN, h->id);
    sbuf_puts(table_cell(t, STYLE_PLAIN), first->precision);
    console_ms(table_cell(t, STYLE_TITLE), first->latency_ms);
    put_rate(table_cell(t, STYLE_PLAIN), first->throughput);
    put_best(table_cell(t, STYLE_PLAIN), best);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%lld", (long long)largest_of(h, h->cheapest));
    sbuf_puts(table_cell(t, verdict_style(first->verdict)), first->verdict);
    sbuf_puts(table_cell(t, STYLE_PLAIN), first->bound);
    put_gain(table_cell(t, STYLE_DIM), first->gain_flops_percent);
    put_gain(table_cell(t, STYLE_DIM), first->gain_bandwidth_percent);
    table_str(t, STYLE_DIM, h->certainty);
}

static void put_summary(console *c, const profile_mapping *m)
{
    static const console_column columns[] = {
        {.title = "Device", .min = 10},
        {.title = "At"},
        {.title = "Latency", .right = true},
        {.title = "Samples/s", .right = true},
        {.title = "Most, at batch", .right = true},
        {.title = "Largest", .right = true, .drop = 1},
        {.title = "Verdict"},
        {.title = "Bound"},
        {.title = "+10 % F", .right = true, .drop = 3},
        {.title = "+10 % B", .right = true, .drop = 2},
        {.title = "Figures", .drop = 5},
    };
    console_table t;
    console_heading(c, "Devices", "at their fastest precision that fits; -v shows every batch");
    table_begin(&t, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < m->n_hardware; i++)
        add_summary(&t, m, i);
    table_print(&t, c);
    console_line(c);
    console_words(
        c, STYLE_DIM, 2, false,
        STR("Latency, samples/s, verdict and bound are of the smallest batch; Most is the highest "
            "samples/s of the batches looked at; Largest is the batch that leaves 20 % of the "
            "memory free."));
}

/* ---- the Pareto table ---- */

static void add_front(console_table *t, const profile_mapping *m, const mapping_row *r)
{
    const mapping_hardware *h = &m->hardware[r->hardware];
    table_str(t, STYLE_PLAIN, h->id);
    sbuf_puts(table_cell(t, STYLE_PLAIN), r->precision);
    sbuf_printf(table_cell(t, STYLE_PLAIN), "%lld", (long long)r->batch);
    console_ms(table_cell(t, STYLE_TITLE), r->latency_ms);
    put_rate(table_cell(t, STYLE_PLAIN), r->throughput);
    table_bytes(t, STYLE_PLAIN, r->memory_bytes);
    if (h->power_w > 0)
        sbuf_printf(table_cell(t, STYLE_PLAIN), "%.0f W", h->power_w);
    else
        sbuf_puts(table_cell(t, STYLE_PLAIN), "?");
    put_joule(table_cell(t, STYLE_DIM), r->energy_j);
    sbuf_puts(table_cell(t, STYLE_PLAIN), r->bound);
    put_gain(table_cell(t, STYLE_DIM), r->gain_flops_percent);
    put_gain(table_cell(t, STYLE_DIM), r->gain_bandwidth_percent);
}

static void say_front(console *c, const profile_mapping *m)
{
    sbuf b = {0};
    if (m->n_pareto == 0)
        sbuf_puts(&b, m->limit > 0 ? "Nothing that fits reaches the limit. "
                                   : "Nothing that fits can be compared. ");
    if (m->n_pareto > FRONT_SHOWN)
        sbuf_printf(&b, "%u more are in the JSON. ", m->n_pareto - FRONT_SHOWN);
    if (m->n_no_power)
        sbuf_printf(&b, "%u that fit are left out: the device's power is not published. ",
                    m->n_no_power);
    if (c->width >= 80)
        sbuf_puts(&b, "+10 % F and +10 % B: the time saved by that much more FLOPS or bandwidth.");
    console_words(c, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void put_front(console *c, const profile_mapping *m)
{
    static const console_column columns[] = {
        {.title = "Device", .min = 10},
        {.title = "At"},
        {.title = "Batch", .right = true},
        {.title = "Latency", .right = true},
        {.title = "Samples/s", .right = true},
        {.title = "Memory", .right = true, .drop = 5},
        {.title = "Power", .right = true},
        {.title = "J/sample", .right = true, .drop = 6},
        {.title = "Bound"},
        {.title = "+10 % F", .right = true, .drop = 2},
        {.title = "+10 % B", .right = true, .drop = 1},
    };
    char remark[120];
    console_table t;
    snprintf(remark, sizeof remark, "nothing is better in both %s and %s", m->goal, m->against);
    console_heading(c, "Pareto", remark);
    table_begin(&t, columns, sizeof columns / sizeof *columns, 2);
    for (uint32_t i = 0; i < m->n_pareto && i < FRONT_SHOWN; i++)
        add_front(&t, m, &m->rows[m->pareto[i]]);
    table_print(&t, c);
    if (m->n_pareto)
        console_line(c);
    say_front(c, m);
}

/* ---- layers ---- */

static int longer_first(const void *a, const void *b)
{
    const mapping_layer *x = a, *y = b;
    if (x->time_ms != y->time_ms)
        return x->time_ms > y->time_ms ? -1 : 1;
    return x->name.p < y->name.p ? -1 : x->name.p > y->name.p; /* the order they run in */
}

/* The first row of a device: what its layers were listed for. */
static const mapping_row *first_row(const profile_mapping *m, str device)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (str_eq(m->hardware[m->rows[i].hardware].id, device))
            return &m->rows[i];
    return NULL;
}

static void put_layer_table(console *c, mapping_layer *l, uint32_t n, uint32_t shown,
                            const mapping_row *r, bool alone)
{
    static const console_column columns[] = {
        {.title = "Layer", .min = 16},
        {.title = "Type", .drop = 1},
        {.title = "Time", .right = true},
        {.title = "Share", .right = true},
        {.title = "Bound"},
        {.title = "Of peak", .right = true},
    };
    console_table t;
    sbuf remark = {0};
    qsort(l, n, sizeof *l, longer_first);
    if (!alone) {
        text_safe(&remark, l[0].device);
        sbuf_puts(&remark, ", ");
    }
    sbuf_printf(&remark, "%s, batch %lld, by predicted time", r->precision, (long long)r->batch);
    console_heading(c, "Layers", sbuf_cstr(&remark));
    sbuf_free(&remark);
    table_begin(&t, columns, 6, 2);
    for (uint32_t i = 0; i < n && i < shown; i++) {
        table_name(&t, STYLE_PLAIN, l[i].name);
        table_str(&t, STYLE_PLAIN, l[i].type);
        console_ms(table_cell(&t, STYLE_TITLE), l[i].time_ms);
        table_percent(&t, STYLE_PLAIN, l[i].time_ms, r->latency_ms);
        sbuf_puts(table_cell(&t, STYLE_PLAIN), l[i].bound);
        table_percent(&t, STYLE_DIM, l[i].percent_of_peak, 100);
    }
    table_print(&t, c);
}

/* Of several devices a few each: --top 0 leaves them out, a larger one shows more. */
static void put_layers(console *c, const profile_mapping *m)
{
    uint32_t top = c->o->top < 0 ? 0 : (uint32_t)c->o->top;
    bool alone = m->n_all_layers <= m->n_layers;
    uint32_t shown = alone || top != REPORT_TOP ? top : TOP_OF_SEVERAL;
    mapping_layer *l = malloc(sizeof *l * ((size_t)m->n_all_layers + 1));
    if (l && m->n_all_layers)
        memcpy(l, m->layers, sizeof *l * m->n_all_layers);
    for (uint32_t from = 0, n; l && shown && from < m->n_all_layers; from += n) {
        const mapping_row *r = first_row(m, l[from].device);
        n = 1;
        while (from + n < m->n_all_layers && str_eq(l[from + n].device, l[from].device))
            n++;
        if (r)
            put_layer_table(c, l + from, n, shown, r, alone);
    }
    free(l);
}

static void say_skipped(console *c, const profile_mapping *m)
{
    sbuf b = {0};
    if (!m->n_skipped)
        return;
    sbuf_puts(&b, "Not there:");
    for (uint32_t i = 0; i < m->n_skipped && i < 12; i++)
        sbuf_printf(&b, "%s " STR_FMT " at %s", i ? "," : "", STR_ARG(m->skipped[i].device),
                    m->skipped[i].precision);
    if (m->n_skipped > 12)
        sbuf_printf(&b, ", %u more", m->n_skipped - 12);
    sbuf_putc(&b, '.');
    console_words(c, STYLE_DIM, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

static void say_calibrated(console *c, const mapping_calibration *k)
{
    sbuf b = {0};
    sbuf_puts(&b, "Times of `");
    text_safe(&b, k->device);
    sbuf_puts(&b, "` at fp32 are predicted from kernels measured with ");
    text_safe(&b, k->engine);
    sbuf_puts(&b, "; on models left out of the calibration the median error is ");
    report_fixed(&b, k->median_error * 100, 0);
    sbuf_printf(&b, " %% (%llu runs), and four of five lie in the interval shown. ",
                (unsigned long long)k->runs);
    report_fixed(&b, k->known_percent, 0);
    sbuf_puts(&b, " % of the time is in operators that were measured.");
    console_words(c, STYLE_PLAIN, 2, false, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
}

void console_map(console *c)
{
    const profile_mapping *m = c->p->mapping;
    if (!m)
        return;
    if (c->o->verbose || m->n_hardware == 1 || m->n_rows <= ROWS_SHOWN)
        for (uint32_t i = 0; i < m->n_hardware; i++)
            put_device(c, m, i);
    else
        put_summary(c, m);
    say_skipped(c, m);
    put_layers(c, m);
    put_front(c, m);
    console_line(c);
    if (m->calibration.present) {
        say_calibrated(c, &m->calibration);
        if (m->n_hardware == 1)
            return;
    }
    console_words(
        c, STYLE_PLAIN, 2, false,
        STR("Times are a roofline's and not calibrated: each layer a kernel of its own at the "
            "device's dense peak or bandwidth, whichever is slower, and an assumed cost of "
            "starting it. Kernels stay below their peak; engines that fuse start fewer. Compare "
            "devices with them, do not promise milliseconds."));
}

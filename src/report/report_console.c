/* The screen: what the model is and how sure the figures are, the figures, where the work is, what
 * limits it, what stands in memory, and what to know before trusting it.
 *
 * Nothing is longer than it needs to be: --verbose, --top and --depth ask for more.
 */
#include "base/num.h"
#include "base/text.h"
#include "report/console.h"

enum { WIDTH_MIN = 60, WIDTH_MAX = 200, SHOWN_TENSORS = 4 };

/* ---- header ---- */

static void put_title(console *c)
{
    const profile *p = c->p;
    char right[96];
    sbuf facts = {0};
    if (str_is(p->format, "onnx"))
        sbuf_puts(&facts, "ONNX");
    else
        text_safe(&facts, p->format);
    if (p->opset > 0)
        sbuf_printf(&facts, " · opset %lld", (long long)p->opset);
    if (p->ir_version > 0)
        sbuf_printf(&facts, " · IR %lld", (long long)p->ir_version);
    text_safe_into(right, sizeof right, str_of(sbuf_cstr(&facts)));
    sbuf_free(&facts);
    unsigned used = text_width(str_of(right));
    console_on(c, STYLE_TITLE);
    text_fit(c->out, p->model, c->width > used + 12 ? c->width - used - 2 : 10);
    console_on(c, STYLE_PLAIN);
    sbuf_puts(c->out, "  ");
    console_put(c, STYLE_DIM, right);
    console_line(c);
    console_rule(c);
}

static void add_tensors(console_table *t, const char *label, const profile_tensor *list, uint32_t n)
{
    uint32_t shown = n <= SHOWN_TENSORS + 1 ? n : SHOWN_TENSORS;
    for (uint32_t i = 0; i < shown; i++) {
        table_str(t, STYLE_DIM, str_of(i == 0 ? label : ""));
        table_str(t, STYLE_PLAIN, list[i].name);
        bool known = list[i].dtype != IR_UNDEFINED;
        table_str(t, STYLE_PLAIN, str_of(known ? ir_dtype_get(list[i].dtype)->name : "?"));
        sbuf *cell = table_cell(t, STYLE_PLAIN);
        if (list[i].kind && strcmp(list[i].kind, "tensor") != 0)
            sbuf_printf(cell, "%s ", list[i].kind);
        profile_put_shape(cell, &list[i].shape, "×");
    }
    if (shown == n)
        return;
    table_cell(t, STYLE_DIM);
    sbuf_printf(table_cell(t, STYLE_DIM), "and %u more", n - shown);
    table_cell(t, STYLE_DIM);
    table_cell(t, STYLE_DIM);
}

static void add_line(console_table *t, const char *label, str text)
{
    table_str(t, STYLE_DIM, str_of(label));
    table_str(t, STYLE_PLAIN, text);
    table_cell(t, STYLE_DIM);
    table_cell(t, STYLE_DIM);
}

/* What the shares of exact, assumed and unknown operators amount to, in one line. */
static void put_verdict(console *c)
{
    const profile_accounting *a = &c->p->accounting;
    bool assumed = c->p->anything_assumed;
    sbuf line = {0};
    if (c->p->inventory.present) {
        console_line(c);
        return;
    }
    sbuf_printf(&line, "Exact: %llu of %llu operators", (unsigned long long)a->exact,
                (unsigned long long)a->nodes);
    if (!assumed)
        sbuf_puts(&line, " counted, nothing assumed.");
    else if (c->p->weights_differ)
        sbuf_puts(&line, ", but the weights are not those of the configuration");
    else if (c->p->architecture_changed)
        sbuf_puts(&line, ", but the input size changes the architecture");
    else if (!a->assumed && !a->unknown)
        sbuf_puts(&line, ", for input sizes that were assumed");
    if (a->assumed)
        sbuf_printf(&line, " · %llu rest on an assumption", (unsigned long long)a->assumed);
    if (a->unknown)
        sbuf_printf(&line, " · %llu unknown", (unsigned long long)a->unknown);
    console_line(c);
    console_put(c, assumed ? STYLE_WARN : STYLE_GOOD, assumed ? "  ⚠ " : "  ✓ ");
    console_words(c, assumed ? STYLE_WARN : STYLE_GOOD, 4, true, str_of(sbuf_cstr(&line)));
    sbuf_free(&line);
}

/* The first screen says what was assumed: everything when it is little, else the beginning, and the
 * list at the end has it all. */
static void put_first_warnings(console *c)
{
    const notes *n = &c->p->warnings;
    bool all = console_warnings_first(c->p);
    for (uint32_t i = 0; i < n->list.n && (all || i < CONSOLE_FIRST_WARNINGS); i++)
        console_warning(c, "  • ", &n->list.items[i], all);
    if (all)
        return;
    console_putf(c, STYLE_DIM, "  • and %u more, listed at the end",
                 n->list.n - CONSOLE_FIRST_WARNINGS + n->dropped);
    console_line(c);
}

void console_header(console *c)
{
    static const console_column columns[] = {{0}, {.min = 12}, {0}, {.min = 12}};
    const profile *p = c->p;
    console_table t;
    put_title(c);
    table_begin(&t, columns, 4, 2);
    add_tensors(&t, p->n_inputs > 1 ? "Inputs" : "Input", p->inputs, p->n_inputs);
    add_tensors(&t, p->n_outputs > 1 ? "Outputs" : "Output", p->outputs, p->n_outputs);
    if (!str_empty(p->producer))
        add_line(&t, "Made by", p->producer);
    if (!str_is(p->lens, "assay"))
        add_line(&t, "Lens", p->lens);
    if (!str_empty(p->precision))
        add_line(&t, "Weighed as", p->precision);
    if (p->memory_plan.kv_cache)
        add_line(&t, "Memory", str_of(profile_cache_words(p->memory_plan.kv_cache)));
    table_print(&t, c);
    put_verdict(c);
    put_first_warnings(c);
}

/* ---- summary ---- */

static sbuf *add_fact(console_table *t, const char *label)
{
    table_str(t, STYLE_PLAIN, str_of(label));
    return table_cell(t, STYLE_TITLE);
}

static sbuf *add_remark(console_table *t)
{
    return table_cell(t, STYLE_DIM);
}

static void put_band(sbuf *b, const char *before, const band *of)
{
    if (of)
        sbuf_printf(b, "%s%s: %s", before, of->word, of->range);
}

static void add_parameters(console_table *t, const profile_architecture *a)
{
    text_thousands(add_fact(t, "Parameters"), a->total_parameters);
    sbuf *b = add_remark(t);
    text_si(b, (double)a->total_parameters, 2);
    if (a->buffers) {
        sbuf_puts(b, " · ");
        text_thousands(b, a->buffers);
        sbuf_puts(b, " more in buffers");
    }
    if (a->parameters_not_in_graph) {
        sbuf_puts(b, " · ");
        text_thousands(b, a->parameters_not_in_graph);
        sbuf_puts(b, " not in the graph");
    }
}

static void add_sizes(console_table *t, const profile_architecture *a)
{
    text_bytes(add_fact(t, "Model size"), a->weight_bytes);
    sbuf *b = add_remark(t);
    for (uint32_t i = 0; i < a->n_dtypes && i < 3; i++) {
        sbuf_printf(b, "%s" STR_FMT, i ? " + " : "", STR_ARG(a->dtypes[i].name));
        if (a->n_dtypes > 1) {
            sbuf_putc(b, ' ');
            text_bytes(b, a->dtypes[i].bytes);
        }
    }
    if (!a->file_size_bytes)
        return;
    sbuf_puts(b, a->n_dtypes ? " · file " : "file ");
    text_bytes(b, a->file_size_bytes);
}

static void add_work(console_table *t, const profile *p)
{
    text_thousands(add_fact(t, "Operators"), p->total_operators);
    sbuf *b = add_remark(t);
    sbuf_printf(b, "%u types", p->n_operations);
    if (p->accounting.folded) {
        sbuf_puts(b, " · ");
        text_thousands(b, p->accounting.folded);
        sbuf_puts(b, " more folded in advance");
    }
    text_thousands(add_fact(t, "MACs"), p->total_macs);
    b = add_remark(t);
    text_si_unit(b, (double)p->total_macs, 2, "MACs");
    if (p->architecture.causal_macs && p->architecture.causal_macs < p->total_macs) {
        sbuf_puts(b, " · causal ");
        text_si(b, (double)p->architecture.causal_macs, 2);
    }
    text_thousands(add_fact(t, "FLOPs"), p->total_flops);
    b = add_remark(t);
    text_si_unit(b, (double)p->total_flops, 2, "FLOPs");
    if (str_is(p->lens, "assay"))
        put_band(b, " · ", p->bands.work);
    else
        sbuf_printf(b, " · as " STR_FMT " counts", STR_ARG(p->lens));
}

static void add_traffic(console_table *t, const profile *p)
{
    uint64_t read = 0, written = 0;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        read = sat_add(read, sat_add(p->layers[i].read_bytes, p->layers[i].weight_bytes));
        written = sat_add(written, p->layers[i].written_bytes);
    }
    text_bytes(add_fact(t, "Memory traffic"), p->total_memory);
    sbuf *b = add_remark(t);
    sbuf_puts(b, "reads ");
    text_bytes(b, read);
    sbuf_puts(b, " · writes ");
    text_bytes(b, written);
    report_fixed(add_fact(t, "Intensity"), p->arithmetic_intensity, 2);
    put_band(add_remark(t), "", p->bands.intensity);
}

static void add_memory(console_table *t, const profile_memory_plan *m)
{
    text_bytes(add_fact(t, "Activation peak"), m->activations_peak_bytes);
    sbuf *b = add_remark(t);
    if (!str_empty(m->peak_node)) {
        sbuf_puts(b, "at ");
        profile_put_name(b, m->peak_node);
    }
    text_bytes(add_fact(t, "Peak memory"), m->peak_bytes);
    sbuf_puts(add_remark(t), "weights and activations, no kernel scratch");
}

void console_summary(console *c)
{
    static const console_column columns[] = {{0}, {.right = true}, {.min = 20}};
    console_table t;
    console_heading(c, "Summary", NULL);
    table_begin(&t, columns, 3, 2);
    add_parameters(&t, &c->p->architecture);
    add_sizes(&t, &c->p->architecture);
    add_work(&t, c->p);
    add_traffic(&t, c->p);
    add_memory(&t, &c->p->memory_plan);
    table_print(&t, c);
}

/* ---- weights without a graph ---- */

static void put_types(console *c)
{
    static const console_column columns[] = {
        {.title = "Type"}, {.title = "Elements", .right = true}, {.title = "Size", .right = true}};
    const profile_architecture *a = &c->p->architecture;
    console_table t;
    console_heading(c, "Types", NULL);
    table_begin(&t, columns, 3, 2);
    for (uint32_t i = 0; i < a->n_dtypes; i++) {
        table_str(&t, STYLE_PLAIN, a->dtypes[i].name);
        text_thousands(table_cell(&t, STYLE_PLAIN), a->dtypes[i].elements);
        table_bytes(&t, STYLE_PLAIN, a->dtypes[i].bytes);
    }
    table_print(&t, c);
}

static void put_largest(console *c)
{
    static const console_column columns[] = {{.title = "Tensor", .min = 20},
                                             {.title = "Type"},
                                             {.title = "Shape", .min = 12},
                                             {.title = "Elements", .right = true},
                                             {.title = "Size", .right = true}};
    const profile_inventory *i = &c->p->inventory;
    uint32_t top = (uint32_t)c->o->top < i->n_largest ? (uint32_t)c->o->top : i->n_largest;
    console_table t;
    if (!top)
        return;
    console_heading(c, "Largest tensors", NULL);
    table_begin(&t, columns, 5, 2);
    for (uint32_t k = 0; k < top; k++) {
        const profile_weight *w = &i->largest[k];
        table_str(&t, STYLE_PLAIN, w->name);
        table_str(&t, STYLE_PLAIN, w->dtype);
        profile_put_shape(table_cell(&t, STYLE_PLAIN), &w->shape, "×");
        text_thousands(table_cell(&t, STYLE_PLAIN), w->elements);
        table_bytes(&t, STYLE_PLAIN, w->bytes);
    }
    table_print(&t, c);
}

static void put_inventory(console *c)
{
    static const console_column columns[] = {{0}, {.right = true}, {.min = 20}};
    console_table t;
    console_header(c);
    console_heading(c, "Summary", NULL);
    table_begin(&t, columns, 3, 2);
    add_parameters(&t, &c->p->architecture);
    add_sizes(&t, &c->p->architecture);
    text_thousands(add_fact(&t, "Tensors"), c->p->inventory.tensors);
    add_remark(&t);
    table_print(&t, c);
    put_types(c);
    put_largest(c);
    console_warnings(c);
}

/* ---- the whole ---- */

/* What a view shows after the header; the one without a name shows everything. */
typedef struct view_row {
    const char *name;
    console_section *sections[6];
} view_row;

static const view_row views[] = {
    {"bench", {console_measured, console_warnings}},
    {"layers", {console_times, console_advice, console_warnings}},
    {"map", {console_map, console_advice, console_warnings}},
    {"watch", {console_watch}},
    {"fuse", {console_fusion, console_patterns, console_warnings}},
    {"memory",
     {console_memory, console_plan_check, console_events, console_measured, console_warnings}},
};

static bool put_view(console *c)
{
    for (size_t i = 0; c->o->view && i < sizeof views / sizeof *views; i++) {
        if (strcmp(c->o->view, views[i].name) != 0)
            continue;
        if (!c->p->watch)
            console_header(c);
        for (console_section *const *s = views[i].sections; *s; s++)
            (*s)(c);
        return true;
    }
    return false;
}

static void put_everything(console *c)
{
    if (c->p->watch) { /* there is no model */
        console_watch(c);
        return;
    }
    console_header(c);
    console_pair(c, console_summary, console_operations);
    if (console_is_wide(c))
        console_pair(c, console_bottlenecks, console_memory);
    else
        console_bottlenecks(c);
    console_measured(c);
    console_times(c);
    console_plan_check(c);
    console_layers(c);
    console_modules(c);
    if (!console_is_wide(c))
        console_memory(c);
    console_events(c);
    console_training(c);
    console_map(c);
    console_fusion(c);
    console_patterns(c);
    console_advice(c);
    console_warnings(c);
}

assay_status report_console(const profile *p, const report_options *o, sbuf *out, assay_error *err)
{
    size_t from = out->n;
    int width = o->width ? o->width : 80;
    width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
    console c = {.p = p, .o = o, .out = out, .width = (unsigned)width};
    if (p->inventory.present)
        put_inventory(&c);
    else if (!put_view(&c))
        put_everything(&c);
    if (o->ascii)
        console_to_ascii(out, from);
    return out->failed ? err_no_memory(err) : ASSAY_OK;
}

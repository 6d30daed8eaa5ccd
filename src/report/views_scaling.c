/* The view of scalings: grid, closed forms, exponents, answers of --solve. */
#include <string.h>

#include "base/text.h"
#include "profile/scaling.h"
#include "report/views.h"

enum { POINTS_SHOWN = 48, REFUSALS_SHOWN = 3 };

/* ---- the grid ---- */

static const view_column point_columns[] = {
    {.cell = "{:text}", .each = "sizes", .right = true},
    VIEW_NUMBER("MACs", "{macs}", .when = "forms.macs", .drop = 8),
    VIEW_NUMBER("FLOPs", "{flops}", .when = "forms.flops", .drop = 10),
    VIEW_NUMBER("Traffic", "{traffic_bytes}", .when = "forms.traffic_bytes", .drop = 7),
    VIEW_NUMBER("Parameters", "{parameters}", .when = "forms.parameters", .drop = 9),
    VIEW_NUMBER("Activations", "{activations_peak_bytes}", .when = "forms.activations_peak_bytes",
                .drop = 6),
    VIEW_NUMBER("Peak memory", "{peak_bytes}", .when = "forms.peak_bytes", .drop = 5),
    VIEW_NUMBER("Training", "{training_bytes}", .when = "forms.training_bytes", .drop = 5),
};

static uint32_t list_accepted(const field_value *points, uint32_t *index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < points->n; i++) {
        field_value point = fields_item(points, i);
        if (fields_get(&point, "refused").type == VALUE_NONE)
            index[n++] = i;
    }
    return n;
}

/* What the model accepts. Where not all of it is shown, every k-th size, so that both ends of the grid are there. */
static uint32_t order_points(const view *v, const field_value *points, uint32_t *index)
{
    uint32_t n = list_accepted(points, index);
    uint32_t step = v->o->verbose ? 1 : (n + POINTS_SHOWN - 1) / POINTS_SHOWN;
    for (uint32_t i = 0; step > 1 && i * step < n; i++)
        index[i] = index[(size_t)i * step];
    return n;
}

static const view_table_row grid_tables[] = {{.path = "points",
                                              VIEW_COLUMNS(point_columns),
                                              .order = order_points,
                                              .limit = POINTS_SHOWN,
                                              .more = "--verbose, JSON and CSV have all of them."}};
static const view_line_row grid_lines[] = {{.each = "points",
                                            .when = "refused",
                                            .text = "Not accepted: {sizes:text}: {refused:text}",
                                            .tone = TONE_FAIR,
                                            .limit = REFUSALS_SHOWN}};

/* ---- closed forms for display: "81,674,240·b·h² + 2,048,000·b" ---- */

static bool is_one_of(const char *set, char c)
{
    return c && strchr(set, c);
}

/* The number that a term begins with; only whole ones are grouped. */
static uint32_t put_coefficient(sbuf *b, str form, uint32_t i)
{
    uint32_t from = i;
    uint64_t whole = 0;
    bool plain = true;
    for (; i < form.n && is_one_of("0123456789.e", form.p[i]); i++) {
        bool signed_power = form.p[i] == 'e' && i + 1 < form.n && is_one_of("+-", form.p[i + 1]);
        plain = plain && form.p[i] != '.' && form.p[i] != 'e' && i - from < 19;
        whole = plain ? whole * 10 + (uint64_t)(form.p[i] - '0') : 0;
        i += signed_power;
    }
    if (plain && i > from)
        text_thousands(b, whole);
    else
        sbuf_put(b, form.p + from, i - from);
    return i;
}

static void put_sign_of_form(sbuf *b, char c)
{
    if (c == '*')
        sbuf_puts(b, "·");
    else if (c == '-')
        sbuf_puts(b, "−");
    else
        sbuf_putc(b, c);
}

static bool put_power(sbuf *b, str form, uint32_t i)
{
    static const char *const raised[] = {"²", "³", "⁴", "⁵"};
    bool has_one = form.p[i] == '^' && i + 1 < form.n && form.p[i + 1] >= '2' &&
                   form.p[i + 1] <= '5' && (i + 2 == form.n || is_one_of("* ", form.p[i + 2]));
    if (has_one)
        sbuf_puts(b, raised[form.p[i + 1] - '2']);
    return has_one;
}

static void put_form(sbuf *b, str form)
{
    bool starts_term = true;
    for (uint32_t i = 0; i < form.n; i++) {
        if (starts_term && form.p[i] >= '0' && form.p[i] <= '9') {
            i = put_coefficient(b, form, i);
            if (i >= form.n)
                break;
        }
        starts_term = form.p[i] == ' ' || form.p[i] == '-';
        if (put_power(b, form, i))
            i++;
        else
            put_sign_of_form(b, form.p[i]);
    }
}

static const struct {
    const char *text, *when;
} certainties[] = {
    {" (exact: {checked:whole} more evaluations agree[; between multiples off by "
     "{+between_multiples.error_percent:si} % at most])",
     "form,exact=true"},
    {" (approximate: off by {error_percent:si} % at most in {checked:whole evaluation})",
     "form,exact=false"},
    {"no closed form was found", "!form"},
};

static void add_form(view *v, const field_value *form)
{
    sbuf b = {0};
    field_value text = fields_get(form, "form");
    view_put(v, &b, form, "{title:text} = ");
    if (v->o->ascii)
        sbuf_str(&b, text.text);
    else
        put_form(&b, text.text);
    for (size_t i = 0; i < sizeof certainties / sizeof *certainties; i++)
        if (view_holds(v, form, certainties[i].when))
            view_put(v, &b, form, certainties[i].text);
    if (!b.failed)
        view_add_line(v, view_holds(v, form, "form,exact=true") ? TONE_PLAIN : TONE_DIM,
                      str_copy(v->a, (str){b.p, (uint32_t)b.n}));
    sbuf_free(&b);
}

/* "b = batch, h = height/32" */
static void add_legend(view *v, const field_value *axes)
{
    sbuf b = {0};
    for (uint32_t i = 0; i < axes->n; i++) {
        field_value axis = fields_item(axes, i), granule = fields_get(&axis, "granule");
        sbuf_puts(&b, i ? ", " : "");
        view_put(v, &b, &axis, "{symbol:text} = {name:text}");
        if (fields_number(&granule) > 1)
            view_put(v, &b, &axis, "/{granule:text}");
    }
    if (!b.failed && b.n)
        view_add_line(v, TONE_DIM, str_copy(v->a, (str){b.p, (uint32_t)b.n}));
    sbuf_free(&b);
}

static void add_forms(view *v)
{
    field_value axes = fields_get(&v->root, "axes"), forms = fields_get(&v->root, "forms");
    add_legend(v, &axes);
    for (uint32_t i = 0; i < forms.n; i++) {
        field_value form = fields_item(&forms, i);
        add_form(v, &form);
    }
}

/* ---- exponents and answers ---- */

static const view_column exponent_columns[] = {
    VIEW_TEXT("", "{title:text}"),
    {.cell = "{fitted:fixed2}[ ({first..last:fixed2})]", .each = "exponents", .right = true},
};
static const view_table_row exponent_tables[] = {
    {.path = "forms", VIEW_COLUMNS(exponent_columns)},
};

static const view_column answer_columns[] = {
    VIEW_TEXT("Question", "{question:text}", .min = 20),
    VIEW_TEXT("At", "[{sizes:text}]", .min = 20),
    VIEW_TEXT("Answer",
              "{axis:text} {value:text} ({figure:unit})|"
              "{outcome:text}: {figure:unit} at {axis:text} {tried:text}",
              .min = 30),
    VIEW_TEXT("Next size", "{next:text} ({next_figure:unit})|[{next:text} (not accepted)]",
              .min = 20),
    VIEW_TEXT("Outside", "[{+outside_range:text}]"),
};
static const view_table_row answer_tables[] = {
    {.path = "answers", VIEW_COLUMNS(answer_columns), .mark = "outcome", .limit = 200},
};
static const view_line_row answer_lines[] = {
    VIEW_LINE("Outside: the answer is outside the given range.", "+outside_range", DIM,
              .each = "answers"),
    VIEW_LINE("none: no size that was tried keeps the limit; the last one tried is shown.",
              "outcome=none", DIM, .each = "answers"),
    VIEW_LINE("always: every size that was tried keeps the limit; the last one tried is shown.",
              "outcome=always", DIM, .each = "answers"),
};

/* ---- the whole ---- */

static void say_assumptions(view *v)
{
    if (view_holds(v, &v->root, "+evaluations_with_assumptions"))
        view_add_banner(v, TONE_FAIR,
                        view_text(v, &v->root,
                                  "Something was assumed or is unknown in "
                                  "{evaluations_with_assumptions:whole evaluation}; "
                                  "`assay graph` says what."));
}

static const view_section_row scaling_sections[] = {
    {VIEW_TABLES(grid_tables), VIEW_LINES(grid_lines)},
    {.title = "Closed forms", .first = true, .build = add_forms},
    {VIEW_SECTION("Exponents", "cost grows as size^exponent; first to last step", NULL, NULL),
     .first = true, VIEW_TABLES(exponent_tables)},
    {VIEW_SECTION("Answers", "each is verified by an evaluation, as is the next size", NULL, NULL),
     .first = true, VIEW_TABLES(answer_tables), VIEW_LINES(answer_lines)},
};

static const view_column csv_columns[] = {
    {.each = "sizes"},
    VIEW_TEXT("macs", "macs", .when = "forms.macs"),
    VIEW_TEXT("flops", "flops", .when = "forms.flops"),
    VIEW_TEXT("traffic_bytes", "traffic_bytes", .when = "forms.traffic_bytes"),
    VIEW_TEXT("parameters", "parameters", .when = "forms.parameters"),
    VIEW_TEXT("activations_peak_bytes", "activations_peak_bytes",
              .when = "forms.activations_peak_bytes"),
    VIEW_TEXT("peak_bytes", "peak_bytes", .when = "forms.peak_bytes"),
    VIEW_TEXT("training_bytes", "training_bytes", .when = "forms.training_bytes"),
    VIEW_TEXT("refused", "refused"),
};
static const view_csv_row scaling_csv[] = {
    {.name = "points", .path = "points", VIEW_COLUMNS(csv_columns)}};

const view_kind scaling_view = {
    .of = &scaling_kind,
    .title = "Scaling of {model:text}",
    .under = "{points.@count:whole point}, {evaluations:whole evaluation}[ · {precision:text}]"
             "[ · KV cache {kv_cache:text}]",
    VIEW_SECTIONS(scaling_sections),
    VIEW_CSV(scaling_csv),
    .begin = say_assumptions,
};

/* Operators that compute element by element on stored whole numbers, rounded as XNNPACK does it (the kernels that LiteRT
 * runs); see to_onnx_integer.c.
 *
 *   Mul         round(float((a - za) * (b - zb)) * (sa * sb / sy)), ties to even
 *   Add, Sub    floor((a - za) * ma + (b - zb) * mb + 1/2): ma and mb are sa / sy and sb / sy with 21 bits for the larger
 *   Quantize    round(x * (1 / sy)), ties to even: a division rounds other ties
 *   Requantize  floor((x - zx) * m + 1/2): m is sx / sy in steps of 1/256
 *   LeakyRelu   the same with another m for x below zero
 *   AveragePool of stored numbers, ties away from zero; Resize of stored numbers, ties up
 * and zy is added, within the range of the type. Sums of Add need more than 24 bits, which float64 has.
 */
#include <math.h>
#include <string.h>

#include "ir/made.h"
#include "rewrite/to_onnx_impl.h"

typedef struct grid {
    float scale;
    int64_t zero;
} grid;

/* The one scale and zero point of a quantised value of 8 bits. */
static bool read_grid(exporting *x, ir_id id, grid *g)
{
    if (!has_eight_bits(x, id) || !has_one_scale(x, id))
        return false;
    const ir_value v = *ir_value_at(x->k.m, id);
    const float *scale = read_scales(x, &v);
    if (!scale || !(*scale > 0) || !read_zero(x, &v, &g->zero))
        return false;
    g->scale = *scale;
    return true;
}

ir_id step_float(exporting *x, const char *part, float v)
{
    return step_scalar(x, part, IR_FLOAT32, &v);
}

static ir_id step_double(exporting *x, const char *part, double v)
{
    return step_scalar(x, part, IR_FLOAT64, &v);
}

/* x - zx as a real number. */
static ir_id step_centred(exporting *x, const char *part, ir_id id)
{
    const ir_value v = *ir_value_at(x->k.m, id);
    ir_id unit = step_float(x, "unit", 1);
    ir_id in[] = {id, unit, zero_of(x, &v, stored_type(x, id))};
    return step(x, part, "DequantizeLinear", in, 3, NULL);
}

ir_id step_half_up(exporting *x, ir_id v)
{
    ir_id sum = step_two(x, "shifted", "Add", v, step_float(x, "half", 0.5F));
    return step(x, "rounded", "Floor", &sum, 1, NULL);
}

/* ---- sums and products ---- */

/* A multiplier of the sum, which has 21 bits at the larger of the two. */
static double sum_multiplier(float ratio, float larger)
{
    int exponent;
    frexpf(larger, &exponent); /* larger = 0.5..1 * 2^exponent */
    int shift = 21 - exponent;
    return ldexp(nearbyint(ldexp((double)ratio, shift)), -shift);
}

static ir_id step_term(exporting *x, const char *part, ir_id id, const grid *g, double multiplier)
{
    ir_id real = step_cast(x, part, id, IR_FLOAT64);
    ir_id centred = step_two(x, "centred", "Sub", real, step_double(x, "zero", (double)g->zero));
    return step_two(x, "term", "Mul", centred, step_double(x, "multiplier", multiplier));
}

static assay_status export_sum(exporting *x, const ir_node *n)
{
    grid a, b, y;
    if (!read_grid(x, n->inputs[0], &a) || !read_grid(x, n->inputs[1], &b) ||
        !read_grid(x, n->outputs[0], &y))
        return err_no_memory(x->k.err);
    float ra = a.scale / y.scale, rb = b.scale / y.scale, larger = ra > rb ? ra : rb;
    ir_id first = step_term(x, "left", n->inputs[0], &a, sum_multiplier(ra, larger));
    ir_id second = step_term(x, "right", n->inputs[1], &b, sum_multiplier(rb, larger));
    ir_id sum = step_two(x, "sum", kit_is(n, "Sub") ? "Sub" : "Add", first, second);
    ir_id up = step_two(x, "shifted", "Add", sum, step_double(x, "half", 0.5));
    ir_id whole = step(x, "rounded", "Floor", &up, 1, NULL);
    return finish_steps(x, step_cast(x, "steps", whole, IR_FLOAT32));
}

static assay_status export_product(exporting *x, const ir_node *n)
{
    grid a, b, y;
    if (!read_grid(x, n->inputs[0], &a) || !read_grid(x, n->inputs[1], &b) ||
        !read_grid(x, n->outputs[0], &y))
        return err_no_memory(x->k.err);
    ir_id left = step_centred(x, "left", n->inputs[0]);
    ir_id right = step_centred(x, "right", n->inputs[1]);
    ir_id product = step_two(x, "product", "Mul", left, right);
    ir_id step_size = step_float(x, "step", a.scale * b.scale / y.scale);
    return finish_steps(x, step_two(x, "scaled", "Mul", product, step_size));
}

static bool is_integer_pair(exporting *x, const ir_node *n)
{
    grid unused;
    return n->n_inputs == 2 && read_grid(x, n->inputs[0], &unused) &&
           read_grid(x, n->inputs[1], &unused) && read_grid(x, n->outputs[0], &unused) &&
           stored_type(x, n->inputs[0]) == stored_type(x, n->outputs[0]) &&
           stored_type(x, n->inputs[1]) == stored_type(x, n->outputs[0]);
}

/* ---- one value on another grid ---- */

static bool is_integer_result(exporting *x, const ir_node *n)
{
    grid unused;
    return read_grid(x, n->outputs[0], &unused);
}

static assay_status export_quantise(exporting *x, const ir_node *n)
{
    grid y;
    if (!read_grid(x, n->outputs[0], &y))
        return err_no_memory(x->k.err);
    ir_id inverse = step_float(x, "inverse", 1 / y.scale);
    return finish_steps(x, step_two(x, "scaled", "Mul", n->inputs[0], inverse));
}

/* In steps of 1/256. */
static float coarse_multiplier(float ratio)
{
    return nearbyintf(ratio * 256) / 256;
}

/* The same type, and a ratio that the kernels take. */
static bool is_integer_move(exporting *x, const ir_node *n)
{
    grid a, y;
    if (!read_grid(x, n->inputs[0], &a) || !read_grid(x, n->outputs[0], &y) ||
        stored_type(x, n->inputs[0]) != stored_type(x, n->outputs[0]))
        return false;
    float ratio = a.scale / y.scale;
    return ratio >= 1.0F / 256 && ratio <= 128;
}

static assay_status export_move(exporting *x, const ir_node *n)
{
    grid a, y;
    if (!read_grid(x, n->inputs[0], &a) || !read_grid(x, n->outputs[0], &y))
        return err_no_memory(x->k.err);
    ir_id v = step_centred(x, "centred", n->inputs[0]);
    ir_id factor = step_float(x, "step", coarse_multiplier(a.scale / y.scale));
    return finish_steps(x, step_half_up(x, step_two(x, "scaled", "Mul", v, factor)));
}

static assay_status export_leaky(exporting *x, const ir_node *n)
{
    grid a, y;
    if (!read_grid(x, n->inputs[0], &a) || !read_grid(x, n->outputs[0], &y))
        return err_no_memory(x->k.err);
    float ratio = a.scale / y.scale, alpha = (float)ir_attr_float(n, "alpha", 0.01);
    ir_id v = step_centred(x, "centred", n->inputs[0]), none = step_float(x, "none", 0);
    ir_id above = step_two(x, "above", "Max", v, none),
          below = step_two(x, "below", "Min", v, none);
    ir_id up = step_two(x, "up", "Mul", above, step_float(x, "step", coarse_multiplier(ratio)));
    ir_id slope = step_float(x, "slope", coarse_multiplier(ratio * alpha));
    ir_id down = step_two(x, "down", "Mul", below, slope);
    return finish_steps(x, step_half_up(x, step_two(x, "scaled", "Add", up, down)));
}

/* ---- means ---- */

/* The quotient of whole numbers, ties away from zero. An engine may multiply by 1 / count: what a tie loses by that is
 * given back, which is less than the next quotient is away. */
ir_id step_away_from_zero(exporting *x, ir_id mean, int64_t count)
{
    ir_id size = step(x, "size", "Abs", &mean, 1, NULL),
          sign = step(x, "sign", "Sign", &mean, 1, NULL);
    ir_id half = step_float(x, "half", 0.5F + 0.25F / (float)(count > 0 ? count : 1));
    ir_id up = step_two(x, "shifted", "Add", size, half);
    return step_two(x, "rounded", "Mul", step(x, "whole", "Floor", &up, 1, NULL), sign);
}

/* ---- clipping ---- */

/* What the clipped range is in steps, kept within the type. */
static int64_t stored_bound(double real, float scale, int64_t zero, int64_t low, int64_t high)
{
    double steps = nearbyint(real / (double)scale) + (double)zero;
    return !(steps >= (double)low) ? low : steps > (double)high ? high : (int64_t)steps;
}

static bool constant_float(exporting *x, ir_id id, double *to)
{
    const ir_tensor *t = id == IR_NONE ? NULL : ir_value_at(x->k.m, id)->constant;
    const uint8_t *bytes = NULL;
    float v;
    if (!t || t->dtype != IR_FLOAT32 || t->n_elems != 1 ||
        ir_read_whole(&x->k.m->reader, t, &bytes, x->k.err) != ASSAY_OK)
        return false;
    memcpy(&v, bytes, sizeof v);
    *to = (double)v;
    return true;
}

/* Relu and Clip of a value whose parameters the result shares. */
static bool is_integer_clip(exporting *x, const ir_node *n)
{
    double unused;
    grid g;
    if (!read_grid(x, n->inputs[0], &g) || !has_eight_bits(x, n->outputs[0]))
        return false;
    const ir_value *a = ir_value_at(x->k.m, n->inputs[0]), *y = ir_value_at(x->k.m, n->outputs[0]);
    if (a->quant != y->quant || !has_one_scale(x, n->inputs[0]))
        return false;
    return kit_is(n, "Relu") ||
           (constant_float(x, kit_in(n, 1), &unused) && constant_float(x, kit_in(n, 2), &unused));
}

static assay_status export_clip(exporting *x, const ir_node *n)
{
    const ir_value a = *ir_value_at(x->k.m, n->inputs[0]);
    ir_dtype t = stored_type(x, n->inputs[0]);
    int64_t low = t == IR_INT8 ? INT8_MIN : 0, high = t == IR_INT8 ? INT8_MAX : UINT8_MAX, zero;
    double from = 0, to = INFINITY;
    const float *scale = read_scales(x, &a);
    if (!scale || !read_zero(x, &a, &zero))
        return err_no_memory(x->k.err);
    if (kit_is(n, "Clip") &&
        !(constant_float(x, n->inputs[1], &from) && constant_float(x, n->inputs[2], &to)))
        return err_no_memory(x->k.err);
    int64_t least = stored_bound(from, *scale, zero, low, high),
            most = stored_bound(to, *scale, zero, low, high);
    if (least == low && most == high)
        return finish_stored(x, "Identity", n->inputs, 1, NULL);
    ir_id in[] = {n->inputs[0], step_stored(x, "low", t, least), step_stored(x, "high", t, most)};
    return finish_stored(x, "Clip", in, 3, NULL);
}

/* ---- the rows ---- */

static const struct integer_row {
    const char *op, *domain;
    bool (*fits)(exporting *x, const ir_node *n);
    assay_status (*write)(exporting *x, const ir_node *n);
} rows[] = {{"Add", "", is_integer_pair, export_sum},
            {"Sub", "", is_integer_pair, export_sum},
            {"Mul", "", is_integer_pair, export_product},
            {"LeakyRelu", "", is_integer_move, export_leaky},
            {"Relu", "", is_integer_clip, export_clip},
            {"Clip", "", is_integer_clip, export_clip},
            {"QuantizeLinear", "", is_integer_result, export_quantise},
            {"Requantize", "assay.nhwc", is_integer_move, export_move}};

bool export_integer(exporting *x, const ir_node *n, assay_status *status)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(n->op, rows[i].op) && str_is(n->domain, rows[i].domain) && rows[i].fits(x, n)) {
            *status = rows[i].write(x, n);
            return true;
        }
    return false;
}

/* How fvcore counts an einsum: it asks numpy.einsum_path for the cheapest order of pairwise products, reads
 * the FLOP count from the printed report, which has four significant digits, and halves it. Two equations
 * of three letters each are counted as the product of all sizes instead.
 */
#include "analyze/lens_einsum.h"
#include "ops/einsum.h"

/* ---- numpy's cost of a path ---- */

static uint64_t space_of(const einsum_labels *e, einsum_set labels)
{
    uint64_t product = 1;
    for (uint32_t k = 0; k < e->n; k++)
        if (labels >> k & 1)
            product = sat_mul(product, e->size[k]);
    return product;
}

/* One step over n operands: a product per operand after the first, an addition when labels are summed. */
static uint64_t step_cost(const einsum_labels *e, einsum_set over, einsum_set kept, uint32_t n)
{
    uint64_t each = (n > 2 ? n - 1 : 1) + (over & ~kept ? 1 : 0);
    return sat_mul(space_of(e, over), each);
}

/* Labels that the product of a subset of the operands has left: those others or the output need. A single operand
 * keeps all of its own. */
static einsum_set left_of(const einsum_labels *e, uint32_t subset)
{
    einsum_set own = 0, needed = e->out;
    for (uint32_t i = 0; i < e->n_in; i++) {
        if (subset >> i & 1)
            own |= e->in[i];
        else
            needed |= e->in[i];
    }
    return subset & (subset - 1) ? own & needed : own;
}

/* The cheapest tree of pairwise products, over all subsets in growing order. */
static uint64_t cheapest_path(const einsum_labels *e)
{
    uint64_t least[1 << EINSUM_OPERANDS] = {0};
    uint32_t all = (UINT32_C(1) << e->n_in) - 1;
    for (uint32_t s = 1; s <= all; s++) {
        if (!(s & (s - 1)))
            continue;
        least[s] = UINT64_MAX;
        for (uint32_t a = (s - 1) & s; a; a = (a - 1) & s) {
            einsum_set over = left_of(e, a) | left_of(e, s ^ a);
            uint64_t cost = sat_add(sat_add(least[a], least[s ^ a]),
                                    step_cost(e, over, left_of(e, s), 2));
            least[s] = cost < least[s] ? cost : least[s];
        }
    }
    return least[all];
}

/* One step when there is no choice, or when nothing is summed. */
static uint64_t path_cost(const einsum_labels *e)
{
    einsum_set used = 0;
    for (uint32_t i = 0; i < e->n_in; i++)
        used |= e->in[i];
    if (e->n_in <= 2 || used == e->out)
        return step_cost(e, used, e->out, e->n_in);
    return cheapest_path(e);
}

/* ---- as it is printed ---- */

/* Four significant digits, the last rounded half to even, as "%.3e" prints them. */
static uint64_t as_printed(uint64_t n)
{
    uint64_t unit = 1;
    while (n / unit >= 10000)
        unit *= 10;
    uint64_t digits = n / unit, rest = n % unit;
    if (rest > unit - rest || (rest == unit - rest && digits % 2))
        digits++;
    return sat_mul(digits, unit);
}

/* ---- the equations it knows by heart ---- */

/* Letters renamed a, b, c, ... in the order in which they appear, blanks left out; false: it is too long. */
static bool renamed(str equation, char *out, size_t size)
{
    char names[26] = {0};
    size_t n = 0, known = 0;
    for (uint32_t k = 0; k < equation.n; k++) {
        char x = equation.p[k];
        bool letter = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z');
        size_t at = 0;
        while (letter && at < known && names[at] != x)
            at++;
        if (x == ' ')
            continue;
        if (n + 1 >= size || at == sizeof names)
            return false;
        if (letter && at == known)
            names[known++] = x;
        out[n++] = letter ? (char)('a' + at) : x;
    }
    out[n] = 0;
    return true;
}

static bool known_by_heart(const op_ctx *c)
{
    char text[16];
    return renamed(op_attr_str(c, "equation", ""), text, sizeof text) &&
           (strcmp(text, "abc,abd->acd") == 0 || strcmp(text, "abc,adc->adb") == 0);
}

uint64_t lens_einsum_fvcore(const op_ctx *c, const op_cost *k)
{
    einsum_labels e;
    if (known_by_heart(c) || !einsum_read_labels(c, &e))
        return k->mac;
    return as_printed(sat_add(path_cost(&e), 1)) / 2; /* numpy adds one to the sum of the steps */
}

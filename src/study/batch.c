/* See batch.h. */
#include "study/batch.h"

#include <stdio.h>

#include "analyze/axis_roles.h"
#include "analyze/batch_trace.h"
#include "base/text.h"
#include "rewrite/rebatch.h"

#define PROBE_BYTES ((size_t)256 << 20)

const char *batch_certainty_name(batch_certainty c)
{
    static const char *const names[] = {[BATCH_ASSUMED] = "assumed",
                                        [BATCH_LIKELY] = "likely",
                                        [BATCH_TRIED] = "tried",
                                        [BATCH_NAMED] = "named",
                                        [BATCH_BUILT] = "built"};
    return names[c];
}

int batch_axis(const batch_rule *b, uint32_t input, int rank)
{
    if (!b->axes)
        return rank > 0 ? 0 : INFER_NO_BATCH;
    return input < b->n ? infer_batch_axis(b->axes, input, rank) : INFER_NO_BATCH;
}

/* ---- the inputs ---- */

typedef struct asking {
    batch_question q;
    arena *a;
    uint32_t n;
    uint32_t lead; /* the first input of two dimensions or more */
    int *axes;     /* [n] the candidate at hand */
    int64_t prime;
    char said[160]; /* what spoke against the last candidate */
    bool steps;     /* it is what a recurrence walks along */
} asking;

static const ir_value *input_of(const asking *x, uint32_t i)
{
    const ir_model *m = x->q.model;
    return ir_value_at(m, ir_graph_at(m, 0)->inputs.items[i]);
}

/* NULL when the file declares no shape for it. */
static const ir_type *type_of(const asking *x, uint32_t i)
{
    const ir_type *t = &input_of(x, i)->declared;
    return t->kind == IR_KIND_TENSOR && t->rank >= 0 && (t->dims || !t->rank) ? t : NULL;
}

static bool is_untyped(const asking *x, uint32_t i)
{
    const ir_type *t = &input_of(x, i)->declared;
    return (t->kind == IR_KIND_TENSOR || t->kind == IR_KIND_NONE) && t->rank < 0;
}

/* The file says every size of its inputs itself. */
static bool is_closed(const asking *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const ir_type *t = type_of(x, i);
        if (!t)
            return false;
        for (int d = 0; d < t->rank; d++)
            if (t->dims[d].value < 0)
                return false;
    }
    return true;
}

static bool find_lead(asking *x)
{
    for (x->lead = 0; x->lead < x->n; x->lead++) {
        const ir_type *t = type_of(x, x->lead);
        if (t && t->rank >= 2)
            return true;
    }
    return false;
}

/* Names that exporters make up say nothing of what a dimension is: open ones may be alike. */
static bool alike(const ir_dim *a, const ir_dim *b)
{
    if (a->value >= 0 || b->value >= 0)
        return a->value == b->value;
    return str_eq(a->symbol, b->symbol) ||
           (!axis_names_other(a->symbol) && !axis_names_other(b->symbol));
}

static int64_t fixed_at(const asking *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const ir_type *t = type_of(x, i);
        int axis = t ? infer_batch_axis(x->axes, i, t->rank) : -1;
        if (axis >= 0 && t->dims[axis].value > 0)
            return t->dims[axis].value;
    }
    return -1;
}

/* ---- names ---- */

static int axis_by_name(const asking *x, uint32_t i)
{
    const ir_type *t = type_of(x, i);
    for (int d = 0; t && d < t->rank; d++)
        if (t->dims[d].value < 0 && axis_names_batch(t->dims[d].symbol))
            return d;
    return INFER_NO_BATCH;
}

/* Beside an input with a named batch, an open first dimension that says nothing of itself is one too. */
static int axis_beside(const asking *x, uint32_t i)
{
    const ir_type *t = type_of(x, i);
    if (!t)
        return is_untyped(x, i) ? INFER_FIRST : INFER_NO_BATCH;
    bool open = t->rank >= 2 && t->dims[0].value < 0;
    return open && !axis_names_other(t->dims[0].symbol) ? 0 : INFER_NO_BATCH;
}

static bool by_name(asking *x, batch_rule *out)
{
    char name[128], symbol[64];
    uint32_t first = x->n;
    for (uint32_t i = 0; i < x->n; i++) {
        x->axes[i] = axis_by_name(x, i);
        if (x->axes[i] >= 0 && first == x->n)
            first = i;
    }
    if (first == x->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->axes[i] < 0)
            x->axes[i] = axis_beside(x, i);
    text_safe_into(name, sizeof name, input_of(x, first)->name);
    text_safe_into(symbol, sizeof symbol, type_of(x, first)->dims[x->axes[first]].symbol);
    out->present = true;
    out->certainty = BATCH_NAMED;
    out->why = str_printf(x->a, "dimension %d of '%s' is named '%s'", x->axes[first], name, symbol);
    return true;
}

/* ---- candidates ---- */

/* What goes with the lead's dimension among the other inputs. A cache [2, batch, ...] or a recurrent state
 * [layers, batch, ...] has it second; a single number beside a batch of one may be a step or one per sample. */
typedef enum company {
    WITH_SAME,    /* the same place, else the other of the first two */
    WITH_SINGLES, /* and lists of one */
    WITH_OTHER,   /* the other place before the same */
    ALONE,
    COMPANIES
} company;

static int axis_like(const asking *x, uint32_t i, const ir_dim *of, int first, company with)
{
    const ir_type *t = type_of(x, i);
    const int order[] = {first, !first};
    if (!t)
        return is_untyped(x, i) && first == 0 ? INFER_FIRST : INFER_NO_BATCH;
    if (t->rank == 1)
        return alike(&t->dims[0], of) && (with == WITH_SINGLES || of->value != 1) ? 0
                                                                                  : INFER_NO_BATCH;
    for (int k = 0; t->rank >= 2 && k < 2; k++)
        if (alike(&t->dims[order[k]], of))
            return order[k];
    return INFER_NO_BATCH;
}

/* False when it is a candidate that was tried before. */
static bool make_candidate(asking *x, int axis, company with)
{
    const ir_dim *of = &type_of(x, x->lead)->dims[axis];
    bool other = false;
    for (uint32_t i = 0; i < x->n; i++) {
        int place = axis, before = x->axes[i];
        if (i != x->lead)
            place = with == ALONE ? INFER_NO_BATCH
                                  : axis_like(x, i, of, with == WITH_OTHER ? !axis : axis, with);
        x->axes[i] = place;
        other = other || place != before;
    }
    return with == ALONE ? x->n > 1 : other;
}

/* ---- trying one ---- */

typedef enum verdict {
    FITS,        /* shapes fit and the outputs follow */
    MIXED,       /* something is computed across it */
    CONTRADICTS, /* shapes do not fit */
    GONE,        /* no output has it */
    UNTOLD,      /* the outputs are not known, or there is nothing to try it on */
} verdict;

static void say_node(asking *x, const ir_model *m, ir_id id, const char *what)
{
    const ir_node *n = ir_node_at(m, id);
    char name[96];
    text_safe_into(name, sizeof name, n->name.n ? n->name : n->op);
    snprintf(x->said, sizeof x->said, "'%s' %s", name, what);
}

static verdict judge_trace(asking *x, const infer_result *r, bool fixed, bool *proven)
{
    const batch_trace t = batch_follow(r, x->prime, r->arena);
    uint32_t known = t.n_outputs - t.n_opaque;
    bool squared = t.squared_at != IR_NONE && !t.n_squared;
    ir_id at = t.mixed_at != IR_NONE ? t.mixed_at : t.squared_at;
    *proven = t.proofs > 0;
    x->steps = t.steps;
    if (t.mixed_at != IR_NONE || squared) {
        say_node(x, r->model, at, "computes across it");
        return MIXED;
    }
    if (fixed && t.lost_at != IR_NONE) {
        say_node(x, r->model, t.lost_at, "accepts no other size of it");
        return CONTRADICTS;
    }
    if (t.first_follows || (t.n_follow && 2 * t.n_follow >= known))
        return FITS;
    if (!known)
        return *proven ? FITS : UNTOLD;
    snprintf(x->said, sizeof x->said, "it does not reach an output");
    return *proven ? FITS : GONE;
}

static assay_status infer_prime(asking *x, const ir_model *m, arena *work, verdict *out,
                                bool *proven, assay_error *err)
{
    infer_options with = x->q.shapes;
    infer_result *r = NULL;
    assay_error why;
    with.batch = x->prime;
    with.batch_axes = x->axes;
    x->steps = false;
    err_clear(&why);
    assay_status s = infer_run(m, &with, work, &r, &why);
    if (s == ASSAY_ERR_SYSTEM)
        return err_fail(err, s, "%s", why.message);
    *proven = false;
    *out = s == ASSAY_OK ? judge_trace(x, r, fixed_at(x) >= 0, proven) : CONTRADICTS;
    if (s != ASSAY_OK && why.node[0])
        snprintf(x->said, sizeof x->said, "'%s' accepts no other size of it", why.node);
    else if (s != ASSAY_OK)
        snprintf(x->said, sizeof x->said, "the graph accepts no other size of it");
    return ASSAY_OK;
}

/* Runs the model's shapes with the prime where the candidate has its batch. A file that fixes the size is changed
 * first, as for a run. */
static assay_status try_candidate(asking *x, verdict *out, bool *proven, assay_error *err)
{
    ir_model *own = NULL;
    bool fixed = fixed_at(x) >= 0;
    *out = UNTOLD;
    *proven = false;
    if (fixed && !x->q.again)
        return ASSAY_OK;
    arena *work = arena_new(PROBE_BYTES);
    assay_status s = !work   ? err_no_memory(err)
                     : fixed ? x->q.again(x->q.ctx, &own, err)
                             : ASSAY_OK;
    if (s == ASSAY_OK && own)
        s = rewrite_rebatch(own, x->axes, x->prime, err);
    if (s == ASSAY_OK)
        s = infer_prime(x, own ? own : x->q.model, work, out, proven, err);
    ir_model_free(own);
    arena_free(work);
    return s;
}

/* The best that any company makes of it stays in x->axes. */
static assay_status try_axis(asking *x, int axis, verdict *out, bool *proven, assay_error *err)
{
    char first[sizeof x->said] = "";
    verdict before = UNTOLD;
    bool steps = false;
    for (int with = WITH_SAME; with < COMPANIES; with++) {
        if (!make_candidate(x, axis, (company)with) && with > WITH_SAME)
            continue;
        TRY(try_candidate(x, out, proven, err));
        if (*out == FITS || *out == UNTOLD)
            return ASSAY_OK;
        if (with == WITH_SAME) {
            before = *out;
            steps = x->steps;
            memcpy(first, x->said, sizeof first);
        }
    }
    make_candidate(x, axis, WITH_SAME);
    memcpy(x->said, first, sizeof first);
    x->steps = steps;
    *out = before;
    return ASSAY_OK;
}

/* ---- what follows from it ---- */

static bool lead_is_image(const asking *x, image_axes *out)
{
    const ir_value *v = input_of(x, x->lead);
    return axis_image_declared(v, AXIS_NO_BATCH, out) && out->picture;
}

/* One without a batch. */
static bool lead_is_picture(const asking *x)
{
    image_axes image;
    return type_of(x, x->lead)->rank == 3 && lead_is_image(x, &image);
}

static bool lead_is_pictures(const asking *x)
{
    image_axes image;
    return type_of(x, x->lead)->rank > 3 && lead_is_image(x, &image);
}

static str lead_name(const asking *x)
{
    char name[128];
    text_safe_into(name, sizeof name, input_of(x, x->lead)->name);
    return str_copy(x->a, str_of(name));
}

static void say_present(asking *x, batch_certainty certainty, int axis, const char *because,
                        batch_rule *out)
{
    str name = lead_name(x);
    out->present = true;
    out->certainty = certainty;
    out->why = str_printf(x->a, "dimension %d of '" STR_FMT "' %s", axis, STR_ARG(name), because);
}

static void say_absent(asking *x, batch_rule *out)
{
    str name = lead_name(x);
    for (uint32_t i = 0; i < x->n; i++)
        x->axes[i] = INFER_NO_BATCH;
    out->present = false;
    out->certainty = BATCH_TRIED;
    image_axes image;
    out->image = lead_is_picture(x);
    if (out->image && lead_is_image(x, &image))
        out->why = str_printf(
            x->a, "dimension %d of '" STR_FMT "' is the channel dimension of a single image",
            image.channels, STR_ARG(name));
    else
        out->why = str_printf(x->a, "dimension 0 of '" STR_FMT "' is not one: %s", STR_ARG(name),
                              x->said);
}

/* Three planes without a connection are still the colours of one image. */
static bool is_loose_picture(const asking *x, bool proven)
{
    const ir_type *t = type_of(x, x->lead);
    return !proven && lead_is_picture(x) && t->dims[0].value == 3;
}

/* Whether the shapes fit as they are; when not, trying other sizes says nothing. */
static assay_status works_at_all(asking *x, bool *works, assay_error *err)
{
    infer_options with = x->q.shapes;
    infer_result *r = NULL;
    assay_error why;
    err_clear(&why);
    with.batch = 0;
    arena *work = arena_new(PROBE_BYTES);
    assay_status s = work ? infer_run(x->q.model, &with, work, &r, &why) : err_no_memory(&why);
    arena_free(work);
    *works = s == ASSAY_OK;
    return s == ASSAY_ERR_SYSTEM ? err_fail(err, s, "%s", why.message) : ASSAY_OK;
}

static bool output_has(const ir_type *t, int axis, int64_t size)
{
    return t->kind == IR_KIND_TENSOR && t->dims && t->rank > axis && t->dims[axis].value == size;
}

/* By what the file declares: every output has that size of the lead where the lead has it. */
static bool outputs_agree(const asking *x, int axis)
{
    const ir_model *m = x->q.model;
    const ir_graph *g = ir_graph_at(m, 0);
    int64_t size = type_of(x, x->lead)->dims[axis].value;
    bool all = g->outputs.n && size > 0;
    for (uint32_t i = 0; i < g->outputs.n; i++)
        all = all && output_has(&ir_value_at(m, g->outputs.items[i])->declared, axis, size);
    return all;
}

/* The first dimension is none, or cannot be tried. */
static assay_status after_first(asking *x, verdict first, batch_rule *out, assay_error *err)
{
    char said[sizeof x->said];
    const ir_dim *dim = &type_of(x, x->lead)->dims[0];
    bool works, proven, one = dim->value == 1 && !lead_is_picture(x), steps = x->steps;
    verdict second = UNTOLD;
    TRY(works_at_all(x, &works, err));
    if (!works) {
        say_present(x, BATCH_ASSUMED, 0, "comes first", out);
        return ASSAY_OK;
    }
    memcpy(said, x->said, sizeof said);
    if (!lead_is_picture(x) && !lead_is_pictures(x) && !(first == CONTRADICTS && one))
        TRY(try_axis(x, 1, &second, &proven, err));
    memcpy(x->said, said, sizeof said);
    if (second == FITS) {
        say_present(x, BATCH_TRIED, 1, "reaches the outputs, and dimension 0 does not", out);
        return ASSAY_OK;
    }
    if (first == MIXED && second == CONTRADICTS && (steps || outputs_agree(x, 1))) {
        say_present(x, BATCH_LIKELY, 1,
                    steps ? "follows the steps of a recurrence"
                          : "reaches the outputs, and the model computes across dimension 0",
                    out);
        return ASSAY_OK;
    }
    make_candidate(x, 0, WITH_SAME);
    if (lead_is_pictures(x) || one ||
        (first == CONTRADICTS && !lead_is_picture(x) && outputs_agree(x, 0)))
        say_present(x, BATCH_LIKELY, 0, "comes first, and the graph accepts no other size", out);
    else
        say_absent(x, out);
    return ASSAY_OK;
}

static assay_status by_trying(asking *x, batch_rule *out, assay_error *err)
{
    verdict first = MIXED;
    bool proven = false;
    str called = type_of(x, x->lead)->dims[0].symbol;
    char shown[96];
    x->prime = batch_prime(x->q.model);
    text_safe_into(shown, sizeof shown, called);
    if (axis_names_other(called))
        snprintf(x->said, sizeof x->said, "it is named '%s'", shown);
    else
        TRY(try_axis(x, 0, &first, &proven, err));
    if (first == FITS && is_loose_picture(x, proven))
        say_absent(x, out);
    else if (first == FITS)
        say_present(x, BATCH_TRIED, 0, "reaches the outputs", out);
    else if (first == UNTOLD)
        say_present(x, BATCH_ASSUMED, 0, "comes first", out);
    else
        return after_first(x, first, out, err);
    return ASSAY_OK;
}

/* Lists and single numbers, or inputs whose shapes only an option gives. */
static void without_lead(asking *x, batch_rule *out)
{
    bool untyped = false;
    for (uint32_t i = 0; i < x->n; i++) {
        x->axes[i] = is_untyped(x, i) ? INFER_FIRST : INFER_NO_BATCH;
        untyped = untyped || is_untyped(x, i);
    }
    out->present = untyped;
    out->certainty = untyped ? BATCH_ASSUMED : BATCH_TRIED;
    out->why = untyped ? STR("the first dimension is assumed")
               : x->n  ? STR("no input has two dimensions")
                       : STR("the model has no input");
}

assay_status batch_find(const batch_question *q, arena *a, batch_rule *out, assay_error *err)
{
    asking x = {.q = *q, .a = a, .n = ir_graph_at(q->model, 0)->inputs.n};
    *out = (batch_rule){.n = x.n, .fixed = -1};
    x.axes = ARENA_ARRAY(a, int, (size_t)x.n + 1);
    TRY_MEMORY(x.axes, err);
    if (is_closed(&x)) /* sizes that were given may be of another batch, and contradict */
        x.q.shapes.n_shapes = 0;
    if (!by_name(&x, out)) {
        if (find_lead(&x))
            TRY(by_trying(&x, out, err));
        else
            without_lead(&x, out);
    }
    out->axes = x.axes;
    out->fixed = out->present ? fixed_at(&x) : -1;
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

void batch_describe(const batch_rule *rule, profile *p)
{
    profile_batch_axis *axes = ARENA_ARRAY(p->arena, profile_batch_axis, (size_t)p->n_inputs + 1);
    for (uint32_t i = 0; axes && i < p->n_inputs; i++) {
        int axis = rule->present ? batch_axis(rule, i, p->inputs[i].shape.rank) : INFER_NO_BATCH;
        axes[i] = (profile_batch_axis){.input = p->inputs[i].name,
                                       .axis = axis < 0 ? INT64_MIN : axis};
    }
    p->batch = (profile_batch){.certainty = batch_certainty_name(rule->certainty),
                               .present = rule->present,
                               .why = str_copy(p->arena, rule->why),
                               .axes = axes,
                               .n_axes = axes ? p->n_inputs : 0,
                               .asked = true};
}

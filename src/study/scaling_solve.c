/* Inverse questions: the largest size within a limit, or the smallest that reaches one.
 *
 * Every answer is an evaluation of the model at that size, and beside it one at the next size, which breaks the
 * limit: nothing is read off a closed form. The search doubles, then halves, as cost grows with size; because
 * padding can make it dip, the sizes after the answer are looked at too, and the search goes on where one of
 * them keeps the limit.
 */
#include "base/num.h"
#include "study/scaling_memo.h"

enum { AFTER = 8, ROUNDS = 4, OTHERS_MAX = 24 };

typedef struct search {
    scaling_job *j;
    const scaling_question *q;
    uint32_t axis;
    int64_t at[SCALING_AXES];
    int64_t step, cap;
    bool failed; /* memory, or too many evaluations */
} search;

static const scaling_eval *evaluate_at(search *s, int64_t v)
{
    int64_t at[SCALING_AXES];
    memcpy(at, s->at, sizeof at);
    at[s->axis] = v;
    const scaling_eval *e = scaling_at(s->j, at);
    s->failed = s->failed || !e;
    return e;
}

/* Whether the size is on the small side: below the limit, or not there yet. Refused sizes are on the large
 * side, as those that a model refuses for being too small are stepped over by first_taken(). */
static bool small(search *s, int64_t v)
{
    const scaling_eval *e = evaluate_at(s, v);
    if (!e || !e->ok)
        return false;
    uint64_t y = e->figures.v[s->q->metric];
    return s->q->at_least ? y < s->q->limit : y <= s->q->limit;
}

static bool taken(search *s, int64_t v)
{
    const scaling_eval *e = evaluate_at(s, v);
    return e && e->ok;
}

/* The smallest size, roughly, that the model takes: doubled from one step on. 0: none up to `most`. */
static int64_t first_taken(search *s, int64_t most)
{
    for (int64_t v = s->step; v <= most && !s->failed; v *= 2)
        if (taken(s, v))
            return v;
    return taken(s, most) ? most : 0;
}

/* small(a) and not small(b): the two neighbours where it turns. */
static void halve(search *s, int64_t *a, int64_t *b)
{
    while (*b - *a > s->step && !s->failed) {
        int64_t mid = (*a / s->step + (*b - *a) / s->step / 2) * s->step;
        if (small(s, mid))
            *a = mid;
        else
            *b = mid;
    }
}

/* Doubles from a on; the first size that is not small, or 0. */
static int64_t beyond(search *s, int64_t *a)
{
    while (!s->failed) {
        int64_t b = *a * 2;
        if (b > s->cap)
            return 0;
        if (!small(s, b))
            return b;
        *a = b;
    }
    return 0;
}

/* A later size that is small again; 0: none nearby. */
static int64_t dip(search *s, int64_t b)
{
    int64_t found = 0;
    for (int i = 1; i <= AFTER && !s->failed; i++)
        if (small(s, b + i * s->step))
            found = b + i * s->step;
    return found;
}

/* The turn [a, b]; a is 0 when nothing is small, b when everything is. */
static void turn(search *s, int64_t *a, int64_t *b)
{
    const scale_axis *x = &s->j->s->axes[s->axis];
    int64_t start = num_ceil_div(x->from > 0 ? x->from : 1, s->step) * s->step;
    *a = start;
    *b = 0;
    if (!small(s, start)) {
        *a = first_taken(s, start);
        *b = start;
        if (!*a || !small(s, *a)) {
            *b = *a ? *a : start;
            *a = 0;
            return;
        }
    }
    for (int round = 0; round < ROUNDS && !s->failed; round++) {
        if (!*b)
            *b = beyond(s, a);
        if (!*b)
            return;
        halve(s, a, b);
        int64_t again = dip(s, *b);
        if (!again)
            return;
        *a = again;
        *b = 0;
    }
}

static uint64_t figure_at(search *s, int64_t v)
{
    const scaling_eval *e = v ? evaluate_at(s, v) : NULL;
    return e && e->ok ? e->figures.v[s->q->metric] : 0;
}

static void solve_question(search *s, scale_answer *out)
{
    int64_t a, b;
    turn(s, &a, &b);
    const scale_axis *x = &s->j->s->axes[s->axis];
    bool up = s->q->at_least;
    int64_t good = up ? b : a, bad = up ? a : b;
    const scaling_eval *at_b = b ? evaluate_at(s, b) : NULL;
    if (up && at_b && !at_b->ok) { /* the model ends before the limit is reached */
        out->outcome = SCALING_NONE;
        out->next = b;
        out->next_refused = at_b->why;
        out->figure = figure_at(s, a);
        out->at[s->axis] = a;
        return;
    }
    out->outcome = good && bad ? SCALING_FOUND : good ? SCALING_ALWAYS : SCALING_NONE;
    if (up && !a && b)
        out->outcome = SCALING_ALWAYS;
    out->at[s->axis] = good ? good : bad;
    out->figure = figure_at(s, out->at[s->axis]);
    out->next = good ? bad : 0;
    out->next_figure = figure_at(s, out->next);
    if (!up && at_b && !at_b->ok)
        out->next_refused = at_b->why;
    out->outside = out->outcome == SCALING_FOUND && (good < x->from || good > x->to);
}

static int64_t cap_of(const scale_axis *x)
{
    if (strcmp(x->kind, "batch") == 0)
        return (int64_t)1 << 30;
    /* A deeper or wider network costs its own size to look at. */
    if (strcmp(x->kind, "parameter") == 0)
        return x->to > INT64_MAX / 16 ? INT64_MAX : x->to * 16;
    return (int64_t)1 << 20;
}

/* Values of the other axes, number i of them; false past the end. */
static bool others(const scale_work *s, uint32_t axis, uint32_t i, int64_t at[SCALING_AXES])
{
    for (uint32_t k = s->n_axes; k-- > 0;) {
        if (k == axis)
            continue;
        at[k] = s->axes[k].values[i % s->axes[k].n_values];
        i /= s->axes[k].n_values;
    }
    return i == 0;
}

static assay_status ask_question(scaling_job *j, uint32_t question, uint32_t axis, assay_error *err)
{
    scale_work *s = j->s;
    const scale_axis *x = &s->axes[axis];
    int64_t at[SCALING_AXES] = {0};
    for (uint32_t i = 0; i < OTHERS_MAX && others(s, axis, i, at); i++) {
        search look_for = {.j = j,
                           .q = &s->questions[question],
                           .axis = axis,
                           .step = x->accepted > 0 ? x->accepted : 1,
                           .cap = cap_of(x)};
        memcpy(look_for.at, at, sizeof at);
        scale_answer *a = &s->answers[s->n_answers++];
        *a = (scale_answer){.question = question, .axis = axis};
        memcpy(a->at, at, sizeof at);
        solve_question(&look_for, a);
        if (look_for.failed)
            return err_fail(
                err, ASSAY_ERR_UNSUPPORTED,
                "a question needs more than %d evaluations of the model. Use fewer sizes.",
                SCALING_EVALUATIONS_MAX);
    }
    return ASSAY_OK;
}

static assay_status no_axis(const scale_work *s, str name, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_USAGE,
                    "the question is about '" STR_FMT "', which is not varied. Add --dim " STR_FMT
                    "=A..B%s.",
                    STR_ARG(name), STR_ARG(name), s->n_axes ? " too" : "");
}

assay_status scaling_solve_all(scaling_job *j, assay_error *err)
{
    scale_work *s = j->s;
    s->answers = ARENA_ARRAY(s->arena, scale_answer, SCALING_QUESTIONS * SCALING_AXES * OTHERS_MAX);
    TRY_MEMORY(s->answers, err);
    for (uint32_t i = 0; i < s->n_questions; i++) {
        bool asked = false;
        for (uint32_t k = 0; k < s->n_axes; k++) {
            if (s->questions[i].axis.n && !str_eq(s->questions[i].axis, s->axes[k].name))
                continue;
            asked = true;
            TRY(ask_question(j, i, k, err));
        }
        if (!asked)
            return no_axis(s, s->questions[i].axis, err);
    }
    return ASSAY_OK;
}

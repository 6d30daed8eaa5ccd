/* A language model at several batch sizes or lengths, on devices or by its memory alone. */
#include <math.h>

#include "study/language_impl.h"

static const struct {
    const char *word, *over;
} sweep_words[] = {
    {"batch", "batch"},       {"context", "context"},      {"prompt", "prompt"},
    {"generate", "generate"}, {"prompt-tokens", "prompt"}, {"users", "users"},
};

typedef struct sweeping {
    str hardware;
    const char *over;
    int64_t values[LANGUAGE_VALUES];
    uint32_t n;
} sweeping;

static assay_status refuse_sweep(str what, assay_error *err)
{
    return err_fail(err, ASSAY_ERR_USAGE,
                    "sweep of a language model must be like batch=1,8,32, context=2048,8192, "
                    "prompt=512,2048, generate=64,256 or users=1,16,64, with at most %d whole "
                    "numbers above 0, not '" STR_FMT "'",
                    LANGUAGE_VALUES, STR_ARG(what));
}

static assay_status parse_sweep(str what, sweeping *out, assay_error *err)
{
    str list = what, word = str_cut(&list, '=');
    *out = (sweeping){0};
    for (size_t i = 0; i < sizeof sweep_words / sizeof *sweep_words; i++)
        if (str_is(word, sweep_words[i].word))
            out->over = sweep_words[i].over;
    for (str item; out->over && list.n && str_split(&list, ',', &item);) {
        int64_t v;
        if (out->n == LANGUAGE_VALUES || !str_to_i64(item, &v) || v < 1 || v > 1 << 23)
            return refuse_sweep(what, err);
        out->values[out->n++] = v;
    }
    return out->n ? ASSAY_OK : refuse_sweep(what, err);
}

static assay_status settle_point(const sweeping *w, int64_t value, const language_result *of,
                                 language_settings *s, assay_error *err)
{
    s->prompt_tokens = of->prompt_tokens;
    s->generate = of->generate;
    s->batch = of->batch;
    if (strcmp(w->over, "batch") == 0)
        s->batch = value;
    else if (strcmp(w->over, "prompt") == 0)
        s->prompt_tokens = value;
    else if (strcmp(w->over, "generate") == 0)
        s->generate = value;
    else if (value <= of->generate)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "a context of %lld tokens leaves no prompt before %lld generated ones. Set "
                        "--generate.",
                        (long long)value, (long long)of->generate);
    else
        s->prompt_tokens = value - of->generate;
    return ASSAY_OK;
}

static language_point point_of(const language_result *r, int64_t value, uint64_t first)
{
    return (language_point){.value = value,
                            .prompt_tokens = r->prompt_tokens,
                            .generate = r->generate,
                            .batch = r->batch,
                            .prefill_macs = r->prefill.macs,
                            .total_macs = r->total_macs,
                            .cache_bytes = r->cache_bytes,
                            .serve_bytes = r->serve_bytes,
                            .relative = first ? (double)r->total_macs / (double)first : 1,
                            .verdict = r->verdict,
                            .ttft_ms = NAN,
                            .ttft_low_ms = NAN,
                            .ttft_high_ms = NAN,
                            .itl_ms = NAN,
                            .itl_low_ms = NAN,
                            .itl_high_ms = NAN,
                            .tokens_per_s = NAN};
}

static void put_device(const language_device *d, arena *a, language_point *p)
{
    p->device = str_copy(a, d->id);
    p->verdict = d->verdict;
    p->ttft_ms = d->first_token_ms;
    p->ttft_low_ms = d->first_token_low_ms;
    p->ttft_high_ms = d->first_token_high_ms;
    p->itl_ms = d->average_ms;
    p->itl_low_ms = d->average_low_ms;
    p->itl_high_ms = d->average_high_ms;
    p->tokens_per_s = d->tokens_per_s;
}

static assay_status run_point(str hardware, const language_settings *s, arena *work,
                              language_result *r, assay_error *err)
{
    const language_users_asked none = {.n = 0};
    TRY(language_run(s, work, r, err));
    return hardware.n ? language_on_devices(hardware, s, &none, work, r, err) : ASSAY_OK;
}

/* One point per value, or per value and device. */
static assay_status add_points(const language_result *r, int64_t value, arena *a, language_sweep *w,
                               assay_error *err)
{
    uint32_t n = r->n_devices ? r->n_devices : 1;
    uint64_t first = w->n ? w->points[0].total_macs : 0;
    language_point *more = ARENA_ARRAY(a, language_point, (size_t)w->n + n);
    TRY_MEMORY(more, err);
    if (w->n)
        memcpy(more, w->points, sizeof *more * w->n);
    for (uint32_t i = 0; i < n; i++) {
        more[w->n] = point_of(r, value, first);
        if (r->n_devices)
            put_device(&r->devices[i], a, &more[w->n]);
        w->n++;
    }
    w->points = more;
    return ASSAY_OK;
}

static assay_status run_value(const sweeping *w, int64_t value, const language_settings *s,
                              language_result *out, arena *keep, assay_error *err)
{
    language_settings mine = *s;
    language_result r = {0};
    arena *work = arena_new(s->memory_limit);
    TRY_MEMORY(work, err);
    assay_status status = settle_point(w, value, out, &mine, err);
    if (status == ASSAY_OK)
        status = run_point(w->hardware, &mine, work, &r, err);
    if (status == ASSAY_OK)
        status = add_points(&r, value, keep, &out->sweeps[out->n_sweeps], err);
    arena_free(work);
    return status;
}

static assay_status take_users(const sweeping *w, str hardware, language_users_asked *users,
                               assay_error *err)
{
    if (!hardware.n)
        return err_fail(err, ASSAY_ERR_USAGE, "a sweep over users needs --hardware");
    users->n = w->n;
    memcpy(users->users, w->values, sizeof *w->values * w->n);
    return ASSAY_OK;
}

assay_status language_sweep_over(const language_sweep_asked *q, language_users_asked *users,
                                 arena *a, language_result *out, assay_error *err)
{
    str what = q->what, hardware = q->hardware;
    const language_settings *s = q->settings;
    sweeping w;
    TRY(parse_sweep(what, &w, err));
    w.hardware = hardware;
    if (strcmp(w.over, "users") == 0)
        return take_users(&w, hardware, users, err);
    if (!out->sweeps)
        out->sweeps = ARENA_ARRAY(a, language_sweep, LANGUAGE_SWEEPS);
    TRY_MEMORY(out->sweeps, err);
    if (out->n_sweeps == LANGUAGE_SWEEPS)
        return err_fail(err, ASSAY_ERR_USAGE, "at most %d sweeps at a time", LANGUAGE_SWEEPS);
    out->sweeps[out->n_sweeps] = (language_sweep){.over = w.over};
    for (uint32_t i = 0; i < w.n; i++)
        TRY(run_value(&w, w.values[i], s, out, a, err));
    out->n_sweeps++;
    return ASSAY_OK;
}

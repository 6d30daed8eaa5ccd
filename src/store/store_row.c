/* A record as a row: the columns for searching and comparing, the packed document and the figures. */
#include <assert.h>

#include "base/clock.h"
#include "base/redact.h"
#include "base/vec.h"
#include "store/store_impl.h"

/* ---- columns for search and comparison ---- */

static void put_host(sbuf *b, const profile_context *c)
{
    size_t from = b->n;
    if (c->cpu.n || c->machine.n)
        sbuf_str(b, c->cpu.n ? c->cpu : c->machine);
    if (c->cores && b->n > from)
        sbuf_printf(b, ", %llu core%s", (unsigned long long)c->cores, c->cores == 1 ? "" : "s");
}

/* Records with the same shapes, types and counting convention have comparable counts. */
static void put_shape(sbuf *b, const profile *p)
{
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const profile_tensor *t = &p->inputs[i];
        sbuf_puts(b, i ? " " : "");
        sbuf_str(b, t->name);
        for (int d = 0; d < t->shape.rank; d++)
            sbuf_printf(b, "%s%lld", d ? "×" : " ", (long long)t->shape.dims[d]);
    }
    if (p->precision.n)
        sbuf_printf(b, " as " STR_FMT, STR_ARG(p->precision));
    if (p->lens.n && !str_is(p->lens, "assay"))
        sbuf_printf(b, " by " STR_FMT, STR_ARG(p->lens));
}

/* Records with the same setup have comparable times. */
static void put_setup(sbuf *b, const profile *p, const profile_config *c)
{
    const profile_measured *m = p->measured;
    if (m || p->watch)
        put_host(b, &p->context);
    if (!m)
        return;
    if (m->engine.device.n)
        sbuf_printf(b, " · " STR_FMT, STR_ARG(m->engine.device));
    if (c && c->batch)
        sbuf_printf(b, " · batch %llu · " STR_FMT, (unsigned long long)c->batch,
                    STR_ARG(c->precision));
    if (m->engine.threads)
        sbuf_printf(b, " · threads %d", m->engine.threads);
    if (m->concurrency > 1)
        sbuf_printf(b, " · concurrency %llu", (unsigned long long)m->concurrency);
    if (m->rate > 0)
        sbuf_printf(b, " · rate %g/s", m->rate);
    if (m->interleaved)
        sbuf_puts(b, " · interleaved");
    sbuf_puts(b, " · ");
    put_shape(b, p);
}

static uint64_t batch_of(const profile *p, const profile_config *c)
{
    const profile_shape *s = p->n_inputs ? &p->inputs[0].shape : NULL;
    if (c)
        return c->batch;
    return s && s->rank > 0 && s->dims[0] > 0 ? (uint64_t)s->dims[0] : 0;
}

str store_kind(const profile *p)
{
    return str_of(p->kind ? p->kind : p->watch ? "watch" : "profile");
}

/* ---- limits ---- */

typedef struct name_row {
    const char *what;
    str text;
    uint32_t most;
} name_row;

static assay_status check_name(const name_row *r, assay_error *err)
{
    if (r->text.n > r->most)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s has %u bytes; a record can have at most %u",
                        r->what, r->text.n, r->most);
    if (r->text.n && memchr(r->text.p, '\0', r->text.n))
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s contains a NUL", r->what);
    return ASSAY_OK;
}

static assay_status check_inputs(const profile *p, assay_error *err)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        TRY(check_name(&(name_row){"an input's name", p->inputs[i].name, STORE_NAME_BYTES}, err));
        total += p->inputs[i].name.n;
    }
    if (total > STORE_TEXT_BYTES)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED,
                        "the names of the inputs have %llu bytes; a record can have at most %d",
                        (unsigned long long)total, STORE_TEXT_BYTES);
    return ASSAY_OK;
}

assay_status store_check_names(const profile *p, assay_error *err)
{
    const profile_config *c = profile_smallest(p);
    const name_row rows[] = {
        {"the model's name", p->model, STORE_NAME_BYTES},
        {"the command", p->context.command, STORE_TEXT_BYTES},
        {"the CPU's name", p->context.cpu, STORE_NAME_BYTES},
        {"the machine's name", p->context.machine, STORE_NAME_BYTES},
        {"the precision", c ? c->precision : p->precision, STORE_NAME_BYTES},
        {"the convention", p->lens, STORE_NAME_BYTES},
        {"the device", p->measured ? p->measured->engine.device : (str){NULL, 0}, STORE_NAME_BYTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(check_name(&rows[i], err));
    return check_inputs(p, err);
}

assay_status store_check_label(const store_label *label, assay_error *err)
{
    const name_row rows[] = {
        {"the machine's name", label->machine, STORE_BASE_BYTES},
        {"the sweep's name", label->sweep, STORE_BASE_BYTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(check_name(&rows[i], err));
    if (label->sweep.n && label->task < 0)
        return err_fail(err, ASSAY_ERR_USAGE, "a task must have a number from 0, got %lld",
                        (long long)label->task);
    return store_check_tags(label->tags, err);
}

/* ---- the row ---- */

/* An index has no room for the longest names: they are there by their digest. */
str store_base(str model, store_base_text room)
{
    uint32_t from = model.n;
    while (from && model.p[from - 1] != '/')
        from--;
    str base = {model.n ? model.p + from : model.p, model.n - from};
    if (base.n <= STORE_BASE_BYTES)
        return base;
    store_digest(base, room);
    return str_of(room);
}

bool store_has_folder(str model)
{
    return model.n && memchr(model.p, '/', model.n);
}

/* The first 8 bytes of the SHA-256: what is stored compares in the same way on every machine. */
int64_t store_likeness(str text)
{
    char hex[65];
    uint64_t v = 0;
    store_digest(text, hex);
    for (int i = 0; i < 16; i++)
        v = v << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    return (int64_t)v;
}

/* Copies the text into the arena, and frees it. */
static str settle(arena *a, sbuf *b)
{
    if (b->failed)
        arena_alloc(a, SIZE_MAX); /* fails it, as every other lack of memory does */
    str out = b->n && !b->failed ? str_copy(a, (str){b->p, (uint32_t)b->n}) : (str){"", 0};
    sbuf_free(b);
    return out;
}

static void describe(const profile *p, arena *a, store_row *r)
{
    const profile_config *c = profile_smallest(p);
    sbuf host = {0}, shape = {0}, setup = {0};
    store_base_text room;
    put_host(&host, &p->context);
    put_shape(&shape, p);
    put_setup(&setup, p, c);
    /* As the document is: what is searched and listed has no secrets either. */
    r->model = p->model.n ? redact_copy(a, p->model) : STR("unnamed");
    r->base = str_copy(a, store_base(r->model, room));
    r->command = redact_copy(a, p->context.command);
    r->host = settle(a, &host);
    r->shape = settle(a, &shape);
    r->setup = settle(a, &setup);
    r->shape_key = store_likeness(r->shape);
    r->setup_key = store_likeness(r->setup);
    r->precision = c ? c->precision : p->precision;
    r->device = p->measured ? p->measured->engine.device : (str){NULL, 0};
    r->batch = (int64_t)batch_of(p, c);
    r->kind = store_kind(p);
    r->model_sha256 = p->context.model_sha256;
    r->tool_version = p->context.tool_version;
}

static void take_figures(const profile *p, arena *a, store_row *r)
{
    VEC(store_figure) figures = {0};
    for (uint32_t i = 0; i < metric_table_n; i++) {
        const metric_row *m = &metric_table[i];
        metric_value v;
        assert(m->get && m->name);
        if (m->get(p, &v))
            (void)VEC_ADD(a, &figures,
                          (store_figure){m->name, m->measured ? r->setup_key : r->shape_key, v});
    }
    r->figures = figures.items;
    r->n_figures = figures.n;
}

assay_status store_row_of(const profile *p, str squeezed, const store_label *label, arena *a,
                          store_row *r, assay_error *err)
{
    int64_t t;
    *r = (store_row){.machine = label->machine,
                     .sweep = label->sweep,
                     .task = label->task,
                     .tags = label->tags,
                     .created_s = label->created_s,
                     .size = squeezed.n};
    if (!r->created_s)
        r->created_s = clock_parse(p->context.timestamp, &t) ? t : clock_epoch();
    describe(p, a, r);
    take_figures(p, a, r);
    store_digest(squeezed, r->digest);
    TRY(store_pack(squeezed, a, &r->body, &r->encoding, err));
    return arena_failed(a) ? err_no_memory(err) : ASSAY_OK;
}

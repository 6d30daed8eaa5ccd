/* The context of a record that has no profile. */
#include "jobs/record.h"

#include "base/json_write.h"
#include "device/host.h"
#include "jobs/measure.h"
#include "profile/profile_fields.h"

void job_describe_host(profile *p)
{
    host_info h;
    if (p->context.os.n)
        return;
    host_describe(&h);
    p->context.os = str_copy(p->arena, str_of(h.os));
    p->context.machine = str_copy(p->arena, str_of(h.machine));
    p->context.cpu = str_copy(p->arena, str_of(h.cpu));
    p->context.cores = h.cores;
    p->context.memory_bytes = h.memory_bytes;
}

/* Without an engine, a record has none. */
static void describe_engine(const assay_options *o, profile *p)
{
    engine *e = NULL;
    profile_measured *m = ARENA_NEW(p->arena, profile_measured);
    if (!m || job_engine_open(o, &e, NULL) != ASSAY_OK)
        return;
    m->engine = job_engine_used(o, engine_about(e), p->arena);
    m->engine.device = o->engine.device.n ? o->engine.device : STR("cpu");
    m->concurrency = 1;
    m->seed = (uint64_t)o->model.seed;
    p->measured = m;
    engine_close(e);
}

static void write_context(const profile *p, sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 0);
    json_object(&w);
    json_key(&w, "context");
    fields_write(&w, &context_fields, p);
    json_end(&w);
}

/* Both are objects; the members of the second follow those of the first. */
static void join_objects(sbuf *first, const sbuf *second)
{
    while (first->n && first->p[first->n - 1] != '}')
        first->n--;
    first->n -= first->n > 0;
    sbuf_putc(first, ',');
    sbuf_put(first, second->p ? second->p + 1 : "", second->n ? second->n - 1 : 0);
}

assay_status job_put_context(sbuf *document, const assay_options *o, bool measured,
                             assay_error *err)
{
    sbuf context = {0};
    profile *p = profile_new((size_t)1 << 20);
    TRY_MEMORY(p, err);
    job_describe_context(o, p);
    if (measured)
        describe_engine(o, p);
    job_describe_host(p);
    context.failed = !profile_settle(p);
    write_context(p, &context);
    join_objects(document, &context);
    bool failed = context.failed || document->failed || arena_failed(p->arena);
    sbuf_free(&context);
    profile_free(p);
    return failed ? err_no_memory(err) : ASSAY_OK;
}

/* What is sent, by the options: target, protocol, bodies, headers. Values of headers and keys stay in the plan and are
 * never part of a result. */
#include <stdlib.h>
#include <sys/resource.h>

#include "base/file.h"
#include "measure/load_endpoint.h"
#include "measure/load_trace.h"

enum { OPEN_CONNECTIONS = 512, FILES_KEPT = 64 };
#define BODY_MOST   ((uint64_t)256 << 20)
#define HEADER_MOST ((uint64_t)1 << 20)

/* ---- headers ---- */

typedef struct header_list {
    sbuf lines; /* with CR LF */
    VEC(str) names;
} header_list;

static bool is_header_name(str name)
{
    for (uint32_t i = 0; i < name.n; i++)
        if (name.p[i] <= ' ' || name.p[i] >= 0x7f)
            return false;
    return name.n > 0;
}

static assay_status add_header(header_list *l, arena *a, str line, assay_error *err)
{
    str value = line, name = str_cut(&value, ':');
    if (name.n == line.n || !is_header_name(name))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "a header must be 'Name: value'"); /* no secrets here */
    sbuf_printf(&l->lines, STR_FMT ": " STR_FMT "\r\n", STR_ARG(name), STR_ARG(str_trim(value)));
    str copy = str_copy(a, name);
    return copy.p && VEC_ADD(a, &l->names, copy) ? ASSAY_OK : err_no_memory(err);
}

static assay_status add_header_file(header_list *l, arena *a, str path, assay_error *err)
{
    str text;
    arena *work = arena_new((size_t)4 << 20);
    TRY_MEMORY(work, err);
    assay_status s = file_read_all(path.p, HEADER_MOST, work, &text, err);
    for (str line; s == ASSAY_OK && str_split(&text, '\n', &line);) {
        str inside = str_trim(line);
        if (inside.n && inside.p[0] != '#')
            s = add_header(l, a, inside, err);
    }
    arena_free(work);
    return s;
}

static bool names_header(const header_list *l, const char *name)
{
    for (uint32_t i = 0; i < l->names.n; i++)
        if (l->names.items[i].n == strlen(name) &&
            str_holds_any_case(l->names.items[i], str_of(name)))
            return true;
    return false;
}

static assay_status add_key(header_list *l, const load_target *t, arena *a, assay_error *err)
{
    const char *key = getenv("ASSAY_API_KEY");
    if (!key || !*key || t->user.n || names_header(l, "Authorization"))
        return ASSAY_OK;
    if (strpbrk(key, "\r\n"))
        return err_fail(err, ASSAY_ERR_USAGE, "ASSAY_API_KEY has a line break");
    str line = str_printf(a, "Authorization: Bearer %s", key);
    return line.p ? add_header(l, a, line, err) : err_no_memory(err);
}

static assay_status collect_headers(loading *l, assay_error *err)
{
    const load_options *o = l->o;
    header_list list = {0};
    assay_status s = ASSAY_OK;
    for (uint32_t i = 0; s == ASSAY_OK && i < o->headers.n; i++)
        s = add_header(&list, l->a, o->headers.items[i], err);
    if (s == ASSAY_OK && o->header_file.n)
        s = add_header_file(&list, l->a, o->header_file, err);
    if (s == ASSAY_OK)
        s = add_key(&list, &l->plan.target, l->a, err);
    if (s == ASSAY_OK) {
        l->plan.headers = str_copy(l->a, (str){list.lines.p, (uint32_t)list.lines.n});
        l->out->settings.headers = list.names.items;
        l->out->settings.n_headers = list.names.n;
    }
    sbuf_free(&list.lines);
    return s;
}

/* ---- bodies ---- */

static assay_status read_bodies(loading *l, assay_error *err)
{
    const load_options *o = l->o;
    load_plan *p = &l->plan;
    if (o->body.n && o->data.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--body and --data exclude each other");
    if (o->requests.n && o->trace.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--requests and --trace exclude each other");
    p->body = str_copy(l->a, o->data);
    if (o->body.n)
        TRY(file_read_all(o->body.p, BODY_MOST, l->a, &p->body, err));
    if (o->requests.n)
        TRY(load_requests_read(o->requests.p, l->a, &p->items, &p->n_items, err));
    if (o->trace.n)
        TRY(load_trace_read(o->trace.p, o->speed, l->a, &p->items, &p->n_items, err));
    p->has_template = load_has_template(p->body);
    for (uint32_t i = 0; !p->has_template && i < p->n_items; i++)
        p->has_template = load_has_template(p->items[i].body);
    return ASSAY_OK;
}

static bool has_bodies(const load_plan *p)
{
    return p->body.n || (p->n_items && p->items[0].body.n);
}

static bool is_method(str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (s.p[i] < 'A' || s.p[i] > 'Z')
            return false;
    return s.n > 0 && s.n < 20;
}

static assay_status choose_method(loading *l, assay_error *err)
{
    load_plan *p = &l->plan;
    bool plain = p->protocol == &load_http_protocol;
    if (l->o->method.n && !plain)
        return err_fail(err, ASSAY_ERR_USAGE, "--method has no effect on %s", p->protocol->title);
    p->method = l->o->method.n ? l->o->method : plain && !has_bodies(p) ? STR("GET") : STR("POST");
    return is_method(p->method)
               ? ASSAY_OK
               : err_fail(err, ASSAY_ERR_USAGE, "method must be capital letters, got '" STR_FMT "'",
                          STR_ARG(p->method));
}

/* ---- options without an effect ---- */

static assay_status refuse_effectless(const loading *l, assay_error *err)
{
    const load_options *o = l->o;
    const load_protocol *p = l->plan.protocol;
    const struct {
        bool given;
        const char *name;
    } for_tokens[] = {{o->prompt.text.n > 0, "prompt-tokens"},
                      {o->output.text.n > 0, "generate"},
                      {o->no_stream, "no-stream"}};
    for (size_t i = 0; !p->tokens && i < sizeof for_tokens / sizeof *for_tokens; i++)
        if (for_tokens[i].given)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "--%s has no effect on %s. Name an OpenAI endpoint, or use --protocol.",
                            for_tokens[i].name, p->title);
    if (p->tokens && o->expect.n)
        return err_fail(err, ASSAY_ERR_USAGE, "--expect has no effect on streams of tokens");
    if (!l->plan.target.tls && (o->insecure || o->ca_file.n))
        return err_fail(err, ASSAY_ERR_USAGE, "--%s has no effect on an http:// URL",
                        o->insecure ? "insecure" : "cacert");
    if (o->model.n && p == &load_http_protocol)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--model has no effect on plain HTTP. Use --protocol.");
    for (uint32_t i = 0; !p->tokens && i < o->slo.n; i++)
        if (o->slo.items[i].metric != METRIC_LATENCY)
            return err_fail(err, ASSAY_ERR_USAGE,
                            "--slo: %s is only of OpenAI endpoints, not of %s",
                            load_metric_words[o->slo.items[i].metric], p->title);
    if (o->trace.n && (l->o->rate > 0 || o->curve || o->warmup > 0))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--trace says when requests are sent; --%s does not apply",
                        o->curve        ? "curve"
                        : o->warmup > 0 ? "warmup"
                                        : "rate");
    if (o->curve && (l->o->rate > 0 || o->num_requests))
        return err_fail(err, ASSAY_ERR_USAGE,
                        "--curve chooses rates and times; --%s does not apply",
                        o->num_requests ? "num-requests" : "rate");
    return ASSAY_OK;
}

/* ---- connections ---- */

static assay_status choose_connections(loading *l, assay_error *err)
{
    struct rlimit files;
    bool given = l->o->connections > 0;
    bool closed = !(l->o->rate > 0) && !l->o->curve && !l->o->trace.n;
    uint32_t most = given || closed ? (uint32_t)l->o->concurrency : OPEN_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
        files.rlim_cur < (rlim_t)most + FILES_KEPT) {
        if (given)
            return err_fail(err, ASSAY_ERR_SYSTEM,
                            "%u connections need more open files than the limit of %llu. Raise it "
                            "with `ulimit -n %u`.",
                            most, (unsigned long long)files.rlim_cur, most + FILES_KEPT);
        most = files.rlim_cur > 2 * FILES_KEPT ? (uint32_t)files.rlim_cur - FILES_KEPT : FILES_KEPT;
    }
    l->most = most;
    return ASSAY_OK;
}

/* ---- all ---- */

static assay_status choose_protocol(loading *l, assay_error *err)
{
    str name = l->o->protocol;
    load_plan *p = &l->plan;
    p->protocol = !name.n || str_is(name, "auto") ? load_protocol_of(p->target.path)
                                                  : load_protocol_find(name);
    return p->protocol ? ASSAY_OK
                       : err_fail(err, ASSAY_ERR_USAGE, "no protocol '" STR_FMT "'", STR_ARG(name));
}

assay_status load_setup(loading *l, const char *url, assay_error *err)
{
    const load_options *o = l->o;
    load_plan *p = &l->plan;
    *p = (load_plan){.arena = l->a,
                     .model = str_copy(l->a, o->model),
                     .expect = str_copy(l->a, o->expect),
                     .stream = !o->no_stream,
                     .prompt = o->prompt.of,
                     .output = o->output.of,
                     .body_most = BODY_MOST,
                     .timeout_ns = (uint64_t)(o->timeout * 1e9),
                     .seed = (uint64_t)l->o->seed};
    TRY(load_target_parse(str_of(url), l->a, &p->target, err));
    TRY(choose_protocol(l, err));
    p->stream = p->stream && p->protocol->tokens;
    TRY(refuse_effectless(l, err));
    TRY(read_bodies(l, err));
    TRY(choose_method(l, err));
    TRY(collect_headers(l, err));
    TRY(choose_connections(l, err));
    TRY(load_target_resolve(&p->target, err));
    const load_tls_options tls = {.insecure = o->insecure,
                                  .ca_file = o->ca_file.n ? o->ca_file.p : NULL};
    if (p->target.tls)
        TRY(load_tls_open(&p->target, &tls, &p->tls, err));
    TRY(load_plan_finish(p, err));
    return p->protocol->open ? p->protocol->open(p, err) : ASSAY_OK;
}

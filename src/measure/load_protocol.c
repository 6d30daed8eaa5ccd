/* The table of protocols, and what they share. */
#include "measure/load_protocol.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"

const load_protocol *const load_protocols[] = {&load_http_protocol,
                                               &load_chat_protocol,
                                               &load_completions_protocol,
                                               &load_kserve_protocol,
                                               &load_torchserve_protocol,
                                               &load_tfserving_protocol,
                                               NULL};

const char *const load_outcome_words[] = {
    [LOAD_GOOD] = "good",         [LOAD_CONNECT] = "connect",
    [LOAD_TLS] = "tls",           [LOAD_TIMEOUT] = "timeout",
    [LOAD_RESET] = "reset",       [LOAD_SHORT] = "short",
    [LOAD_REDIRECT] = "redirect", [LOAD_HTTP_4XX] = "http_4xx",
    [LOAD_HTTP_5XX] = "http_5xx", [LOAD_HTTP_OTHER] = "http_other",
    [LOAD_PROTOCOL] = "protocol", [LOAD_ANSWER] = "answer",
    [LOAD_TOO_BIG] = "too_big",   [LOAD_UNSENT] = "unsent",
    [LOAD_OUTCOMES] = NULL};

const load_protocol *load_protocol_find(str name)
{
    for (const load_protocol *const *p = load_protocols; *p; p++)
        if (str_is(name, (*p)->name))
            return *p;
    return NULL;
}

const load_protocol *load_protocol_of(str path)
{
    str query = path;
    path = str_cut(&query, '?');
    for (const load_protocol *const *p = load_protocols; *p; p++)
        if ((*p)->fits && (*p)->fits(path))
            return *p;
    return &load_http_protocol;
}

/* ---- the head of requests ---- */

static void put_base64(sbuf *b, str s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < s.n; i += 3) {
        uint32_t n = s.n - i < 3 ? s.n - i : 3, v = 0;
        for (uint32_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (uint8_t)s.p[i + k] : 0);
        for (uint32_t k = 0; k < 4; k++)
            sbuf_putc(b, k <= n ? digits[v >> (18 - 6 * k) & 63] : '=');
    }
}

static assay_status choose_path(load_plan *p, assay_error *err)
{
    const load_protocol *protocol = p->protocol;
    if (!p->target.bare || !protocol->path)
        return ASSAY_OK;
    if (strstr(protocol->path, "%s") && !p->model.n)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "%s needs the name of a model. Use --model NAME, or a URL with its path.",
                        protocol->title);
    const char *at = strstr(protocol->path, "%s");
    p->target.path = at ? str_printf(p->arena, "%.*s" STR_FMT "%s", (int)(at - protocol->path),
                                     protocol->path, STR_ARG(p->model), at + 2)
                        : str_of(protocol->path);
    bool slash = str_ends(p->target.url, "/");
    p->target.url = str_printf(p->arena, STR_FMT STR_FMT, (int)(p->target.url.n - slash),
                               p->target.url.p, STR_ARG(p->target.path));
    return ASSAY_OK;
}

static void put_host(const load_target *t, sbuf *b)
{
    bool six = memchr(t->host.p, ':', t->host.n) != NULL;
    sbuf_printf(b, "%s" STR_FMT "%s", six ? "[" : "", STR_ARG(t->host), six ? "]" : "");
    if (t->port != (t->tls ? 443 : 80))
        sbuf_printf(b, ":%u", t->port);
}

/* Request line and headers without a body and without the empty line. */
static void put_head(const load_plan *p, str method, str path, sbuf *b)
{
    sbuf_printf(b, STR_FMT " " STR_FMT " HTTP/1.1\r\nHost: ", STR_ARG(method), STR_ARG(path));
    put_host(&p->target, b);
    sbuf_printf(b, "\r\nUser-Agent: assay/%s\r\nAccept: */*\r\n", assay_version());
    if (p->target.user.n) {
        sbuf_puts(b, "Authorization: Basic ");
        put_base64(b, p->target.user);
        sbuf_puts(b, "\r\n");
    }
    sbuf_str(b, p->headers);
}

void load_put_get(const load_plan *p, const char *path, sbuf *b)
{
    put_head(p, STR("GET"), str_of(path), b);
    sbuf_puts(b, "Connection: close\r\n\r\n");
}

static bool has_header(str lines, const char *name)
{
    size_t n = strlen(name);
    for (str line; str_split(&lines, '\n', &line);)
        if (line.n > n && line.p[n] == ':' &&
            str_holds_any_case((str){line.p, (uint32_t)n}, str_of(name)))
            return true;
    return false;
}

assay_status load_plan_finish(load_plan *p, assay_error *err)
{
    sbuf b = {0};
    if (p->protocol->needs_model && !p->model.n && p->target.bare)
        return err_fail(err, ASSAY_ERR_USAGE, "%s needs --model NAME", p->protocol->title);
    TRY(choose_path(p, err));
    put_head(p, p->method, p->target.path, &b);
    if (p->protocol->content_type && !has_header(p->headers, "Content-Type"))
        sbuf_printf(&b, "Content-Type: %s\r\n", p->protocol->content_type);
    p->head = b.failed ? (str){0} : str_copy(p->arena, (str){b.p, (uint32_t)b.n});
    sbuf_free(&b);
    return p->head.p ? ASSAY_OK : err_no_memory(err);
}

/* ---- for protocols ---- */

void load_call_wrong(load_call *c, const char *why)
{
    c->why = c->wrong ? c->why : why;
    c->wrong = true;
}

void load_call_tick(load_call *c)
{
    if (!c->first_ns)
        c->first_ns = c->now_ns;
    else {
        float ms = (float)((double)(c->now_ns - c->last_ns) / 1e6);
        sbuf_put(&c->gaps, &ms, sizeof ms);
    }
    c->last_ns = c->now_ns;
    c->chunks++;
}

const load_item *load_item_of(const load_plan *p, uint64_t number)
{
    return p->n_items ? &p->items[number % p->n_items] : NULL;
}

static const char *const template_words[] = {"{{index}}", "{{random}}", "{{time}}"};
enum { N_TEMPLATE_WORDS = sizeof template_words / sizeof *template_words };

bool load_has_template(str body)
{
    for (int i = 0; i < N_TEMPLATE_WORDS; i++)
        if (str_contains(body, template_words[i]))
            return true;
    return false;
}

static int template_at(str s)
{
    for (int i = 0; i < N_TEMPLATE_WORDS; i++)
        if (str_starts(s, template_words[i]))
            return i;
    return -1;
}

void load_write_template(load_call *c, rng *r, str body, sbuf *out)
{
    for (uint32_t i = 0; i < body.n;) {
        str rest = {body.p + i, body.n - i};
        const char *brace = memchr(rest.p, '{', rest.n);
        uint32_t plain = brace ? (uint32_t)(brace - rest.p) : rest.n;
        int word = brace ? template_at((str){brace, rest.n - plain}) : -1;
        sbuf_put(out, rest.p, plain + (brace && word < 0));
        i += plain + (brace && word < 0);
        if (word < 0)
            continue;
        const uint64_t values[] = {c->number, rng_next(r) >> 1, clock_mono_ns() / 1000000};
        sbuf_printf(out, "%llu", (unsigned long long)values[word]);
        i += (uint32_t)strlen(template_words[word]);
    }
}

void load_write_prompt(rng *r, uint32_t tokens, sbuf *out)
{
    /* Each is one token of the usual vocabularies. */
    static const char *const words[] = {"time", "year", "people", "way",   "day",   "man",
                                        "work", "life", "world",  "hand",  "part",  "place",
                                        "case", "week", "point",  "house", "group", "home"};
    for (uint32_t i = 0; i < tokens; i++) {
        if (i)
            sbuf_putc(out, ' ');
        sbuf_puts(out, words[rng_next(r) % (sizeof words / sizeof *words)]);
    }
}

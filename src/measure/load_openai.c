/* OpenAI-compatible chat and completions, as vLLM, llama.cpp, TGI, Ollama and others serve them: POST
 * /v1/chat/completions and /v1/completions (https://platform.openai.com/docs/api-reference). With streaming the answer is
 * a list of server-sent events, "data: {...}" each, that ends with "data: [DONE]".
 *
 * The first token is the first event with text; events after it give the gaps. Tokens are those of `usage`, which is
 * asked for (stream_options.include_usage), else the events that carry text. A stream that ends without [DONE] and
 * without a finish_reason is short. Prompts are random words; servers that cache prompts see new ones each time. */
#include <stdio.h>

#include "base/json_scan.h"
#include "base/json_tree.h"
#include "measure/load_openai.h"
#include "measure/load_protocol.h"

enum { LINE_MOST = 1 << 20 };
#define PROMPT_TOKENS 128 /* where nothing says how many */
#define OUTPUT_TOKENS 64

static const char *const own_keys[] = {"messages",       "prompt", "model",
                                       "max_tokens",     "stream", "max_completion_tokens",
                                       "stream_options", NULL};
enum {
    HAS_MESSAGES = 1,
    HAS_PROMPT = 2,
    HAS_MODEL = 4,
    HAS_MOST = 8,
    HAS_STREAM = 16,
    HAS_MOST_NEW = 32,
    HAS_STREAM_OPTIONS = 64
};

typedef struct openai_body {
    str members;
    unsigned has; /* of own_keys */
} openai_body;

typedef struct openai_state {
    bool chat;
    openai_body base;         /* of --body */
    const openai_body *items; /* of the plan's items */
} openai_state;

/* ---- requests ---- */

static bool fits_chat(str path)
{
    return str_ends(path, "/chat/completions");
}

static bool fits_completions(str path)
{
    return str_ends(path, "/completions") && !fits_chat(path);
}

static assay_status read_items(load_plan *p, openai_state *s, assay_error *err)
{
    openai_body *items = ARENA_ARRAY(p->arena, openai_body, p->n_items + 1);
    char shown[32];
    TRY_MEMORY(items, err);
    for (uint32_t i = 0; i < p->n_items; i++) {
        snprintf(shown, sizeof shown, "request %u", i + 1);
        if (p->items[i].body.n)
            TRY(load_object_members(p->items[i].body, shown, own_keys, p->arena, &items[i].members,
                                    &items[i].has, err));
    }
    s->items = items;
    return ASSAY_OK;
}

/* The first model that the server lists; none is no failure: some servers have one and do not ask for its name. */
static void ask_model(load_plan *p)
{
    char path[2048];
    int status;
    str text;
    json_value v;
    str query = p->target.path, base = str_cut(&query, '?');
    base.n -= fits_chat(base) ? 17 : str_ends(base, "/completions") ? 12 : base.n;
    snprintf(path, sizeof path, STR_FMT "/models", STR_ARG(base));
    if (load_ask(p, path, &status, &text, NULL) == ASSAY_OK && status == 200 &&
        json_tree_parse(text, path, &(json_tree_options){.lenient = true}, p->arena, &v, NULL) ==
            ASSAY_OK)
        p->model = json_path(&v, "data.0.id")->s;
}

static assay_status open_openai(load_plan *p, bool chat, assay_error *err)
{
    openai_state *s = p->own = ARENA_NEW(p->arena, openai_state);
    TRY_MEMORY(s, err);
    s->chat = chat;
    if (p->body.n)
        TRY(load_object_members(p->body, "--body", own_keys, p->arena, &s->base.members,
                                &s->base.has, err));
    TRY(read_items(p, s, err));
    if (p->prompt.kind == LENGTH_NONE)
        p->prompt = (load_lengths){LENGTH_FIXED, PROMPT_TOKENS, PROMPT_TOKENS};
    if (p->output.kind == LENGTH_NONE)
        p->output = (load_lengths){LENGTH_FIXED, OUTPUT_TOKENS, OUTPUT_TOKENS};
    if (!p->model.n && !(s->base.has & HAS_MODEL) && !(p->n_items && s->items[0].has & HAS_MODEL))
        ask_model(p);
    return ASSAY_OK;
}

static assay_status open_chat(load_plan *p, assay_error *err)
{
    return open_openai(p, true, err);
}

static assay_status open_completions(load_plan *p, assay_error *err)
{
    return open_openai(p, false, err);
}

static void put_comma(sbuf *out)
{
    if (out->n && out->p[out->n - 1] != '{')
        sbuf_putc(out, ',');
}

static void put_members(sbuf *out, str members)
{
    if (members.n) {
        put_comma(out);
        sbuf_str(out, members);
    }
}

static void put_prompt(const openai_state *s, load_call *c, rng *r, sbuf *out)
{
    put_comma(out);
    sbuf_puts(out, s->chat ? "\"messages\":[{\"role\":\"user\",\"content\":\"" : "\"prompt\":\"");
    load_write_prompt(r, c->n_prompt, out);
    sbuf_puts(out, s->chat ? "\"}]" : "\"");
}

static void put_settings(load_call *c, unsigned has, sbuf *out)
{
    const load_plan *p = c->plan;
    if (p->model.n && !(has & HAS_MODEL)) {
        put_comma(out);
        sbuf_printf(out, "\"model\":\"" STR_FMT "\"", STR_ARG(p->model));
    }
    if (!(has & (HAS_MOST | HAS_MOST_NEW))) {
        put_comma(out);
        sbuf_printf(out, "\"max_tokens\":%u", c->n_output);
    }
    if (!(has & HAS_STREAM)) {
        put_comma(out);
        sbuf_printf(out, "\"stream\":%s", p->stream ? "true" : "false");
    }
    if (p->stream && !(has & (HAS_STREAM | HAS_STREAM_OPTIONS)))
        sbuf_puts(out, ",\"stream_options\":{\"include_usage\":true}");
}

static void write_openai(load_call *c, rng *r, sbuf *out)
{
    const load_plan *p = c->plan;
    const openai_state *s = p->own;
    const load_item *item = load_item_of(p, c->number);
    const openai_body none = {0};
    const openai_body *body = item ? &s->items[c->number % p->n_items] : &none;
    unsigned has = s->base.has | body->has;
    c->n_prompt = item && item->n_prompt ? item->n_prompt : load_lengths_draw(&p->prompt, r);
    c->n_output = item && item->n_output ? item->n_output : load_lengths_draw(&p->output, r);
    sbuf_putc(out, '{');
    put_members(out, s->base.members);
    put_members(out, body->members);
    if (!(has & (HAS_MESSAGES | HAS_PROMPT)))
        put_prompt(s, c, r, out);
    put_settings(c, has, out);
    sbuf_putc(out, '}');
}

/* ---- one event, or the whole answer ---- */

static void read_usage(json_scan *s, load_event *e)
{
    str key;
    if (scan_null(s) || !scan_open(s, '{'))
        return;
    while (scan_key(s, &key)) {
        if (str_is(key, "prompt_tokens"))
            scan_u63(s, &e->in_tokens);
        else if (str_is(key, "completion_tokens")) {
            scan_u63(s, &e->out_tokens);
            e->has_usage = true;
        } else
            scan_skip(s);
    }
}

static void read_text(json_scan *s, load_event *e)
{
    str text;
    if (!scan_is(s, '"'))
        scan_skip(s);
    else if (scan_str(s, &text))
        e->has_text = e->has_text || text.n > 0;
}

/* {"delta": {"content": "..."}, "finish_reason": null}; of completions {"text": "..."}; not streamed {"message": ...} */
static void read_choice(json_scan *s, load_event *e, int depth)
{
    static const char *const texts[] = {"content", "text", "reasoning_content", "reasoning", NULL};
    str key;
    if (!scan_is(s, '{')) {
        scan_skip(s);
        return;
    }
    scan_open(s, '{');
    while (scan_key(s, &key)) {
        bool text = false;
        for (int i = 0; texts[i]; i++)
            text = text || str_is(key, texts[i]);
        if (text)
            read_text(s, e);
        else if (depth == 0 && (str_is(key, "delta") || str_is(key, "message")))
            read_choice(s, e, 1);
        else if (depth == 1 && str_is(key, "tool_calls") && scan_is(s, '[')) {
            e->has_text = true;
            scan_skip(s);
        } else if (str_is(key, "finish_reason") && scan_is(s, '"')) {
            e->finished = true;
            scan_skip(s);
        } else
            scan_skip(s);
    }
}

static void read_choices(json_scan *s, load_event *e)
{
    if (scan_null(s) || !scan_open(s, '['))
        return;
    e->has_choices = true;
    while (scan_item(s))
        read_choice(s, e, 0);
}

bool load_event_read(str text, load_event *out)
{
    assay_error err = {0};
    str key;
    *out = (load_event){0};
    arena *work = arena_new((size_t)4 << 20);
    if (!work)
        return false;
    json_scan s = scan_text(text, 0, "event", work, &err);
    s.loose = s.nul = true;
    scan_open(&s, '{');
    while (scan_key(&s, &key)) {
        if (str_is(key, "choices"))
            read_choices(&s, out);
        else if (str_is(key, "usage"))
            read_usage(&s, out);
        else if (str_is(key, "error") && !scan_null(&s)) {
            out->is_error = true;
            scan_skip(&s);
        } else if (!str_is(key, "error"))
            scan_skip(&s);
    }
    bool whole = scan_end(&s) && !s.failed;
    arena_free(work);
    return whole;
}

/* ---- streams ---- */

static void take_event(load_call *c, str data)
{
    load_event e;
    if (str_is(data, "[DONE]")) {
        c->finished = true;
        return;
    }
    if (!load_event_read(data, &e))
        load_call_wrong(c, "an event is not JSON");
    else if (e.is_error)
        load_call_wrong(c, "the stream reports an error");
    else if (!e.has_choices && !e.has_usage)
        load_call_wrong(c, "an event has no choices");
    if (e.has_text)
        load_call_tick(c);
    if (e.has_usage) {
        c->has_usage = true;
        c->in_tokens = e.in_tokens;
        c->out_tokens = e.out_tokens;
    }
    c->finished = c->finished || e.finished;
}

static void take_event_line(load_call *c, str line)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (str_starts(line, "data:"))
        take_event(c, str_trim((str){line.p + 5, line.n - 5}));
    else if (line.n && !str_starts(line, ":") && !str_starts(line, "event:") &&
             !str_starts(line, "id:") && !str_starts(line, "retry:"))
        load_call_wrong(c, "the stream has a line that is not an event");
}

/* An answer that begins with a brace is one object: the server does not stream. */
static void piece_openai(load_call *c, str bytes)
{
    sbuf *b = &c->body;
    sbuf_str(b, bytes);
    if (c->wrong || !b->n || b->p[0] == '{')
        return;
    size_t done = 0;
    for (const char *end; (end = memchr(b->p + done, '\n', b->n - done));) {
        size_t n = (size_t)(end - (b->p + done));
        take_event_line(c, (str){b->p + done, (uint32_t)n});
        done += n + 1;
    }
    memmove(b->p, b->p + done, b->n - done);
    b->n -= done;
    if (b->n > LINE_MOST)
        load_call_wrong(c, "an event is too long");
}

static void end_whole(load_call *c)
{
    load_event e;
    bool whole = load_event_read((str){c->body.p, (uint32_t)c->body.n}, &e);
    if (!whole || e.is_error || !e.has_choices)
        load_call_wrong(c, !whole ? "the response is not JSON" : "the response has no choices");
    c->finished = whole;
    c->has_usage = e.has_usage;
    c->in_tokens = e.in_tokens;
    c->out_tokens = e.out_tokens;
}

static void end_openai(load_call *c)
{
    if (c->body.n && c->body.p[0] == '{')
        end_whole(c);
    else if (c->body.n)
        take_event_line(c, (str){c->body.p, (uint32_t)c->body.n});
}

const load_protocol load_chat_protocol = {.name = "openai-chat",
                                          .title = "OpenAI chat",
                                          .path = "/v1/chat/completions",
                                          .fits = fits_chat,
                                          .content_type = "application/json",
                                          .tokens = true,
                                          .open = open_chat,
                                          .write = write_openai,
                                          .piece = piece_openai,
                                          .end = end_openai};
const load_protocol load_completions_protocol = {.name = "openai-completions",
                                                 .title = "OpenAI completions",
                                                 .path = "/v1/completions",
                                                 .fits = fits_completions,
                                                 .content_type = "application/json",
                                                 .tokens = true,
                                                 .open = open_completions,
                                                 .write = write_openai,
                                                 .piece = piece_openai,
                                                 .end = end_openai};

/* What is said to an endpoint: one file and one row of load_protocols[] per protocol.
 *
 * A protocol writes the body of each request and judges each answer. Its `open` may ask the server first (metadata of a
 * model); all its state is in the plan, whose arena outlives the load. Answers come in pieces as they arrive, so that
 * streams are timed by token; a protocol without `piece` is given the whole body at the end.
 */
#ifndef MEASURE_LOAD_PROTOCOL_H
#define MEASURE_LOAD_PROTOCOL_H

#include "base/rng.h"
#include "base/sbuf.h"
#include "base/vec.h"
#include "measure/load_lengths.h"
#include "measure/load_target.h"

/* How a request ended. The words are keys of `errors` in the result (load_outcome_words). */
typedef enum load_outcome {
    LOAD_GOOD,
    LOAD_CONNECT,  /* the connection was refused or not possible */
    LOAD_TLS,      /* the handshake or the certificate failed */
    LOAD_TIMEOUT,  /* no whole answer in time */
    LOAD_RESET,    /* the server reset the connection */
    LOAD_SHORT,    /* the connection or stream ended before the answer was whole */
    LOAD_REDIRECT, /* 3xx: not followed */
    LOAD_HTTP_4XX,
    LOAD_HTTP_5XX,
    LOAD_HTTP_OTHER,
    LOAD_PROTOCOL, /* no HTTP, or against its rules */
    LOAD_ANSWER,   /* HTTP, but not what the protocol answers, or not what was expected */
    LOAD_TOO_BIG,  /* larger than the limit */
    LOAD_UNSENT,   /* due, and never sent before the end */
    LOAD_OUTCOMES
} load_outcome;
extern const char *const load_outcome_words[]; /* "good", "connect", ...; NULL after the last */

struct load_protocol;

/* A request of --requests or --trace. */
typedef struct load_item {
    uint64_t at_ns;              /* since the beginning; of a trace */
    str body;                    /* JSON or text; empty: made by the protocol */
    uint32_t n_prompt, n_output; /* tokens; 0: not given */
} load_item;

typedef struct load_plan {
    const struct load_protocol *protocol;
    load_target target;
    arena *arena; /* of all texts */
    str method;   /* "POST" */
    str head;     /* request line and headers up to the Content-Length, which is added */
    str headers;  /* lines that the user gives, each with its CR LF */
    str model;    /* as the server calls it; or empty */
    str body;     /* of --body or --data; or empty */
    str expect;   /* that an answer must contain; or empty */
    bool stream, has_template;
    load_lengths prompt, output; /* tokens */
    const load_item *items;
    uint32_t n_items;
    uint64_t body_most, timeout_ns;
    uint64_t seed;
    struct load_tls *tls; /* of https; or NULL */
    void *own;            /* of the protocol */
} load_plan;

/* One request and its answer. */
typedef struct load_call {
    const load_plan *plan;
    uint64_t number;                      /* from 0 */
    uint32_t n_prompt, n_output, n_units; /* tokens that were asked for; inputs sent; 0: none */
    uint64_t now_ns;                      /* of the piece at hand */
    uint64_t first_ns, last_ns;           /* the first and the last token or piece; 0: none yet */
    sbuf body;                            /* kept of the answer */
    sbuf gaps;                            /* floats: milliseconds between tokens */
    uint32_t chunks;                      /* of the stream that carried text */
    uint64_t in_tokens, out_tokens;       /* of `usage` */
    bool has_usage, finished, wrong;
    const char *why; /* a clause, when it is wrong */
} load_call;

typedef struct load_protocol {
    const char *name, *title;
    const char *path;         /* of a URL that has none; "%s" is the model. NULL: "/" */
    bool (*fits)(str path);   /* whether a URL is meant for it; NULL: never */
    const char *content_type; /* of bodies */
    bool tokens; /* answers are tokens: --prompt-tokens, --generate, --stream have an effect */
    bool needs_model;
    /* Checks the plan and asks the server by load_ask(); may be NULL. */
    assay_status (*open)(load_plan *p, assay_error *err);
    /* The body of a request. */
    void (*write)(load_call *c, rng *r, sbuf *out);
    /* A piece of the body; NULL: it is kept. */
    void (*piece)(load_call *c, str bytes);
    /* The whole of it has arrived, with a status of 2xx. Sets c->wrong. May be NULL. */
    void (*end)(load_call *c);
} load_protocol;

extern const load_protocol load_http_protocol, load_chat_protocol, load_completions_protocol,
    load_kserve_protocol, load_torchserve_protocol, load_tfserving_protocol;
extern const load_protocol *const load_protocols[]; /* NULL after the last */

/* By name; NULL if there is none. */
const load_protocol *load_protocol_find(str name);
/* By the path of a URL; plain HTTP if nothing else fits. */
const load_protocol *load_protocol_of(str path);

/* Sets the path, the head and the timeouts of a plan; the target is resolved. */
assay_status load_plan_finish(load_plan *p, assay_error *err);
/* GET of a path of the target, of at most 16 MiB, within the plan's time-out. ASSAY_ERR_ENGINE with the status or
 * the cause; *status is 0 then. The text is in the plan's arena. */
assay_status load_ask(const load_plan *p, const char *path, int *status, str *text,
                      assay_error *err);

/* The bytes of such a request. */
void load_put_get(const load_plan *p, const char *path, sbuf *b);

/* ---- for protocols ---- */

void load_call_wrong(load_call *c, const char *why);
/* Time of a token or piece: the first one, and the gap since the last one. */
void load_call_tick(load_call *c);
/* A body with {{index}}, {{random}} and {{time}} filled in. */
void load_write_template(load_call *c, rng *r, str body, sbuf *out);
bool load_has_template(str body);
/* Words, some `tokens` of them, without anything that JSON escapes. */
void load_write_prompt(rng *r, uint32_t tokens, sbuf *out);
/* The members of a JSON object, as they stand there, without its braces; *has is a bit for each of `keys` (NULL after
 * the last) that it has. ASSAY_ERR_USAGE when the text is no JSON object. */
assay_status load_object_members(str text, const char *shown, const char *const *keys, arena *a,
                                 str *members, unsigned *has, assay_error *err);
/* Numbers of a tensor, JSON lists nested by its dimensions: "[[0.1,0.2]]". `flat`: one list. */
typedef struct load_tensor {
    const char *kind; /* "float", "int", "bool", "text" */
    double most;      /* of "int" */
    int64_t dims[16];
    uint32_t rank;
} load_tensor;
/* False above 2^24 elements. */
bool load_write_tensor(const load_tensor *t, bool flat, rng *r, sbuf *out);
/* The i-th item of the plan, in turn; NULL: it has none. */
const load_item *load_item_of(const load_plan *p, uint64_t number);

#endif

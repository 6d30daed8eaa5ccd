/* One connection of the load generator: it is opened, carries one request at a time, and is kept. */
#ifndef MEASURE_LOAD_CONN_H
#define MEASURE_LOAD_CONN_H

#include "measure/load_http.h"
#include "measure/load_protocol.h"
#include "measure/load_tls.h"

typedef enum load_conn_state {
    CONN_NONE, /* no socket */
    CONN_CONNECTING,
    CONN_IDLE,
    CONN_SENDING,
    CONN_RECEIVING,
    CONN_OVER /* the request has ended: `outcome` */
} load_conn_state;

typedef struct load_conn {
    load_conn_state state;
    int fd, epoll;
    uint32_t events; /* that epoll reports */
    load_tls *tls_of;
    load_tls_conn *tls;
    load_http http;
    load_call call;
    sbuf out; /* the request */
    size_t sent;
    uint64_t due_ns, sent_ns, deadline_ns;
    uint64_t bytes_in, bytes_out;
    uint64_t retry_ns;  /* closed loop: not before */
    bool busy;          /* has a request, from when it is given until it ends */
    bool reused, again; /* the connection was kept; the request is sent for the second time */
    load_outcome outcome;
    int error; /* errno of the outcome; 0: none */
} load_conn;

/* `epoll` borrows. */
void load_conn_init(load_conn *c, const load_plan *p, int epoll, load_tls *tls);
void load_conn_free(load_conn *c);
/* Gives it a request of the plan; sends it, or connects first. */
void load_conn_start(load_conn *c, uint64_t number, rng *r, uint64_t now_ns);
/* Connects without a request. */
void load_conn_open(load_conn *c);
/* Its socket is ready. `buf` is scratch memory. After CONN_OVER the caller takes the record and calls rest(). */
void load_conn_event(load_conn *c, uint32_t events, char *buf, size_t cap, uint64_t now_ns);
/* Ends the request. */
void load_conn_fail(load_conn *c, load_outcome why, int error);
/* Ready for the next request: keeps the connection if it can be. */
void load_conn_rest(load_conn *c);
void load_conn_drop(load_conn *c, bool at_once);
/* Whether a handshake is under way, which has to be asked for. */
bool load_conn_in_handshake(const load_conn *c);

#endif

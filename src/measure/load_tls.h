/* TLS connections by libcurl, which is loaded at run time and used for nothing else: it connects (CURLOPT_CONNECT_ONLY)
 * and carries bytes; requests and answers are ours. Addresses are those of load_target: no proxy, no redirect. */
#ifndef MEASURE_LOAD_TLS_H
#define MEASURE_LOAD_TLS_H

#include <sys/types.h>

#include "measure/load_target.h"

typedef struct load_tls load_tls; /* the library, and the connections that are being made */
typedef struct load_tls_conn load_tls_conn; /* one connection */

typedef struct load_tls_options {
    bool insecure;       /* certificates are not checked */
    const char *ca_file; /* NULL: the system's */
} load_tls_options;

/* ASSAY_ERR_ENGINE with the name of the package when there is no libcurl. */
assay_status load_tls_open(const load_target *t, const load_tls_options *o, load_tls **out,
                           assay_error *err);
void load_tls_close(load_tls *t); /* NULL is allowed */

/* Begins a connection; NULL if out of memory. */
load_tls_conn *load_tls_connect(load_tls *t);
/* Lets all that are begun go on. */
void load_tls_step(load_tls *t);
typedef enum load_tls_progress { TLS_WAITS, TLS_READY, TLS_REFUSED, TLS_FAILED } load_tls_progress;
/* REFUSED: no connection; FAILED: the handshake. Ready: *fd is its socket. */
load_tls_progress load_tls_state(const load_tls_conn *c, int *fd);
/* As send() and recv(): -1 with errno, EAGAIN when it would wait. */
ssize_t load_tls_send(load_tls_conn *c, const void *p, size_t n);
ssize_t load_tls_receive(load_tls_conn *c, void *p, size_t n);
void load_tls_free(load_tls *t, load_tls_conn *c);

#endif

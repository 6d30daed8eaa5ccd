/* The endpoint of a load: its URL, the address that it was resolved to, and non-blocking sockets to that address.
 * Only this address is contacted: proxies of the environment are not used, redirects are not followed. */
#ifndef MEASURE_LOAD_TARGET_H
#define MEASURE_LOAD_TARGET_H

#include <sys/socket.h>

#include "base/error.h"
#include "base/str.h"

typedef struct load_target {
    str url;  /* without user and password */
    str host; /* as in the URL, without brackets */
    str path; /* with the query, at least "/" */
    str user; /* "user:password" of the URL; or empty */
    uint16_t port;
    bool tls, bare; /* bare: the URL has no path */
    /* By load_target_resolve(). */
    struct sockaddr_storage to;
    socklen_t n_to;
    char address[64]; /* "127.0.0.1" */
    bool loopback;
} load_target;

/* ASSAY_ERR_USAGE when it is no http:// or https:// URL. Texts are copied into the arena. */
assay_status load_target_parse(str url, arena *a, load_target *out, assay_error *err);
/* Asks for the host's address, and takes the first. ASSAY_ERR_ENGINE if there is none. */
assay_status load_target_resolve(load_target *t, assay_error *err);

/* Begins to connect; -1 with errno when that fails at once. */
int load_socket_open(const load_target *t);
/* The errno of a connection that was begun; 0: it is there. */
int load_socket_error(int fd);
/* `at_once`: with a reset, when an answer is no longer wanted. */
void load_socket_close(int fd, bool at_once);

#endif

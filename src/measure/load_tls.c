/* See load_tls.h. The constants are those of curl/curl.h, whose ABI is stable since 7.18 (libcurl.so.4). */
#include "measure/load_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { /* CURLOPT_* */
       OPT_URL = 10002,
       OPT_PROXY = 10004,
       OPT_CAINFO = 10065,
       OPT_PRIVATE = 10103,
       OPT_RESOLVE = 10203,
       OPT_SSL_VERIFYPEER = 64,
       OPT_SSL_VERIFYHOST = 81,
       OPT_HTTP_VERSION = 84,
       OPT_NOSIGNAL = 99,
       OPT_CONNECT_ONLY = 141,
       OPT_FRESH_CONNECT = 74,
       HTTP_VERSION_1_1 = 2,
       INFO_ACTIVESOCKET = 0x500000 + 44,
       INFO_PRIVATE = 0x100000 + 21,
       E_OK = 0,
       E_COULDNT_RESOLVE = 6,
       E_COULDNT_CONNECT = 7,
       E_AGAIN = 81,
       MSG_DONE = 1
};

typedef struct curl_message { /* CURLMsg */
    int msg;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
} curl_message;

typedef struct curl_slist curl_slist;

typedef struct curl_api {
    void *(*easy_init)(void);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    int (*easy_send)(void *, const void *, size_t, size_t *);
    int (*easy_recv)(void *, void *, size_t, size_t *);
    void (*easy_cleanup)(void *);
    void *(*multi_init)(void);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_perform)(void *, int *);
    curl_message *(*multi_info_read)(void *, int *);
    int (*multi_cleanup)(void *);
    curl_slist *(*slist_append)(curl_slist *, const char *);
    void (*slist_free_all)(curl_slist *);
} curl_api;

struct load_tls {
    void *library, *multi;
    curl_api api;
    curl_slist *resolve;
    char url[512], ca_file[1024];
    bool insecure;
};

struct load_tls_conn {
    load_tls *of;
    void *easy;
    load_tls_progress state;
    int fd;
};

#define NAME(member)                                \
    {                                               \
        "curl_" #member, offsetof(curl_api, member) \
    }
static const struct curl_name {
    const char *name;
    size_t at;
} curl_names[] = {
    NAME(easy_init),           NAME(easy_setopt),    NAME(easy_getinfo),    NAME(easy_send),
    NAME(easy_recv),           NAME(easy_cleanup),   NAME(multi_init),      NAME(multi_add_handle),
    NAME(multi_remove_handle), NAME(multi_perform),  NAME(multi_info_read), NAME(multi_cleanup),
    NAME(slist_append),        NAME(slist_free_all),
};

static bool find_functions(load_tls *t)
{
    static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    for (size_t i = 0; !t->library && i < sizeof files / sizeof *files; i++)
        t->library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; t->library && i < sizeof curl_names / sizeof *curl_names; i++) {
        void *f = dlsym(t->library, curl_names[i].name);
        if (!f)
            return false;
        memcpy((char *)&t->api + curl_names[i].at, &f, sizeof f);
    }
    return t->library != NULL;
}

/* The name is for the certificate; the address is the one that was resolved. */
static void describe_target(load_tls *t, const load_target *target)
{
    char entry[512];
    bool six = memchr(target->host.p, ':', target->host.n) != NULL;
    snprintf(t->url, sizeof t->url, "https://%s" STR_FMT "%s:%u/", six ? "[" : "",
             STR_ARG(target->host), six ? "]" : "", target->port);
    snprintf(entry, sizeof entry, STR_FMT ":%u:%s", STR_ARG(target->host), target->port,
             target->address);
    t->resolve = six ? NULL : t->api.slist_append(NULL, entry);
}

assay_status load_tls_open(const load_target *target, const load_tls_options *o, load_tls **out,
                           assay_error *err)
{
    load_tls *t = memory_zeroed(1, sizeof *t);
    *out = t;
    TRY_MEMORY(t, err);
    t->insecure = o->insecure;
    snprintf(t->ca_file, sizeof t->ca_file, "%s", o->ca_file ? o->ca_file : "");
    if (!find_functions(t))
        return err_fail(err, ASSAY_ERR_ENGINE,
                        "https needs libcurl, which was not found. Install the package libcurl4.");
    t->multi = t->api.multi_init();
    describe_target(t, target);
    return t->multi ? ASSAY_OK : err_no_memory(err);
}

void load_tls_close(load_tls *t)
{
    if (!t)
        return;
    if (t->multi)
        t->api.multi_cleanup(t->multi);
    if (t->resolve)
        t->api.slist_free_all(t->resolve);
    free(
        t); /* the library stays loaded: TLS libraries register handlers for the end of the program */
}

static void set_options(load_tls *t, load_tls_conn *c)
{
    const curl_api *f = &t->api;
    f->easy_setopt(c->easy, OPT_URL, t->url);
    f->easy_setopt(c->easy, OPT_PROXY, "");
    f->easy_setopt(c->easy, OPT_CONNECT_ONLY, 1L);
    f->easy_setopt(c->easy, OPT_FRESH_CONNECT, 1L);
    f->easy_setopt(c->easy, OPT_NOSIGNAL, 1L);
    f->easy_setopt(c->easy, OPT_HTTP_VERSION, (long)HTTP_VERSION_1_1);
    f->easy_setopt(c->easy, OPT_SSL_VERIFYPEER, t->insecure ? 0L : 1L);
    f->easy_setopt(c->easy, OPT_SSL_VERIFYHOST, t->insecure ? 0L : 2L);
    f->easy_setopt(c->easy, OPT_PRIVATE, c);
    if (*t->ca_file)
        f->easy_setopt(c->easy, OPT_CAINFO, t->ca_file);
    if (t->resolve)
        f->easy_setopt(c->easy, OPT_RESOLVE, t->resolve);
}

load_tls_conn *load_tls_connect(load_tls *t)
{
    load_tls_conn *c = memory_zeroed(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (load_tls_conn){.of = t, .easy = t->api.easy_init(), .fd = -1};
    if (!c->easy) {
        free(c);
        return NULL;
    }
    set_options(t, c);
    if (t->api.multi_add_handle(t->multi, c->easy) != 0)
        c->state = TLS_FAILED;
    return c;
}

static void take_result(load_tls *t, const curl_message *m)
{
    char *private = NULL;
    t->api.easy_getinfo(m->easy, INFO_PRIVATE, &private);
    load_tls_conn *c = (load_tls_conn *)(void *)private;
    if (m->data.result == E_OK && t->api.easy_getinfo(c->easy, INFO_ACTIVESOCKET, &c->fd) == E_OK &&
        c->fd >= 0)
        c->state = TLS_READY;
    else
        c->state = m->data.result == E_COULDNT_CONNECT || m->data.result == E_COULDNT_RESOLVE
                       ? TLS_REFUSED
                       : TLS_FAILED;
}

void load_tls_step(load_tls *t)
{
    int running, left;
    t->api.multi_perform(t->multi, &running);
    for (curl_message *m; (m = t->api.multi_info_read(t->multi, &left));)
        if (m->msg == MSG_DONE)
            take_result(t, m);
}

load_tls_progress load_tls_state(const load_tls_conn *c, int *fd)
{
    *fd = c->fd;
    return c->state;
}

static ssize_t moved(int code, size_t n)
{
    if (code == E_OK)
        return (ssize_t)n;
    errno = code == E_AGAIN ? EAGAIN : ECONNRESET;
    return -1;
}

ssize_t load_tls_send(load_tls_conn *c, const void *p, size_t n)
{
    size_t done = 0;
    int code = c->of->api.easy_send(c->easy, p, n, &done);
    return moved(code, done);
}

ssize_t load_tls_receive(load_tls_conn *c, void *p, size_t n)
{
    size_t done = 0;
    int code = c->of->api.easy_recv(c->easy, p, n, &done);
    return moved(code, done);
}

void load_tls_free(load_tls *t, load_tls_conn *c)
{
    if (!c)
        return;
    t->api.multi_remove_handle(t->multi, c->easy);
    t->api.easy_cleanup(c->easy);
    free(c);
}

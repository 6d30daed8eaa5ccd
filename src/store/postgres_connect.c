/* Connections to PostgreSQL. Hosts, TLS and authentication are libpq's own: connection strings, service files, PGPASSFILE
 * and the other variables of its manual.
 *
 * A password never leaves this room: what is shown of a connection is put together from its other parts, and it is taken
 * out of libpq's sentences.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/postgres_impl.h"

#define CONNECT_S "10"    /* for each host; PGCONNECT_TIMEOUT and the name override it */
#define SILENT_MS "20000" /* after which a server that does not acknowledge anything is lost */

/* ---- names ---- */

static const char *value_of(const pg_option *options, const char *keyword)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val && *options->val ? options->val : NULL;
    return NULL;
}

static void show_name(pg_store *s, const pg_option *o)
{
    const char *service = value_of(o, "service"), *user = value_of(o, "user"),
               *host = value_of(o, "host"), *port = value_of(o, "port"),
               *name = value_of(o, "dbname");
    char text[1024];
    host = host ? host : value_of(o, "hostaddr");
    snprintf(text, sizeof text, "postgresql://%.100s%s%.200s%s%.10s/%.100s%s%.100s",
             user ? user : "", user ? "@" : "", host ? host : "", port ? ":" : "", port ? port : "",
             name ? name : "", service ? "?service=" : "", service ? service : "");
    for (char *c = text; *c; c++) /* hosts that are folders */
        *c = iscntrl((unsigned char)*c) ? '?' : *c;
    snprintf(s->is.shown, sizeof s->is.shown, "%.250s", text);
}

static assay_status keep_secret(char **to, const char *value, assay_error *err)
{
    *to = value ? memory_strdup(value) : NULL;
    return value && !*to ? err_no_memory(err) : ASSAY_OK;
}

assay_status postgres_describe(pg_store *s, assay_error *err)
{
    char *why = NULL;
    pg_option *o = s->pq.conninfoParse(s->name, &why);
    s->pq.freemem(why); /* it may quote a password */
    if (!o)
        return err_fail(err, ASSAY_ERR_USAGE,
                        "invalid PostgreSQL connection string. Use postgresql://USER@HOST/DATABASE "
                        "or KEY=VALUE pairs of libpq; special characters are %%-encoded.");
    show_name(s, o);
    assay_status status = keep_secret(&s->secrets[0], value_of(o, "password"), err);
    if (status == ASSAY_OK)
        status = keep_secret(&s->secrets[1], value_of(o, "sslpassword"), err);
    s->pq.conninfoFree(o);
    return status;
}

static size_t secret_at(const pg_store *s, const char *at)
{
    const char *env = getenv("PGPASSWORD");
    const char *const all[] = {s->secrets[0], s->secrets[1], env};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && *all[i] && strncmp(at, all[i], strlen(all[i])) == 0)
            return strlen(all[i]);
    return 0;
}

/* One line. */
void postgres_put_clean(const pg_store *s, const char *text, sbuf *out)
{
    for (const char *at = text ? text : ""; *at;) {
        size_t n = secret_at(s, at);
        if (n)
            sbuf_puts(out, "***");
        else if (*at != '\n' && *at != '\t') /* libpq indents its second line */
            sbuf_putc(out, *at);
        else if (*at == '\n' && at[1])
            sbuf_puts(out, "; ");
        at += n ? n : 1;
    }
}

/* ---- connecting ---- */

static void ignore_notice(void *ctx, const pg_result *r)
{
    (void)ctx;
    (void)r;
}

/* Defaults come before the name, which overrides them. */
typedef struct pg_settings {
    const char *keys[8], *values[8];
    int n;
} pg_settings;

static void add_setting(pg_settings *p, const char *key, const char *value)
{
    p->keys[p->n] = key;
    p->values[p->n++] = value;
}

static pg_settings settings_of(const pg_store *s)
{
    pg_settings p = {.n = 0};
    if (!getenv("PGCONNECT_TIMEOUT"))
        add_setting(&p, "connect_timeout", CONNECT_S);
    add_setting(&p, "tcp_user_timeout", SILENT_MS);
    add_setting(&p, "fallback_application_name", "assay");
    add_setting(&p, "dbname", s->name);
    add_setting(&p, "client_encoding", "UTF8");
    add_setting(&p, NULL, NULL);
    return p;
}

bool postgres_is_down(const pg_store *s)
{
    const pg_settings p = settings_of(s);
    int answer = s->pq.pingParams(p.keys, p.values, 1);
    return answer != PG_PING_OK && answer != PG_PING_NO_ATTEMPT;
}

void postgres_drop(pg_store *s)
{
    if (s->conn)
        s->pq.finish(s->conn);
    s->conn = NULL;
    s->prepared = false;
}

static assay_status not_connected(pg_store *s, assay_error *err)
{
    sbuf why = {0};
    if (s->conn)
        postgres_put_clean(s, s->pq.errorMessage(s->conn), &why);
    postgres_drop(s);
    s->is.lost = true;
    assay_status status = err_fail(err, ASSAY_ERR_SYSTEM,
                                   "%s: cannot connect to the history: %.400s", s->is.shown,
                                   why.n ? sbuf_cstr(&why) : "no connection");
    sbuf_free(&why);
    return status;
}

static assay_status greet(pg_store *s, assay_error *err)
{
    TRY(postgres_exec(&s->is, postgres_settings, err));
    return postgres_check_schema(s, err);
}

assay_status postgres_reach(pg_store *s, assay_error *err)
{
    if (s->conn)
        return ASSAY_OK;
    const pg_settings p = settings_of(s);
    s->is.lost = false;
    s->conn = postgres_connect(&s->pq, p.keys, p.values);
    if (!s->conn || s->pq.status(s->conn) != PG_CONNECTED)
        return not_connected(s, err);
    s->pq.setNoticeReceiver(s->conn, ignore_notice, NULL);
    assay_status status = greet(s, err);
    if (status != ASSAY_OK)
        postgres_drop(s);
    return status;
}

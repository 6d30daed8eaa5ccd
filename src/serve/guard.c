/* Access control.
 *
 * A page of another site can make a browser send requests here. Three checks prevent this: the Host header must be a
 * name of this server (DNS rebinding); requests that change something are refused if Origin or Sec-Fetch-Site name
 * another site; and with a token, every request except that for the page, which contains no data, needs it. The token
 * comes as "Authorization: Bearer ...", or as the cookie that "/?token=..." sets, which browsers do not send along
 * from other sites (SameSite=Strict).
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "serve/serve.h"

/* Takes the same time wherever the first difference is. */
bool guard_token(const server *s, const char *given)
{
    size_t n = strlen(given), m = strlen(s->token);
    unsigned char differs = (unsigned char)(n != m);
    for (size_t i = 0; i < m; i++)
        differs |= (unsigned char)(s->token[i] ^ (i < n ? given[i] : 0));
    return m && !differs;
}

static const char *header(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

static bool has_token(const request *r)
{
    const char *bearer = header(r, "Authorization");
    const char *cookie = MHD_lookup_connection_value(r->mhd, MHD_COOKIE_KIND, "assay_token");
    if (bearer && strncasecmp(bearer, "Bearer ", 7) == 0)
        return guard_token(r->s, bearer + 7);
    return cookie && guard_token(r->s, cookie);
}

/* ---- Host ---- */

/* "localhost:8080" and "[::1]:8080" without their port, in lower case; false when that is no host. */
static bool host_name(const char *text, char *out, size_t cap)
{
    size_t n = *text == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":");
    if (n == 0 || n >= cap || n > strlen(text))
        return false;
    for (const char *p = text + n; *p; p++)
        if (p == text + n ? *p != ':' : !isdigit((unsigned char)*p))
            return false;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
    out[n] = '\0';
    return true;
}

/* A number cannot be pointed elsewhere by a name server. */
static bool is_address(const char *name)
{
    unsigned char raw[16];
    char inner[64];
    size_t n = strlen(name);
    if (inet_pton(AF_INET, name, raw) == 1)
        return true;
    if (n < 3 || n - 2 >= sizeof inner || name[0] != '[')
        return false;
    snprintf(inner, sizeof inner, "%.*s", (int)(n - 2), name + 1);
    return inet_pton(AF_INET6, inner, raw) == 1;
}

/* What this machine calls itself, alone or with a domain behind it. Others can reach it, so there is a token,
 * and a name that somebody pointed here by a trick has no cookie of ours. */
static bool is_hostname(const server *s, const char *name)
{
    size_t n = strlen(s->hostname);
    return n && strncasecmp(name, s->hostname, n) == 0 && (!name[n] || name[n] == '.');
}

static bool is_ours(const server *s, const char *name)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, local[i]) == 0)
            return true;
    for (int i = 0; i < s->options.n_allowed; i++)
        if (strcasecmp(name, s->options.allowed[i]) == 0)
            return true;
    return strcasecmp(name, s->bound) == 0 ||
           (!s->loopback && (is_address(name) || is_hostname(s, name)));
}

/* ---- Origin ---- */

/* "http://HOST", HOST as in the Host header; https too, for a proxy that ends TLS. */
static bool same_origin(const char *origin, const char *host)
{
    const char *rest = strncasecmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncasecmp(origin, "https://", 8) == 0 ? origin + 8
                                                                 : NULL;
    return rest && strcasecmp(rest, host) == 0;
}

static bool from_elsewhere(const request *r, const char *host)
{
    const char *origin = header(r, "Origin"), *site = header(r, "Sec-Fetch-Site");
    if (origin && !same_origin(origin, host))
        return true;
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

unsigned guard_check(request *r, const route *to, const char **why)
{
    const char *host = header(r, "Host");
    char name[256];
    if (!host || !host_name(host, name, sizeof name)) {
        *why = "the request has no Host header";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (!is_ours(r->s, name)) {
        *why = "unknown host name. Add it with --allow-host.";
        return MHD_HTTP_MISDIRECTED_REQUEST;
    }
    if (r->s->token[0] && !to->open && !has_token(r)) {
        *why = "token required. Send the header 'Authorization: Bearer TOKEN', or open "
               "/?token=TOKEN in a browser.";
        return MHD_HTTP_UNAUTHORIZED;
    }
    if (to->writes && from_elsewhere(r, host)) {
        *why = "requests from other sites cannot change the history";
        return MHD_HTTP_FORBIDDEN;
    }
    if (to->writes && r->s->options.read_only) {
        *why = "the server is read-only (--read-only)";
        return MHD_HTTP_FORBIDDEN;
    }
    return 0;
}

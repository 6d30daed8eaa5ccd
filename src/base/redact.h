/* Secrets in texts that are kept: passwords in addresses, values of options and headers. */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include "base/arena.h"
#include "base/sbuf.h"

/* Appends the text with "***" in place of
 *   - the password in scheme://user:password@host, and the user if there is no password (http, https);
 *   - values of words such as token, password and secret: token=..., --api-key ...;
 *   - values of headers such as Authorization, what follows Bearer, and values of --header NAME:VALUE.
 * JSON text stays JSON: a value ends before a quote or a backslash. */
void redact_put(sbuf *out, str text);
str redact_copy(arena *a, str text);

#endif

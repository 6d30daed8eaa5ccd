/* The callbacks of libmicrohttpd. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "serve/serve.h"

enum MHD_Result request_take(void *ctx, struct MHD_Connection *mhd, const char *path,
                             const char *method, const char *version, const char *piece,
                             size_t *n_piece, void **state);
void *request_address(void *ctx, const char *target, struct MHD_Connection *mhd);
void request_done(void *ctx, struct MHD_Connection *mhd, void **state,
                  enum MHD_RequestTerminationCode how);
void request_connection(void *ctx, struct MHD_Connection *mhd, void **state,
                        enum MHD_ConnectionNotificationCode how);

#endif

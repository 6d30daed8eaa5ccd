/* A private PostgreSQL server for tests: support/postgres.sh. */
#ifndef SUPPORT_CLUSTER_H
#define SUPPORT_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cluster {
    char *folder;
} cluster;

/* Makes and starts it. False: PostgreSQL is not installed, which has been printed. */
bool cluster_start(cluster *c);
void cluster_end(cluster *c);                          /* stops it and removes its folder */
void cluster_stop(const cluster *c, const char *mode); /* "fast", "immediate" */
void cluster_again(const cluster *c);
/* Makes a database, of the characters of the name that may be in one, and gives its name for a history. */
const char *cluster_database(const cluster *c, const char *name, char url[512]);
/* Runs SQL in such a database, as the owner; `rows` receives what it printed, or is NULL. */
void cluster_sql(const cluster *c, const char *name, const char *sql, char rows[512]);

#endif

/* The routes: one row per path. HEAD is GET without its body. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"

const route routes[] = {
    {"GET", "/", serve_page, NULL, false, true},
    {"GET", "/api/v1/records", serve_records, NULL, false, false},
    {"POST", "/api/v1/records", serve_add, "serve-result", true, false},
    {"GET", "/api/v1/records/*", serve_record, NULL, false, false},
    {"DELETE", "/api/v1/records/*", serve_delete, NULL, true, false},
    {"POST", "/api/v1/records/*/tags", serve_tags, "serve-tags", true, false},
    {"GET", "/api/v1/models", serve_models, NULL, false, false},
    {"GET", "/api/v1/trend", serve_trend, NULL, false, false},
    {"GET", "/api/v1/compare", serve_compare, NULL, false, false},
    {"GET", "/api/v1/events", serve_events, NULL, false, false},
    {"GET", "/api/v1/devices", serve_devices, NULL, false, false},
    {"GET", "/api/v1/predict", serve_predict, NULL, false, false},
    {"GET", "/api/v1/changes", serve_changes, NULL, false, false},
    {"GET", "/api/v1/drift", serve_drift, NULL, false, false},
    {"GET", "/api/v1/cheapest", serve_cheapest, NULL, false, false},
    {"GET", "/api/v1/sweeps", serve_sweeps, NULL, false, false},
    {"GET", "/api/v1/sweeps/*", serve_sweep, NULL, false, false},
    {"POST", "/api/v1/profile", serve_profile, "serve-model", true, false},
    {"GET", "/openapi.json", serve_openapi, NULL, false, false},
    {"GET", "/metrics", serve_metrics, NULL, false, false},
    {"GET", "/health", serve_health, NULL, false, true},
};
const size_t n_routes = sizeof routes / sizeof *routes;

static bool match_path(const char *pattern, const char *path, int64_t *id)
{
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*path++ != *pattern)
                return false;
            continue;
        }
        size_t n = strspn(path, "0123456789");
        if (n == 0 || n > 18 || *path == '0')
            return false;
        *id = strtoll(path, NULL, 10);
        path += n;
    }
    return !*path;
}

const route *route_find(const char *method, const char *path, int64_t *id, char allow[64])
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *allow = '\0';
    for (size_t i = 0; i < n_routes; i++) {
        if (!match_path(routes[i].path, path, id))
            continue;
        if (strcmp(routes[i].method, wanted) == 0)
            return &routes[i];
        size_t n = strlen(allow);
        snprintf(allow + n, 64 - n, "%s%s", n ? ", " : "",
                 strcmp(routes[i].method, "GET") == 0 ? "GET, HEAD" : routes[i].method);
    }
    return NULL;
}

/* See node.h. */
#include "device/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "device/host.h"

static const char *own_name(const host_info *h)
{
    static const char *const variables[] = {"ASSAY_NODE", "SLURMD_NODENAME"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return *h->host ? h->host : "unnamed";
}

void node_name(char out[NODE_NAME])
{
    host_info h;
    digest_hex hex;
    char text[256];
    host_describe(&h);
    int n = snprintf(text, sizeof text, "%s|%s|%ld|%llu", h.cpu, h.machine,
                     sysconf(_SC_NPROCESSORS_CONF),
                     (unsigned long long)((h.memory_bytes + ((uint64_t)1 << 29)) >> 30));
    digest_bytes(text, n > 0 && (size_t)n < sizeof text ? (size_t)n : strlen(text), hex);
    snprintf(out, NODE_NAME, "%.180s@%.8s", own_name(&h), hex);
}

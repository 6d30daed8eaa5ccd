/* Information about this machine that needs no file access and takes microseconds. */
#ifndef DEVICE_HOST_H
#define DEVICE_HOST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct host_info {
    char os[128];     /* "Linux 6.1.0"; "" when not known */
    char machine[65]; /* "x86_64" */
    char host[65];    /* the name it goes by in its network */
    char cpu[49];     /* "AMD EPYC 7763 64-Core Processor", or "" */
    bool
        saturates_int8; /* its products of 8 bits are summed in pairs of 16 bits (x86 without VNNI) */
    uint64_t cores;     /* that this process may use */
    uint64_t memory_bytes;
} host_info;

void host_describe(host_info *h);

#endif

/* How much room a disk has is not known. */
#ifndef WASM_STATVFS_H
#define WASM_STATVFS_H

struct statvfs {
    unsigned long f_frsize, f_bsize;
    unsigned long long f_bavail, f_bfree, f_blocks;
};
static inline int statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    (void)out;
    return -1;
}

#endif

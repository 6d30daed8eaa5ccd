/* Structs between the library and its callers. A caller's may be older, and so smaller than ours, or newer and larger:
 * what both know is copied. A size of 0 means that the caller forgot to set it. */
#include "api/api.h"

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

bool api_hand_out(void *out, const void *whole, size_t whole_size)
{
    const size_t size = size_of(out), head = sizeof size;
    if (size <= head)
        return false;
    size_t n = size < whole_size ? size : whole_size;
    memcpy((char *)out + head, (const char *)whole + head, n - head);
    return true;
}

assay_status api_give(void *out, const void *whole, size_t whole_size, assay_error *err)
{
    TRY(api_check_size(out, err));
    api_hand_out(out, whole, whole_size);
    return ASSAY_OK;
}

assay_status api_check_size(const void *given, assay_error *err)
{
    if (!given || size_of(given) > sizeof(size_t))
        return ASSAY_OK;
    return err_fail(
        err, ASSAY_ERR_USAGE,
        "the size of a struct is not set: assign sizeof the struct to its first member");
}

assay_status api_take(const void *given, void *whole, size_t whole_size, assay_error *err)
{
    TRY(api_check_size(given, err));
    memset(whole, 0, whole_size);
    if (given)
        memcpy(whole, given, size_of(given) < whole_size ? size_of(given) : whole_size);
    return ASSAY_OK;
}

/* Errors. Names in a message may come from a hostile file, so the text passes text_safe_into():
 * a message is safe to print to a terminal.
 */
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

void err_clear(assay_error *err)
{
    if (!err)
        return;
    err->code = ASSAY_OK;
    err->offset = ASSAY_NO_OFFSET;
    err->node[0] = '\0';
    err->message[0] = '\0';
    err->os_error = 0;
}

static assay_status set_error(assay_error *err, assay_status code, uint64_t offset,
                              const char *node, const char *fmt, va_list ap)
{
    char raw[2 * sizeof err->message];
    assert(code != ASSAY_OK && fmt);
    if (!err)
        return code;
    if (err->code != ASSAY_OK)
        return err->code;
    if (memory_lacked() && code != ASSAY_ERR_SYSTEM && code != ASSAY_ERR_INTERRUPTED)
        return err_no_memory(err); /* what looks wrong may only be unfinished */
    if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
        raw[0] = '\0';
    err->code = code;
    err->offset = offset;
    err->os_error = 0;
    text_safe_into(err->node, sizeof err->node, str_of(node));
    text_safe_into(err->message, sizeof err->message, str_of(raw));
    return code;
}

/* The rest of a function that ends in a format and its arguments. */
#define SET_ERROR(offset, node)                                 \
    do {                                                        \
        va_list ap;                                             \
        va_start(ap, fmt);                                      \
        code = set_error(err, code, (offset), (node), fmt, ap); \
        va_end(ap);                                             \
    } while (0)

assay_status err_fail(assay_error *err, assay_status code, const char *fmt, ...)
{
    SET_ERROR(ASSAY_NO_OFFSET, NULL);
    return code;
}

assay_status err_fail_at(assay_error *err, assay_status code, uint64_t offset, const char *fmt, ...)
{
    SET_ERROR(offset, NULL);
    return code;
}

assay_status err_fail_node(assay_error *err, assay_status code, const char *node, const char *fmt,
                           ...)
{
    SET_ERROR(ASSAY_NO_OFFSET, node);
    return code;
}

assay_status err_fail_errno(assay_error *err, assay_status code, int error, const char *fmt, ...)
{
    bool first = err && err->code == ASSAY_OK;
    SET_ERROR(ASSAY_NO_OFFSET, NULL);
    if (first)
        err->os_error = error;
    return code;
}

assay_status err_no_memory(assay_error *err)
{
    if (memory_lacked() && memory_lack() != ENOMEM)
        return err_fail_errno(err, ASSAY_ERR_SYSTEM, memory_lack(), "%s: cannot read: %s",
                              memory_lack_file(), strerror(memory_lack()));
    return err_fail_errno(err, ASSAY_ERR_SYSTEM, ENOMEM, "%s",
                          memory_lacked() ? "out of memory"
                                          : "out of memory, or a memory limit was reached: "
                                            "`model-memory`, `analysis-memory` or "
                                            "`result-memory`. Raise it with --raise-limit "
                                            "NAME=4GiB.");
}

void err_name_file(assay_error *err, const char *path)
{
    char shown[FILE_SHOWN], raw[FILE_SHOWN + 2 + sizeof err->message];
    if (!err || err->code == ASSAY_OK || err->os_error == ENOMEM)
        return;
    file_shown(path, shown);
    if (strncmp(err->message, shown, strlen(shown)) == 0)
        return;
    snprintf(raw, sizeof raw, "%s: %s", shown, err->message);
    text_safe_into(err->message, sizeof err->message, str_of(raw));
}

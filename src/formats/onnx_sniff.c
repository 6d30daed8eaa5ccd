/* Detects whether bytes may be an ONNX model and, if not, what they are. */
#include <string.h>

#include "formats/format.h"
#include "formats/onnx_read.h"

/* ModelProto's first record is one of these, with this wire type; serialisers write ir_version. */
static bool is_model_tag(uint8_t tag)
{
    static const uint8_t tags[] = {0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72};
    return memchr(tags, tag, sizeof tags) != NULL;
}

static bool is_text(const uint8_t *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if ((p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t') || p[i] == 0x7f)
            return false;
    return n > 0;
}

/* Records of a message: what begins like a model may be that of another format, whose producer is no text. */
static bool has_model_fields(const uint8_t *p, uint64_t n)
{
    uint64_t at = 0;
    while (at + 1 < n && p[at] != 0x3a) { /* the graph */
        if (!is_model_tag(p[at]))
            return false;
        bool varint = (p[at] & 7) == 0;
        uint64_t v = 0;
        unsigned shift = 0;
        uint8_t tag = p[at++];
        do
            v |= (uint64_t)(p[at] & 0x7f) << shift;
        while (p[at++] & 0x80 && (shift += 7) < 63 && at < n);
        uint64_t left = n - at, here = v < left ? v : left;
        if (!varint && tag == 0x12 && here && !is_text(p + at, here))
            return false;
        at += varint ? 0 : here;
    }
    return true;
}

bool onnx_looks_like(const void *head, uint64_t n)
{
    const uint8_t *p = head;
    return n >= 2 && !is_text(p, n) && is_model_tag(p[0]) && has_model_fields(p, n);
}

assay_status onnx_refuse_other(const void *head, uint64_t n, uint64_t file_size, assay_error *err)
{
    const format_row *f = format_by_content(head, n, file_size);
    if (file_size == 0 || n == 0)
        return err_fail(err, ASSAY_ERR_MALFORMED, "empty file, not an ONNX model");
    if (f && f->what)
        return err_fail(err, ASSAY_ERR_UNSUPPORTED, "this is %s, not an ONNX model. %s", f->what,
                        f->todo);
    if (f && f->reader != FORMAT_ONNX)
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "this is a %s file, not an ONNX model. Save it as a file and pass its path.",
            f->reader == FORMAT_GGUF ? "GGUF" : f->name);
    if (is_text(head, n))
        return err_fail(err, ASSAY_ERR_MALFORMED,
                        "this is a text file, not an ONNX model (a binary protobuf file)");
    return ASSAY_OK;
}

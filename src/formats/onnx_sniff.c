/* What a file is when it is not ONNX: told by its first bytes, answered with what to do. */
#include <string.h>

#include "formats/onnx_read.h"

typedef struct magic {
    uint64_t at;
    const char *bytes;
    uint32_t n;
    assay_status status;
    const char *sentence;
} magic;

#define MAGIC(lit) .bytes = (lit), .n = (uint32_t)(sizeof(lit) - 1)
#define EXPORT_TORCH \
    "export it with torch.onnx.export(model, inputs, \"model.onnx\") and read that."

static const magic magics[] = {
    {MAGIC("PK\x03\x04"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence =
         "This is a zip archive (PyTorch writes such .pt files), not an ONNX model: " EXPORT_TORCH},
    {MAGIC("\x80\x02"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence =
         "This is a Python pickle, as old PyTorch files are, not an ONNX model: " EXPORT_TORCH},
    {MAGIC("\x80\x04\x95"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence =
         "This is a Python pickle, not an ONNX model: load it in its framework and export it to "
         "ONNX."},
    {MAGIC("\x89HDF\r\n\x1a\n"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence = "This is an HDF5 file, as Keras writes, not an ONNX model: convert it with "
                 "'python -m tf2onnx.convert --keras model.h5 --output model.onnx'."},
    {.at = 4,
     MAGIC("TFL3"),
     .status = ASSAY_ERR_UNSUPPORTED,
     .sentence = "This is a TensorFlow Lite model, not an ONNX one: convert it with "
                 "'python -m tf2onnx.convert --tflite model.tflite --output model.onnx'."},
    {.at = 4,
     MAGIC("ORTM"),
     .status = ASSAY_ERR_UNSUPPORTED,
     .sentence =
         "This is ONNX Runtime's own .ort format, not ONNX: use the .onnx file it was made from."},
    {MAGIC("GGUF"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence = "This is a GGUF file, not an ONNX model: give it a name that ends in .gguf."},
    {MAGIC("\x1f\x8b"), .status = ASSAY_ERR_UNSUPPORTED,
     .sentence = "This file is compressed with gzip: unpack it with gunzip first."},
    {MAGIC("version https://git-lfs"), .status = ASSAY_ERR_MALFORMED,
     .sentence = "This is a Git LFS pointer, not the model itself: fetch it with 'git lfs pull'."},
    {MAGIC("<!DOCTYPE"), .status = ASSAY_ERR_MALFORMED,
     .sentence = "This is a web page, not an ONNX model: download the model file itself."},
    {MAGIC("<html"), .status = ASSAY_ERR_MALFORMED,
     .sentence = "This is a web page, not an ONNX model: download the model file itself."},
};

static bool matches(const magic *m, const uint8_t *p, uint64_t n)
{
    return n >= m->at + m->n && memcmp(p + m->at, m->bytes, m->n) == 0;
}

/* A little-endian length of a JSON header, then the header. */
static bool is_safetensors(const uint8_t *p, uint64_t n, uint64_t file_size)
{
    uint64_t len = 0;
    if (n < 9 || p[8] != '{')
        return false;
    for (unsigned i = 0; i < 8; i++)
        len |= (uint64_t)p[i] << (8 * i);
    return len >= 2 && len <= file_size - 8;
}

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

bool onnx_looks_like(const void *head, uint64_t n)
{
    const uint8_t *p = head;
    return n >= 2 && is_model_tag(p[0]) && !is_text(p, n) &&
           onnx_refuse_other(head, n, n, NULL) == ASSAY_OK;
}

assay_status onnx_refuse_other(const void *head, uint64_t n, uint64_t file_size, assay_error *err)
{
    const uint8_t *p = head;
    if (file_size == 0 || n == 0)
        return err_fail(err, ASSAY_ERR_MALFORMED, "The file is empty: it is not an ONNX model.");
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (matches(&magics[i], p, n))
            return err_fail(err, magics[i].status, "%s", magics[i].sentence);
    if (is_safetensors(p, n, file_size))
        return err_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "This is a safetensors file, not an ONNX model: give it a name that ends in "
            ".safetensors.");
    if (is_text(p, n))
        return err_fail(
            err, ASSAY_ERR_MALFORMED,
            "This is a text file, not an ONNX model (those are binary protobuf files).");
    return ASSAY_OK;
}

/* The formats of model files: those that are read, and those that are recognised and refused with a hint how to
 * convert them. A format is detected by its first bytes, then by its structure, then by the suffix, so that a GGUF
 * file named .bin is read and an image named .onnx is recognised as an image.
 */
#include "formats/format.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/source.h"
#include "formats/coreml/coreml.h"
#include "formats/keras/keras.h"
#include "formats/ncnn/ncnn.h"
#include "formats/onnx_read.h"
#include "formats/openvino/openvino.h"
#include "formats/stablehlo/stablehlo.h"
#include "formats/tensorflow/tensorflow.h"
#include "formats/tflite/tflite.h"
#include "formats/torch/pt2.h"
#include "formats/torch/script.h"

#define MAGIC(lit) .magic = (lit), .n_magic = (uint32_t)(sizeof(lit) - 1)

#define TORCH_EXPORT                                                                       \
    "Load the model in Python, run torch.onnx.export(model, example_input, 'model.onnx') " \
    "and use that file."
#define TF_EXPORT    "Export it with: python -m tf2onnx.convert "
#define TORCH_NUMBER "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
#define PICKLE       "a Python pickle"
#define PICKLE_EXPORT                                                                     \
    "Load it in the environment that wrote it and export it as ONNX (torch.onnx.export, " \
    "skl2onnx.to_onnx)."
#define SKLEARN_EXPORT "Convert it in Python: skl2onnx.to_onnx(model, X[:1]).SerializeToString()."
#define TREES_EXPORT   "Convert it in Python with onnxmltools (convert_xgboost, convert_lightgbm)."
#define GIVE_MODEL \
    "Name a model file, a folder or a built-in model; docs/formats.md lists the formats."
#define IMAGE_USE "Name a model, and pass the image to it with --input FILE."
#define DOWNLOAD  "Download the model file itself."

#define KERAS .reader = FORMAT_FOREIGN, .read = keras_read

static const format_row formats[] = {
    {"onnx", .suffix = ".onnx", .reader = FORMAT_ONNX},
    {"config", .suffix = ".json", .reader = FORMAT_CONFIG},
    {"ort", .suffix = ".ort", MAGIC("ORTM"), .at = 4,
     .what = "a model in ONNX Runtime's own format",
     .todo = "Use the ONNX file that it was converted from."},
    {"pytorch", .suffix = ".pt", .reader = FORMAT_TORCH, .packed = true},
    {"pytorch", .suffix = ".pth", .reader = FORMAT_TORCH, .packed = true},
    {"pytorch", .suffix = ".pt2", .reader = FORMAT_TORCH, .packed = true},
    {"pytorch", .suffix = ".ckpt", .reader = FORMAT_TORCH, .packed = true},
    {"pytorch", .suffix = ".bin", .reader = FORMAT_TORCH, .packed = true},
    {"safetensors", .suffix = ".safetensors", .reader = FORMAT_SAFETENSORS},
    {"safetensors", .suffix = ".safetensors.index.json", .reader = FORMAT_SAFETENSORS},
    {"gguf", .suffix = ".gguf", .reader = FORMAT_GGUF, MAGIC("GGUF")},
    {"keras", .suffix = ".keras", KERAS, .packed = true},
    {"keras", .suffix = ".h5", KERAS, .packed = true},
    {"keras", .suffix = ".hdf5", KERAS, .packed = true},
    {"tflite", .suffix = ".tflite", .reader = FORMAT_FOREIGN, .read = tflite_read, MAGIC("TFL3"),
     .at = 4},
    {"tensorflow", .suffix = ".pb", .reader = FORMAT_FOREIGN, .read = tensorflow_read},
    {"tensorflow", .suffix = "keras_metadata.pb", .what = "metadata of a SavedModel",
     .todo = "Name the folder that it is in."},
    {"tensorflow", .suffix = "fingerprint.pb", .what = "the fingerprint of a SavedModel",
     .todo = "Name the folder that it is in."},
    {"tensorflow", .suffix = ".pbtxt", .what = "a TensorFlow graph as text",
     .todo = "Use the .pb file or the SavedModel folder of the same model."},
    {"tensorflow", .suffix = ".meta", .what = "the graph of a TensorFlow checkpoint",
     .todo = TF_EXPORT
     "--checkpoint FILE.meta --inputs IN:0 --outputs OUT:0 --output model.onnx, or "
     "save the model as SavedModel."},
    {"coreml", .suffix = ".mlmodel", .reader = FORMAT_FOREIGN, .read = coreml_read},
    {"coreml", .suffix = ".mlpackage", .reader = FORMAT_FOREIGN, .read = coreml_read},
    {"coreml", .suffix = ".mlmodelc", .what = "a compiled Core ML model",
     .todo = "Use the .mlmodel or .mlpackage that it was compiled from."},
    {"caffe", .suffix = ".caffemodel", .what = "a Caffe weights file",
     .todo = "Convert it with: python -m caffe2onnx.convert --prototxt NET.prototxt "
             "--caffemodel FILE.caffemodel --onnx model.onnx"},
    {"caffe", .suffix = ".prototxt", .what = "a Caffe model",
     .todo = "Convert it with: python -m caffe2onnx.convert --prototxt FILE.prototxt "
             "--caffemodel WEIGHTS.caffemodel --onnx model.onnx"},
    {"paddle", .suffix = ".pdmodel", .what = "a PaddlePaddle model",
     .todo = "Convert it with: paddle2onnx --model_dir FOLDER --model_filename FILE.pdmodel "
             "--params_filename FILE.pdiparams --save_file model.onnx"},
    {"openvino", .suffix = ".xml", .reader = FORMAT_FOREIGN, .read = openvino_read, MAGIC("<?xml"),
     .within = "<net "},
    {"openvino", .reader = FORMAT_FOREIGN, .read = openvino_read, MAGIC("<net ")},
    {"pnnx", MAGIC("7767517"), .within = "pnnx.Input", .what = "a PNNX graph",
     .todo = "Use the .ncnn.param file that pnnx wrote beside it."},
    {"ncnn", .suffix = ".param", .reader = FORMAT_FOREIGN, .read = ncnn_read, MAGIC("7767517")},
    {"ncnn", .suffix = ".param.bin", .reader = FORMAT_FOREIGN, .read = ncnn_read,
     MAGIC("\xdd\x85\x76\0")},
    {"tensorrt", .suffix = ".engine", .what = "a TensorRT engine",
     .todo = "Use the ONNX file that it was built from."},
    {"tensorrt", .suffix = ".plan", .what = "a TensorRT engine",
     .todo = "Use the ONNX file that it was built from."},
    {"tensorrt", .suffix = ".trt", MAGIC("ftrt"), .what = "a TensorRT engine",
     .todo = "Use the ONNX file that it was built from."},
    {"tensorrt", MAGIC("ptrt"), .what = "a TensorRT engine",
     .todo = "Use the ONNX file that it was built from."},
    {"mnn", .suffix = ".mnn", .what = "an MNN model",
     .todo = "Use the ONNX file that it was converted from."},
    {"rknn", .suffix = ".rknn", MAGIC("RKNN"), .what = "a Rockchip NPU model",
     .todo = "Use the ONNX file that it was converted from."},
    {"hailo", .suffix = ".hef", MAGIC("\x01HEF"), .what = "a Hailo executable",
     .todo = "Use the ONNX file that it was compiled from."},
    {"paddle", .suffix = ".pdiparams", .what = "a PaddlePaddle weights file",
     .todo = "Convert the model with: paddle2onnx --model_dir FOLDER --model_filename FILE.pdmodel "
             "--params_filename FILE.pdiparams --save_file model.onnx"},
    {"stablehlo", .suffix = ".mlirbc", MAGIC("ML\xefR"), .what = "an MLIR bytecode file",
     .todo = "Export the model as ONNX (jax2onnx, torch.onnx.export)."},
    {"stablehlo", .suffix = ".mlir", .reader = FORMAT_FOREIGN, .read = stablehlo_read},
    {"stablehlo", MAGIC("module"), .within = "stablehlo.", .reader = FORMAT_FOREIGN,
     .read = stablehlo_read},
    {"stablehlo", MAGIC("module"), .within = "func.func", .reader = FORMAT_FOREIGN,
     .read = stablehlo_read},
    {"qualcomm", .suffix = ".dlc", .what = "a Qualcomm deep learning container",
     .todo = "Use the ONNX file that it was converted from."},
    {"mxnet", .suffix = ".params", .what = "an MXNet weights file",
     .todo = "Export it in Python with mxnet.onnx.export_model()."},
    {"darknet", .suffix = ".weights", .what = "a Darknet weights file",
     .todo = "Convert it to PyTorch, then run torch.onnx.export(model, example_input, "
             "'model.onnx')."},
    {"joblib", .suffix = ".joblib", .what = "a pickled scikit-learn model", .todo = SKLEARN_EXPORT},
    {"pickle", .suffix = ".pkl", .what = PICKLE, .todo = PICKLE_EXPORT},
    {"jax", .suffix = ".msgpack", .what = "a Flax weights file",
     .todo = "Convert it in Python: jax2onnx.to_onnx(), or jax2tf and then tf2onnx."},
    /* Recognised by their content alone. */
    {"torch.export", .reader = FORMAT_FOREIGN, .read = pt2_read, .inside = pt2_is_inside},
    {"torchscript", .reader = FORMAT_FOREIGN, .read = script_read, .inside = script_is_inside,
     .weights = true},
    {"pytorch", .reader = FORMAT_TORCH, MAGIC("PK\x03\x04"), .within = "/data.pkl"},
    {"pytorch", .reader = FORMAT_TORCH, MAGIC("PK\x03\x04"), .within = "/data/0"},
    /* Behind the bytes that name the protocol of the pickle, and the length of its frame. */
    {"pytorch", .reader = FORMAT_TORCH, MAGIC(TORCH_NUMBER), .at = 2},
    {"pytorch", .reader = FORMAT_TORCH, MAGIC(TORCH_NUMBER), .at = 11},
    {"keras", KERAS, MAGIC("PK\x03\x04"), .within = "model.weights.h5"},
    {"keras", KERAS, MAGIC("PK\x03\x04"), .within = "keras_version"},
    /* Model.to_json(), also as the text of a text. */
    {"keras", KERAS, MAGIC("{"), .within = "\"class_name\""},
    {"keras", KERAS, MAGIC("\"{"), .within = "class_name"},
    {"torchserve", MAGIC("PK\x03\x04"), .within = "MAR-INF/", .what = "a TorchServe archive",
     .todo = "Unpack it with unzip and use the model file inside."},
    {"npz", MAGIC("PK\x03\x04"), .within = ".npy", .what = "NumPy arrays",
     .todo = "Name a model, and pass an array to it with --input FILE.npy."},
    {"zip", MAGIC("PK\x03\x04"), .container = true, .what = "a zip archive",
     .todo = "Unpack it and use the model file inside. For a PyTorch model, run "
             "torch.onnx.export(model, example_input, 'model.onnx') in Python."},
    {"gzip", MAGIC("\x1f\x8b"), .container = true, .what = "a gzip archive",
     .todo = "Unpack it with gunzip and use the model file inside."},
    {"catboost", MAGIC("CBM1"), .what = "a CatBoost model",
     .todo = "Export it in Python: model.save_model('model.onnx', format='onnx')."},
    {"xgboost", MAGIC("{\"learner\""), .what = "an XGBoost model", .todo = TREES_EXPORT},
    {"xgboost", MAGIC("{L\0\0\0\0\0\0\0\x07learner"), .what = "an XGBoost model",
     .todo = TREES_EXPORT},
    {"xgboost", MAGIC("binf"), .what = "an XGBoost model", .todo = TREES_EXPORT},
    {"lightgbm", MAGIC("tree\nversion="), .what = "a LightGBM model", .todo = TREES_EXPORT},
    {"scikit-learn", MAGIC("\x80"), .within = "sklearn.", .what = "a pickled scikit-learn model",
     .todo = SKLEARN_EXPORT},
    {"xgboost", MAGIC("\x80"), .within = "xgboost.", .what = "a pickled XGBoost model",
     .todo = TREES_EXPORT},
    {"lightgbm", MAGIC("\x80"), .within = "lightgbm.", .what = "a pickled LightGBM model",
     .todo = TREES_EXPORT},
    {"pytorch", .reader = FORMAT_TORCH, MAGIC("\x80"), .within = "torch"},
    {"pytorch", .reader = FORMAT_TORCH, MAGIC("\x80"), .within = "multiarray"},
    {"pickle", MAGIC("\x80\x02"), .container = true, .what = PICKLE, .todo = PICKLE_EXPORT},
    {"pickle", MAGIC("\x80\x03"), .container = true, .what = PICKLE, .todo = PICKLE_EXPORT},
    {"pickle", MAGIC("\x80\x04\x95"), .container = true, .what = PICKLE, .todo = PICKLE_EXPORT},
    {"pickle", MAGIC("\x80\x05\x95"), .container = true, .what = PICKLE, .todo = PICKLE_EXPORT},
    {"bzip2", MAGIC("BZh"), .container = true, .what = "a bzip2 archive",
     .todo = "Unpack it with bunzip2 and use the model file inside."},
    {"xz",
     MAGIC("\xfd"
           "7zXZ"),
     .container = true, .what = "an xz archive",
     .todo = "Unpack it with unxz and use the model file inside."},
    {"zstd", MAGIC("\x28\xb5\x2f\xfd"), .container = true, .what = "a zstd archive",
     .todo = "Unpack it with zstd -d and use the model file inside."},
    {"7z", MAGIC("7z\xbc\xaf\x27\x1c"), .container = true, .what = "a 7z archive",
     .todo = "Unpack it with 7z x and use the model file inside."},
    {"tar", MAGIC("ustar"), .at = 257, .container = true, .what = "a tar archive",
     .todo = "Unpack it with tar xf and use the model file inside."},
    {"keras", KERAS, MAGIC("\x89HDF\r\n\x1a\n")},
    {"png", MAGIC("\x89PNG\r\n\x1a\n"), .what = "a PNG image", .todo = IMAGE_USE},
    {"jpeg", MAGIC("\xff\xd8\xff"), .what = "a JPEG image", .todo = IMAGE_USE},
    {"gif", MAGIC("GIF8"), .what = "a GIF image", .todo = IMAGE_USE},
    {"tiff", MAGIC("II*\0"), .what = "a TIFF image", .todo = IMAGE_USE},
    {"tiff", MAGIC("MM\0*"), .what = "a TIFF image", .todo = IMAGE_USE},
    {"webp", MAGIC("WEBP"), .at = 8, .within = "RIFF", .what = "a WebP image", .todo = IMAGE_USE},
    {"wav", MAGIC("WAVE"), .at = 8, .within = "RIFF", .what = "a WAV recording",
     .todo = GIVE_MODEL},
    {"mp4", MAGIC("ftyp"), .at = 4, .what = "a video", .todo = GIVE_MODEL},
    {"numpy", MAGIC("\x93NUMPY"), .what = "a NumPy array",
     .todo = "Name a model, and pass the array to it with --input FILE."},
    {"sqlite", MAGIC("SQLite format 3"), .what = "an SQLite database",
     .todo = "If it is a history, list its records with `assay history --db FILE`."},
    {"executorch", MAGIC("ET12"), .at = 4, .what = "an ExecuTorch program",
     .todo = "Use the ONNX file of the same model, or export it: " TORCH_EXPORT},
    {"circle", MAGIC("CIR0"), .at = 4, .what = "a circle model",
     .todo = "Use the TensorFlow Lite or ONNX file that it was converted from."},
    {"pe", MAGIC("MZ\x90"), .what = "a Windows program or library", .todo = GIVE_MODEL},
    {"mach-o", MAGIC("\xcf\xfa\xed\xfe"), .what = "a macOS program or library", .todo = GIVE_MODEL},
    {"script", MAGIC("#!"), .what = "a script", .todo = GIVE_MODEL},
    {"elf",
     MAGIC("\x7f"
           "ELF"),
     .what = "an ELF program or library", .todo = GIVE_MODEL},
    {"pdf", MAGIC("%PDF-"), .what = "a PDF document", .todo = GIVE_MODEL},
    {"git-lfs", MAGIC("version https://git-lfs"), .what = "a Git LFS pointer",
     .todo = "Fetch the model with: git lfs pull"},
    {"web", MAGIC("<!DOCTYPE"), .what = "a web page", .todo = DOWNLOAD},
    {"web", MAGIC("<!doctype"), .what = "a web page", .todo = DOWNLOAD},
    {"web", MAGIC("<html"), .what = "a web page", .todo = DOWNLOAD},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

/* ---- content ---- */

static bool contains_word(const uint8_t *p, uint64_t n, const char *word)
{
    size_t length = strlen(word);
    for (uint64_t i = 0; i + length <= n; i++)
        if (memcmp(p + i, word, length) == 0)
            return true;
    return false;
}

static bool has_magic(const format_row *f, const uint8_t *p, uint64_t n)
{
    return f->magic && n >= f->at + f->n_magic && memcmp(p + f->at, f->magic, f->n_magic) == 0 &&
           (!f->within || contains_word(p, n, f->within));
}

/* A little-endian length of a JSON header, then the header. */
static bool is_safetensors(const uint8_t *p, uint64_t n, uint64_t size)
{
    uint64_t length = 0;
    if (n < 9 || p[8] != '{')
        return false;
    for (unsigned i = 0; i < 8; i++)
        length |= (uint64_t)p[i] << (8 * i);
    return length >= 2 && length <= size - 8;
}

static const format_row *first_of(format_reader reader)
{
    const format_row *f = formats;
    while (f->reader != reader)
        f++;
    return f;
}

const format_row *format_by_content(const void *head, uint64_t n, uint64_t size)
{
    for (const format_row *f = formats; f < formats + N_FORMATS; f++)
        if (has_magic(f, head, n))
            return f;
    if (is_safetensors(head, n, size))
        return first_of(FORMAT_SAFETENSORS);
    if (tensorflow_looks_like(head, n))
        return format_by_suffix(STR("x.pb"));
    if (coreml_looks_like(head, n))
        return format_by_suffix(STR("x.mlmodel"));
    return onnx_looks_like(head, n) ? first_of(FORMAT_ONNX) : NULL;
}

/* ---- archives ---- */

/* Archives of PyTorch begin alike: their directory says what they are. */
static const format_row *row_by_directory(const zip_directory *z)
{
    for (const format_row *f = formats; f < formats + N_FORMATS; f++)
        if (f->inside && f->inside(z))
            return f;
    return NULL;
}

/* A directory that is malformed says nothing; the reader of the format reports it. What the system refuses is an error:
 * the file would be taken for one of another format. */
static assay_status look_inside(const format_row **f, source *src, assay_error *err)
{
    enum { DIRECTORY_BYTES = 256 << 20 };
    assay_error own = {.code = ASSAY_OK};
    zip_directory z;
    char head[2] = {0};
    if (!*f || ((*f)->reader != FORMAT_TORCH && !(*f)->container) || source_size(src) < sizeof head)
        return ASSAY_OK;
    TRY(source_read(src, 0, head, sizeof head, err));
    if (memcmp(head, "PK", 2) != 0)
        return ASSAY_OK;
    arena *a = arena_new(DIRECTORY_BYTES);
    if (!a)
        return err_no_memory(err);
    assay_status s = zip_read(src, a, &z, &own);
    const format_row *found = s == ASSAY_OK ? row_by_directory(&z) : NULL;
    arena_free(a);
    *f = found ? found : *f;
    if (s == ASSAY_ERR_SYSTEM && err)
        *err = own;
    return s == ASSAY_ERR_SYSTEM ? s : ASSAY_OK;
}

assay_status format_of_bytes(const void *bytes, uint64_t n, const format_row **out,
                             assay_error *err)
{
    source *src = NULL;
    *out = format_by_content(bytes, n < FORMAT_HEAD ? n : FORMAT_HEAD, n);
    TRY(source_memory(bytes, n, &src, err));
    assay_status s = look_inside(out, src, err);
    source_close(src);
    return s;
}

/* ---- names ---- */

const format_row *format_by_suffix(str path)
{
    const format_row *best = NULL;
    for (const format_row *f = formats; f < formats + N_FORMATS; f++)
        if (f->suffix && path.n > strlen(f->suffix) && str_ends(path, f->suffix))
            best = f;
    return best;
}

/* ---- both ---- */

static bool is_json(const uint8_t *p, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && strchr(" \t\r\n", p[i]) && p[i])
        i++;
    return i < n && p[i] == '{';
}

static assay_status row_of_source(source *src, const format_row **f, assay_error *err)
{
    uint8_t head[FORMAT_HEAD];
    uint64_t size = source_size(src), n = size < FORMAT_HEAD ? size : FORMAT_HEAD;
    const format_row *named = *f;
    TRY(source_read(src, 0, head, n, err));
    const format_row *found = n ? format_by_content(head, n, size) : NULL;
    /* A suffix says more than the container: a .keras file is a zip archive. */
    if (found && !(found->container && named && (named->what || named->packed)))
        *f = found;
    else if (!named && is_json(head, n))
        *f = first_of(FORMAT_CONFIG);
    return look_inside(f, src, err);
}

assay_status format_of_file(const char *path, const format_row **out, assay_error *err)
{
    source *src = NULL;
    *out = format_by_suffix(str_of(path));
    if (!file_stat(path).is_regular)
        return ASSAY_OK;
    TRY(source_open(path, &src, err));
    assay_status s = row_of_source(src, out, err);
    source_close(src);
    return s;
}

/* ---- folders ---- */

bool format_inside(const char *folder, char *path, size_t room)
{
    static const char *const inner[] = {"Data/com.apple.CoreML/model.mlmodel", "saved_model.pb"};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        int n = snprintf(path, room, "%s/%s", folder, inner[i]);
        if (n > 0 && (size_t)n < room && file_stat(path).is_regular)
            return true;
    }
    return false;
}

/* ---- graphs of other formats ---- */

/* Takes src in any case. Readers need an error to write to. */
static assay_status read_foreign(const format_row *f, source *src, const char *path, size_t limit,
                                 ir_model **out, assay_error *err)
{
    assay_error own;
    err_clear(&own);
    *out = NULL;
    assay_status status = f->read(src, path, limit, out, &own);
    if (status != ASSAY_OK)
        source_close(src);
    if (err)
        *err = own;
    return status;
}

assay_status format_read(const format_row *f, const char *path, size_t limit, ir_model **out,
                         assay_error *err)
{
    source *src;
    *out = NULL;
    TRY(source_open(path, &src, err));
    assay_status status = read_foreign(f, src, path, limit, out, err);
    err_name_file(err, path);
    return status;
}

assay_status format_read_bytes(const format_row *f, const void *bytes, uint64_t n, size_t limit,
                               ir_model **out, assay_error *err)
{
    source *src;
    *out = NULL;
    TRY(source_memory(bytes, n, &src, err));
    return read_foreign(f, src, NULL, limit, out, err);
}

assay_status format_refuse(const format_row *f, const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: unsupported format: %s. %s",
                    file_shown(path, shown), f->what, f->todo);
}

/* A file of another kind: the message names the kind. */
assay_status format_refuse_model(str text, const char *shown, assay_error *err)
{
    uint64_t head = text.n < FORMAT_HEAD ? text.n : FORMAT_HEAD;
    const format_row *f = format_by_content(text.p, head, text.n);
    if (!f)
        return ASSAY_OK;
    if (f->what)
        return err_fail(err, ASSAY_ERR_MALFORMED, "%s: %s, not a result of assay", shown, f->what);
    return err_fail(err, ASSAY_ERR_MALFORMED,
                    "%s: a model (%s), not a result of assay. Analyse it with `assay graph`.",
                    shown, f->name);
}

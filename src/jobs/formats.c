/* The kinds of model files, by suffix: those that are read, and those that are recognised and answered
 * with the way to an ONNX file. */
#include "base/file.h"
#include "formats/onnx_read.h"
#include "jobs/job.h"

static assay_status open_onnx(const char *path, ir_model **out, assay_error *err)
{
    const onnx_read_options opt = {.memory_limit = JOB_MODEL_BYTES};
    return onnx_read_file(path, &opt, out, err);
}

#define TORCH_EXPORT                                                                           \
    "Load the model in Python and run torch.onnx.export(model, example_input, 'model.onnx'), " \
    "then give that file."
#define TF_EXPORT "Export it with: python -m tf2onnx.convert "

static const job_format formats[] = {
    {.name = "onnx", .suffix = ".onnx", .open = open_onnx},
    {.name = "config", .suffix = ".json", .config = true},
    {.name = "ort",
     .suffix = ".ort",
     .what = "a model in ONNX Runtime's own format",
     .export = "Give the ONNX file that it was converted from."},
    {.name = "pytorch", .suffix = ".pt", .what = "a PyTorch file", .export = TORCH_EXPORT},
    {.name = "pytorch", .suffix = ".pth", .what = "a PyTorch file", .export = TORCH_EXPORT},
    {.name = "pytorch",
     .suffix = ".pt2",
     .what = "a program of torch.export",
     .export = TORCH_EXPORT},
    {.name = "pytorch", .suffix = ".ckpt", .what = "a checkpoint", .export = TORCH_EXPORT},
    {.name = "pytorch",
     .suffix = ".bin",
     .what = "a file of weights (PyTorch)",
     .export = "Export its model with: optimum-cli export onnx --model FOLDER out/"},
    {.name = "safetensors", .suffix = ".safetensors", .load = job_load_safetensors},
    {.name = "safetensors", .suffix = ".safetensors.index.json", .load = job_load_safetensors},
    {.name = "gguf", .suffix = ".gguf", .load = job_load_gguf},
    {.name = "keras",
     .suffix = ".keras",
     .what = "a Keras model",
     .export = "Load it in Python and run model.export('saved'), then: "
               "python -m tf2onnx.convert --saved-model saved --output model.onnx"},
    {.name = "keras",
     .suffix = ".h5",
     .what = "a Keras model in HDF5",
     .export = TF_EXPORT "--keras FILE.h5 --output model.onnx"},
    {.name = "keras",
     .suffix = ".hdf5",
     .what = "a Keras model in HDF5",
     .export = TF_EXPORT "--keras FILE.hdf5 --output model.onnx"},
    {.name = "tflite",
     .suffix = ".tflite",
     .what = "a TensorFlow Lite model",
     .export = TF_EXPORT "--tflite FILE.tflite --output model.onnx"},
    {.name = "tensorflow",
     .suffix = ".pb",
     .what = "a TensorFlow graph",
     .export = TF_EXPORT "--graphdef FILE.pb --inputs IN:0 --outputs OUT:0 --output model.onnx, or "
                         "--saved-model FOLDER for a saved model."},
    {.name = "coreml",
     .suffix = ".mlmodel",
     .what = "a Core ML model",
     .export =
         "Convert it in Python: onnxmltools.convert_coreml(), or export the model it was made "
         "from."},
    {.name = "coreml",
     .suffix = ".mlpackage",
     .what = "a Core ML package",
     .export = "Export the model that it was made from as ONNX."},
    {.name = "caffe",
     .suffix = ".caffemodel",
     .what = "the weights of a Caffe model",
     .export = "Convert it with: python -m caffe2onnx.convert --prototxt NET.prototxt "
               "--caffemodel FILE.caffemodel --onnx model.onnx"},
    {.name = "caffe",
     .suffix = ".prototxt",
     .what = "a Caffe network",
     .export = "Convert it with: python -m caffe2onnx.convert --prototxt FILE.prototxt "
               "--caffemodel WEIGHTS.caffemodel --onnx model.onnx"},
    {.name = "paddle",
     .suffix = ".pdmodel",
     .what = "a PaddlePaddle model",
     .export = "Convert it with: paddle2onnx --model_dir FOLDER --model_filename FILE.pdmodel "
               "--params_filename FILE.pdiparams --save_file model.onnx"},
    {.name = "openvino",
     .suffix = ".xml",
     .what = "an OpenVINO network",
     .export = "Give the ONNX file that it was converted from."},
    {.name = "tensorrt",
     .suffix = ".engine",
     .what = "a TensorRT engine",
     .export = "An engine cannot be read back; give the ONNX file that it was built from."},
    {.name = "tensorrt",
     .suffix = ".plan",
     .what = "a TensorRT engine",
     .export = "An engine cannot be read back; give the ONNX file that it was built from."},
    {.name = "mxnet",
     .suffix = ".params",
     .what = "the weights of an MXNet model",
     .export = "Export it in Python with mxnet.onnx.export_model()."},
    {.name = "darknet",
     .suffix = ".weights",
     .what = "the weights of a Darknet model",
     .export = "Convert it to PyTorch, then run torch.onnx.export(model, example_input, "
               "'model.onnx')."},
    {.name = "joblib",
     .suffix = ".joblib",
     .what = "a pickled scikit-learn model",
     .export = "Convert it in Python: skl2onnx.to_onnx(model, X[:1]).SerializeToString()."},
    {.name = "pickle",
     .suffix = ".pkl",
     .what = "a Python pickle",
     .export = "Load it where it was made and export it as ONNX (torch.onnx.export, "
               "skl2onnx.to_onnx)."},
    {.name = "jax",
     .suffix = ".msgpack",
     .what = "the weights of a Flax model",
     .export = "Convert it in Python: jax2onnx.to_onnx(), or jax2tf and then tf2onnx."},
};

const job_format *job_format_of(str path)
{
    const job_format *best = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (path.n > strlen(formats[i].suffix) && str_ends(path, formats[i].suffix))
            best = &formats[i];
    return best;
}

assay_status job_format_refuse(const job_format *f, const char *path, assay_error *err)
{
    char shown[FILE_SHOWN];
    return err_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' is %s, which is not read. %s",
                    file_shown(path, shown), f->what, f->export);
}

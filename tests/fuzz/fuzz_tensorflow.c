/* TensorFlow models (GraphDef and SavedModel, without their variables) from arbitrary bytes. */
#include "formats/tensorflow/tensorflow.h"
#include "support/fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_foreign(tensorflow_read, data, size);
}

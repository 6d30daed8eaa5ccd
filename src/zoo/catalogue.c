/* Every built-in architecture: the one list of all row files. */
#include "zoo/zoo.h"

/* A new file is a word here. */
#define ZOO_FILES(X)                                                                              \
    X(vgg), X(resnet), X(densenet), X(squeezenet), X(inception), X(googlenet), X(shufflenet),     \
        X(mnasnet), X(mobilenet), X(efficientnet), X(regnet), X(convnext), X(teaching), X(vit),   \
        X(swin), X(maxvit), X(video_resnet), X(s3d), X(mvit), X(segmentation), X(rcnn), X(dense), \
        X(ssd), X(raft), X(swinir), X(bert), X(gpt2), X(llama), X(gpts), X(bart), X(siglip),      \
        X(neox), X(bloom), X(deepseek), X(t5), X(whisper), X(clip), X(unet), X(vae), X(dit),      \
        X(pixart), X(mmdit), X(flux)

#define NAME(file)    zoo_##file##_rows
#define ADDRESS(file) &zoo_##file##_rows
extern const zoo_rows ZOO_FILES(NAME);
const zoo_rows *const zoo_table[] = {ZOO_FILES(ADDRESS)};
const uint32_t zoo_table_n = sizeof zoo_table / sizeof *zoo_table;

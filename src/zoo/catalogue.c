/* Every built-in architecture: the one list of all row files. */
#include "zoo/zoo.h"

/* A new file is a word here. */
#define ZOO_FILES(X)                                                                              \
    X(vgg), X(resnet), X(densenet), X(squeezenet), X(inception), X(googlenet), X(shufflenet),     \
        X(mnasnet), X(mobilenet), X(efficientnet), X(regnet), X(convnext), X(teaching), X(vit),   \
        X(swin), X(maxvit), X(video_resnet), X(s3d), X(mvit), X(segmentation), X(rcnn), X(dense), \
        X(ssd), X(yolo), X(raft), X(swinir), X(bert), X(gpt2), X(llama), X(gpts), X(bart),        \
        X(siglip), X(neox), X(bloom), X(deepseek), X(t5), X(whisper), X(clip), X(unet), X(vae),   \
        X(dit), X(pixart), X(mmdit), X(flux)

#define NAME(file)    zoo_##file##_rows
#define ADDRESS(file) &zoo_##file##_rows
extern const zoo_rows ZOO_FILES(NAME);
const zoo_rows *const zoo_table[] = {ZOO_FILES(ADDRESS)};
const uint32_t zoo_table_n = sizeof zoo_table / sizeof *zoo_table;

/* Architectures by the model_type of a config.json: rows that hold the library's defaults only. */
#define FAMILY_FILES(X)                                                                           \
    X(bert), X(gpt2), X(llama), X(neox), X(bloom), X(deepseek), X(t5), X(whisper), X(clip),       \
        X(hf_vision), X(unet), X(vae), X(pixart), X(mmdit), X(flux), X(gpts), X(bart), X(siglip), \
        X(yolo)

#define FAMILIES(file)    zoo_##file##_families
#define FAMILIES_AT(file) &zoo_##file##_families
extern const zoo_rows FAMILY_FILES(FAMILIES);
static const zoo_rows *const tables[] = {FAMILY_FILES(FAMILIES_AT)};

const zoo_row *zoo_family_at(uint32_t index)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (index < tables[i]->n)
            return &tables[i]->rows[index];
        index -= tables[i]->n;
    }
    return NULL;
}

const zoo_row *zoo_find_family(str model_type)
{
    const zoo_row *row;
    for (uint32_t i = 0; (row = zoo_family_at(i)); i++)
        if (str_is(model_type, row->family))
            return row;
    return NULL;
}

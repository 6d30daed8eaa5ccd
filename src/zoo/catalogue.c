/* Every built-in architecture: the one list of all row files. */
#include "zoo/zoo.h"

/* classification, convolutional */
extern const zoo_rows zoo_vgg_rows;
extern const zoo_rows zoo_resnet_rows;
extern const zoo_rows zoo_densenet_rows;
extern const zoo_rows zoo_squeezenet_rows;
extern const zoo_rows zoo_inception_rows;
extern const zoo_rows zoo_googlenet_rows;
extern const zoo_rows zoo_shufflenet_rows;
extern const zoo_rows zoo_mnasnet_rows;
extern const zoo_rows zoo_mobilenet_rows;
extern const zoo_rows zoo_efficientnet_rows;
extern const zoo_rows zoo_regnet_rows;
extern const zoo_rows zoo_convnext_rows;
extern const zoo_rows zoo_teaching_rows;
/* vision transformers, video */
extern const zoo_rows zoo_vit_rows;
extern const zoo_rows zoo_swin_rows;
extern const zoo_rows zoo_maxvit_rows;
extern const zoo_rows zoo_video_resnet_rows;
extern const zoo_rows zoo_s3d_rows;
extern const zoo_rows zoo_mvit_rows;
/* segmentation, detection, flow */
extern const zoo_rows zoo_segmentation_rows;
extern const zoo_rows zoo_rcnn_rows;
extern const zoo_rows zoo_dense_rows;
extern const zoo_rows zoo_ssd_rows;
extern const zoo_rows zoo_raft_rows;
/* restoration, language, diffusion */
extern const zoo_rows zoo_swinir_rows;
extern const zoo_rows zoo_bert_rows;
extern const zoo_rows zoo_gpt2_rows;
extern const zoo_rows zoo_llama_rows;
extern const zoo_rows zoo_gpts_rows;
extern const zoo_rows zoo_bart_rows;
extern const zoo_rows zoo_siglip_rows;
extern const zoo_rows zoo_neox_rows;
extern const zoo_rows zoo_bloom_rows;
extern const zoo_rows zoo_deepseek_rows;
extern const zoo_rows zoo_t5_rows;
extern const zoo_rows zoo_whisper_rows;
extern const zoo_rows zoo_clip_rows;
extern const zoo_rows zoo_unet_rows;
extern const zoo_rows zoo_vae_rows;
extern const zoo_rows zoo_dit_rows;
extern const zoo_rows zoo_pixart_rows;
extern const zoo_rows zoo_mmdit_rows;
extern const zoo_rows zoo_flux_rows;

const zoo_rows *const zoo_table[] = {
    /* classification, convolutional */
    &zoo_vgg_rows,
    &zoo_resnet_rows,
    &zoo_densenet_rows,
    &zoo_squeezenet_rows,
    &zoo_inception_rows,
    &zoo_googlenet_rows,
    &zoo_shufflenet_rows,
    &zoo_mnasnet_rows,
    &zoo_mobilenet_rows,
    &zoo_efficientnet_rows,
    &zoo_regnet_rows,
    &zoo_convnext_rows,
    &zoo_teaching_rows,
    /* vision transformers, video */
    &zoo_vit_rows,
    &zoo_swin_rows,
    &zoo_maxvit_rows,
    &zoo_video_resnet_rows,
    &zoo_s3d_rows,
    &zoo_mvit_rows,
    /* segmentation, detection, flow */
    &zoo_segmentation_rows,
    &zoo_rcnn_rows,
    &zoo_dense_rows,
    &zoo_ssd_rows,
    &zoo_raft_rows,
    /* restoration, language, diffusion */
    &zoo_swinir_rows,
    &zoo_bert_rows,
    &zoo_gpt2_rows,
    &zoo_llama_rows,
    &zoo_gpts_rows,
    &zoo_bart_rows,
    &zoo_siglip_rows,
    &zoo_neox_rows,
    &zoo_bloom_rows,
    &zoo_deepseek_rows,
    &zoo_t5_rows,
    &zoo_whisper_rows,
    &zoo_clip_rows,
    &zoo_unet_rows,
    &zoo_vae_rows,
    &zoo_dit_rows,
    &zoo_pixart_rows,
    &zoo_mmdit_rows,
    &zoo_flux_rows,
};
const uint32_t zoo_table_n = sizeof zoo_table / sizeof *zoo_table;

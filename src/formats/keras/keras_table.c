/* The classes of keras.layers. */
#include "formats/keras/keras_impl.h"

static const keras_class classes[] = {
    {"InputLayer", keras_input, NULL, 0},
    /* core */
    {"Dense|TimeDistributedDense", keras_dense, NULL, 0},
    {"MaxoutDense", keras_maxout, NULL, 0},
    {"Highway", keras_highway, NULL, 0},
    {"EinsumDense", keras_einsum_dense, NULL, 0},
    {"Embedding", keras_embedding, NULL, 0},
    {"ReversibleEmbedding", keras_reversible, NULL, 0},
    {"RandomFourierFeatures", keras_fourier_features, NULL, 0},
    {"Activation", keras_activation, NULL, 0},
    {"Masking", keras_masking, NULL, 0},
    {"Identity|ActivityRegularization|Layer", keras_identity, NULL, 0},
    /* shapes */
    {"Flatten", keras_flatten, NULL, 0},
    {"Reshape", keras_reshape_layer, NULL, 0},
    {"Permute", keras_permute, NULL, 0},
    {"RepeatVector", keras_repeat, NULL, 0},
    {"ZeroPadding1D", keras_pad, NULL, 1},
    {"ZeroPadding2D", keras_pad, NULL, 2},
    {"ZeroPadding3D", keras_pad, NULL, 3},
    {"Cropping1D", keras_crop, NULL, 1},
    {"Cropping2D", keras_crop, NULL, 2},
    {"Cropping3D", keras_crop, NULL, 3},
    {"UpSampling1D", keras_upsample, NULL, 1},
    {"UpSampling2D", keras_upsample, NULL, 2},
    {"UpSampling3D", keras_upsample, NULL, 3},
    /* convolutions */
    {"Conv1D|Convolution1D|AtrousConvolution1D", keras_conv, NULL, 1},
    {"Conv2D|Convolution2D|AtrousConvolution2D|AtrousConv2D", keras_conv, NULL, 2},
    {"Conv3D|Convolution3D", keras_conv, NULL, 3},
    {"DepthwiseConv1D", keras_depthwise, NULL, 1},
    {"DepthwiseConv2D", keras_depthwise, NULL, 2},
    {"SeparableConv1D|SeparableConvolution1D", keras_separable, NULL, 1},
    {"SeparableConv2D|SeparableConvolution2D", keras_separable, NULL, 2},
    {"Conv1DTranspose|Convolution1DTranspose", keras_conv_transpose, NULL, 1},
    {"Conv2DTranspose|Convolution2DTranspose|Deconvolution2D|Deconv2D", keras_conv_transpose, NULL,
     2},
    {"Conv3DTranspose|Convolution3DTranspose|Deconvolution3D|Deconv3D", keras_conv_transpose, NULL,
     3},
    {"LocallyConnected1D", keras_local, NULL, 1},
    {"LocallyConnected2D", keras_local, NULL, 2},
    /* pooling */
    {"MaxPooling1D|MaxPool1D", keras_pool, "MaxPool", 1},
    {"MaxPooling2D|MaxPool2D", keras_pool, "MaxPool", 2},
    {"MaxPooling3D|MaxPool3D", keras_pool, "MaxPool", 3},
    {"AveragePooling1D|AvgPool1D", keras_pool, "AveragePool", 1},
    {"AveragePooling2D|AvgPool2D", keras_pool, "AveragePool", 2},
    {"AveragePooling3D|AvgPool3D", keras_pool, "AveragePool", 3},
    {"GlobalMaxPooling1D|GlobalMaxPool1D", keras_global_pool, "ReduceMax", 1},
    {"GlobalMaxPooling2D|GlobalMaxPool2D", keras_global_pool, "ReduceMax", 2},
    {"GlobalMaxPooling3D|GlobalMaxPool3D", keras_global_pool, "ReduceMax", 3},
    {"GlobalAveragePooling1D|GlobalAvgPool1D", keras_global_pool, "ReduceMean", 1},
    {"GlobalAveragePooling2D|GlobalAvgPool2D", keras_global_pool, "ReduceMean", 2},
    {"GlobalAveragePooling3D|GlobalAvgPool3D", keras_global_pool, "ReduceMean", 3},
    {"AdaptiveMaxPooling1D", keras_adaptive_pool, "MaxPool", 1},
    {"AdaptiveMaxPooling2D", keras_adaptive_pool, "MaxPool", 2},
    {"AdaptiveMaxPooling3D", keras_adaptive_pool, "MaxPool", 3},
    {"AdaptiveAveragePooling1D", keras_adaptive_pool, "AveragePool", 1},
    {"AdaptiveAveragePooling2D", keras_adaptive_pool, "AveragePool", 2},
    {"AdaptiveAveragePooling3D", keras_adaptive_pool, "AveragePool", 3},
    /* recurrent layers and wrappers */
    {"LSTM|GRU|SimpleRNN|CuDNNLSTM|CuDNNGRU|LSTMV2|GRUV2", keras_recurrent, NULL, 0},
    {"RNN", keras_rnn, NULL, 0},
    {"LSTMCell|GRUCell|SimpleRNNCell|StackedRNNCells", keras_cell, NULL, 0},
    {"ConvLSTM1D", keras_conv_lstm, NULL, 1},
    {"ConvLSTM2D", keras_conv_lstm, NULL, 2},
    {"ConvLSTM3D", keras_conv_lstm, NULL, 3},
    {"Bidirectional", keras_bidirectional, NULL, 0},
    {"TimeDistributed", keras_time_distributed, NULL, 0},
    /* normalisation */
    {"BatchNormalization|BatchNormalizationV1|BatchNormalizationV2|SyncBatchNormalization",
     keras_batch_norm, NULL, 0},
    {"LayerNormalization", keras_layer_norm, NULL, 0},
    {"GroupNormalization", keras_group_norm, NULL, 0},
    {"RMSNormalization", keras_rms_norm, NULL, 0},
    {"UnitNormalization", keras_unit_norm, NULL, 0},
    {"SpectralNormalization", keras_spectral_norm, NULL, 0},
    /* attention */
    {"Attention|AdditiveAttention", keras_attention, NULL, 0},
    {"MultiHeadAttention", keras_mha, NULL, 0},
    {"GroupedQueryAttention|GroupQueryAttention", keras_gqa, NULL, 0},
    /* joining */
    {"Add", keras_merge, "Add", 0},
    {"Multiply", keras_merge, "Mul", 0},
    {"Average", keras_merge, "Mean", 0},
    {"Maximum", keras_merge, "Max", 0},
    {"Minimum", keras_merge, "Min", 0},
    {"Subtract", keras_subtract, NULL, 0},
    {"Concatenate", keras_concatenate, NULL, 0},
    {"Dot", keras_dot, NULL, 0},
    {"Merge", keras_old_merge, NULL, 0},
    /* activations */
    {"ParametricSoftplus", keras_soft_plus, NULL, 0},
    {"ReLU|LeakyReLU|ELU|ThresholdedReLU|Softmax", keras_relu, NULL, 0},
    {"PReLU", keras_prelu, NULL, 0},
    /* training only */
    {"Dropout|SpatialDropout1D|SpatialDropout2D|SpatialDropout3D|AlphaDropout|GaussianDropout",
     keras_dropout, NULL, 0},
    {"GaussianNoise", keras_identity, NULL, 0},
    {"RandomFlip|RandomRotation|RandomZoom|RandomTranslation|RandomContrast|RandomBrightness|"
     "RandomHeight|RandomWidth|RandomHue|RandomSaturation|RandomSharpness|RandomShear|"
     "RandomColorJitter|RandomColorDegeneration|RandomGrayscale|RandomPosterization|"
     "RandomPerspective|RandomGaussianBlur|RandomErasing|RandomElasticTransform|RandomInvert|"
     "AugMix|RandAugment|CutMix|MixUp|AutoContrastRandom|Equalization|Solarization",
     keras_identity, NULL, 0},
    /* preprocessing */
    {"Rescaling", keras_rescale, NULL, 0},
    {"AutoContrast", keras_auto_contrast, NULL, 0},
    {"Pipeline", keras_pipeline, NULL, 0},
    {"STFTSpectrogram", keras_spectrogram, NULL, 0},
    {"MelSpectrogram", keras_mel_spectrogram, NULL, 0},
    {"Normalization", keras_normalization, NULL, 0},
    {"Resizing", keras_resize, NULL, 0},
    {"CenterCrop|RandomCrop", keras_center_crop, NULL, 0},
    {"CategoryEncoding", keras_encode_category, NULL, 0},
    {"StringLookup|IntegerLookup|Hashing|HashedCrossing", keras_lookup, NULL, 0},
    {"Discretization", keras_discretize, NULL, 0},
    {"TextVectorization", keras_text_vectors, NULL, 0},
    /* functions as layers */
    {"TFOpLambda", keras_op_lambda, NULL, 0},
    {"SlicingOpLambda", keras_slicing, NULL, 0},
    {"TensorFlowOpLayer", keras_tf_layer, NULL, 0},
};

const keras_class *keras_operation_class(void)
{
    static const keras_class operation = {"Operation", keras_operation, NULL, 0};
    return &operation;
}

const keras_class *keras_class_of(str name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (str_in_list(name, classes[i].name, '|'))
            return &classes[i];
    return NULL;
}

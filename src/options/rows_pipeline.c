/* Options of pipelines: images, language models, and both. */
#include "engine/generate.h"
#include "options/rows.h"

enum { SWEEPS_MOST = 64 };

static OPTION_SETTER(set_cache_dtype)
{
    ir_dtype t = str_is(value, "fp8") ? IR_FLOAT8E4M3FN : ir_dtype_by_name(value);
    if (t == IR_UNDEFINED || !(ir_is_float(t) || ir_is_integer(t)))
        return option_refuse(row, value, err, "a number type such as fp16, bf16, fp8 or int8");
    o->pipeline.cache_dtype = t;
    return ASSAY_OK;
}

static const option_row diffusion[] = {
    {OPTION("height", INT, pipeline.height, "pipeline"), .value = "PIXELS", .min = 1,
     .max = 1 << 20, .about = "Set the height of the image, and its width without --width."},
    {OPTION("width", INT, pipeline.width, "pipeline"), .value = "PIXELS", .min = 1, .max = 1 << 20,
     .about = "Set the width of the image."},
    {OPTION("steps", INT, pipeline.steps, "pipeline"), .value = "N", .min = 1, .max = 1000000,
     .about = "Set the number of denoising steps."},
    {OPTION("guidance-scale", REAL, pipeline.guidance, "pipeline"), .value = "X", .max = 1000000,
     .initial = -1,
     .about =
         "Set the guidance scale. Above 1, a step has two passes and a negative prompt, unless "
         "the model is distilled."},
    {OPTION("strength", REAL, pipeline.strength, "pipeline"), .above = true, .value = "0..1",
     .max = 1, .about = "Start from an encoded image and run this fraction of the steps."},
};
OPTION_TOPIC(options_diffusion, "Image generation", diffusion);

/* A whole number is for every command; a distribution is for load alone, which the others refuse by
 * LENGTH_DRAWN. */
static assay_status set_length(assay_options *o, const option_row *row, str value, int64_t *whole,
                               load_drawn *drawn, assay_error *err)
{
    *drawn = (load_drawn){.text = str_copy(o->arena, value)};
    TRY_MEMORY(drawn->text.p, err);
    if (option_whole_number(value, row->max, whole) && *whole >= 1) {
        load_lengths_parse(value, &drawn->of);
        return ASSAY_OK;
    }
    if (!load_lengths_parse(value, &drawn->of))
        return option_refuse(row, value, err,
                             "a whole number from 1 to %lld, or for load a distribution such as "
                             "100..500 or normal:512:128",
                             (long long)row->max);
    *whole = LENGTH_DRAWN;
    return ASSAY_OK;
}

static OPTION_SETTER(set_generate)
{
    return set_length(o, row, value, &o->pipeline.generate, &o->load.output, err);
}

static OPTION_SETTER(set_depths)
{
    str rest = value;
    o->measure.depths.n = 0;
    for (str item; str_split(&rest, ',', &item);) {
        int64_t v;
        if (!option_whole_number(item, 1 << 23, &v) || o->measure.depths.n == GENERATE_DEPTHS)
            return option_refuse(row, value, err, "up to %d whole numbers such as 0,4096,16384",
                                 GENERATE_DEPTHS);
        TRY_MEMORY(VEC_ADD(o->arena, &o->measure.depths, v), err);
    }
    return ASSAY_OK;
}

static OPTION_SETTER(set_prompt_tokens)
{
    return set_length(o, row, value, &o->pipeline.prompt_tokens, &o->load.prompt, err);
}

static const option_row language[] = {
    {OPTION_READ("generate", set_generate, "pipeline capacity load bench profile"), .value = "N",
     .max = 1 << 23,
     .about =
         "Generate this many tokens. Default: 128. bench, profile: 32 by default. load: 64 by default, or a "
         "distribution: 100..500, normal:512:128, lognormal:512:0.5, exponential:200."},
    {OPTION_READ("cache-dtype", set_cache_dtype, "pipeline capacity bench profile"),
     .value = "TYPE", .values = "fp16|bf16|fp8|int8",
     .about =
         "Set the number type of the KV cache. Default: that of the weights. bench, profile: fp16 by default."},
    {OPTION_READ("context-depth", set_depths, "bench profile"), .value = "0,4096",
     .about = "Decode after this many tokens of context, with GGUF files and --quant. Default: the "
              "prompt."},
    {OPTION("flash-attention", CHOICE, measure.flash, "bench profile"), .values = "auto|on|off",
     .about = "Switch flash attention of llama.cpp on or off. Default: auto."},
};
OPTION_TOPIC(options_language, "Text generation", language);

static const option_row pipeline[] = {
    {OPTION("sweep", WORDS, pipeline.sweeps, "pipeline"), .repeatable = true,
     .value = "WHAT=A,B,...",
     .values = "resolution=|steps=|guidance=|batch=|context=|prompt=|generate=|users=",
     .max = SWEEPS_MOST,
     .about =
         "Show the cost over several values of resolution, steps or guidance of images; batch, "
         "context, prompt, generate or users of a language model."},
    {OPTION_READ("prompt-tokens", set_prompt_tokens, "pipeline capacity load bench profile"),
     .value = "N", .max = 1 << 23,
     .about =
         "Set the number of tokens of the prompt. load: 128 by default, or a distribution as for --generate. bench, profile: 512 by default."},
    {OPTION("prompt", WORD, pipeline.prompt, "pipeline"), .value = "TEXT",
     .about = "Record the prompt in generation_config.json."},
    {OPTION("pipeline-file", WORD, pipeline.file, "pipeline"), .value = "FILE", .values = "@files",
     .about = "Read a custom pipeline (JSON)."},
    {OPTION("no-profiling", FLAG, pipeline.no_profiling, "pipeline"),
     .about = "Disable profiling; the result is empty."},
};
OPTION_TOPIC(options_pipeline, "Pipeline", pipeline);

/* Options of pipelines: images, language models, and both. */
#include "api/api.h"

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
    {.name = "height",
     .kind = OPTION_INT,
     .value = "PIXELS",
     .about = "Set the height of the image, and its width unless that is given.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.height),
     .min = 1,
     .max = 1 << 20},
    {.name = "width",
     .kind = OPTION_INT,
     .value = "PIXELS",
     .about = "Set the width of the image.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.width),
     .min = 1,
     .max = 1 << 20},
    {.name = "steps",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Set the number of denoising steps.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.steps),
     .min = 1,
     .max = 1000000},
    {.name = "guidance-scale",
     .kind = OPTION_REAL,
     .value = "X",
     .about = "Set the guidance. Above 1 every step has two passes and a negative prompt, unless "
              "the model is distilled.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.guidance),
     .max = 1000000,
     .initial = -1},
    {.name = "strength",
     .kind = OPTION_REAL,
     .above = true,
     .value = "0..1",
     .about = "Start from an image: encode it and run this share of the steps.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.strength),
     .max = 1},
    {.name = "sweep",
     .kind = OPTION_WORDS,
     .repeatable = true,
     .value = "WHAT=A,B,...",
     .values = "resolution=|steps=|guidance=",
     .about = "Show the cost over several values of resolution, steps or guidance.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.sweeps),
     .max = SWEEPS_MOST},
};
OPTION_TOPIC(options_diffusion, "Image generation", diffusion);

static const option_row language[] = {
    {.name = "generate",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Generate this many tokens (128).",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.generate),
     .min = 1,
     .max = 1 << 23},
    {.name = "cache-dtype",
     .kind = OPTION_OWN,
     .value = "TYPE",
     .values = "fp16|bf16|fp8|int8",
     .about = "Set the number type of the KV cache (that of the weights).",
     .commands = "pipeline",
     .set = set_cache_dtype},
};
OPTION_TOPIC(options_language, "Text generation", language);

static const option_row pipeline[] = {
    {.name = "prompt-tokens",
     .kind = OPTION_INT,
     .value = "N",
     .about = "Set the number of tokens of the prompt.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.prompt_tokens),
     .min = 1,
     .max = 1 << 23},
    {.name = "prompt",
     .kind = OPTION_WORD,
     .value = "TEXT",
     .about = "Record the prompt in generation_config.json.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.prompt)},
    {.name = "pipeline-file",
     .kind = OPTION_WORD,
     .value = "FILE",
     .values = "@files",
     .about = "Read a pipeline of your own (JSON).",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.file)},
    {.name = "no-profiling",
     .kind = OPTION_FLAG,
     .about = "Switch profiling off: the result says so and contains nothing else.",
     .commands = "pipeline",
     .at = OPTION_FIELD(pipeline.no_profiling)},
};
OPTION_TOPIC(options_pipeline, "Pipeline", pipeline);

/* The format "generation-config" of image pipelines: timestamp, prompt, and models with their compute_profile. */
#include "report/generation.h"

/* The record of a run over several models. Nothing was generated: the cost is counted, not run. */
void report_generation(const pipeline_result *const *list, uint32_t n, const report_run *run,
                       sbuf *out)
{
    json_writer w;
    json_begin(&w, out, 2);
    json_object(&w);
    key_str(&w, "timestamp", run->timestamp);
    key_str(&w, "prompt", run->prompt);
    json_key(&w, "models");
    json_array(&w);
    for (uint32_t i = 0; i < n; i++) {
        json_object(&w);
        key_str(&w, "model_id", list[i]->model);
        key_str(&w, "model_name", list[i]->title);
        json_key(&w, "image_path");
        json_null(&w);
        json_key(&w, "compute_profile");
        result_write_inside(&w, &diffusion_kind, list[i]);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    sbuf_putc(out, '\n');
}

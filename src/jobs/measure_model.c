/* Prepares a model for running: its sizes at a batch, the requirements of its inputs, and a file for the engine. A
 * file with weights whose batch is not fixed to another number is run unchanged. Other models are written to a
 * temporary directory, with the weights in a second file that the engine maps. */
#include <math.h>

#include <stdio.h>
#include <stdlib.h>

#include "analyze/memory.h"
#include "analyze/training.h"
#include "base/file.h"
#include "base/num.h"
#include "base/sbuf.h"
#include "formats/onnx_write.h"
#include "jobs/hooks.h"
#include "jobs/measure.h"
#include "jobs/precision.h"
#include "jobs/subject.h"
#include "rewrite/lower.h"

/* ---- static facts ---- */

static assay_status analyse(const assay_options *o, const infer_options *shapes, job_runnable *x,
                            assay_error *err)
{
    const count_options counting = {.precision = IR_UNDEFINED, .threshold = o->analysis.threshold};
    TRY(infer_run(x->ir, shapes, x->work, &x->r, err));
    TRY(count_run(x->r, &counting, x->p, &x->of, err));
    TRY(memory_run(x->r, &x->of, IR_UNDEFINED, NULL, x->p, err));
    return training_run(x->r, &x->of, x->p, err);
}

input_want job_want_of(const infer_result *r, ir_id id, const feed_hint *hint)
{
    static const input_role roles[] = {
        [FEED_ANY] = INPUT_PLAIN,    [FEED_INDEX] = INPUT_INDEX,   [FEED_POSITION] = INPUT_POSITION,
        [FEED_MASK] = INPUT_MASK,    [FEED_LENGTH] = INPUT_LENGTH, [FEED_SWITCH] = INPUT_MASK,
        [FEED_STEER] = INPUT_NUMBERS};
    const op_info *info = &r->info[id];
    return (input_want){.name = ir_value_at(r->model, id)->name,
                        .dtype = info->dtype,
                        .rank = info->rank < 0 ? 0 : info->rank,
                        .dims = info->dims,
                        .role = roles[hint->kind],
                        .bound = hint->bound,
                        .from = hint->from,
                        .numbers = hint->numbers};
}

/* Ids of one sample: along every dimension that is not the batch. */
static void note_tokens(job_runnable *x, const input_want *w)
{
    bool known = x->looks_up && x->tokens_told;
    x->looks_up = true;
    if (known || w->rank < 1 || (x->rule->present && w->batch_axis < 0) ||
        (w->rank == 1 && w->batch_axis == 0))
        return;
    x->tokens_told = true;
    x->tokens = 1;
    for (int i = 0; i < w->rank; i++)
        if (i != w->batch_axis)
            x->tokens = sat_mul(x->tokens, w->dims[i] >= 0 ? (uint64_t)w->dims[i] : 1);
}

static void want_inputs(job_runnable *x)
{
    const ir_graph *g = ir_graph_at(x->ir, 0);
    bool has_batch = false;
    x->wants = ARENA_ARRAY(x->work, input_want, (size_t)g->inputs.n + 1);
    for (uint32_t i = 0; x->wants && i < g->inputs.n; i++) {
        ir_id id = g->inputs.items[i];
        feed_hint hint = feed_of(x->r, id);
        uint64_t n = 1;
        input_want *w = &x->wants[x->n_wants++];
        *w = job_want_of(x->r, id, &hint);
        w->batch_axis = x->rule->present ? batch_axis(x->rule, i, w->rank) : -1;
        for (int d = 0; d < w->rank; d++)
            n = sat_mul(n, w->dims[d] > 0 ? (uint64_t)w->dims[d] : 0);
        x->input_bytes = sat_add(x->input_bytes, ir_dtype_bytes(w->dtype, n));
        if (hint.looks_up && hint.kind == FEED_INDEX)
            note_tokens(x, w);
        if (!has_batch && w->batch_axis >= 0 && w->dims[w->batch_axis] >= 0) {
            x->batch_shown = (uint64_t)w->dims[w->batch_axis]; /* 0: a batch of nothing */
            has_batch = true;
        }
    }
    if (!has_batch)
        x->batch_shown = 1;
}

static assay_status prepare(assay_model *m, const assay_options *o, job_runnable *x,
                            assay_error *err)
{
    assay_options sized = *o;
    sized.model.batch = x->batch;
    TRY(job_model_build(m, &sized, err));
    TRY(job_batch_rule(m, o, &x->rule, err));
    TRY(job_sized_make(m, o, x->batch, &x->sized, err));
    x->ir = x->sized.ir;
    x->rebatched = x->sized.own != NULL;
    TRY(sized_failed(&x->sized, analyse(o, &x->sized.shapes, x, err), err));
    want_inputs(x);
    return arena_failed(x->work) ? err_no_memory(err) : ASSAY_OK;
}

assay_status job_runnable_make(assay_model *m, const assay_options *o, int64_t batch,
                               job_runnable *out, assay_error *err)
{
    *out = (job_runnable){.batch = batch ? batch : o->model.batch,
                          .work = arena_new(JOB_ANALYSIS_BYTES),
                          .pre_ms = NAN};
    out->p = profile_new(JOB_PROFILE_BYTES);
    TRY_MEMORY(out->work && out->p, err);
    if (!out->batch)
        TRY(job_implied_batch(m, o, &out->batch, err));
    TRY(prepare(m, o, out, err));
    return o->measure.inputs.n ? job_runnable_inputs(o, out, err) : ASSAY_OK;
}

void job_runnable_free(job_runnable *x)
{
    file_drop_folder(x->folder);
    free(x->path);
    for (job_kept *k = x->kept; k; k = k->next)
        arena_free(k->arena);
    profile_free(x->p);
    arena_free(x->work);
    sized_free(&x->sized);
    *x = (job_runnable){0};
}

uint64_t job_runnable_need(const job_runnable *x)
{
    return sat_add(x->p->memory_plan.peak_bytes, x->input_bytes);
}

/* ---- the file to run ---- */

static bool has_weights(const ir_model *ir)
{
    for (ir_id g = 0; g < ir->graphs.n; g++) {
        const ir_graph *graph = ir_graph_at(ir, g);
        for (uint32_t i = 0; i < graph->constants.n; i++) {
            const ir_tensor *t = ir_value_at(ir, graph->constants.items[i])->constant;
            if (t && t->storage == IR_DATA_NONE && t->n_elems)
                return false;
        }
    }
    return true;
}

/* What was read from another format runs as ONNX. */
static assay_status make_onnx(assay_model *m, job_runnable *x, assay_error *err)
{
    if (!x->sized.own)
        TRY(job_model_again(m, &x->sized.own, err));
    x->ir = x->sized.own;
    return convert_to_onnx(x->sized.own, &x->sized.shapes, err);
}

/* The graph that is written is the caller's own from here on: a built-in one is built again for the next, a file's is
 * read again. */
static assay_status make_precise(assay_model *m, const assay_options *o, job_runnable *x,
                                 assay_error *err)
{
    assay_error held;
    const job_precision q = {.row = x->precise,
                             .held = &held,
                             .shapes = &x->sized.shapes,
                             .engine = x->engine,
                             .wants = x->wants,
                             .n_wants = x->n_wants,
                             .seed = (uint64_t)o->model.seed,
                             .int8 = {.seven_bits = job_seven_bits(o)}};
    if (!m->row && !x->sized.own)
        TRY(job_model_again(m, &x->sized.own, err));
    ir_model *ir = m->row ? m->ir : x->sized.own;
    x->ir = ir;
    err_clear(&held);
    TRY(job_make_precise(ir, &q, NULL, err));
    x->held = held.code == ASSAY_OK ? NULL : arena_strdup(x->work, held.message);
    return ASSAY_OK;
}

/* Nobody knows the copy by its path: it is the user's model and what was done to it. */
static const char *name_of_copy(const assay_model *m, const job_runnable *x)
{
    sbuf b = {0};
    sbuf_printf(&b, "'%s'", FILE_NAME(m->ir->name.n ? m->ir->name.p : "the model"));
    if (x->rebatched)
        sbuf_printf(&b, " with batch size %lld", (long long)x->batch);
    if (!m->row && m->ir->foreign)
        sbuf_puts(&b, " exported as ONNX");
    if (x->precise)
        sbuf_printf(&b, "%s as %s", x->rebatched ? "," : "", x->precise->name);
    if (!m->row && !has_weights(x->ir))
        sbuf_puts(&b, " with random weights");
    const char *name = arena_strdup(x->work, sbuf_cstr(&b));
    sbuf_free(&b);
    return name;
}

static bool cancelled(void *options)
{
    return job_cancelled(((const assay_options *)options)->hooks);
}

static assay_status export_copy(assay_model *m, const assay_options *o, job_runnable *x,
                                assay_error *err)
{
    const onnx_write_options opt = {.seed = (uint64_t)o->model.seed,
                                    .external_data = true,
                                    .cancelled = o->hooks ? cancelled : NULL,
                                    .ctx = (void *)(uintptr_t)o};
    TRY(file_temp_folder(&x->folder, err));
    if (asprintf(&x->path, "%s/model.onnx", x->folder) < 0) {
        x->path = NULL;
        return err_no_memory(err);
    }
    int opset = x->precise && x->precise->opset > LOWER_DEFAULT ? x->precise->opset : LOWER_DEFAULT;
    if (m->row)
        TRY(rewrite_lower(m->ir, opset, err));
    if (!m->row && m->ir->foreign)
        TRY(make_onnx(m, x, err));
    if (x->precise)
        TRY(make_precise(m, o, x, err));
    TRY(onnx_write_file(x->ir, x->path, &opt, NULL, err));
    x->model = (engine_model){.path = x->path, .called = name_of_copy(m, x)};
    return ASSAY_OK;
}

assay_status job_runnable_export(assay_model *m, const assay_options *o, job_runnable *x,
                                 assay_error *err)
{
    if (m->row || x->sized.own || x->precise || m->ir->foreign || !has_weights(m->ir))
        return export_copy(m, o, x, err);
    if (m->bytes)
        x->model = (engine_model){
            .bytes = m->bytes, .n_bytes = m->n_bytes, .folder = m->folder.n ? m->folder.p : NULL};
    else
        x->model = (engine_model){.path = m->ir->name.p};
    return ASSAY_OK;
}

uint64_t job_runnable_file_bytes(const job_runnable *x)
{
    char *data = NULL;
    if (!x->path)
        return x->r->model->file_size_bytes;
    uint64_t n = file_stat(x->path).size;
    if (asprintf(&data, "%s.data", x->path) < 0)
        return n;
    n = sat_add(n, file_stat(data).size);
    free(data);
    return n;
}

/* How far predicted time per token and time to the first token are from measured ones: rows of AIConfigurator's samples
 * of language models on one GPU.
 *
 *   llm serve_throughput.csv
 *
 * Rows: source AIConfigurator, gpus 1, H100 and B200, quantities tpot and ttft; repeats that differ by more than 10 %
 * are left out. Targets: median error 15 % (TPOT) and 20 % (TTFT).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "device/serving.h"

enum { COLUMNS = 40, ROWS = 8192 };

typedef struct named {
    const char *name;
    serving_model m;
} named;
static const named models[] = {
    {"meta-llama/Llama-3.1-70B", {80, 8192, 64, 8, 128, 28672, 128256}},
    {"Qwen/Qwen3-32B", {64, 5120, 64, 8, 128, 25600, 151936}},
};

typedef struct header {
    str titles[COLUMNS];
    int n;
} header;

static str cell(const header *h, const str *cells, const char *title)
{
    int i = csv_column(h->titles, h->n, title);
    return i < 0 ? (str){0} : cells[i];
}

static double number(const header *h, const str *cells, const char *title)
{
    double v = 0;
    str s = cell(h, cells, title);
    return s.n && str_to_f64(s, &v) ? v : 0;
}

/* "repeats=3 spread=1.25": largest over smallest. */
static bool spreads(str note)
{
    for (uint32_t i = 0; i + 7 < note.n; i++)
        if (memcmp(note.p + i, "spread=", 7) == 0)
            return atof(note.p + i + 7) > 1.1;
    return false;
}

typedef struct errors {
    double off[ROWS];
    uint32_t n;
} errors;

int main(int argc, char **argv)
{
    arena *a = arena_new((size_t)512 << 20);
    device_list devices = {.arena = a};
    kernel_table t = {0};
    assay_error err;
    header h = {0};
    str text, cells[COLUMNS];
    static errors found[2][2]; /* quantity; GPU */
    err_clear(&err);
    if (argc != 2 || devices_builtin(&devices, &err) != ASSAY_OK ||
        kernel_table_read(a, &t, &err) != ASSAY_OK ||
        file_read_all(argv[1], (uint64_t)64 << 20, a, &text, &err) != ASSAY_OK)
        return fprintf(stderr, "usage: llm serve_throughput.csv\n%s\n", err.message), 2;
    csv c = csv_of(text, a);
    h.n = csv_more(&c) ? csv_line(&c, h.titles, COLUMNS) : 0;
    while (csv_more(&c)) {
        if (csv_line(&c, cells, COLUMNS) != h.n || number(&h, cells, "gpus") != 1 ||
            !str_starts(cell(&h, cells, "source"), "AIConf") || spreads(cell(&h, cells, "note")))
            continue;
        str gpu = cell(&h, cells, "gpu"), quantity = cell(&h, cells, "quantity");
        bool b200 = str_is(gpu, "b200_sxm"), ttft = str_is(quantity, "ttft");
        const device *d = NULL;
        const serving_model *m = NULL;
        for (uint32_t i = 0; i < devices.rows.n; i++)
            if (str_is(devices.rows.items[i].id, b200 ? "b200" : "h100-sxm"))
                d = &devices.rows.items[i];
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
            if (str_is(cell(&h, cells, "model"), models[i].name))
                m = &models[i].m;
        if (!d || !m || (!b200 && !str_is(gpu, "h100_sxm")) || (!ttft && !str_is(quantity, "tpot")))
            continue;
        bool fp4 = str_is(cell(&h, cells, "precision"), "fp4"),
             fp8 = str_is(cell(&h, cells, "precision"), "fp8");
        serving_load l = {.input = number(&h, cells, "isl"),
                          .output = number(&h, cells, "osl"),
                          .concurrency = number(&h, cells, "concurrency"),
                          .weights = kernel_dtype_find(fp4   ? STR("nvfp4")
                                                       : fp8 ? STR("fp8")
                                                             : STR("bfloat16")),
                          .kv_bytes = fp4 || fp8 ? 1 : 2,
                          .engine = cell(&h, cells, "engine")};
        if (str_starts(cell(&h, cells, "engine_version"), "1.0") && str_is(l.engine, "trtllm"))
            l.engine = STR("trtllm 1.0");
        serving_time s = serving_predict(&t, d, m, &l);
        double is = number(&h, cells, "value"), says = 1e3 * (ttft ? s.ttft_s : s.tpot_s);
        errors *e = &found[ttft][b200];
        if (!(is > 0) || e->n == ROWS)
            continue;
        e->off[e->n++] = fabs(says / is - 1);
        if (getenv("VERBOSE"))
            printf("%.*s %.*s %.*s %.*s isl %g osl %g c %g  measured %.1f predicted %.1f\n",
                   (int)gpu.n, gpu.p, (int)l.engine.n, l.engine.p, 4,
                   cell(&h, cells, "precision").p, (int)quantity.n, quantity.p, l.input, l.output,
                   l.concurrency, is, says);
    }
    bool met = true;
    for (int q = 0; q < 2; q++) {
        errors all = {.n = 0};
        for (int g = 0; g < 2; g++) {
            memcpy(all.off + all.n, found[q][g].off, sizeof(double) * found[q][g].n);
            all.n += found[q][g].n;
            printf("  %s %-8s %4u rows  median %5.1f %%\n", q ? "TTFT" : "TPOT",
                   g ? "b200" : "h100", found[q][g].n,
                   100 * fit_quantile(found[q][g].off, found[q][g].n, 0.5));
        }
        double off = 100 * fit_quantile(all.off, all.n, 0.5), target = q ? 20 : 15;
        printf("  %s all      %4u rows  median %5.1f %%  (target %g)  %s\n", q ? "TTFT" : "TPOT",
               all.n, off, target, off <= target ? "met" : "MISSED");
        met = met && off <= target;
    }
    return met ? 0 : 1;
}

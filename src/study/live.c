/* Live counts of another tool: a few lines of Python that build torchvision's model, count it and print one line,
 *   assay-live COUNT VERSIONS
 * Python is looked for along PATH as python3. Models that torchvision does not have, and tools without a
 * script, are answered with a sentence.
 */
#include "study/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/text.h"

enum { TIMEOUT_MS = 300000, ANSWER_BYTES = 1 << 20, SHAPE_TEXT = 128 };

/* argv: -c SCRIPT TOOL MODEL 1,3,224,224 */
static const char script[] =
    "import sys, warnings\n"
    "warnings.filterwarnings('ignore')\n"
    "tool, name, shape = sys.argv[1], sys.argv[2], [int(d) for d in sys.argv[3].split(',')]\n"
    "try:\n"
    "    import torch, torchvision\n"
    "    counter = __import__(tool)\n"
    "except ImportError as e:\n"
    "    print('assay-missing', e.name)\n"
    "    sys.exit(0)\n"
    "model = getattr(torchvision.models, name, None)\n"
    "if model is None:\n"
    "    print('assay-unknown')\n"
    "    sys.exit(0)\n"
    "model, x = model().eval(), torch.zeros(*shape)\n"
    "with torch.no_grad():\n"
    "    if tool == 'fvcore':\n"
    "        from fvcore.nn import FlopCountAnalysis\n"
    "        n = FlopCountAnalysis(model, x).unsupported_ops_warnings(False).total()\n"
    "    elif tool == 'thop':\n"
    "        n = counter.profile(model, inputs=(x,), verbose=False)[0]\n"
    "    else:\n"
    "        n = counter.calculate_flops(model, input_shape=tuple(shape), output_as_string=False,\n"
    "                                    print_results=False)[0]\n"
    "print('assay-live', int(n), tool, getattr(counter, '__version__', '?'), 'torch', "
    "torch.__version__)\n";

static const char *const tools[] = {"fvcore", "thop", "calflops"};

static bool has_script(const lens *by)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(by->name, tools[i]) == 0)
            return true;
    return false;
}

/* The first input's shape; false when there is more than one input. */
static bool input_shape(const ir_model *m, char out[SHAPE_TEXT])
{
    const ir_graph *g = ir_graph_at(m, 0);
    if (g->inputs.n != 1)
        return false;
    const ir_type *t = &ir_value_at(m, g->inputs.items[0])->declared;
    size_t n = 0;
    for (int i = 0; i < t->rank && n + 24 < SHAPE_TEXT; i++)
        n += (size_t)snprintf(out + n, SHAPE_TEXT - n, "%s%" PRId64, i ? "," : "",
                              t->dims[i].value);
    return n > 0;
}

/* The line that starts with `word`, without it; empty when there is none. */
static str line_of(const sbuf *text, const char *word)
{
    size_t n = strlen(word);
    const char *at = text->p;
    while (at && *at) {
        const char *end = strchr(at, '\n');
        size_t len = end ? (size_t)(end - at) : strlen(at);
        if (len > n && strncmp(at, word, n) == 0 && at[n] == ' ')
            return (str){at + n + 1, (uint32_t)(len - n - 1)};
        at = end ? end + 1 : NULL;
    }
    return (str){0};
}

static str last_line(const sbuf *text)
{
    size_t to = text->n;
    while (to > 0 && (text->p[to - 1] == '\n' || text->p[to - 1] == '\r'))
        to--;
    size_t from = to;
    while (from > 0 && text->p[from - 1] != '\n')
        from--;
    return (str){text->p + from, (uint32_t)(to - from)};
}

static str explain_failure(const process_result *r, const lens *by, str model, arena *a)
{
    char safe[256];
    str missing = line_of(&r->out, "assay-missing");
    if (r->timed_out)
        return str_printf(a, "Python did not respond within %d s.", TIMEOUT_MS / 1000);
    if (missing.n)
        return str_printf(a,
                          "python3 has no module " STR_FMT
                          ". Install it with `pip install %s torch torchvision`.",
                          STR_ARG(missing), by->name);
    if (r->out.p && strstr(r->out.p, "assay-unknown"))
        return str_printf(a, "torchvision has no " STR_FMT ".", STR_ARG(model));
    text_safe_into(safe, sizeof safe, last_line(&r->out));
    return str_printf(a, "Python failed: %s", safe);
}

static void understand(const process_result *r, const lens *by, str model, arena *a,
                       validation_live *out)
{
    str answer = line_of(&r->out, "assay-live");
    if (!answer.n || r->code != 0) {
        out->error = explain_failure(r, by, model, a);
        return;
    }
    str count = str_cut(&answer, ' ');
    out->count = 0;
    str_to_u64(count, &out->count);
    out->answered = true;
    char safe[128];
    text_safe_into(safe, sizeof safe, answer);
    out->version = str_copy(a, str_of(safe));
}

void live_ask(const ir_model *m, str built_in, const lens *by, arena *a, validation_live *out)
{
    char shape[SHAPE_TEXT];
    process_result r;
    assay_error err;
    *out = (validation_live){.present = true, .count = FIELD_UNKNOWN};
    if (!has_script(by)) {
        out->error = str_printf(a, "%s does not support --live. Use fvcore, thop or calflops.",
                                by->name);
        return;
    }
    if (str_empty(built_in) || !input_shape(m, shape)) {
        out->error = STR("--live supports built-in models with one input only.");
        return;
    }
    const char *argv[] = {"python3", "-c", script, by->name, built_in.p, shape, NULL};
    err_clear(&err);
    if (process_run(argv, TIMEOUT_MS, ANSWER_BYTES, &r, &err) == ASSAY_OK)
        understand(&r, by, built_in, a, out);
    else
        out->error = str_printf(a, "%s. Install Python 3 with %s, torch and torchvision.",
                                err.message, by->name);
    sbuf_free(&r.out);
}

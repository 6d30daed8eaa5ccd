/* Recorded counts of other tools, from the embedded data/peer_counts.csv:
 *   model,input_side,peer,setup,macs,flops,parameters
 * Lines that start with # are remarks. No field holds a comma.
 */

#include "base/embedded.h"
#include "study/validate.h"

enum { FIELDS = 7, MODEL = 0, SIDE, PEER, SETUP, MACS, FLOPS };

static bool split(str line, str out[FIELDS])
{
    int n = 0;
    while (n < FIELDS && str_split(&line, ',', &out[n]))
        n++;
    return n == FIELDS;
}

static uint64_t number(str s)
{
    uint64_t v;
    return str_to_u64(str_trim(s), &v) ? v : 0;
}

static str table(void)
{
    for (const embedded_file *f = embedded_files; f->name; f++)
        if (strcmp(f->name, "peer_counts.csv") == 0)
            return (str){f->data, (uint32_t)f->size};
    return (str){0};
}

bool peer_find(str model, int64_t input_side, const lens *by, peer_count *out)
{
    str text = table(), f[FIELDS];
    bool flops = strcmp(by->unit, "FLOP") == 0;
    for (str line; str_split(&text, '\n', &line);) {
        if (!split(line, f) || !str_eq(f[MODEL], model) || !str_is(f[PEER], by->name) ||
            number(f[SIDE]) != (uint64_t)input_side)
            continue;
        *out = (peer_count){.count = number(f[flops ? FLOPS : MACS]), .setup = f[SETUP]};
        return out->count > 0;
    }
    return false;
}

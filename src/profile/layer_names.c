/* See layer_names.h. */
#include "profile/layer_names.h"

#include "base/text.h"
#include "profile/time_groups.h"

enum { NAMES_SHOWN = 8 };

static bool held(const profile *p, str pattern)
{
    for (uint32_t i = 0; i < p->n_layers; i++)
        if (layer_holds(&p->layers[i], pattern))
            return true;
    return false;
}

/* ---- the nearest word ---- */

typedef struct nearest {
    str slip, word;
    unsigned least;
} nearest;

static void consider(nearest *n, str word)
{
    unsigned apart = word.n > 1 ? str_distance(n->slip, word, n->least) : n->least + 1;
    if (apart > n->least || (n->word.n && apart == n->least))
        return;
    n->word = word;
    n->least = apart;
}

/* The whole name, and each of its parts: "layer1.0/conv" is three words. */
static void consider_parts(nearest *n, str name)
{
    uint32_t from = 0;
    consider(n, name);
    for (uint32_t i = 0; i <= name.n; i++)
        if (i == name.n || name.p[i] == '.' || name.p[i] == '/') {
            consider(n, (str){name.p + from, i - from});
            from = i + 1;
        }
}

static str nearest_word(const profile *p, str slip)
{
    nearest n = {.slip = slip, .least = slip.n < 4 ? 1 : slip.n < 8 ? 2 : 3};
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const profile_layer *l = &p->layers[i];
        const str names[] = {l->type, l->op, l->module, l->name};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (names[k].n)
                consider_parts(&n, names[k]);
    }
    return n.word;
}

/* ---- what there is ---- */

static bool put_name(sbuf *out, str name, uint32_t *shown)
{
    if (*shown == NAMES_SHOWN) {
        sbuf_puts(out, " and more");
        return false;
    }
    sbuf_puts(out, (*shown)++ ? ", " : "");
    text_safe(out, name);
    return true;
}

static void put_types(const profile *p, sbuf *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->n_operations; i++)
        if (!put_name(out, p->operations[i].type, &shown))
            return;
}

static void put_modules(const profile *p, sbuf *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->n_modules; i++)
        if (p->modules[i].depth == 1 && p->modules[i].name.n &&
            !put_name(out, p->modules[i].name, &shown))
            return;
}

static void put_missed(const profile *p, str pattern, sbuf *out)
{
    str near = nearest_word(p, pattern);
    sbuf_puts(out, "No layer's name, module, type or operator holds '");
    text_safe(out, pattern);
    sbuf_puts(out, "'.");
    if (near.n) {
        sbuf_puts(out, " Did you mean '");
        text_safe(out, near);
        sbuf_puts(out, "'?");
    }
}

static void put_known(const profile *p, sbuf *out)
{
    sbuf modules = {0};
    if (!p->n_operations)
        return;
    sbuf_puts(out, " Types here: ");
    put_types(p, out);
    put_modules(p, &modules);
    sbuf_printf(out, "%s%s.", modules.n ? "; modules: " : "", sbuf_cstr(&modules));
    sbuf_free(&modules);
}

layer_patterns_missed layer_patterns_check(const profile *p, str patterns, sbuf *out)
{
    layer_patterns_missed found = {0};
    str part;
    while (layer_next_pattern(&patterns, &part)) {
        found.n++;
        if (held(p, part))
            continue;
        sbuf_puts(out, found.missed++ ? " " : "");
        put_missed(p, part, out);
    }
    if (found.missed)
        put_known(p, out);
    return found;
}

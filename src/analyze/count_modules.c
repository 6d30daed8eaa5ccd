/* The module tree: layers summed under the dotted path of the module they belong to.
 *
 * Paths come from the builder when it knows them, else from the node's name in one of two styles:
 *   /layer1/layer1.0/conv1/Conv   (PyTorch's exporter; the last part is the operator, and a part that
 *                                  repeats the one before it replaces it) -> layer1.0.conv1
 *   layer1.0.conv1                (the name is the module)
 */
#include <ctype.h>

#include "analyze/count.h"
#include "base/map.h"
#include "base/sbuf.h"

#define MODULE_DEPTH_MAX 32
#define MODULE_PATH_MAX  512

static bool has(str s, char c)
{
    return s.n && memchr(s.p, c, s.n) != NULL;
}

/* Where the next '/'-part ends. */
static uint32_t part_end(str s, uint32_t from)
{
    while (from < s.n && s.p[from] != '/')
        from++;
    return from;
}

static bool repeats(str part, str before)
{
    return before.n && part.n > before.n && memcmp(part.p, before.p, before.n) == 0 &&
           part.p[before.n] == '.';
}

static str from_slashes(str name, arena *a)
{
    sbuf path = {0};
    str before = {0};
    size_t before_at = 0;
    for (uint32_t from = 0; from <= name.n && path.n < MODULE_PATH_MAX;) {
        uint32_t end = part_end(name, from);
        str part = {name.p + from, end - from};
        from = end + 1;
        if (end == name.n)
            break; /* the operator itself */
        if (part.n == 0)
            continue;
        if (repeats(part, before)) {
            path.n = before_at;
        } else {
            if (path.n)
                sbuf_putc(&path, '.');
            before_at = path.n;
        }
        sbuf_str(&path, part);
        before = part;
    }
    str out = path.failed ? (str){0} : str_copy(a, (str){path.p, (uint32_t)path.n});
    sbuf_free(&path);
    return out;
}

str count_module_of(const ir_node *n, arena *a)
{
    if (n->module.n)
        return n->module;
    if (has(n->name, '/'))
        return from_slashes(n->name, a);
    return has(n->name, '.') ? n->name : (str){0};
}

/* ---- the tree ---- */

typedef struct tree {
    VEC(profile_module) list; /* in order of first appearance; parents before children */
    VEC(uint32_t) first_child, next_sibling, last_child;
    map by_path;
    arena *arena, *scratch;
} tree;

static void add_layer(profile_module *m, const profile_layer *l)
{
    m->layers += 1;
    m->parameters = sat_add(m->parameters, l->parameters);
    m->flops = sat_add(m->flops, l->flops);
    m->macs = sat_add(m->macs, l->macs);
    m->memory = sat_add(m->memory, l->memory);
}

static uint32_t new_module(tree *t, str path, str name, int depth, uint32_t parent)
{
    uint32_t id = t->list.n;
    profile_module *m = VEC_PUSH(t->arena, &t->list);
    uint32_t *first = VEC_PUSH(t->scratch, &t->first_child),
             *next = VEC_PUSH(t->scratch, &t->next_sibling),
             *last = VEC_PUSH(t->scratch, &t->last_child);
    if (!m || !first || !next || !last)
        return UINT32_MAX;
    *m = (profile_module){.path = path, .name = name, .depth = depth, .parent = parent};
    *first = *next = *last = UINT32_MAX;
    if (parent != UINT32_MAX) {
        uint32_t *link = t->last_child.items[parent] == UINT32_MAX
                             ? &t->first_child.items[parent]
                             : &t->next_sibling.items[t->last_child.items[parent]];
        *link = id;
        t->last_child.items[parent] = id;
    }
    return id;
}

static uint32_t child(tree *t, uint32_t parent, str path, str name, int depth)
{
    uint32_t id = map_get(&t->by_path, path);
    if (id != MAP_NONE)
        return id;
    id = new_module(t, path, name, depth, parent);
    return id != UINT32_MAX && map_put(&t->by_path, path, id) ? id : UINT32_MAX;
}

static bool add_to_tree(tree *t, const profile_layer *l)
{
    uint32_t at = 0, from = 0;
    add_layer(&t->list.items[0], l);
    for (int depth = 1; from < l->module.n && depth <= MODULE_DEPTH_MAX; depth++) {
        uint32_t end = from;
        while (end < l->module.n && l->module.p[end] != '.')
            end++;
        str path = {l->module.p, end}, name = {l->module.p + from, end - from};
        at = child(t, at, path, name, depth);
        if (at == UINT32_MAX)
            return false;
        add_layer(&t->list.items[at], l);
        from = end + 1;
    }
    return true;
}

/* Depth first, children in order of first appearance. */
static void flatten(const tree *t, profile_module *out)
{
    uint32_t n = 0;
    for (uint32_t at = 0; at != UINT32_MAX;) {
        out[n++] = t->list.items[at];
        if (t->first_child.items[at] != UINT32_MAX) {
            at = t->first_child.items[at];
            continue;
        }
        while (at != UINT32_MAX && t->next_sibling.items[at] == UINT32_MAX)
            at = t->list.items[at].parent;
        if (at != UINT32_MAX)
            at = t->next_sibling.items[at];
    }
}

static bool build_tree(profile *p, tree *t)
{
    if (!map_init(&t->by_path, t->scratch, 64) ||
        new_module(t, (str){0}, p->model, 0, UINT32_MAX) == UINT32_MAX)
        return false;
    for (uint32_t k = 0; k < p->n_layers; k++)
        if (!add_to_tree(t, &p->layers[k]))
            return false;
    profile_module *out = ARENA_ARRAY(p->arena, profile_module, t->list.n);
    if (!out)
        return false;
    flatten(t, out);
    p->modules = out;
    p->n_modules = t->list.n;
    return true;
}

assay_status count_modules(profile *p, assay_error *err)
{
    tree t = {.arena = p->arena, .scratch = p->arena};
    return build_tree(p, &t) ? ASSAY_OK : err_no_memory(err);
}

/* Making and freeing a profile; its JSON form is profile_json.c. */
#include "profile/profile.h"

profile *profile_new(size_t limit_bytes)
{
    arena *a = arena_new(limit_bytes);
    profile *p = a ? ARENA_NEW(a, profile) : NULL;
    if (!p) {
        arena_free(a);
        return NULL;
    }
    p->arena = a;
    notes_init(&p->warnings, a);
    return p;
}

void profile_free(profile *p)
{
    if (p)
        arena_free(p->arena);
}

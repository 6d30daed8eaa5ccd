/* Allocation, and whether memory was lacking: a net below the checks of each caller.
 *
 * A buffer or arena that cannot grow is failed, and who fills it is to ask. Where that is forgotten, a result
 * would be handed out that lacks something. So the lack is also noted here, per thread, and what hands a result
 * out (a text, a file, a record) asks memory_lacked() first. A limit that was reached is no lack. This is the
 * only state outside of a handle, as errno is.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* malloc(), calloc(), realloc() and strdup(), which note a lack. Freed by free(). */
void *memory_alloc(size_t n);
void *memory_zeroed(size_t n, size_t size);
void *memory_resize(void *p, size_t n);
char *memory_strdup(const char *s);
/* Notes a lack of memory elsewhere. Returns NULL. */
void *memory_note_lack(void);
/* Whether there was one since memory_forget_lack(). An error that is reported then is the lack. */
bool memory_lacked(void);
/* When a public function begins. */
void memory_forget_lack(void);

#endif

/* Allocation, and whether memory was lacking or a file could not be read: a net below the checks of each caller.
 *
 * A buffer or arena that cannot grow is failed, and who fills it is to ask. Where that is forgotten, a result
 * would be handed out that lacks something. So the lack is also noted here, per thread, and what hands a result
 * out (a text, a file, a record) asks memory_lacked() first. A limit that was reached is no lack. A read that the
 * system refused is noted the same way: the content of a small constant is read late, and one that cannot be read
 * would only be unknown. Beside the memory that arenas share (pages.h), this is the
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
/* Notes a read of the file that failed with this errno. */
void memory_note_unread(int error, const char *file);
/* Whether there was either since memory_forget_lack(). An error that is reported then is the lack. */
bool memory_lacked(void);
/* The errno of the first of them: ENOMEM for memory. 0: there was none. */
int memory_lack(void);
/* The file whose read failed; empty: memory was out, or there was no lack. */
const char *memory_lack_file(void);
/* When a public function begins. */
void memory_forget_lack(void);

#endif

/* What the tests of readers of foreign formats share: looking at a model, and damage of every byte of a small file. */
#ifndef SUPPORT_FOREIGN_H
#define SUPPORT_FOREIGN_H

#include "formats/format.h"

#define FOREIGN_TEST_LIMIT ((size_t)64 << 20)

/* The row of a file that can be read; NULL: neither its content nor its name says anything. */
const format_row *format_found(const char *path);
/* A sound model of a file that a row of the table reads. */
ir_model *foreign_model(const char *path);
/* The k-th node of an operator; NULL: there are fewer. */
const ir_node *foreign_node_of(const ir_model *m, const char *op, unsigned k);
const ir_value *foreign_input_of(const ir_model *m, const ir_node *n, uint32_t slot);
bool foreign_has_note(const ir_model *m, const char *code);
/* The declared sizes of a value are these. */
bool foreign_declares(const ir_value *v, int rank, const int64_t *dims);
/* malloc'ed. */
uint8_t *foreign_load(const char *path, size_t *n);
/* A status for every damage of one byte and every cut of a file; what is accepted can be walked and freed. */
void foreign_survives(const char *path, foreign_read_fn *read);
/* Of a zip archive whose entry of that name is 100 MB longer, at most 2 % are read. Needs the test folder. */
void foreign_reads_little(const char *from, const char *entry, foreign_read_fn *read);

#endif

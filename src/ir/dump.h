/* Stable text form of a model for tests and `--verbose` debugging: one line per value and node. */
#ifndef IR_DUMP_H
#define IR_DUMP_H
#include "base/sbuf.h"
#include "ir/graph.h"
void ir_dump(const ir_model *m, sbuf *out);
#endif

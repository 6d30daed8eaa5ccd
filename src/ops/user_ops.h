/* Operators that the user describes (--ops FILE): shapes, types and costs as expressions. docs/custom-operators.md is
 * the manual.
 *
 *   {"schema": "assay.ops/1",
 *    "operators": [{"op": "my.domain::Quant", "type": "fakequant", "inputs": ["x", "scale", "zero?"],
 *                   "let": {"n": "size(x)"},
 *                   "outputs": [{"name": "y", "shape": "x", "dtype": "x"}],
 *                   "cost": {"div": "n", "add": "present(zero) ? n : 0"}}]}
 *
 * A rule becomes an op_row like any other. It comes before a row of the same operator in the table.
 */
#ifndef OPS_USER_OPS_H
#define OPS_USER_OPS_H

#include "ops/op.h"

enum {
    USER_FILE_BYTES = 1 << 20, /* of a file */
    USER_RULES = 1000          /* in it */
};

/* ASSAY_ERR_MALFORMED with file, rule, key and character. Rows are in the arena. */
assay_status user_ops_read(const char *path, arena *a, const op_rows **out, assay_error *err);
assay_status user_ops_parse(str text, const char *shown, arena *a, const op_rows **out,
                            assay_error *err);
/* The file that describes the operator; empty for a row of the table. */
str user_ops_file(const op_row *row);

#endif

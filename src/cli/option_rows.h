/* Rows of the program's own options (option_rows.c). options.c uses them. */
#ifndef CLI_OPTION_ROWS_H
#define CLI_OPTION_ROWS_H

#include "cli/cli.h"

typedef enum own_kind {
    OWN_FLAG,   /* bool */
    OWN_WORD,   /* const char * */
    OWN_WORDS,  /* cli_words: one more each time, at most info.max */
    OWN_COUNT,  /* long from info.min to info.max */
    OWN_CHOICE, /* int: the place of the word in info.values */
    OWN_MEANS,  /* const char *: a flag that stands for a word */
    OWN_PASSED  /* another program reads it */
} own_kind;

typedef struct own_option {
    assay_option_info info;
    own_kind kind;
    size_t at;         /* of its field in cli_args */
    const char *means; /* OWN_MEANS */
} own_option;

extern const own_option own_options[];
extern const size_t n_own_options;

#endif

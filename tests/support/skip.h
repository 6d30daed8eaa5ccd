/* Leaving a test out, with the reason: tests/run counts the lines "skipped: REASON". */
#ifndef TESTS_SUPPORT_SKIP_H
#define TESTS_SUPPORT_SKIP_H

#define SKIP_BECAUSE(reason)                      \
    do {                                          \
        print_message("skipped: %s\n", (reason)); \
        skip();                                   \
    } while (0)

#endif

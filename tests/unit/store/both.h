/* Tests that run on every backend. */
#ifndef UNIT_STORE_BOTH_H
#define UNIT_STORE_BOTH_H

/* Gives the name of a history that is new to the test: a path, or that of a database with its schema. */
typedef const char *history_place(char buf[512], const char *name);

/* NULL: files. Return what cmocka_run_group_tests() does. */
int run_store_on(history_place *on);
int run_snapshot_on(history_place *on);
int run_imports_on(history_place *on);

#endif

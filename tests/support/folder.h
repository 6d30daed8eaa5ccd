/* A folder of a group of tests, for cmocka_run_group_tests(): made before them, removed after them. */
#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

extern char test_folder[256];
int make_test_folder(void **state);
int remove_test_folder(void **state);
/* "FOLDER/name", until the next call. */
const char *in_test_folder(const char *name);

#endif

/* Processor time, for tests that compare how two sizes of one job scale: other programs on the machine do not count. */
#ifndef TESTS_SUPPORT_CPU_H
#define TESTS_SUPPORT_CPU_H

/* Of this process since it began. */
double cpu_seconds(void);

#endif

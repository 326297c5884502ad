/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_TESTS_LIB_EXPECT_H
#define LOCKWORK_TESTS_LIB_EXPECT_H

#include <lockwork/lockwork.h>

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(what)                                                      \
	do {                                                              \
		if (!(what)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
			exit(1);                                          \
		}                                                         \
	} while (0)

/* control.c: knobs, clusters, events; and what a process says of them. */
void test_control(void);
bool report(const char *what);

/* sleeps.c: what is counted of sleeps and wake-ups. */
void test_sleeps(void);

/* fork.c: a handler in a child's first slow path. */
void test_fork_handler(void);

/* numa.c: mutexes over a numa_osq that is divided as soon as somebody waits. */
void choose_numa(void);
void test_numa(void);

/* deadlock.c: circles of waiters; false if @how names none. */
bool deadlock(const char *how);
void test_no_deadlock(void);

/* cond.c: the condition variable. */
void test_cond(void);
void test_rwlock(void);

/* stopped.c: the first sleeper sits in a signal handler. */
void test_stopped(void);

#endif

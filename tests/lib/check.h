/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_TESTS_LIB_CHECK_H
#define LOCKWORK_TESTS_LIB_CHECK_H

#include <lockwork/lockwork.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                       \
	do {                                                              \
		if (!(what)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
			exit(1);                                          \
		}                                                         \
	} while (0)

/* control.c: knobs, clusters, events; and what a process says of them. */
void check_control(void);
bool report(const char *what);

/* fork.c: a handler in a child's first slow path. */
void check_fork_handler(void);

/* numa.c: mutexes over a numa_osq that is divided as soon as somebody waits. */
void choose_numa(void);
void check_numa(void);

/* deadlock.c: circles of waiters; false if @how names none. */
bool deadlock(const char *how);
void check_no_deadlock(void);

/* cond.c: the condition variable. */
void check_cond(void);
void check_rwlock(void);

/* stopped.c: the first in line sits in a signal handler. */
void check_stopped(void);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A thread that SIGUSR1 keeps in a signal handler until another one lets it go on. */
#ifndef LOCKWORK_TESTS_PRELOAD_IN_HANDLER_H
#define LOCKWORK_TESTS_PRELOAD_IN_HANDLER_H

#include "expect.h"

/* A thread sits in the handler. */
static atomic_int in_handler;
static int handler_over[2];

static inline void handler_sits(int sig)
{
	char byte;

	(void)sig;
	atomic_store(&in_handler, 1);
	while (read(handler_over[0], &byte, 1) != 1)
		;
	atomic_store(&in_handler, 0);
}

static inline void handler_install(void)
{
	struct sigaction act = { .sa_handler = handler_sits };

	EQ(pipe(handler_over), 0);
	EQ(sigaction(SIGUSR1, &act, NULL), 0);
}

static inline void handler_ends(void)
{
	EQ(write(handler_over[1], "x", 1), 1);
}

#endif

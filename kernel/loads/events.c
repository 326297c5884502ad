// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Loads of events, as perf bench has them: futex hash (waits that fail at once, on many
 * futexes), futex wake, and epoll wait on one epoll file for all. And one pipe for all,
 * whose mutex is held for short.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load.h"

#define FUTEXES 1024u

static uint32_t futexes[64][FUTEXES];

static void futex_hash(struct worker *w)
{
	uint32_t *word = &futexes[w->id % 64][w->done % FUTEXES];

	/* The word is 0 and not 1: it fails when it has the bucket's lock. */
	if (!syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, NULL) ||
	    errno != EAGAIN)
		fail("futex wait");
}

static void futex_wake(struct worker *w)
{
	MUST(syscall(SYS_futex, &futexes[0][0], FUTEX_WAKE_PRIVATE, 1));
	(void)w;
}

static int epoll = -1;

static void make_epoll(unsigned workers, const char *dir)
{
	(void)workers;
	(void)dir;
	epoll = (int)MUST(epoll_create1(EPOLL_CLOEXEC));
}

static void add_event(struct worker *w)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	w->fd = (int)MUST(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	event.data.fd = w->fd;
	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, w->fd, &event));
}

/* Each makes its own event, and takes whichever comes. */
static void epoll_once(struct worker *w)
{
	struct epoll_event event;
	uint64_t one = 1;

	MUST(write(w->fd, &one, sizeof(one)));
	if (MUST(epoll_wait(epoll, &event, 1, 0)) == 1 &&
	    read(event.data.fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		fail("read of an eventfd");
}

static int ends[2];

static void make_pipe(unsigned workers, const char *dir)
{
	(void)workers;
	(void)dir;
	MUST(pipe(ends));
}

/* Each takes out what another may have put in: there is always a byte for it. */
static void pipe_once(struct worker *w)
{
	char byte = 0;

	(void)w;
	MUST(write(ends[1], &byte, 1));
	MUST(read(ends[0], &byte, 1));
}

const struct load event_loads[] = {
	{ "pipe", "all write to one pipe and read from it", false, make_pipe,
	  NULL, pipe_once },
	{ "futex_hash", "perf bench futex hash: waits that fail at once", false,
	  NULL, NULL, futex_hash },
	{ "futex_wake", "wake nobody on one futex", false, NULL, NULL,
	  futex_wake },
	{ "epoll", "perf bench epoll wait: one epoll file for all", false,
	  make_epoll, add_event, epoll_once },
	{ 0 },
};

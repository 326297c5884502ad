// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Loads of processes. hackbench: groups of processes that send each other messages
 * through sockets, as Rusty Russell's program of that name. spawn: UnixBench's process
 * creation. disk and high_systime: mixes like those of AIM7's workfiles of that name, by
 * what their names and its manual say; the shares are our own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

#define MESSAGE 100
#define PAGE	4096

/* -- hackbench ----------------------------------------------------------- */

/* Two workers share a pair of sockets: the even one sends. */
static int (*pairs)[2];

static void make_pairs(unsigned workers, const char *dir)
{
	unsigned i;

	(void)dir;
	pairs = calloc((workers + 1) / 2, sizeof(*pairs));
	if (!pairs)
		fail("calloc");
	for (i = 0; i < (workers + 1) / 2; i++)
		MUST(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0,
				pairs[i]));
}

/* A send that finds the socket full, and an empty receive, give way. */
static void message(struct worker *w)
{
	int *pair = pairs[w->id / 2];
	char text[MESSAGE] = "";
	bool sends = w->id % 2 == 0;

	while ((sends ? send(pair[0], text, sizeof(text), 0)
		      : recv(pair[1], text, sizeof(text), 0)) < 0) {
		usleep(50);
		if (w->count % 2 && w->id + 1 == w->count)
			return; /* nobody receives from the odd one out */
		/* The other one may have ended. */
		if (++w->random % 1000 == 0)
			return;
	}
}

/* -- processes ----------------------------------------------------------- */

static void spawn(struct worker *w)
{
	pid_t pid = (pid_t)MUST(fork());

	(void)w;
	if (!pid)
		_exit(0);
	MUST(waitpid(pid, NULL, 0));
}

/* -- mixes --------------------------------------------------------------- */

static void open_file(struct worker *w)
{
	char name[NAME_SIZE];

	signal(SIGUSR1, SIG_IGN);
	w->fd = (int)MUST(open(path_of(name, w, "disk", w->id),
			       O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

static void disk(struct worker *w)
{
	off_t at = (off_t)(next_random(w) % 64 * PAGE);
	char name[NAME_SIZE], page[PAGE] = "";

	switch (next_random(w) % 8) {
	case 0:
		path_of(name, w, "made", w->id);
		MUST(close((int)MUST(
			open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600))));
		MUST(unlink(name));
		break;
	case 1:
		MUST(fdatasync(w->fd));
		break;
	case 2:
	case 3:
	case 4:
		MUST(pwrite(w->fd, page, PAGE, at));
		break;
	default:
		MUST(pread(w->fd, page, PAGE, at));
	}
}

static void high_systime(struct worker *w)
{
	int ends[2];
	char byte = 0;
	char *page;

	switch (next_random(w) % 8) {
	case 0:
		spawn(w);
		break;
	case 1:
	case 2:
		page = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			fail("mmap");
		page[0] = page[15 * PAGE] = 1;
		MUST(munmap(page, 16 * PAGE));
		break;
	case 3:
		MUST(pipe(ends));
		MUST(write(ends[1], &byte, 1));
		MUST(read(ends[0], &byte, 1));
		MUST(close(ends[0]));
		MUST(close(ends[1]));
		break;
	case 4:
		MUST(kill(getpid(), SIGUSR1));
		break;
	default:
		disk(w);
	}
}

const struct load process_loads[] = {
	{ "hackbench", "pairs of processes send messages through sockets", true,
	  make_pairs, NULL, message },
	{ "spawn", "UnixBench: create a process, and wait for it", true, NULL,
	  NULL, spawn },
	{ "aim7_disk", "as AIM7's disk: read, write, create, sync", true, NULL,
	  open_file, disk },
	{ "aim7_high_systime",
	  "as AIM7's high_systime: processes, pages, pipes, signals, files",
	  true, NULL, open_file, high_systime },
	{ 0 },
};

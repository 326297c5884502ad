/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOAD_H
#define LOAD_H

/*
 * A load: workers that all do the same operation, again and again, for some seconds. It
 * runs in a guest, where there is no other program, or on a machine that is measured.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
	unsigned id;	 /* from 0 */
	unsigned count;	 /* of all workers */
	const char *dir; /* an empty folder that all share */
	uint64_t done;
	int fd, other;	 /* what prepare() of the load opened; -1 */
	uint64_t random; /* not 0 */
};

struct load {
	const char *name;
	const char *about;
	bool forks; /* workers are processes, else threads */
	/* Once, before there are workers. */
	void (*start)(unsigned workers, const char *dir);
	/* By each worker, before the time runs. */
	void (*prepare)(struct worker *w);
	/* One operation. */
	void (*once)(struct worker *w);
};

/* Each ended by one without a name. */
extern const struct load file_loads[], process_loads[], event_loads[],
	memory_loads[];

/* Ends the program: @what failed, and errno says why. */
_Noreturn void fail(const char *what);

/* The result of a call that must not be negative. */
#define MUST(call)                        \
	({                                \
		long _got = (long)(call); \
		if (_got < 0)             \
			fail(#call);      \
		_got;                     \
	})

/* xorshift64: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 2003. */
static inline uint64_t next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

#define NAME_SIZE 512
/* DIR/WHAT.ID, in @name. */
const char *path_of(char name[NAME_SIZE], const struct worker *w,
		    const char *what, uint64_t id);

#endif

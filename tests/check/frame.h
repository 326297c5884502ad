/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef CHECK_FRAME_H
#define CHECK_FRAME_H

/*
 * What clients have in common. A client is ordinary C: it sets a lock up in
 * init(), uses it in thread(), and looks at the end in finish(). Its plain data
 * need no annotation: accesses that nothing orders are reported as races.
 *
 * A file tests/check/STEM_client.c is about locks/STEM.[ch]. It defines check_STEM[]
 * and mutants_STEM[], each ended by an empty entry.
 */
#include "catalogue.h"

struct check_client {
	const char *lock;  /* the name in the catalogue */
	const char *name;  /* what is asked of it, in a word */
	const char *about; /* and in a line */
	/* How far to explore by default. */
	u32 threads;	  /* 1 to 5 */
	u32 acquisitions; /* of each thread */
	u32 preemptions;  /* in one execution; NO_BOUND */
	u32 seconds;	  /* of CPU time; a longer exploration has failed */
	/*
	 * Under the schedule fuzzer, to 32; 0: not fuzzed. Another number than @threads
	 * says that any number will do.
	 */
	u32 fuzz_threads;
	void (*init)(void);
	void (*thread)(u32 id); /* ids count from 0 */
	void (*finish)(void);	/* NULL: nothing to look at */
};

#define NO_BOUND UINT32_MAX

/*
 * A mistake in logic that some client must find. Mistakes in ordering need no
 * entry: they follow from the tags. Nothing is compiled for it: the access at
 * @where does something else.
 */
struct check_mutant {
	const char *name;      /* the mistake, in words */
	const char *where;     /* a tag, or a function */
	const char *primitive; /* in that function; NULL: @where is a tag */
	const char *operand;   /* as written; NULL: whatever it is */
	const char *change;    /* drop, force, split, no_wait or narrow */
};

/* What one file has; the build makes the table. */
struct check_file {
	const char *stem;
	const struct check_client *clients;
	const struct check_mutant *mutants;
};
extern const struct check_file lwc_files[];

/* As asked for on the command line, or the client's own. */
extern u32 check_threads, check_acquisitions;

/* A promise of the lock; @text says which. */
#define CHECK(cond, text)                 \
	do {                              \
		if (!(cond))              \
			lwc_broken(text); \
	} while (0)
/* A switch of threads here finds what an exclusion that fails lets in. */
void lwc_others_may_run(void);
/* What follows repeats nothing, even if it looks so: see docs/proof.md. */
void lwc_begin_anew(void);

/* To be called by the holder; finds a second one inside. */
void critical_section(void);
/* The same where there are readers, and what these call. */
void write_section(void);
void read_section(void);
/* For finish(): each section that was begun has left its mark. */
void check_sections(void);

/* @work once for each acquisition that this thread is to make. */
#define EACH_ACQUISITION(work)                                   \
	do {                                                     \
		u32 __i;                                         \
		for (__i = 0; __i < check_acquisitions; __i++) { \
			lwc_begin_anew();                        \
			work;                                    \
		}                                                \
	} while (0)

/*
 * Order of arrival: to be called by the holder, each thread once, with
 * the thread that it found queued before it came, or NOBODY.
 */
#define NOBODY UINT32_MAX
void served_after(u32 other);

/* The higher a thread's number, the higher its priority. */
static inline void rising_priorities(void)
{
	u32 i;

	for (i = 0; i < CHECK_THREADS; i++)
		check_world.priority[i] = i;
}

/* Waiters may leave a spinlock's queue; threads @first and up do at their first look. */
static inline void leave_from(u32 first)
{
	u32 i;

	check_world.leave = true;
	for (i = first; i < CHECK_THREADS; i++)
		check_world.leaves[i] = true;
}

#endif

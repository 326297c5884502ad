/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_WAITS_H
#define LKP_USER_WAITS_H

/*
 * For reports about locks: which thread waits for which object since where, and
 * where an object was last taken. Objects are addresses; nobody follows them here.
 * No table grows: what does not fit is not known.
 */
#include <platform.h>

/* Threads that wait at one time; more have no entry. */
#define LKP_WAITS 4096u

/* Of a thread that waits; read by all. */
struct lkp_wait {
	u64 thread; /* its id, and above that the fork epoch; 0: a free entry */
	u32 turn;   /* grows with each change of the next two; odd during one */
	const void *object;
	const void *site;
};

/* The thread's entry, or NULL. */
struct lkp_wait *lkp_wait_find(u32 tid);
/* A free entry for the thread @tid, which runs this; NULL: all are in use. */
struct lkp_wait *lkp_wait_claim(u32 tid);
/*
 * The caller's own entry tells of this wait from now on. Of two threads that do so,
 * and then look at each other's entries, one at least sees the other's wait.
 */
void lkp_wait_set(struct lkp_wait *own, const void *object, const void *site);
void lkp_wait_release(struct lkp_wait *own);
/*
 * What @at waits for, or NULL. *@which is a number of its own for each wait of each
 * thread.
 */
const void *lkp_wait_read(const struct lkp_wait *at, u64 *which);
/* No more entries than this are in use. */
u32 lkp_wait_count(void);

/* The last site of each object, as far as a small table goes. */
void lkp_site_note(const void *object, const void *site);
/* Where @object was noted last, or NULL: not known. */
const void *lkp_site_of(const void *object);

#endif

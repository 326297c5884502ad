/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_COND_H
#define LK_COND_H

/*
 * Condition variable for struct lk_mutex: 16 bytes.
 *
 *   first     waiters, by priority, then FIFO; on their stacks; under lock
 *   owed      waiters that still have to say what became of their signal, and signals
 *             that may have to look again
 *   lock      guards the list
 *   epoch     the fork epoch that first and lock belong to
 *   failures  waiters that began by polling and had to sleep, in a row; under lock
 *   skip      next waiters that are alone and do not poll; under lock
 *
 * A waiter:
 *
 *   phase  WAITING --signal or broadcast--> CLAIMED (off the list)
 *          WAITING --deadline, cancelled--> LEAVING (takes itself off the list)
 *   state  LK_POLLING --told--> LK_SIGNALLED
 *          LK_POLLING --in vain, or another waiter comes--> LK_ASLEEP
 *          LK_ASLEEP --told--> LK_SIGNALLED: it locks the mutex like anybody
 *          LK_ASLEEP --moved to the mutex's list--> what a sleeper's becomes
 *          LK_ASLEEP --moved, and pulled from there--> LK_SIGNALLED
 *
 * A signal wakes the first waiter. If that one was not asleep, it may be in a signal
 * handler, or stopped; so the next waiter is woken too, if there was one. For that one it
 * is a wake-up for no reason, which every waiter must expect.
 *
 * A waiter that finds nobody on the list polls its state poll_rounds() times before it
 * sleeps: a thread whose signals are answered at once needs no system call. One that had to
 * sleep nonetheless has failed. After one failure the next such waiter does not poll, after
 * two in a row the next 3 do not, then 7, and up to 255; a success ends that.
 *
 * A broadcast moves all waiters that are asleep to the mutex's list of sleepers, in order. An
 * unlock of the mutex that wakes the first of them pulls up to broadcast_wakes() more: they
 * leave the list and lock like anybody. While the first is awake, an unlock pulls one.
 * A waiter that polls, or gave no mutex to lk_cond_enqueue(), is told at once. Where foreign
 * code may unlock the mutex, which wakes none of them, the last one that is moved has the
 * first of them woken: that one naps until the mutex is free.
 *
 * Invariants:
 *  1. A waiter is claimed or leaves, never both: its phase changes once. A signal is
 *     used up by a claim only, so a waiter that leaves takes none with it.
 *  2. A claimed waiter is touched by its claimer until its state is LK_SIGNALLED or it
 *     is on the mutex's list, and after that by the mutex's unlocks alone. It returns
 *     after that.
 *  3. Neither claimer nor claimed touches the condition variable after the claimer has
 *     let go of lock: it may be freed by then. Two exceptions, if others waited
 *     behind the waiter that a signal has claimed: that waiter may be cancelled, and
 *     passes the signal on; and the signal looks at the list again if it was not
 *     asleep. owed counts both. lk_cond_destroy() waits for them,
 *     and for those that are LEAVING. What a waiter's polling taught is noted by its
 *     claimer; one that leaves notes it itself.
 *  4. Of the waiters on the list at most one polls, and only if it is alone there. So a
 *     signal that finds its waiter polling has nobody else to wake.
 *
 * No wake-up is lost if what is waited for changes under the mutex: a waiter queues
 * while it holds the mutex, so a later holder finds it on the list.
 *
 * Sources: the description of condition variables in POSIX.1-2017; moving waiters to
 * the mutex instead of waking them all as in the text of Birrell, "An Introduction to
 * Programming with Threads", 1989, and of the nsync documentation. That a wait may poll
 * about as long as a sleep costs, from Karlin et al., "Empirical Studies of Competitive
 * Spinning for a Shared-Memory Multiprocessor", SOSP 1991.
 */
#include "mutex.h"

struct lk_cond {
	struct lk_ring *first;
	atomic_t owed;
	struct lk_tas lock;
	u8 epoch;
	u8 failures;
	u8 skip;
};

/* On the waiter's stack, from lk_cond_enqueue() to the end of the wait. */
struct lk_cond_waiter {
	struct lk_mutex_waiter sleeper;
	struct lk_cond *cond;
	struct lk_mutex *mutex; /* whose list it may be moved to, or NULL */
	struct lk_cond_waiter *next; /* once claimed */
	u32 phase;
	bool polled; /* it began as LK_POLLING */
	bool cancellable;
	bool owes;     /* see owed */
	bool on_mutex; /* it sleeps on the mutex's list, or has done so */
} __wait_record;

/*
 * Waits until signalled; the caller holds @m, also at the end. May return for no
 * reason. 0, or -ETIMEDOUT past @deadline (NULL: never).
 */
int lk_cond_wait(struct lk_cond *c, struct lk_mutex *m,
		 const struct lkp_deadline *deadline);
void lk_cond_signal(struct lk_cond *c);
void lk_cond_broadcast(struct lk_cond *c);
/* Waits for waiters that are on their way out. Others there must not be. */
void lk_cond_destroy(struct lk_cond *c);

/*
 * The wait in steps, for hosts that unlock, sleep and lock in a way of their own:
 * enqueue under the mutex; unlock; sleep; leave if that was an error; relock; done, or
 * give up.
 *
 * @m: whose list of sleepers a broadcast may move it to; NULL: none. @cancellable:
 * lk_cond_cancel() may be called.
 */
void lk_cond_enqueue(struct lk_cond *c, struct lk_cond_waiter *w,
		     struct lk_mutex *m, bool cancellable);
/* Polls, if @w begins so. True: it was told meanwhile. */
bool lk_cond_poll(struct lk_cond_waiter *w,
		  const struct lkp_deadline *deadline);
/*
 * Polls, or sleeps, until told; 0, or -ETIMEDOUT past @deadline (NULL: never). Changes
 * nothing but whether it polls, so it may be left by a long jump.
 */
int lk_cond_sleep(struct lk_cond_waiter *w,
		  const struct lkp_deadline *deadline);
/* False: a signal was quicker, and is this waiter's. */
bool lk_cond_leave(struct lk_cond_waiter *w);
/* Whether it has begun to leave at its deadline; lk_cond_leave() may have returned. */
bool lk_cond_is_leaving(const struct lk_cond_waiter *w);
/* Leaves, or passes on the signal that was quicker. @w must not be leaving. */
void lk_cond_cancel(struct lk_cond_waiter *w);
/*
 * After a wait that has not left by lk_cond_leave(). True: the mutex is held. False:
 * the caller has to lock it. A long jump may leave it in a sleep; then it must be called
 * again.
 */
bool lk_cond_relock(struct lk_cond_waiter *w);
/* After that, holding the mutex. */
void lk_cond_done(struct lk_cond_waiter *w);
/* In place of that where lk_cond_relock() was false, and the caller will not lock. */
void lk_cond_give_up(struct lk_cond_waiter *w);

#endif

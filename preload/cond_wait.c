// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* How a condition variable is waited for. */
#include "cut_off.h"
#include "watch.h"

#include "cond.h"

#include <errno.h>
#include <unistd.h>

EXPORT pre_takes_back_fn *pre_takes_back;

/* How far a wait has come. */
enum { BEFORE, GIVING, ASLEEP, RELOCKING };

/* With what a wait that is cut off needs to put things right. */
struct wait {
	struct pre_cut_off cut_off;
	struct lk_cond_waiter waiter;
	pthread_mutex_t *mutex;
	u32 depth;
	u32 stage;
	bool late;
};

static int relock_signalled(struct wait *w)
{
	int err = 0;

	if (lk_cond_relock(&w->waiter))
		pre_mutex_taken(w->mutex, w->depth);
	else
		err = pre_mutex_enter(w->mutex, w->depth);
	lk_cond_done(&w->waiter);
	return err;
}

/* A waiter that is not on the mutex's list may be pulled from there. */
static __cold void tell(const struct wait *w)
{
	const struct lk_mutex_waiter *sleeper = &w->waiter.sleeper;
	/* Acquire: @moved was written before that state. */
	bool moved = smp_load_acquire(&sleeper->state) != LK_SIGNALLED ||
		     sleeper->moved;

	pre_takes_back(w->mutex, !w->late && moved);
}

/* With the probes of a lock call, as in glibc. */
static int relock(struct wait *w)
{
	int err;

	PRE_USDT(mutex_entry, w->mutex);
	if (unlikely(pre_takes_back))
		tell(w);
	err = w->late ? pre_mutex_enter(w->mutex, w->depth)
		      : relock_signalled(w);
	if (!err)
		PRE_USDT(mutex_acquired, w->mutex);
	return err;
}

/* NULL: a wait that has not queued has neither, and glibc's mutexes have no list. */
static inline bool is_changing(void *object)
{
	return object && in_section(object);
}

/*
 * Cancelled, or left by a long jump. The mutex is the thread's again after that, as
 * after a wait; not if it was on its way to lock it like anybody.
 */
static bool leave(struct pre_cut_off *cut_off)
{
	struct wait *w = container_of(cut_off, struct wait, cut_off);
	struct lk_cond_waiter *waiter = &w->waiter;

	if (is_changing(waiter->cond) || is_changing(waiter->mutex))
		return false;
	switch (READ_ONCE(w->stage)) {
	case BEFORE:
		if (!READ_ONCE(waiter->sleeper.ring.next))
			break; /* it has not queued */
		/* A broadcast may be about to move it to the mutex, which is ours. */
		if (!lk_cond_leave(waiter))
			return false;
		break;
	case GIVING: /* the thread may have the mutex, or may not */
		return false;
	case ASLEEP:
		if (lk_cond_is_leaving(waiter))
			return false;
		lk_cond_cancel(waiter);
		relock(w);
		break;
	case RELOCKING:
		if (w->late)
			break;
		if (!lk_cond_relock(waiter)) {
			lk_cond_give_up(waiter);
			break;
		}
		pre_mutex_taken(w->mutex, w->depth);
		lk_cond_done(waiter);
		PRE_USDT(mutex_acquired, w->mutex);
		break;
	}
	return true;
}

/* A program may have a read() of its own. */
extern ssize_t __read(int fd, void *to, size_t size);

/*
 * A cancellation that has begun while the type was asynchronous sends a signal, which ends the
 * thread whatever its state is by then. glibc's cancellation points wait for that signal at
 * their end. This one fails, which takes a short system call; hardly a filter refuses it.
 */
static void wait_for_cancellation(void)
{
	int error = errno;
	char nothing;

	(void)!__read(-1, &nothing, 0);
	errno = error;
}

/* Cancellation is let in before the wait, and around the sleep. True: it has left. */
static bool sleep_until(struct lk_cond_waiter *w,
			const struct lkp_deadline *deadline)
{
	int err, type;

	pthread_testcancel();
	if (lk_cond_poll(w, deadline))
		return false;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	err = lk_cond_sleep(w, deadline);
	pthread_setcanceltype(type, &type);
	wait_for_cancellation();
	return err && lk_cond_leave(w);
}

/* Gives the mutex up and waits; the result of giving up. */
static int unlock_and_sleep(struct wait *w, struct lk_cond *c,
			    const struct lkp_deadline *deadline)
{
	int err;

	lk_cond_enqueue(c, &w->waiter, pre_mutex_to_move_to(w->mutex), true);
	WRITE_ONCE(w->stage, GIVING);
	err = pre_mutex_leave(w->mutex, &w->depth);
	if (err) {
		WRITE_ONCE(w->stage, BEFORE);
		/* It was not moved: its mutex was not ours. */
		lk_cond_cancel(&w->waiter);
		lk_cond_relock(&w->waiter);
		return err;
	}
	PRE_USDT(mutex_release, w->mutex);
	WRITE_ONCE(w->stage, ASLEEP);
	w->late = sleep_until(&w->waiter, deadline);
	WRITE_ONCE(w->stage, RELOCKING);
	return 0;
}

int pre_cond_wait(struct lk_cond *c, pthread_mutex_t *mutex,
		  const struct lkp_deadline *deadline)
{
	struct wait w = { .mutex = mutex };
	int err;

	pre_cut_off_begin(&w.cut_off, leave);
	err = unlock_and_sleep(&w, c, deadline);
	if (!err)
		err = relock(&w);
	pre_cut_off_end(&w.cut_off);
	return err ? err : w.late ? ETIMEDOUT : 0;
}

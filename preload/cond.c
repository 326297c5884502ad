// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_cond_*: a struct lk_cond in place.
 *
 *   offset  0 struct lk_cond
 *          16 mark            it is ours, see mark.c
 *          20 monotonic       the clock of timedwait
 *          24 to 47           unused
 */
#include "preload.h"

#include "cond.h"
#include "epoch.h"

#include <string.h>

struct cond {
	struct lk_cond cond;
	u32 mark;
	u32 monotonic;
	u32 unused[6];
};

_Static_assert(sizeof(struct cond) == sizeof(pthread_cond_t), "size");

/*
 * Words that every static initializer clears. That of glibc 2.41, as it was
 * first released, leaves the last two as they are.
 */
#define CLEARED 10

static inline struct cond *ours(pthread_cond_t *c)
{
	return (struct cond *)c;
}

static inline bool is_glibcs(pthread_cond_t *c)
{
	u32 *mark = &ours(c)->mark;

	return unlikely(READ_ONCE(*mark) != PRE_MARK) &&
	       !pre_adopt((u32 *)c, CLEARED, mark);
}

/* -- pthread_cond_* ------------------------------------------------------ */

EXPORT int pthread_cond_init(pthread_cond_t *pc, const pthread_condattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE;
	clockid_t clock = CLOCK_REALTIME;

	PRE_USDT2(cond_init, pc, attr);
	if (attr) {
		pthread_condattr_getpshared(attr, &shared);
		pthread_condattr_getclock(attr, &clock);
	}
	memset(pc, 0, sizeof(*pc)); /* glibc's init may leave an old mark */
	if (shared == PTHREAD_PROCESS_SHARED)
		return pre_reals()->cond_init(pc, attr);
	ours(pc)->cond.epoch = lk_epoch_today();
	ours(pc)->monotonic = clock == CLOCK_MONOTONIC;
	ours(pc)->mark = PRE_MARK;
	return 0;
}

EXPORT int pthread_cond_destroy(pthread_cond_t *pc)
{
	PRE_USDT(cond_destroy, pc);
	if (is_glibcs(pc))
		return pre_reals()->cond_destroy(pc);
	lk_cond_destroy(&ours(pc)->cond);
	return 0;
}

EXPORT int pthread_cond_signal(pthread_cond_t *pc)
{
	PRE_USDT(cond_signal, pc);
	if (is_glibcs(pc))
		return pre_reals()->cond_signal(pc);
	lk_cond_signal(&ours(pc)->cond);
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *pc)
{
	PRE_USDT(cond_broadcast, pc);
	if (is_glibcs(pc))
		return pre_reals()->cond_broadcast(pc);
	lk_cond_broadcast(&ours(pc)->cond);
	return 0;
}

/* The result of a wait by glibc's function. */
#define GLIBCS(mutex, wait)                        \
	({                                         \
		bool back = pre_mutex_lend(mutex); \
		int err = pre_reals()->wait;       \
                                                   \
		if (back)                          \
			pre_mutex_lent(mutex);     \
		err;                               \
	})

EXPORT int pthread_cond_wait(pthread_cond_t *pc, pthread_mutex_t *mutex)
{
	PRE_USDT2(cond_wait, pc, mutex);
	if (is_glibcs(pc))
		return GLIBCS(mutex, cond_wait(pc, mutex));
	return pre_cond_wait(&ours(pc)->cond, mutex, NULL);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *pc, pthread_mutex_t *mutex,
				  const struct timespec *when)
{
	struct lkp_deadline deadline;

	if (is_glibcs(pc))
		return GLIBCS(mutex, cond_timedwait(pc, mutex, when));
	if (bad_time(when))
		return EINVAL;
	deadline = deadline_at(
		ours(pc)->monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, when);
	PRE_USDT2(cond_wait, pc, mutex);
	return pre_cond_wait(&ours(pc)->cond, mutex, &deadline);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *pc, pthread_mutex_t *mutex,
				  clockid_t clock, const struct timespec *when)
{
	struct lkp_deadline deadline;

	if (is_glibcs(pc))
		return GLIBCS(mutex, cond_clockwait(pc, mutex, clock, when));
	if (bad_time(when) || bad_clock(clock))
		return EINVAL;
	deadline = deadline_at(clock, when);
	PRE_USDT2(cond_wait, pc, mutex);
	return pre_cond_wait(&ours(pc)->cond, mutex, &deadline);
}

/* -- versions ------------------------------------------------------------- */

PRE_VERSIONS(pthread_cond_init, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_destroy, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_signal, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_broadcast, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_wait, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_timedwait, "2.2.5", "2.3.2");
PRE_VERSIONS(pthread_cond_clockwait, "2.30", "2.34");

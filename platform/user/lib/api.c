// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* include/lockwork/lockwork.h over the locks; checks under LOCKWORK_DEBUG. */
#include "lib.h"
#include "mutex_numa.h"
#include "qrwlock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(lw_mutex_t) == sizeof(struct lk_mutex), "mutex size");
_Static_assert(_Alignof(lw_mutex_t) == _Alignof(struct lk_mutex),
	       "mutex align");
_Static_assert(sizeof(lw_spinlock_t) == sizeof(struct lk_qspin), "spin size");
_Static_assert((int)LW_SPIN_AUTO == (int)LK_QSPIN_AUTO, "spin modes");
_Static_assert(sizeof(lw_rwlock_t) == sizeof(struct lk_qrw), "rwlock size");

static struct lk_mutex *mutex_of(lw_mutex_t *m)
{
	return (struct lk_mutex *)m;
}

static struct lk_qspin *spin_of(lw_spinlock_t *s)
{
	return (struct lk_qspin *)s;
}

static struct lk_qrw *rw_of(lw_rwlock_t *l)
{
	return (struct lk_qrw *)l;
}

/* -- the mutexes' queue -------------------------------------------------- */

/* 1 more than the enum lw_mutex_queue; 0: not decided, nobody has waited. */
static u32 mutex_queue;

/* @wanted, if nobody has decided before; and what it is now. */
static __cold u32 decide_mutex_queue(u32 wanted)
{
	u32 now = 0;

	return try_cmpxchg_relaxed(&mutex_queue, &now, wanted) ? wanted : now;
}

int lw_mutex_set_queue(enum lw_mutex_queue queue)
{
	u32 wanted = (u32)queue + 1;

	if (queue != LW_MUTEX_OSQ && queue != LW_MUTEX_NUMA_OSQ)
		return EINVAL;
	return decide_mutex_queue(wanted) == wanted ? 0 : EBUSY;
}

/* lk_mutex_lock_slow() over what was decided. */
static int wait_for_mutex(struct lk_mutex *m,
			  const struct lw_deadline *deadline)
{
	u32 queue = READ_ONCE(mutex_queue);

	if (unlikely(!queue))
		queue = decide_mutex_queue(LW_MUTEX_OSQ + 1);
	if (queue == LW_MUTEX_NUMA_OSQ + 1)
		return lk_mutex_numa_lock_slow(m, deadline);
	return lk_mutex_lock_slow(m, deadline);
}

static inline void lock_mutex(struct lk_mutex *m)
{
	if (unlikely(!lk_mutex_lock_fast(m)))
		wait_for_mutex(m, NULL);
}

/* -- LOCKWORK_DEBUG ------------------------------------------------------ */

static bool debug;

__attribute__((constructor)) static void init_debug(void)
{
	const char *value = getenv("LOCKWORK_DEBUG");

	debug = value && *value && strcmp(value, "0");
}

/* This thread's id, or what it was before it forked: it holds what it held. */
static u32 debug_tid(void)
{
	static __thread u32 tid __attribute__((tls_model("initial-exec")));

	if (!tid)
		tid = lw_tid();
	return tid;
}

/*
 * In debug mode the owner hint is the holder's thread id with bit 31 set. 0: not
 * known, since the holder has not written it yet or inlined the fast path.
 */
static u32 debug_owner(const struct lk_mutex *m)
{
	u32 owner = READ_ONCE(m->owner);

	return owner >> 31 ? owner & ~(1u << 31) : 0;
}

static bool debug_owner_is_other(const struct lk_mutex *m)
{
	u32 owner = debug_owner(m);

	return owner && owner != debug_tid();
}

static bool debug_held(const struct lk_mutex *m)
{
	return READ_ONCE(m->word) != LK_MUTEX_FREE;
}

static __cold void debug_abort(const struct lk_mutex *m, const char *what)
{
	if (debug_held(m))
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); held by thread "
			"%u\n",
			(const void *)m, what, debug_tid(), debug_owner(m));
	else
		fprintf(stderr,
			"lockwork: mutex %p: %s (thread %u); nobody holds it\n",
			(const void *)m, what, debug_tid());
	abort();
}

static __cold void debug_locked(struct lk_mutex *m)
{
	WRITE_ONCE(m->owner, debug_tid() | 1u << 31);
}

static __cold void debug_lock(struct lk_mutex *m)
{
	if (debug_held(m) && debug_owner(m) == debug_tid())
		debug_abort(m, "locked again by its holder");
	lock_mutex(m);
	debug_locked(m);
}

static __cold void debug_unlock(struct lk_mutex *m)
{
	if (!debug_held(m) || debug_owner_is_other(m))
		debug_abort(m, "unlocked by a thread that does not hold it");
	WRITE_ONCE(m->owner, 1u << 31);
	lk_mutex_unlock(m);
}

/* -- mutex --------------------------------------------------------------- */

void lw_mutex_lock(lw_mutex_t *m)
{
	if (unlikely(debug))
		debug_lock(mutex_of(m));
	else
		lock_mutex(mutex_of(m));
}

void lw_mutex_lock_slow(lw_mutex_t *m)
{
	wait_for_mutex(mutex_of(m), NULL);
}

bool lw_mutex_trylock(lw_mutex_t *m)
{
	bool taken = lk_mutex_trylock(mutex_of(m));

	if (unlikely(debug) && taken)
		debug_locked(mutex_of(m));
	return taken;
}

static bool lock_until(struct lk_mutex *m, const struct lw_deadline *deadline)
{
	bool taken = lk_mutex_lock_fast(m) || wait_for_mutex(m, deadline) == 0;

	if (unlikely(debug) && taken)
		debug_locked(m);
	return taken;
}

bool lw_mutex_timedlock(lw_mutex_t *m, const struct timespec *deadline)
{
	struct lw_deadline until;

	deadline_at(&until, deadline);
	return lock_until(mutex_of(m), &until);
}

bool lw_mutex_lock_for(lw_mutex_t *m, uint64_t ns)
{
	struct lw_deadline until;

	deadline_after(&until, ns);
	return lock_until(mutex_of(m), &until);
}

void lw_mutex_unlock(lw_mutex_t *m)
{
	if (unlikely(debug))
		debug_unlock(mutex_of(m));
	else
		lk_mutex_unlock(mutex_of(m));
}

void lw_mutex_destroy(lw_mutex_t *m)
{
	if (unlikely(debug) && debug_held(mutex_of(m)))
		debug_abort(mutex_of(m), "destroyed while held");
}

/* -- spinlock ------------------------------------------------------------ */

static u32 spin_mode = LK_QSPIN_AUTO;

void lw_spin_set_mode(enum lw_spin_mode mode)
{
	WRITE_ONCE(spin_mode, (u32)mode);
}

void lw_spin_lock(lw_spinlock_t *s)
{
	lk_qspin_lock(spin_of(s), READ_ONCE(spin_mode));
}

void lw_spin_lock_slow(lw_spinlock_t *s, uint32_t seen)
{
	lk_qspin_lock_slow(spin_of(s), seen, READ_ONCE(spin_mode));
}

bool lw_spin_trylock(lw_spinlock_t *s)
{
	return lk_qspin_trylock(spin_of(s));
}

void lw_spin_unlock(lw_spinlock_t *s)
{
	lk_qspin_unlock(spin_of(s));
}

/* -- read/write lock ----------------------------------------------------- */

void lw_read_lock(lw_rwlock_t *l)
{
	lk_qrw_read_lock(rw_of(l));
}

bool lw_read_trylock(lw_rwlock_t *l)
{
	return lk_qrw_read_trylock(rw_of(l));
}

void lw_read_unlock(lw_rwlock_t *l)
{
	lk_qrw_read_unlock(rw_of(l));
}

void lw_write_lock(lw_rwlock_t *l)
{
	lk_qrw_lock(rw_of(l));
}

bool lw_write_trylock(lw_rwlock_t *l)
{
	return lk_qrw_trylock(rw_of(l));
}

void lw_write_unlock(lw_rwlock_t *l)
{
	lk_qrw_unlock(rw_of(l));
}

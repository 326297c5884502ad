// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_spin_*: a qspinlock in 4 bytes. A process-shared one is glibc's, and
 * so is one that glibc's own code made; its value shows that.
 */
#include "cut_off.h"
#include "words.h"

#include "qspinlock.h"

static inline struct lk_qspin *ours(pthread_spinlock_t *s)
{
	_Static_assert(sizeof(struct lk_qspin) == sizeof(pthread_spinlock_t),
		       "size");
	return (struct lk_qspin *)s;
}

static inline bool is_glibcs(pthread_spinlock_t *s)
{
	return unlikely(spin_is_glibcs(atomic_read(&ours(s)->val),
				       READ_ONCE(pre_spin_tag)));
}

/* By the lock that policies.def names. */
#define MODE_qspinlock_fair  LK_QSPIN_FAIR
#define MODE_qspinlock_steal LK_QSPIN_STEAL
#define MODE_qspinlock_tas   LK_QSPIN_TAS

static const enum lk_qspin_mode modes[] = {
#define PRE_POLICY(id, name, mutex, rwlock, spinlock, summary) \
	[PRE_POLICY_##id] = MODE_##spinlock,
#include "policies.def"
#undef PRE_POLICY
};

/* For slow paths only: the policy may not be known before. */
static enum lk_qspin_mode mode(void)
{
	return modes[pre_policy()];
}

/*
 * A lock that nobody has or waits for, but not as a new one: it was used before a fork.
 * The policy does not matter, and to ask for it may take system calls.
 */
static __cold bool take_old(struct lk_qspin *lock)
{
	return !READ_ONCE(lock->locked) &&
	       lk_qspin_trylock_slow(lock, LK_QSPIN_FAIR);
}

/* A lock that is held is refused without asking for the policy. */
static __cold bool try_slow(struct lk_qspin *lock)
{
	return take_old(lock) || (!READ_ONCE(lock->locked) &&
				  lk_qspin_trylock_slow(lock, mode()));
}

/* A thread that is cut off in the queue cannot be taken out. One that only tries is in none. */
static bool leave(struct pre_cut_off *call)
{
	return pre_cut_off_is_async(call) || mode() == LK_QSPIN_TAS;
}

static __cold void wait_for(struct lk_qspin *lock)
{
	struct pre_cut_off call;
	u32 rounds = 0;

	pre_cut_off_begin(&call, leave);
	if (pre_cut_off_is_async(&call)) {
		while (!try_slow(lock)) {
			pre_cut_off_let_cancel();
			cpu_relax_wait(&rounds);
		}
	} else {
		lk_qspin_lock_slow(lock, atomic_read(&lock->val), mode());
	}
	pre_cut_off_end(&call);
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int pshared)
{
	pre_probe();
	if (pshared == PTHREAD_PROCESS_SHARED || !READ_ONCE(pre_spin_tag))
		return pre_reals()->spin_init(s, pshared);
	lk_qspin_init(ours(s));
	return 0;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
	return is_glibcs(s) ? pre_reals()->spin_destroy(s) : 0;
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	if (is_glibcs(s))
		return pre_reals()->spin_trylock(s);
	return lk_qspin_try_idle(ours(s)) || try_slow(ours(s)) ? 0 : EBUSY;
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	if (is_glibcs(s))
		return pre_reals()->spin_lock(s);
	if (unlikely(!lk_qspin_try_idle(ours(s))) && !take_old(ours(s)))
		wait_for(ours(s));
	return 0;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	if (is_glibcs(s))
		return pre_reals()->spin_unlock(s);
	lk_qspin_unlock(ours(s));
	return 0;
}

/* -- versions ------------------------------------------------------------- */

PRE_VERSIONS(pthread_spin_init, "2.2.5", "2.34");
PRE_VERSIONS(pthread_spin_destroy, "2.2.5", "2.34");
PRE_VERSIONS(pthread_spin_lock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_spin_trylock, "2.2.5", "2.34");
PRE_VERSIONS(pthread_spin_unlock, "2.2.5", "2.34");

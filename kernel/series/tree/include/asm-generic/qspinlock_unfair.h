/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef __ASM_GENERIC_QSPINLOCK_UNFAIR_H
#define __ASM_GENERIC_QSPINLOCK_UNFAIR_H

/*
 * The unfair queued spinlock, which takes the place of the queued spinlock in a
 * guest; see kernel/locking/lockwork/spin.c. On bare metal the key stays off, and each
 * use is one instruction that does nothing.
 */
#ifdef CONFIG_UNFAIR_QUEUED_SPINLOCKS
DECLARE_STATIC_KEY_FALSE(unfair_spin_key);

void unfair_spin_lock(struct qspinlock *lock);
bool unfair_spin_trylock(struct qspinlock *lock);
/* Chooses for good, before there is a second CPU and before the hypervisor's code asks. */
void unfair_spin_init(void);

/* True: the hypervisor's own spinlocks must not be set up. They have another queue. */
static __always_inline bool unfair_spin_enabled(void)
{
	return static_branch_unlikely(&unfair_spin_key);
}
#else
static __always_inline void unfair_spin_lock(struct qspinlock *lock)
{
}

static __always_inline bool unfair_spin_trylock(struct qspinlock *lock)
{
	return false;
}

static inline void unfair_spin_init(void)
{
}

static __always_inline bool unfair_spin_enabled(void)
{
	return false;
}
#endif

#endif

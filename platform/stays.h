/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_STAYS_H
#define LKP_STAYS_H

/*
 * For worlds in which nobody is stopped while it waits, so that a spinlock's queue always
 * moves. The headers of such a world include it last. No code is made of @leave.
 */
#define waiters_leave() false
struct lkp_stall {
	u64 began, free_since;
};
#define should_leave(rounds, stall, free) \
	((void)(rounds), (void)(stall), false && (free))

#define __lkp_stays(load, leave)          \
	({                                \
		(void)(false && (leave)); \
		load;                     \
	})
#define smp_cond_load_acquire_or_stall(p, cond, leave) \
	__lkp_stays(smp_cond_load_acquire(p, cond), leave)
#define smp_cond_load_relaxed_or_stall(p, cond, leave) \
	__lkp_stays(smp_cond_load_relaxed(p, cond), leave)
#define atomic_cond_read_acquire_or_stall(a, cond, leave) \
	__lkp_stays(atomic_cond_read_acquire(a, cond), leave)
#define atomic_cond_read_relaxed_or_stall(a, cond, leave) \
	__lkp_stays(atomic_cond_read_relaxed(a, cond), leave)

#endif

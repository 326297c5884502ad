/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef __LINUX_OSQ_LOCK_NUMA_H
#define __LINUX_OSQ_LOCK_NUMA_H

/*
 * The spinners' queue of mutexes and rw_semaphores, NUMA-aware: the same 4 bytes and
 * the same calls as in osq_lock.h. kernel/locking/lockwork/numa_osq.h says how it
 * works.
 */
#include <linux/compiler.h>
#include <linux/types.h>

struct optimistic_spin_queue {
	union {
		u32 word;
		u16 tail; /* 0: nobody holds it, and nobody waits */
	};
};

#define OSQ_LOCK_UNLOCKED \
	{                 \
		{         \
			0 \
		}         \
	}

static inline void osq_lock_init(struct optimistic_spin_queue *lock)
{
	WRITE_ONCE(lock->word, 0);
}

/* False: the caller has to stop spinning; not held. */
bool osq_lock(struct optimistic_spin_queue *lock);
void osq_unlock(struct optimistic_spin_queue *lock);

static inline bool osq_is_locked(struct optimistic_spin_queue *lock)
{
	return READ_ONCE(lock->tail) != 0;
}

#endif

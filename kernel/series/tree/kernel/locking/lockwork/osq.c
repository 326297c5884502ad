// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The numa_osq as the spinners' queue of mutexes and rw_semaphores. */
#include <linux/build_bug.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/osq_lock.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
#include <asm/apicdef.h>
#include <asm/smp.h>

#include "numa_osq.h"
#include "world.h"

static_assert(sizeof(struct optimistic_spin_queue) ==
		      sizeof(struct lk_numa_osq) &&
	      offsetof(struct optimistic_spin_queue, tail) ==
		      offsetof(struct lk_numa_osq, tail));

bool osq_lock(struct optimistic_spin_queue *lock)
{
	return lk_numa_osq_lock((struct lk_numa_osq *)lock);
}

void osq_unlock(struct optimistic_spin_queue *lock)
{
	lk_numa_osq_unlock((struct lk_numa_osq *)lock);
}

u32 lkm_last_cache(u32 cpu)
{
	u16 id = per_cpu(cpu_llc_id, cpu);

	return id == (u16)BAD_APICID ? LKM_NO_CACHE : id;
}

/* Until then all CPUs are one cluster, and no queue is divided. */
static int __init clusters_init(void)
{
	return lkp_world_start();
}
core_initcall(clusters_init);

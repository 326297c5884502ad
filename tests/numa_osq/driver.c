// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What a numa_osq does not meet in our worlds. SLOTS slots, up to the 65,534 that its
 * tail can name: each node has a code of its own, and threads whose slots are the
 * first and the last ones queue, divide, join and leave. And arrivals that keep
 * coming while it divides.
 */
#include <platform.h>

#undef LKP_MAX_SLOTS
#define LKP_MAX_SLOTS SLOTS

static __thread u32 test_slot;
#define this_slot() test_slot

/* Stores are spied on: see "arrivals" below. */
static void spied(const void *at);
#undef WRITE_ONCE
#define WRITE_ONCE(x, val) \
	(spied(&(x)), __atomic_store_n(&(x), (val), __ATOMIC_RELAXED))

#include "../../locks/numa_divide.c"
#include "../../locks/numa_osq.c"

#include "../lib/expect.h"

#include <pthread.h>
#include <sched.h>

static struct lk_numa_osq osq;

static const u32 slots[] = { 1, 2, SLOTS - 1, SLOTS };

enum { THREADS = sizeof(slots) / sizeof(slots[0]), ENOUGH = 2000 };

static u32 divisions, holders; /* the holder's */
static atomic_t opened, left;

static void test_codes(void)
{
	u32 slot, level, before = 0;

	EXPECT(LEVELS == (SLOTS <= 16383 ? 4 : 65534 / SLOTS));
	for (slot = 1; slot <= SLOTS; slot++) {
		for (level = 0; level < LEVELS; level++) {
			u32 code = code_of(slot, level);

			EXPECT(code == before + 1 && code < NUMA_CLOSED);
			EXPECT(node_of(code) ==
			       wait_node(numa_nodes, slot, level));
			before = code;
		}
	}
}

/* As deep as there are levels, and no deeper. */
static void test_nesting(void)
{
	struct lk_numa_osq locks[LKP_MAX_NEST + 1] = { 0 };
	u32 depth = 0;

	while (depth <= LKP_MAX_NEST && lk_numa_osq_lock(&locks[depth]))
		depth++;
	EXPECT(depth == LEVELS);
	while (depth--)
		lk_numa_osq_unlock(&locks[depth]);
}

/* -- arrivals ------------------------------------------------------------ */

static u32 arriving; /* so many more arrivals, each right before the division */

/* An arrival changes the lock's word; here that is done by its caution. */
static void spied(const void *at)
{
	for (u32 i = 0; i < NUMA_ENTRIES; i++) {
		if (arriving && at == &numa_rest(&lk_numa_pool[i])->word) {
			arriving--;
			osq.state ^= 1 << 1;
		}
	}
}

static u64 aborted(void)
{
	u64 sum;

	EXPECT(!lw_event_sum("numa_aborted", &sum));
	return sum;
}

/* Seven arrivals do not keep it from dividing; eight do, for this time. */
static void test_arrivals(void)
{
	test_slot = 1;
	EXPECT(!lw_set_knob("count_events", "1"));
	for (u32 n = 7; n <= 8; n++) {
		arriving = n;
		EXPECT(lk_numa_osq_lock(&osq) && !arriving);
		EXPECT((osq.state & 1) == (n == 7));
		EXPECT(lk_numa_osq_divided() == (n == 7));
		EXPECT(aborted() == (n == 8));
		lk_numa_osq_unlock(&osq);
		EXPECT(osq.tail == 0 && lk_numa_osq_divided() == 0);
	}
	EXPECT(!lw_set_knob("count_events", "0"));
}

/* -- threads ------------------------------------------------------------- */

/* Until there have been enough divisions, and waiters that left. */
static void *use(void *slot)
{
	test_slot = *(const u32 *)slot;
	test_nesting();
	while (atomic_read(&opened) < ENOUGH || !atomic_read(&left)) {
		begin_waiting();
		if (!lk_numa_osq_lock(&osq)) {
			atomic_add(1, &left);
			continue;
		}
		EXPECT(++holders == 1);
		if (osq.state & 1)
			atomic_set(&opened, (int)++divisions);
		if (divisions % 64 == 0)
			sched_yield(); /* others come, and leave */
		holders--;
		lk_numa_osq_unlock(&osq);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	test_codes();
	EXPECT(!lw_set_clusters("0;1-8191"));
	EXPECT(!lw_set_knob("spin_budget", "200"));
	/* Divides whenever it can. */
	lk_knob_osq_lock_depth = (u32)-1;
	lk_knob_osq_keep_times = 0;
	test_arrivals();
	for (u32 i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&threads[i], NULL, use,
				       (void *)&slots[i]));
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT(osq.tail == 0 && lk_numa_osq_divided() == 0);
	return 0;
}

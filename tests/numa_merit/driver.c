// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* When a numa_osq divides and joins its queues, as numbers: locks/numa_merit.h. */
#include <numa_merit.h>

#include "../lib/expect.h"

enum { KEEP = 32, TURN = 64 }; /* osq_keep_times, osq_node_max */

/* The hand-overs of a long queue at which the owner looks, up to the division. */
static void test_due(void)
{
	u32 caution, run, looks;

	for (caution = 0; caution <= NUMA_CAUTION_MAX; caution++) {
		u32 needed = numa_needed(KEEP, caution);

		EXPECT(needed == (u32)KEEP << caution);
		looks = 0;
		for (run = 0; run < needed; run++) {
			EXPECT(numa_is_due(run, needed) ==
			       (run == 16 || (run > 16 && run % 16 == 0)));
			looks += numa_is_due(run, needed);
		}
		EXPECT(looks == needed / 16 - 1);
		EXPECT(numa_is_due(needed, needed));
		EXPECT(numa_is_due(needed + 1, needed));
	}
	/* Who found the queue empty looks only if none are needed. */
	EXPECT(!numa_is_due(0, 1));
	EXPECT(numa_is_due(0, 0));
}

static void test_run(void)
{
	EXPECT(numa_next_run(0) == 1);
	EXPECT(numa_next_run(NUMA_RUN_MAX - 1) == NUMA_RUN_MAX);
	EXPECT(numa_next_run(NUMA_RUN_MAX) == NUMA_RUN_MAX);
	/* What is needed at the most is less, so it is reached. */
	EXPECT(numa_needed(2048, NUMA_CAUTION_MAX) < NUMA_RUN_MAX);
}

/* @changes of the @depth waiters are of another cluster than the one before. */
static bool is_long(u32 first, u32 depth, u32 changes, u32 lock_depth)
{
	u64 owner = numa_serial(first, 0xfffe, 3), last = owner;
	u32 cluster = 3, i;

	for (i = 0; i < depth; i++) {
		cluster += i < changes;
		last = numa_next_serial(last, cluster);
	}
	return numa_is_long(last, owner, lock_depth, TURN);
}

static void test_depth(void)
{
	EXPECT(!is_long(1, 8, 8, 8));
	EXPECT(is_long(1, 9, 9, 8));
	/* Numbers and changes that wrap, and estimates that are wrong. */
	EXPECT(!is_long((u32)-1, 8, 8, 8));
	EXPECT(is_long((u32)-1, 9, 9, 8));
	EXPECT(!numa_is_long(numa_serial(1, 1, 0), numa_serial(100, 0, 0), 8,
			     TURN));
	/* One cluster is all that waits, or nearly so. */
	EXPECT(!is_long(1, 100, 0, 8));
	EXPECT(is_long(1, 9, 1, 8));
	EXPECT(!is_long(1, 100, 3, 8));
	EXPECT(is_long(1, 100, 4, 8));
	/* What a test sets, so that each queue is long. */
	EXPECT(is_long(1, 0, 0, (u32)-1));
	EXPECT(is_long(1, 100, 0, (u32)-1));
}

/* 0 is for nodes that do not know their predecessor's yet. */
static void test_serial(void)
{
	EXPECT(numa_first_serial(0));
	EXPECT(numa_first_serial(0xffff));
	EXPECT(numa_next_serial(numa_first_serial(7), 7) ==
	       numa_serial(2, 0, 7));
	EXPECT(numa_next_serial(numa_first_serial(7), 8) ==
	       numa_serial(2, 1, 8));
	/* Of the cluster's number only 16 bits are kept. */
	EXPECT(numa_next_serial(numa_first_serial(0x10007), 0x10007) ==
	       numa_serial(2, 0, 7));
}

static void test_caution(void)
{
	u32 caution = 0, i;

	for (i = 1; i <= 10; i++) {
		caution = numa_next_caution(caution, false);
		EXPECT(caution ==
		       (i < NUMA_CAUTION_MAX ? i : NUMA_CAUTION_MAX));
	}
	EXPECT(numa_next_caution(caution, true) == 0);
	EXPECT(numa_next_caution(0, true) == 0);
}

static bool is(struct numa_share share, u32 passes, u32 merit, bool proved)
{
	return share.passes == passes && share.merit == merit &&
	       share.proved == proved;
}

/* 64 hand-overs to other clusters that no local one makes good. */
static void test_poor(void)
{
	struct numa_share share = numa_first_share(KEEP);
	u32 i;

	EXPECT(is(share, 0, 64, false));
	for (i = 1; i <= 64; i++) {
		EXPECT(share.merit);
		share = numa_remote_share(share);
		EXPECT(is(share, 0, 64 - i, false));
	}
	EXPECT(is(numa_remote_share(share), 0, 0, false));
}

/* 192 more local hand-overs than remote ones. */
static void test_proved(void)
{
	struct numa_share share = numa_first_share(KEEP);
	u32 i;

	for (i = 1; i <= 192; i++) {
		EXPECT(!share.proved);
		share = numa_local_share(share, KEEP);
	}
	EXPECT(is(share, 192, 256, true));
	/* Once proved, it stays so. */
	share = numa_remote_share(share);
	EXPECT(is(share, 0, 255, true));
	EXPECT(is(numa_local_share(share, KEEP), 1, 256, true));
}

/* Counts that are at their limits. */
static void test_limits(void)
{
	struct numa_share share = numa_first_share(2048);

	EXPECT(is(share, 0, NUMA_MERIT_MAX, false));
	share = numa_local_share(share, 2048);
	EXPECT(is(share, 1, NUMA_MERIT_MAX, true));
	EXPECT(is(numa_first_share(0), 0, 0, false));
	EXPECT(is(numa_local_share(numa_first_share(0), 0), 1, 1, true));
}

/* A cluster that was alone: what it did for itself counts twice, against it. */
static void test_alone(void)
{
	struct numa_share share = numa_first_share(KEEP);
	u32 i;

	for (i = 0; i < 64; i++)
		share = numa_local_share(share, KEEP);
	EXPECT(is(share, 64, 128, false));
	EXPECT(is(numa_alone_share(share), 0, 0, false));
	share.merit = 300;
	share.proved = true;
	EXPECT(is(numa_alone_share(share), 0, 172, true));
}

/* It is of the cluster whose turn it is. */
static void test_few(void)
{
	struct numa_share share = numa_first_share(KEEP);

	EXPECT(!share.few);
	share.few = true;
	share = numa_local_share(share, KEEP);
	EXPECT(share.few);
	EXPECT(numa_unpack(numa_pack(share)).few);
	share = numa_remote_share(share);
	EXPECT(!share.few);
	EXPECT(!numa_unpack(numa_pack(share)).few);
}

static void test_packed(void)
{
	static const u32 counts[] = { 0, 1, 64, 2048, 4094, 4095 };
	u32 i, j, proved, packed, n = sizeof(counts) / sizeof(counts[0]);

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			for (proved = 0; proved < 2; proved++) {
				packed = numa_pack((struct numa_share){
					.passes = counts[i],
					.merit = counts[j],
					.proved = proved,
					.few = proved });
				EXPECT(packed < 1u << 26);
				EXPECT(is(numa_unpack(packed), counts[i],
					  counts[j], proved));
			}
		}
	}
}

int main(void)
{
	test_due();
	test_run();
	test_depth();
	test_serial();
	test_caution();
	test_poor();
	test_proved();
	test_limits();
	test_alone();
	test_few();
	test_packed();
	return 0;
}

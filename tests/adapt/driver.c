// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * How a sleeping lock learns in which way to wait: locks/adapt.c with hints and times
 * that this program makes up. No thread, no clock.
 */
#include <adapt.h>

#include "../lib/expect.h"

/* Acquisitions per unit of time in each way. */
struct machine {
	u32 rate[LK_WAYS];
	u32 ways;
};

static u32 at = 1000000, hint;
/* Units of time between two looks: a quarter of a window, as a rule. */
static u32 look_each;

/* @units of time pass, and somebody that waits for @lock looks now and then. */
static void pass_time(const void *lock, const struct machine *machine,
		      u32 units)
{
	u32 end = at + units, step = look_each;

	while (at != end) {
		if (step > end - at)
			step = end - at;
		at += step;
		hint += machine->rate[lk_adapt_way(lock)] * step *
			LKP_OWNER_TURN;
		hint &= LKP_OWNER_TURNS;
		lk_adapt_look_at(lock, hint, machine->ways, at);
	}
}

/* How often of 100 times, each four looks apart, the lock is in @way. */
static u32 share_of(const void *lock, const struct machine *machine, u32 way)
{
	u32 i, share = 0;

	for (i = 0; i < 100; i++) {
		pass_time(lock, machine, 4 * look_each);
		share += lk_adapt_way(lock) == way;
	}
	return share;
}

/* Each way is used for the most part where it is the fastest. */
static void test_fastest(void)
{
	static const struct {
		struct machine machine;
		u32 best;
	} cases[] = {
		{ { { 10, 5, 6 }, LK_WAYS }, LK_WAY_SPIN },
		{ { { 10, 20, 15 }, LK_WAYS }, LK_WAY_SLEEP },
		{ { { 10, 9, 30 }, LK_WAYS }, LK_WAY_REST },
		/* Equal ones: the shortest waits. */
		{ { { 10, 10, 10 }, LK_WAYS }, LK_WAY_SPIN },
		/* A read/write lock does not rest. */
		{ { { 10, 12, 90 }, LK_WAY_REST }, LK_WAY_SLEEP },
		/* Nothing is counted. */
		{ { { 0, 0, 0 }, LK_WAYS }, LK_WAY_SPIN },
		{ { { 0, 50, 50 }, LK_WAYS }, LK_WAY_SPIN },
	};
	static char locks[7][4096];
	u32 i;

	for (i = 0; i < 7; i++) {
		EXPECT(lk_adapt_way(locks[i]) == LK_WAY_SPIN);
		/* The first look takes the entry, the windows come after. */
		pass_time(locks[i], &cases[i].machine, adapt_window());
		share_of(locks[i], &cases[i].machine, LK_WAY_SPIN);
		EXPECT(share_of(locks[i], &cases[i].machine, cases[i].best) >=
		       95);
	}
}

/*
 * Empty sections on a fast CPU, and looks as far apart as the rests of the first sleeper. A
 * window ends at the first look after half a millisecond, with more acquisitions by then
 * than 65,536; on a faster CPU with more than the hint counts, if it were not over before.
 */
static void test_many(void)
{
	static const struct machine machines[] = {
		{ { 48, 44, 112 }, LK_WAYS },
		{ { 48, 44, 230 }, LK_WAYS },
	};
	static char locks[2][4096];
	u32 i;

	look_each = 300;
	for (i = 0; i < 2; i++) {
		share_of(locks[i], &machines[i], LK_WAY_REST);
		EXPECT(share_of(locks[i], &machines[i], LK_WAY_REST) >= 90);
	}
	look_each = adapt_window() / 4;
}

/* What is the fastest changes: it is found out, whichever way is in use. */
static void test_change(void)
{
	static const struct machine machines[] = {
		{ { 30, 10, 10 }, LK_WAYS },
		{ { 10, 30, 10 }, LK_WAYS },
		{ { 10, 10, 30 }, LK_WAYS },
	};
	static char lock[64];
	u32 round, best, i;

	for (round = 0; round < 9; round++) {
		best = round * 2 % LK_WAYS;
		/* Both other ways are probed once in 2 * adapt_max_gap() windows. */
		for (i = 0; i < 6; i++)
			share_of(lock, &machines[best], best);
		EXPECT(share_of(lock, &machines[best], best) >= 90);
	}
}

/* A holder that loses its CPU now and then spoils a window, and not the choice. */
static void test_spoiled(void)
{
	static const struct machine machine = { { 30, 15, 15 }, LK_WAYS };
	static const struct machine stopped = { { 0, 0, 0 }, LK_WAYS };
	static char lock[64];
	u32 i;

	share_of(lock, &machine, LK_WAY_SPIN);
	for (i = 0; i < 20; i++) {
		pass_time(lock, &stopped, 6 * adapt_window());
		EXPECT(share_of(lock, &machine, LK_WAY_SPIN) >= 95);
	}
}

/* What was learned of a lock that rested is not applied after a pause. */
static void test_idle(void)
{
	static const struct machine rests = { { 10, 9, 30 }, LK_WAYS };
	static char lock[64];

	EXPECT(share_of(lock, &rests, LK_WAY_REST) > 50);
	at += 1000000;
	lk_adapt_look_at(lock, hint, LK_WAYS, at);
	EXPECT(lk_adapt_way(lock) == LK_WAY_SPIN);
}

/* Two locks with one entry: the second one waits until the first is idle. */
static void test_shared_entry(void)
{
	static const struct machine rests = { { 10, 9, 30 }, LK_WAYS };
	static char locks[1 << 16];
	const void *first = &locks[0], *other = NULL;
	u32 i;

	EXPECT(share_of(first, &rests, LK_WAY_REST) > 50);
	/* Of 8,192 locks some have that entry, which nothing shows but this. */
	for (i = 8; i < sizeof(locks); i += 8) {
		other = &locks[i];
		lk_adapt_look_at(other, hint, LK_WAYS, at);
		EXPECT(lk_adapt_way(other) == LK_WAY_SPIN);
	}
	EXPECT(share_of(first, &rests, LK_WAY_REST) > 90);
}

/* A thread that comes late with an old time takes nothing away, nor does it from another. */
static void test_late(void)
{
	static const struct machine machine = { { 10, 20, 15 }, LK_WAYS };
	static int lock;
	u32 late;

	pass_time(&lock, &machine, 100 * adapt_window());
	for (late = 1; late < adapt_window(); late *= 2) {
		u32 way = lk_adapt_way(&lock);

		lk_adapt_look_at(&lock, hint, machine.ways,
				 at - adapt_window() - late);
		EXPECT(lk_adapt_way(&lock) == way);
	}
	EXPECT(share_of(&lock, &machine, LK_WAY_SLEEP) > 50);
}

int main(void)
{
	look_each = adapt_window() / 4;
	test_fastest();
	test_many();
	test_change();
	test_spoiled();
	test_idle();
	test_shared_entry();
	test_late();
	return 0;
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The table of slots, as the user world has it. */
#include "frame.h"
#include "user/slots.h"

/* So many slots, and one thread more. */
#define SLOTS 2u

static struct lkp_slots slots;
/* What a slot's owner keeps in its nodes. */
static u32 node[SLOTS + 1];
static u32 ended, left[CHECK_THREADS];

static void init(void)
{
	slots.hint = 1;
}

static u32 tid_of(u32 id)
{
	return 100 + id;
}

static u32 take(u32 id)
{
	u32 slot = lkp_slots_take(&slots, tid_of(id), SLOTS);

	if (!slot)
		return 0;
	CHECK(slot <= SLOTS, "a slot past the limit");
	CHECK(!node[slot], "two threads have one slot");
	node[slot] = tid_of(id);
	lwc_others_may_run();
	return slot;
}

static void take_and_put(u32 id)
{
	EACH_ACQUISITION(u32 slot = take(id); if (!slot) continue;
			 node[slot] = 0; lkp_slots_put(&slots, slot));
}

/*
 * Thread 0 ends and keeps its slot. The kernel says so to all that ask, and orders its
 * end before that.
 */
static void end_or_reclaim(u32 id)
{
	u32 slot;

	if (id == 0) {
		slot = take(id);
		if (slot) {
			node[slot] = 0;
			left[id] = slot;
		}
		smp_store_release(&ended, 1);
		return;
	}
	if (smp_load_acquire(&ended) && left[0])
		lkp_slots_reclaim(&slots, left[0], tid_of(0));
	take_and_put(id);
}

/* What glibc knows of each key. */
static u32 key, made[CHECK_THREADS], kept[CHECK_THREADS];

static void use_key(u32 now)
{
	if (now >= LKP_FIRST_KEY)
		CHECK(made[now - LKP_FIRST_KEY], "a key that nobody made");
}

/* The last thread's own key cannot be used. */
static void make_key(u32 id)
{
	u32 now = lkp_slots_key(&key);

	if (!now && id == check_threads - 1) {
		lkp_slots_no_key(&key);
	} else if (!now) {
		made[id] = 1;
		now = lkp_slots_keep_key(&key, id);
		CHECK(now >= LKP_FIRST_KEY, "a key that was made is lost");
		kept[id] = now;
	}
	use_key(now);
	use_key(lkp_slots_key(&key));
}

static void one_key(void)
{
	u32 seen = READ_ONCE(key);

	CHECK(seen, "nobody said what the key is");
	for (u32 i = 0; i < check_threads; i++)
		CHECK(!kept[i] || kept[i] == seen, "two keys are kept");
}

static void finish(void)
{
	u32 slot, used = 0;

	for (slot = 1; slot <= SLOTS; slot++)
		used += READ_ONCE(slots.tid[slot]) != 0;
	CHECK((u32)atomic_read(&slots.used) == used, "the count is wrong");
	CHECK(used == 0 || (used == 1 && left[0]), "a slot is lost");
}

const struct check_client check_slots[] = {
	{ "slots", "exclusion", "one owner at a time", 3, 1, 2, 600, 16, init,
	  take_and_put, finish },
	{ "slots", "pair", "two threads, three preemptions", 2, 2, 3, 600, 0,
	  init, take_and_put, finish },
	{ "slots", "reclaim", "the slot of a thread that has ended", 3, 1, 2,
	  600, 16, init, end_or_reclaim, finish },
	{ "slots", "key", "a key that is seen is made", 3, 1, 3, 600, 16, NULL,
	  make_key, one_key },
	{ 0 },
};

const struct check_mutant mutants_slots[] = {
	{ "taking is not atomic", "slots.B", NULL, NULL, "split" },
	{ "a slot is reclaimed from its next owner", "slots.C", NULL, NULL,
	  "force" },
	{ "a slot is never given back", "slots.A", NULL, NULL, "drop" },
	{ "an owner is not counted", "lkp_slots_take", "atomic_add", NULL,
	  "drop" },
	{ "two keys are kept", "slots.D", NULL, NULL, "split" },
	{ 0 },
};

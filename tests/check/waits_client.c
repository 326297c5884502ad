// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Which thread waits for which object: what the library's reports read. */
#include "frame.h"
#include "library/waits.h"

static char objects[CHECK_THREADS], places[CHECK_THREADS];
static bool seen[CHECK_THREADS];

static u32 tid_of(u32 id)
{
	return 100 + id;
}

static const void *look(u32 id, u64 *which)
{
	struct lkp_wait *at = lkp_wait_find(tid_of(id));

	return at ? lkp_wait_read(at, which) : NULL;
}

/*
 * What thread @id is seen to wait for. One look may find an entry that another thread
 * has used since. So a report takes two that agree.
 */
static const void *wait_of(u32 id)
{
	u64 first = 0, second = 0;
	const void *object = look(id, &first);

	if (!object || look(id, &second) != object || first != second)
		return NULL;
	CHECK(object == &objects[id],
	      "an entry tells of another thread's wait");
	return object;
}

/* Each thread waits, and then looks for the other's wait. */
static void wait_and_look(u32 id)
{
	struct lkp_wait *own = lkp_wait_claim(tid_of(id));

	CHECK(own, "no entry is free");
	lkp_wait_set(own, &objects[id], &places[id]);
	seen[id] = wait_of((id + 1) % check_threads);
}

static void all_unseen_is_wrong(void)
{
	u32 i;

	for (i = 0; i < check_threads; i++)
		if (seen[i])
			return;
	CHECK(false, "of two threads neither saw the other's wait");
}

/* Entries are used by one thread after the other; the last one looks. */
static void wait_in_turn(u32 id)
{
	struct lkp_wait *own;
	u32 i;

	if (id + 1 == check_threads) {
		for (i = 0; i < id; i++)
			(void)wait_of(i);
		return;
	}
	EACH_ACQUISITION(own = lkp_wait_claim(tid_of(id));
			 CHECK(own, "no entry is free");
			 CHECK(!own->object, "an entry is not empty");
			 lkp_wait_set(own, &objects[id], &places[id]);
			 lkp_wait_set(own, NULL, NULL); lkp_wait_release(own));
}

/* The first thread waits twice; which wait is seen tells for which object. */
static void wait_twice(u32 id)
{
	const void *object;
	u64 which = 0;
	u32 i;

	if (id == 0) {
		struct lkp_wait *own = lkp_wait_claim(tid_of(0));

		for (i = 0; i < 2; i++)
			lkp_wait_set(own, &objects[i], &places[i]);
		return;
	}
	object = look(0, &which);
	CHECK(!object || object == &objects[(u32)which / 2 - 1],
	      "an object of another wait");
}

/*
 * Two objects that share an entry, whatever the hash multiplies with: it drops all
 * above bit 43. Nobody follows them. A place tells its object.
 */
static const char *twin(u32 n)
{
	return (const char *)(uintptr_t)(64 + ((u64)(n % 2) << 44));
}

static void note_or_look(u32 id)
{
	const char *object = twin(id);
	const void *site;

	EACH_ACQUISITION(if (id < 2) lkp_site_note(object, object + 1); else {
		site = lkp_site_of(object);
		CHECK(!site || site == object + 1,
		      "the place of another object");
	});
}

const struct check_client check_waits[] = {
	{ "waits", "circle", "of two threads one sees the other's wait", 2, 1,
	  4, 600, 0, NULL, wait_and_look, all_unseen_is_wrong },
	{ "waits", "turns", "an entry tells of its thread's waits alone", 3, 1,
	  1, 600, 16, NULL, wait_in_turn, NULL },
	{ "waits", "twice", "each wait of a thread is told apart", 2, 1, 4, 600,
	  0, NULL, wait_twice, NULL },
	{ "waits", "sites", "where an object was taken", 3, 1, 2, 600, 16, NULL,
	  note_or_look, NULL },
	{ 0 },
};

const struct check_mutant mutants_waits[] = {
	{ "an entry is claimed twice", "lkp_wait_claim", "try_cmpxchg_acquire",
	  NULL, "split" },
	{ "the turn does not say that the entry changes", "lkp_wait_set",
	  "WRITE_ONCE", "own->turn", "drop" },
	{ "two threads write the place of an object", "lkp_site_note",
	  "try_cmpxchg_acquire", NULL, "split" },
	{ 0 },
};

// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"
#include "qspinlock.h"

static struct lk_qspin lock;

static void init(void)
{
	lk_qspin_init(&lock);
}

static void use(enum lk_qspin_mode mode)
{
	u32 i;

	for (i = 0; i < check_acquisitions; i++) {
		lk_qspin_lock(&lock, mode);
		critical_section();
		lk_qspin_unlock(&lock);
	}
}

static void fair(u32 id)
{
	(void)id;
	use(LK_QSPIN_FAIR);
}

static void steal(u32 id)
{
	(void)id;
	use(LK_QSPIN_STEAL);
}

static void tas(u32 id)
{
	(void)id;
	use(LK_QSPIN_TAS);
}

static void finish(void)
{
	check_all_sections();
	CHECK(lk_qspin_trylock(&lock), "the lock is not free at the end");
}

const struct check_client check_qspinlock[] = {
	{ "qspinlock_fair", "exclusion", "one holder at a time", 3, 2, 2, 60, 8, init,
	  fair, finish },
	{ "qspinlock_steal", "exclusion", "one holder at a time", 3, 2, 2, 60, 8, init,
	  steal, finish },
	{ "qspinlock_tas", "exclusion", "one holder at a time", 3, 2, 2, 60, 8, init,
	  tas, finish },
	{ 0 },
};

const struct check_mutant mutants_qspinlock[] = {
	{ "forgotten tail check", "qspinlock.G", NULL, "force" },
	{ "wrong pending hand-over", "pending_to_locked", "WRITE_ONCE",
	  "narrow" },
	{ 0 },
};

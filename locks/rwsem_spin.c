// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* rwsem_spin.h says what this is; rwsem.h has states and invariants. */
#include "events.h"
#include "rwsem_spin.h"

static bool take(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	if (want.gain == LK_RWSEM_WRITER)
		return lk_rwsem_trylock(s);
	return lk_rwsem_read_trylock(s, want.how);
}

/* Not if it is for sleepers first, or its writer does not run. */
static bool may_come_free(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	u32 word = atomic_read(&s->word);

	if (word & LK_RWSEM_HANDOFF)
		return false;
	if ((word & LK_RWSEM_QUEUED) && want.how == LK_READER_QUEUES)
		return false;
	return !(word & LK_RWSEM_WRITER) || lk_owner_may_run(&s->owner);
}

/* Without a place in the queue, while nobody has one. */
static bool spin_briefly(struct lk_rwsem *s, struct lk_rwsem_want want,
			 const struct lk_spin_queue *queue)
{
	u32 round;

	for (round = 0; round < rwsem_looks(); round++) {
		if (take(s, want))
			return true;
		if (queue->is_locked(&s->osq))
			return false;
		brief_pause(round);
	}
	return false;
}

/*
 * The head of the queue watches the word. Nobody says whether readers run, so they
 * are waited for rwsem_reader_rounds() only: a stream of them never ends.
 */
static bool spin_on_word(struct lk_rwsem *s, struct lk_rwsem_want want)
{
	u32 rounds = 0;

	while (!take(s, want)) {
		if (need_resched() || rounds >= rwsem_reader_rounds() ||
		    !may_come_free(s, want))
			return false;
		if (LK_RWSEM_READERS(atomic_read(&s->word)))
			cpu_relax_wait(&rounds);
		else
			cpu_relax();
	}
	return true;
}

/* The first sleeper was told to look, and has not since: it may need a CPU. */
static inline bool first_has_not_run(struct lk_rwsem *s)
{
	return (atomic_read(&s->word) & (LK_RWSEM_QUEUED | LK_RWSEM_LOOK)) ==
	       LK_RWSEM_QUEUED;
}

/* True: a thread that has been awake for long is to sleep, and the first runs instead. */
static bool turn_ends(struct lk_rwsem *s)
{
	if (!first_has_not_run(s) || !turn_is_over() || !end_turn())
		return false;
	count_event(LK_EV_turn_ended);
	return true;
}

bool lk_rwsem_spin(struct lk_rwsem *s, struct lk_rwsem_want want,
		   const struct lk_spin_queue *queue)
{
	bool taken;

	if (takes_turns() && lk_way(s) == LK_WAY_SPIN && turn_ends(s))
		return false;
	/* While anybody sleeps each writer comes here: no detour if it is free. */
	if (take(s, want))
		return true;
	/* Only writers are counted. In a steady mix readers are in proportion. */
	lk_way_look(s, READ_ONCE(s->owner), LK_RWSEM_WAYS);
	if (lk_way(s) != LK_WAY_SPIN)
		return false;
	begin_waiting();
	if (!may_come_free(s, want))
		return false;
	if (spin_briefly(s, want, queue))
		return true;
	if (!queue->lock(&s->osq, NULL))
		return false;
	taken = spin_on_word(s, want);
	queue->unlock(&s->osq);
	return taken;
}

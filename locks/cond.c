// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* cond.h has states, invariants and sources. */
#include "catalogue.h"
#include "cond.h"
#include "events.h"
#include "wait_list.h"

/* Phases of a waiter. */
enum { WAITING, CLAIMED, LEAVING };

static inline struct lk_cond_waiter *waiter_of(struct lk_ring *link)
{
	return container_of(link, struct lk_cond_waiter, sleeper.ring);
}

/* -- the list ------------------------------------------------------------ */

/* After a fork the waiters are gone, and the holder of lock may be too. */
static __cold void forget_the_gone(struct lk_cond *c, bool waits)
{
	if (!lk_wait_list_claim(&c->epoch, waits, &c->first, &c->lock))
		return;
	atomic_set(&c->owed, 0);
	lk_epoch_done(&c->epoch);
}

/* For a handler that has interrupted a section, but none of @c. */
static __cold void forget_inside(struct lk_cond *c)
{
	void *outer = section_enter(c);

	forget_the_gone(c, false);
	section_exit(outer);
}

/* Not lk_wait_list_lock(): the epoch is looked at in the same section. */
static void *list_lock(struct lk_cond *c)
{
	void *outer = section_enter(c);

	if (lk_epoch_is_old(&c->epoch))
		forget_the_gone(c, true);
	lk_tas_lock(&c->lock);
	return outer;
}

static void list_unlock(struct lk_cond *c, void *outer)
{
	lk_wait_list_unlock(&c->lock, outer);
}

/* -- polling ------------------------------------------------------------- */

/* After so many in a row, 2^8 - 1 waits do not poll: what skip holds. */
#define MOST_FAILURES 8u
/* No round of polling takes longer, unless the thread loses its CPU. */
#define ROUND_NS 100u

static bool is_polling(struct lk_cond_waiter *w)
{
	return READ_ONCE(w->sleeper.state) == LK_POLLING;
}

static void end_polling(struct lk_cond_waiter *w)
{
	u32 state = LK_POLLING;

	/* Orders nothing: the value says whether a claimer has to wake it. */
	(void)try_cmpxchg_relaxed(&w->sleeper.state, &state, LK_ASLEEP);
}

/* Not if it might run out of time meanwhile. */
bool lk_cond_poll(struct lk_cond_waiter *w, const struct lkp_deadline *deadline)
{
	u32 round, rounds = poll_rounds();

	if (deadline && is_polling(w) &&
	    deadline_within(deadline, rounds * (u64)ROUND_NS))
		rounds = 0;
	for (round = 0; is_polling(w); round++) {
		if (round >= rounds)
			end_polling(w);
		cpu_relax();
	}
	return READ_ONCE(w->sleeper.state) != LK_ASLEEP;
}

/*
 * Under lock, before @w is on the list. Only one that is alone there polls. A real-time
 * thread does not: it could keep its CPU from the thread that is to signal.
 */
static void begin_polling(struct lk_cond *c, struct lk_cond_waiter *w)
{
	struct lk_ring *other = lk_ring_first(&c->first);

	if (other) {
		if (is_polling(waiter_of(other)))
			end_polling(waiter_of(other));
	} else if (c->skip) {
		c->skip--;
	} else if (poll_rounds() && !w->sleeper.ring.priority) {
		w->polled = true;
		w->sleeper.state = LK_POLLING;
	}
}

/*
 * Under lock: @w began by polling. It is claimed now; or it has slept, and leaves. One that
 * slept has failed, also if another waiter came or its deadline was near.
 */
static void learn(struct lk_cond *c, struct lk_cond_waiter *w)
{
	if (is_polling(w)) {
		c->failures = 0;
		count_event(LK_EV_cond_polled);
		return;
	}
	if (c->failures < MOST_FAILURES)
		c->failures++;
	c->skip = (u8)((1u << c->failures) - 1);
}

/* -- claiming ------------------------------------------------------------ */

/*
 * Under lock: takes the first waiter that is not leaving off the list. NULL: there
 * is none.
 */
static struct lk_cond_waiter *claim(struct lk_cond *c, bool by_signal)
{
	struct lk_ring *first = lk_ring_first(&c->first), *link = first;
	struct lk_cond_waiter *w;
	u32 phase;

	if (!first)
		return NULL;
	do {
		w = waiter_of(link);
		phase = WAITING;
		/* Orders nothing: the loser takes lock, or reads state. */
		if (try_cmpxchg_relaxed(&w->phase, &phase, CLAIMED)) {
			lk_ring_remove(&c->first, link);
			if (w->polled)
				learn(c, w);
			w->owes = by_signal && w->cancellable &&
				  lk_ring_first(&c->first);
			if (w->owes)
				atomic_add(1, &c->owed);
			return w;
		}
		link = link->next;
	} while (link != first);
	return NULL;
}

/* True: it was asleep. Its memory may be gone once its state has changed. */
static bool tell(struct lk_cond_waiter *w)
{
	u32 *state = &w->sleeper.state, polls = LK_POLLING;

	/* [cond.E] RELEASE, pairs with cond.B: as below. Nobody has to wake it. */
	if (w->polled && try_cmpxchg_release(state, &polls, LK_SIGNALLED))
		return false;
	/* [cond.A] RELEASE, pairs with cond.B: we are done with the waiter, and
	 * it sees owes. */
	smp_store_release(state, LK_SIGNALLED);
	return wake_value(state);
}

/* One that owes is done with @c. */
static void settle(struct lk_cond *c)
{
	/* [cond.C] RELEASE, pairs with cond.D: before it is freed. */
	(void)atomic_sub_return_release(1, &c->owed);
}

/* -- waiting ------------------------------------------------------------- */

void lk_cond_enqueue(struct lk_cond *c, struct lk_cond_waiter *w,
		     struct lk_mutex *m, bool cancellable)
{
	void *outer;

	*w = (struct lk_cond_waiter){
		.sleeper.state = LK_ASLEEP,
		.sleeper.ring.priority = this_priority(),
		.cond = c,
		.mutex = m,
		.phase = WAITING,
		.cancellable = cancellable,
	};
	outer = list_lock(c);
	begin_polling(c, w);
	lk_ring_insert(&c->first, &w->sleeper.ring);
	list_unlock(c, outer);
}

int lk_cond_sleep(struct lk_cond_waiter *w, const struct lkp_deadline *deadline)
{
	u32 *state = &w->sleeper.state;
	int err = 0;

	lk_cond_poll(w, deadline);
	while (!err && READ_ONCE(*state) == LK_ASLEEP)
		err = wait_on_value(state, LK_ASLEEP, deadline, NO_NAPS);
	return err;
}

bool lk_cond_leave(struct lk_cond_waiter *w)
{
	struct lk_cond *c = w->cond;
	u32 phase = WAITING;
	void *outer;

	if (!try_cmpxchg_relaxed(&w->phase, &phase, LEAVING))
		return false;
	outer = list_lock(c);
	lk_ring_remove(&c->first, &w->sleeper.ring);
	if (w->polled && !is_polling(w))
		learn(c, w);
	list_unlock(c, outer);
	return true;
}

bool lk_cond_is_leaving(const struct lk_cond_waiter *w)
{
	return READ_ONCE(w->phase) == LEAVING;
}

/* Until the claimer is done with @w. The state says which way it went. */
static u32 wait_for_claimer(struct lk_cond_waiter *w)
{
	lk_cond_sleep(w, NULL);
	/* [cond.B] ACQUIRE, pairs with cond.A, cond.E and mutex.J. */
	return smp_load_acquire(&w->sleeper.state);
}

bool lk_cond_relock(struct lk_cond_waiter *w)
{
	/* Called again, it may have got the mutex already. */
	if (w->on_mutex && !w->sleeper.queued)
		return true;
	/* On the mutex's list it has no claimer to wait for. */
	if (!w->on_mutex && wait_for_claimer(w) == LK_SIGNALLED) {
		if (w->owes)
			settle(w->cond);
		w->owes = false;
		return false;
	}
	w->sleeper.queued = true;
	w->on_mutex = true;
	lk_mutex_sleep_moved(w->mutex, &w->sleeper);
	return true;
}

void lk_cond_done(struct lk_cond_waiter *w)
{
	if (w->sleeper.moved)
		lk_mutex_was_pulled(w->mutex);
}

void lk_cond_give_up(struct lk_cond_waiter *w)
{
	if (w->sleeper.moved)
		lk_mutex_pulled_in_vain(w->mutex);
}

void lk_cond_cancel(struct lk_cond_waiter *w)
{
	if (lk_cond_leave(w)) {
		WRITE_ONCE(w->sleeper.state, LK_SIGNALLED);
		return;
	}
	wait_for_claimer(w);
	if (w->owes)
		lk_cond_signal(w->cond);
}

int lk_cond_wait(struct lk_cond *c, struct lk_mutex *m,
		 const struct lkp_deadline *deadline)
{
	struct lk_cond_waiter w;
	int err;

	lk_cond_enqueue(c, &w, m, false);
	lk_mutex_unlock(m);
	err = lk_cond_sleep(&w, deadline);
	if (err && lk_cond_leave(&w)) {
		lk_mutex_lock(m);
		return err;
	}
	if (!lk_cond_relock(&w))
		lk_mutex_lock(m);
	lk_cond_done(&w);
	return 0;
}

/* -- signalling ---------------------------------------------------------- */

/* For a handler that could not. */
static void wake_all(void *c)
{
	lk_cond_broadcast(c);
}

/*
 * False: nobody waits; or the caller is a signal handler, and the thread that it interrupted
 * will wake all.
 */
static bool lock_to_claim(struct lk_cond *c, void **outer)
{
	/* If our thread is in a section of @c, it may be about to queue. */
	if (!lk_ring_first(&c->first) && !in_section(c))
		return false;
	if (in_any_section()) {
		if (lk_epoch_is_old(&c->epoch) && !in_section(c))
			forget_inside(c);
		return lk_wait_list_try_to_look(c, &c->lock, &c->epoch,
						wake_all, outer);
	}
	*outer = list_lock(c);
	return true;
}

/*
 * Once its waiter is told, @c may be gone. If there are others, we may have to look again:
 * then we owe, so that who frees @c waits for us.
 */
void lk_cond_signal(struct lk_cond *c)
{
	bool owes = false, others;
	struct lk_cond_waiter *w;
	void *outer;

	do {
		if (!lock_to_claim(c, &outer))
			break;
		w = claim(c, true);
		others = w && lk_ring_first(&c->first);
		if (others && !owes)
			atomic_add(1, &c->owed);
		owes |= others;
		list_unlock(c, outer);
	} while (w && !tell(w) && others);
	if (owes)
		settle(c);
}

/* One that polls is told: it is awake. */
static bool is_to_move(struct lk_cond_waiter *w)
{
	return w->mutex && !is_polling(w);
}

/* Of @w and those after it, to @m: each mutex has its last one. */
static bool any_to_move(struct lk_cond_waiter *w, const struct lk_mutex *m)
{
	while (w && !(w->mutex == m && is_to_move(w)))
		w = w->next;
	return w;
}

void lk_cond_broadcast(struct lk_cond *c)
{
	struct lk_cond_waiter *claimed = NULL, **end = &claimed, *w;
	void *outer;

	if (!lock_to_claim(c, &outer))
		return;
	while ((w = claim(c, false))) {
		*end = w;
		end = &w->next;
	}
	list_unlock(c, outer);
	for (; claimed; claimed = w) {
		w = claimed->next;
		if (!is_to_move(claimed) ||
		    !lk_mutex_move(claimed->mutex, &claimed->sleeper,
				   !any_to_move(w, claimed->mutex)))
			tell(claimed);
	}
}

void lk_cond_destroy(struct lk_cond *c)
{
	u32 rounds = 0;
	bool empty;
	void *outer;

	for (;;) {
		outer = list_lock(c);
		empty = !lk_ring_first(&c->first);
		list_unlock(c, outer);
		if (empty)
			break;
		cpu_relax_wait(&rounds);
	}
	/* [cond.D] ACQUIRE, pairs with cond.C. */
	(void)atomic_cond_read_acquire(&c->owed, !VAL);
}

/* -- catalogue ----------------------------------------------------------- */

/* A lock made of a mutex and a condition variable: what can be tortured. */
struct monitor {
	struct lk_mutex mutex;
	struct lk_cond free;
	u32 unlocks;
	bool held;
};

static void init(void *lock)
{
	*(struct monitor *)lock = (struct monitor){ .held = false };
}

static bool enter(struct monitor *m, const struct lkp_deadline *deadline)
{
	bool late = false;

	lk_mutex_lock(&m->mutex);
	while (m->held && !late)
		late = lk_cond_wait(&m->free, &m->mutex, deadline);
	late = m->held;
	m->held = true;
	lk_mutex_unlock(&m->mutex);
	return !late;
}

static void lock(void *lock)
{
	enter(lock, NULL);
}

static bool trylock(void *lock)
{
	struct monitor *m = lock;
	bool free;

	if (!lk_mutex_trylock(&m->mutex))
		return false;
	free = !m->held;
	m->held = true;
	lk_mutex_unlock(&m->mutex);
	return free;
}

static bool timedlock(void *lock, u64 ns)
{
	struct lkp_deadline deadline;

	deadline_after(&deadline, ns);
	return enter(lock, &deadline);
}

/* One in eight wakes all, so that both ways are tortured. */
static void unlock(void *lock)
{
	struct monitor *m = lock;

	lk_mutex_lock(&m->mutex);
	m->held = false;
	if (m->unlocks++ % 8 == 0)
		lk_cond_broadcast(&m->free);
	else
		lk_cond_signal(&m->free);
	lk_mutex_unlock(&m->mutex);
}

const struct lk_ops lk_cond_ops = {
	.name = "cond",
	.summary = "a lock made of a mutex and a condition variable",
	.size = sizeof(struct monitor),
	.align = _Alignof(struct monitor),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.timedlock = timedlock,
	.unlock = unlock,
};

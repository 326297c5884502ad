// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The read/write lock of glibc 2.25 and later, of the default kind, which prefers
 * readers. Two things in one word: a lock among writers, whose holder is the first
 * writer, and the phase, which says whether readers or the first writer may hold.
 *
 *   state  bit 0  P  write phase
 *          bit 1  W  there is a first writer
 *          bits 2-31 readers that hold, or wait for a read phase
 *   turn   follows P: a thread that waits for another phase sleeps here
 *   gate   1 while there is a first writer: the other writers sleep here
 *
 * Bit 1 of turn and gate: somebody may be asleep there. As (P, W, readers):
 *
 *   (-,-,n) --read--> (-,-,n+1) --read unlock--> (-,-,n)   an addition, a CAS
 *   (-,-,0) --write--> (-,W,0) --> (P,W,0) --unlock--> (P,-,0)
 *   (P,-,0) --write--> (P,W,0)
 *   (P,-,0) --read--> (P,-,1) --> (-,-,1), and turn follows: all asleep are woken
 *   (-,W,n) readers hold, go on coming, and the first writer sleeps on turn
 *   (-,W,1) --read unlock--> (P,W,0), turn follows, and the first writer is woken
 *   (P,W,n) a writer holds, and readers sleep on turn
 *   (P,W,n) --unlock--> (-,-,n), turn follows, and all readers are woken: they hold
 *
 * Invariants: W is set by its holder alone. Readers hold while P is clear, and the
 * first writer while it is set. A thread that changes P changes turn next. A thread that
 * finds the wrong phase waits for both. Nobody spins before it sleeps. An unlock by a writer wakes one
 * of the other writers, which competes with arrivals. A writer waits as long as readers
 * overlap.
 *
 * Written from the description at the head of glibc's nptl/pthread_rwlock_common.c
 * (Torvald Riegel, 2016): the fields, the states, who sleeps on which word and who wakes
 * whom. The order of the atomic operations is glibc's too, because these operations take
 * the time. The code is this file's own. Left out: kinds that prefer writers (and the
 * count of writers, which only they use), deadlines, sharing by processes. The kernel
 * wakes all sleepers in one call; here they are woken one by one, and the last call
 * finds nobody.
 */
#include "catalogue.h"

struct lk_glibc_rwlock {
	atomic_t state;
	u32 turn;
	u32 gate;
	u32 owner; /* the writer that holds */
};

#define WRITE_PHASE 1u
#define FIRST	    2u
#define READER	    4u
#define HAS_READERS (~(u32)(WRITE_PHASE | FIRST))

/* In turn and gate. */
#define CLOSED 1u /* in turn: a write phase */
#define ASLEEP 2u

/*
 * glibc's calls look whether the caller itself holds to write. Here only the time
 * that this takes counts.
 */
static inline void look_at_owner(struct lk_glibc_rwlock *l)
{
	(void)READ_ONCE(l->owner);
}

/* Sleeps once if the word is @closed; false: it is not. */
static bool sleep_while(u32 *word, u32 closed, u32 *naps)
{
	u32 seen = READ_ONCE(*word);

	if ((seen & CLOSED) != closed)
		return false;
	if (!(seen & ASLEEP) &&
	    !try_cmpxchg_relaxed(word, &seen, closed | ASLEEP))
		return true;
	wait_on_value(word, closed | ASLEEP, NULL, *naps);
	++*naps;
	return true;
}

/* The phase is @phase by now: lets all go on who sleep for it. */
static void follow(struct lk_glibc_rwlock *l, u32 phase)
{
	/* [glibc_rw.C] FULL, pairs with glibc_rw.A: only that nothing is lost of the
	 * word matters, and the kernel's names have no weaker exchange. Spare
	 * acq_rel, release and acquire: state orders. */
	if (xchg(&l->turn, phase) & ASLEEP) {
		while (wake_value(&l->turn))
			;
	}
}

/*
 * Until the phase is @phase, and whoever began it has said so in turn. A turn that
 * looks right before the state does is of an earlier phase.
 */
static void await(struct lk_glibc_rwlock *l, u32 phase)
{
	u32 naps = 0;

	for (;;) {
		bool is_new;

		/* [glibc_rw.A] ACQUIRE, pairs with glibc_rw.B. */
		is_new =
			(atomic_read_acquire(&l->state) & WRITE_PHASE) == phase;
		if (sleep_while(&l->turn, phase ^ CLOSED, &naps))
			continue;
		if (is_new)
			return;
		cpu_relax();
	}
}

static void read_lock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	u32 state;

	look_at_owner(l);
	/* [glibc_rw.A] ACQUIRE, pairs with glibc_rw.B: see the last writer's
	 * writes. */
	state = (u32)atomic_fetch_add_acquire(READER, &l->state) + READER;
	if (!(state & WRITE_PHASE))
		return;
	while ((state & (WRITE_PHASE | FIRST)) == WRITE_PHASE) {
		/* [glibc_rw.A] */
		if (atomic_try_cmpxchg_acquire(&l->state, &state,
					       state & ~WRITE_PHASE)) {
			follow(l, 0);
			return;
		}
	}
	/* Also if the phase has changed by now: it was somebody else. */
	await(l, 0);
}

static void read_unlock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	u32 state, next;

	look_at_owner(l);
	state = atomic_read(&l->state);
	do {
		next = state - READER;
		if (next == FIRST)
			next |= WRITE_PHASE;
		/* [glibc_rw.B] FULL, pairs with glibc_rw.A and glibc_rw.B: a
		 * writer sees that the reads are done. And who turns the phase
		 * changes turn after the reader that turned it before. */
	} while (!atomic_try_cmpxchg(&l->state, &state, next));
	if (next & WRITE_PHASE)
		follow(l, CLOSED);
}

/* Waits until there is no first writer, and becomes it: the state before. */
static u32 be_first(struct lk_glibc_rwlock *l)
{
	u32 state = atomic_read(&l->state), naps = 0;

	for (;;) {
		/* [glibc_rw.A] Made even if there is one: the instruction is that
		 * of an exchange. */
		while (!atomic_try_cmpxchg_acquire(&l->state, &state,
						   state | FIRST))
			;
		if (!(state & FIRST))
			break;
		do {
			if (!sleep_while(&l->gate, CLOSED, &naps))
				cpu_relax();
			state = atomic_read(&l->state);
		} while (state & FIRST);
	}
	/* One that has slept knows not who else does. */
	WRITE_ONCE(l->gate, naps ? CLOSED | ASLEEP : CLOSED);
	return state;
}

/* The first writer does it itself where nobody reads. */
static bool begin_write_phase(struct lk_glibc_rwlock *l, u32 state)
{
	while (!(state & (HAS_READERS | WRITE_PHASE))) {
		/* [glibc_rw.A] */
		if (atomic_try_cmpxchg_acquire(&l->state, &state,
					       FIRST | WRITE_PHASE)) {
			WRITE_ONCE(l->turn, CLOSED);
			return true;
		}
	}
	return false;
}

static void lock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	u32 state;

	look_at_owner(l);
	state = be_first(l);
	if (!(state & WRITE_PHASE) && !begin_write_phase(l, state | FIRST))
		await(l, CLOSED);
	WRITE_ONCE(l->owner, next_owner(0));
}

static void unlock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	bool wake;
	u32 state, next;

	look_at_owner(l);
	WRITE_ONCE(l->owner, 0);
	/* [glibc_rw.C] */
	wake = xchg(&l->gate, 0) & ASLEEP;
	state = atomic_read(&l->state);
	do {
		next = state & HAS_READERS ? state & HAS_READERS : WRITE_PHASE;
		/* [glibc_rw.B] RELEASE, pairs with glibc_rw.A: publish the
		 * section. */
	} while (!atomic_try_cmpxchg_release(&l->state, &state, next));
	if (next != WRITE_PHASE)
		follow(l, 0);
	if (wake)
		wake_value(&l->gate);
}

static bool read_trylock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	u32 state = atomic_read(&l->state);

	do {
		if ((state & WRITE_PHASE) && (state & FIRST))
			return false;
		/* [glibc_rw.A] */
	} while (!atomic_try_cmpxchg_acquire(&l->state, &state,
					     (state & ~WRITE_PHASE) + READER));
	if (state & WRITE_PHASE)
		follow(l, 0);
	return true;
}

static bool trylock(void *lock)
{
	struct lk_glibc_rwlock *l = lock;
	u32 state = atomic_read(&l->state);

	do {
		if (state & ~WRITE_PHASE)
			return false;
		/* [glibc_rw.A] */
	} while (!atomic_try_cmpxchg_acquire(&l->state, &state,
					     FIRST | WRITE_PHASE));
	WRITE_ONCE(l->gate, CLOSED);
	if (!(state & WRITE_PHASE))
		WRITE_ONCE(l->turn, CLOSED);
	WRITE_ONCE(l->owner, next_owner(0));
	return true;
}

static void init(void *lock)
{
	*(struct lk_glibc_rwlock *)lock =
		(struct lk_glibc_rwlock){ .state = ATOMIC_INIT(0) };
}

const struct lk_ops lk_glibc_rwlock_ops = {
	.name = "glibc_rwlock",
	.summary = "glibc's read/write lock: prefers readers, waiters sleep at "
		   "once",
	.size = sizeof(struct lk_glibc_rwlock),
	.align = _Alignof(struct lk_glibc_rwlock),
	.flags = LK_RW | LK_SLEEPS,
	.init = init,
	.lock = lock,
	.trylock = trylock,
	.unlock = unlock,
	.read_lock = read_lock,
	.read_trylock = read_trylock,
	.read_unlock = read_unlock,
};

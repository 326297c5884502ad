// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The mutexes of one word on which waiters sleep, as C and Rust libraries have
 * them: glibc's default kind, and that of Rust's standard library on Linux.
 *
 *   0  free
 *   1  held, and nobody has to be woken
 *   2  held, and somebody may be asleep: its unlock wakes one
 *
 *   0 --lock--> 1 --unlock--> 0                 one RMW each
 *   1 --a waiter, before it sleeps--> 2
 *   2 --unlock--> 0, and one is woken, which makes it 2 again when it takes it:
 *                 it does not know who else is asleep
 *
 * Invariants: who changes the word from 0 holds; while somebody is asleep or about
 * to be, the word is 2, or one that was woken is about to look. Sleepers may be
 * passed for ever: there is no hand-off.
 *
 * glibc_mutex sleeps at once. std_mutex looks a hundred times first, as long as the
 * word is 1. Written from the protocol that Drepper, "Futexes Are Tricky" (2011),
 * describes as mutex 2, and from what the documentation of the two says of
 * spinning. Left out: kinds, robustness, priorities, lock elision.
 */
#include "catalogue.h"

struct lk_futex_mutex {
	u32 word;
};

#define FREE	   0u
#define HELD	   1u
#define CONTENDED  2u
#define STD_ROUNDS 100u

static inline bool take(struct lk_futex_mutex *m)
{
	u32 word = FREE;

	/* [futex_mutex.A] ACQUIRE, pairs with futex_mutex.B: see the last holder's
	 * writes. */
	return try_cmpxchg_acquire(&m->word, &word, HELD);
}

static bool trylock(void *lock)
{
	return take(lock);
}

/* Looks for as long as it is held and nobody is asleep: the word then. */
static u32 look(struct lk_futex_mutex *m, u32 most)
{
	u32 word = READ_ONCE(m->word), rounds = 0;

	while (word == HELD && rounds < most) {
		cpu_relax_wait(&rounds);
		word = READ_ONCE(m->word);
	}
	return word;
}

static void lock_slow(struct lk_futex_mutex *m, u32 rounds)
{
	u32 naps = 0;

	if (look(m, rounds) == FREE && take(m))
		return;
	/* [futex_mutex.A] */
	while (READ_ONCE(m->word) == CONTENDED ||
	       xchg_acquire(&m->word, CONTENDED) != FREE) {
		wait_on_value(&m->word, CONTENDED, NULL, naps++);
		if (rounds)
			(void)look(m, rounds);
	}
}

static void lock_glibc(void *lock)
{
	if (unlikely(!take(lock)))
		lock_slow(lock, 0);
}

static void lock_std(void *lock)
{
	if (unlikely(!take(lock)))
		lock_slow(lock, STD_ROUNDS);
}

static void unlock(void *lock)
{
	struct lk_futex_mutex *m = lock;

	/* [futex_mutex.B] FULL, pairs with futex_mutex.A: publish the section. The
	 * kernel's names have no exchange that only releases. */
	if (xchg(&m->word, FREE) == CONTENDED)
		wake_value(&m->word);
}

static void init(void *lock)
{
	((struct lk_futex_mutex *)lock)->word = FREE;
}

const struct lk_ops lk_glibc_mutex_ops = {
	.name = "glibc_mutex",
	.summary = "glibc's mutex: one word, waiters sleep at once",
	.size = sizeof(struct lk_futex_mutex),
	.align = _Alignof(struct lk_futex_mutex),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock_glibc,
	.trylock = trylock,
	.unlock = unlock,
};

const struct lk_ops lk_std_mutex_ops = {
	.name = "std_mutex",
	.summary = "Rust's std mutex: one word, 100 looks, then sleep",
	.size = sizeof(struct lk_futex_mutex),
	.align = _Alignof(struct lk_futex_mutex),
	.flags = LK_SLEEPS,
	.init = init,
	.lock = lock_std,
	.trylock = trylock,
	.unlock = unlock,
};

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* adapt.h says what this is for. */
#include "adapt.h"
#include "epoch.h"
#include "events.h"

/* A lock at which nobody has looked for so many windows is no longer contended. */
#define IDLE_WINDOWS 16u
/* While threads spin, one in so many acquisitions is a reason to look at the clock. */
#define LOOK_EACH 16u

/* 64 bytes. But for lock, began and way, under busy. */
struct learned {
	const void *lock;
	u32 began; /* the window: local_clock() in units of 1,024 ns */
	u32 hint;  /* the holder's, then */
	u8 way;	   /* a way, and ON_TRIAL if it is not the best one so far */
	u8 settling;
	u8 busy; /* 0, or BUSY and the epoch of the thread in enter() and leave() */
	struct lk_choice choice;
};

#define BUSY	 0x80u
#define ON_TRIAL 0x80u
#define ENTRIES	 256u

static struct learned table[ENTRIES] ____cacheline_aligned;

static struct learned *learned_of(const void *lock)
{
	/* The multiplicative hash of Knuth's volume 3, by the upper bits. */
	return &table[(u32)(address_of(lock) >> 3) * 2654435769u >> 24];
}

/*
 * False: another thread is inside, or the one that this signal handler interrupts. One
 * of an older epoch was not copied by a fork, and is not inside.
 */
static bool enter(struct learned *l)
{
	u8 busy = BUSY | lk_epoch_today(), seen = READ_ONCE(l->busy);

	/* [adapt.A] ACQUIRE, pairs with adapt.B: the last thread's window. */
	return seen != busy && try_cmpxchg_acquire(&l->busy, &seen, busy);
}

static void leave(struct learned *l)
{
	/* [adapt.B] RELEASE, pairs with adapt.A. */
	smp_store_release(&l->busy, 0);
}

static void begin_window(struct learned *l, u32 at, u32 hint)
{
	WRITE_ONCE(l->began, at);
	l->hint = hint;
}

static void begin_anew(struct learned *l, const void *lock, u32 at, u32 hint)
{
	WRITE_ONCE(l->lock, lock);
	WRITE_ONCE(l->way, LK_WAY_SPIN);
	l->settling = 0;
	l->choice = (struct lk_choice){ .best = LK_WAY_SPIN };
	begin_window(l, at, hint);
}

/* Its lock is contended: ends the window, if it has lasted long enough. */
static void go_on(struct learned *l, u32 at, u32 hint, u32 ways)
{
	u32 time = at - l->began, turns = turns_between(l->hint, hint);
	u32 way, next;

	if (l->settling) {
		if (time < adapt_settle())
			return;
		l->settling = 0;
	} else {
		way = l->way & ~ON_TRIAL;
		if (!lk_choice_is_over(&l->choice, way, turns, time))
			return;
		next = lk_choice_next(&l->choice, way, turns, time, ways);
		if (next != way) {
			l->settling = 1;
			count_event(LK_EV_adapt_changed);
		}
		if (next != l->choice.best)
			next |= ON_TRIAL;
		WRITE_ONCE(l->way, (u8)next);
	}
	begin_window(l, at, hint);
}

static u32 read_way(const void *lock)
{
	struct learned *l = learned_of(lock);

	return READ_ONCE(l->lock) == lock ? READ_ONCE(l->way) : LK_WAY_SPIN;
}

u32 lk_adapt_way(const void *lock)
{
	return read_way(lock) & ~ON_TRIAL;
}

bool lk_adapt_is_on_trial(const void *lock)
{
	return read_way(lock) & ON_TRIAL;
}

/*
 * Whether the window has just begun. A thread may come late with its look at the clock, and
 * another one has begun the window meanwhile: then @time is that much below 0.
 */
static bool is_early(u32 time)
{
	const u32 late = 1u << 24; /* 17 s */

	return time + late < adapt_settle() + late;
}

__cold void lk_adapt_look_at(const void *lock, u32 hint, u32 ways, u32 at)
{
	struct learned *l = learned_of(lock);
	u32 time;

	if (is_early(at - READ_ONCE(l->began)) || !enter(l))
		return;
	time = at - l->began;
	if (time >= IDLE_WINDOWS * adapt_window() && !is_early(time))
		begin_anew(l, lock, at, hint);
	else if (l->lock == lock && !is_early(time))
		go_on(l, at, hint, ways);
	leave(l);
}

__cold void lk_adapt_look(const void *lock, u32 hint, u32 ways)
{
	/* To look at the clock costs as much as a short section. */
	if (lk_adapt_way(lock) == LK_WAY_SPIN &&
	    turns_between(0, hint) % LOOK_EACH)
		return;
	lk_adapt_look_at(lock, hint, ways, (u32)(local_clock() >> 10));
}

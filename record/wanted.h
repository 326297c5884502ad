/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_WANTED_H
#define REC_WANTED_H

/* What threads see of locks that others hold or wait for. All of it is hints. */
#include "site.h"

/* By number. */
extern struct rec_thread **rec_threads;

/*
 * A lock for which a wait is watched, or was a moment ago. Who takes it says so here, and who
 * releases it says when. Not of all waits: holders on two CPUs would pass this line to and fro
 * like the lock's own. Locks that share an entry overwrite each other's.
 */
struct rec_wanted {
	u64 released; /* ticks */
	u64 site;     /* of the latest acquisition; as in struct rec_site */
	u64 met; /* the hold in which a watched wait began, and when: one store writes both */
	u32 thread; /* its number plus 1; 0: unknown */
	u32 pad[9];
};

/* In rec_wanted.met: which hold, and above that the time in units of 1024 ticks. */
#define REC_MET_BITS 24
#define REC_MET_UNIT 10

#define REC_WANTED 4096u
extern struct rec_wanted *rec_wanted;
/* Whose entry it is. Seldom written, so a holder does not wait for it before it releases. */
extern void **rec_wanted_lock;
/* The same as a flag, which each call reads. Seldom written, so each CPU has its copy. */
extern u8 rec_is_wanted[REC_WANTED];

/* Locks that are neighbours have neighbouring flags: few lines for a program's hot locks. */
static inline u32 rec_wanted_at(void *lock)
{
	return (u32)((u64)lock >> 5 ^ (u64)lock >> 17) % REC_WANTED;
}

/* Somebody waits for the lock, or will soon; or for another one with the same flag. */
static inline bool rec_has_flag(void *lock)
{
	return READ_ONCE(rec_is_wanted[rec_wanted_at(lock)]);
}

/* What the lock's entry says is of this lock. */
static inline bool rec_has_entry(void *lock)
{
	return READ_ONCE(rec_wanted_lock[rec_wanted_at(lock)]) == lock;
}

/* Somebody waits for this lock. */
static inline bool rec_is_wanted_for(void *lock)
{
	return rec_has_flag(lock) && rec_has_entry(lock);
}

/* A thread that has taken the lock calls this if the lock's flag is set. */
__cold void rec_show_holder(const struct rec_thread *t,
			    const struct rec_site *s, void *lock);

/*
 * Thread @t is about to wait for @lock. Returns the number of the thread that holds it, plus
 * 1, and in *@site the address of that one's call; 0: not known. If @watched, @lock is wanted
 * from now on.
 */
u32 rec_find_holder(struct rec_thread *t, void *lock, u64 *site, bool watched);
/*
 * Since when this hold, which @s's thread ends now, is known to last: from the first watched wait that
 * began in it. 0: none did, as far as is known.
 */
u64 rec_met_since(const struct rec_wanted *w, const struct rec_site *s,
		  u64 now);
/* The caller is seen to wait for @lock now; until then its flag may have been cleared. */
static inline void rec_still_wanted(void *lock)
{
	if (unlikely(!rec_has_flag(lock)) && rec_has_entry(lock))
		WRITE_ONCE(rec_is_wanted[rec_wanted_at(lock)], 1);
}

/* @t has released @lock, which another thread may have taken: that one does not hold it now. */
__cold void rec_released_for_another(struct rec_thread *t, void *lock);
/* Thread @t has released a lock whose flag is set, which may be for another lock. */
void rec_wanted_released(struct rec_wanted *w, struct rec_thread *t);

#endif

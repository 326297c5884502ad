/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_WRAPPER_H
#define REC_WRAPPER_H

/*
 * Functions that lock and return while the lock is held, as Mutex::Lock() does. All calls
 * for locks come from there, so the call that says something is the one of that function.
 * It is found on the stack at a distance that is learned from the stacks of waits.
 */
#include "atomic.h"

#define REC_WRAPPERS 1024u
/* A wrapper may be called by another one, and so on. */
#define REC_WRAPPED 4

struct rec_wrapper {
	u64 site; /* where the call in the wrapper returns to; 0: none */
	/* From where the stack ends behind that call to where it ends behind the wrapper's. */
	u64 frame;
};
extern struct rec_wrapper rec_wrappers[REC_WRAPPERS]
	__attribute__((visibility("hidden")));

static inline struct rec_wrapper *rec_wrapper(u64 site)
{
	return &rec_wrappers[(site ^ site >> 10) % REC_WRAPPERS];
}

/* The call outside of all wrappers. @end: of the stack, behind the call that is at @site. */
static inline void *rec_outside(u64 site, u64 end)
{
	for (u32 i = 0; i < REC_WRAPPED; i++) {
		const struct rec_wrapper *w = rec_wrapper(site);

		if (likely(READ_ONCE(w->site) != site))
			break;
		end += READ_ONCE(w->frame);
		site = ((const u64 *)end)[-1];
	}
	return (void *)site;
}

/* In a function that replaces a call that locks: that call. */
#define LOCKER                                        \
	rec_outside((u64)__builtin_return_address(0), \
		    (u64)__builtin_frame_address(0) + 16)

/* A wait from whose hold it will be seen whether the function that locked is a wrapper. */
struct rec_asked {
	void *lock; /* NULL: it is not held yet, or nothing is asked */
	u64 site;
	u64 frame;
	u64 at; /* where the stack has the function's return address; 0: nothing is asked */
	u64 back; /* that address */
};

struct rec_thread;

/*
 * @t will wait for a lock, and nothing is asked: @frame are the @n return addresses from
 * @site outwards. With none a wrapper was taken for one that is none.
 */
void rec_wrapper_ask(struct rec_thread *t, u64 site, void **frame, u32 n);
/* The lock that the question is about is released: has the function returned? */
void rec_wrapper_answer(struct rec_thread *t);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_CUT_OFF_H
#define PRE_CUT_OFF_H

/*
 * A lock call may end early, though POSIX does not promise that it can: by a long jump
 * or pthread_exit() in a handler that interrupted it, or by asynchronous cancellation.
 * Then the call takes its waiter off the lock's list, while the lock still exists.
 *
 * A call that is about to wait says so between pre_cut_off_begin() and
 * pre_cut_off_end(). It registers a cleanup with glibc's calls for old programs, whose
 * cleanups run at a long jump too, as glibc's own waits do.
 *
 * Cancellation is let in while the thread sleeps, if its type is asynchronous.
 */
#include "preload.h"

struct pre_cut_off {
	struct _pthread_cleanup_buffer buffer;
	/* Puts things right; false: it cannot, and the process has to end. */
	bool (*leave)(struct pre_cut_off *call);
	u32 depth;	/* lkp_self.depth when the call began */
	bool cancel_in; /* lkp_self.cancel_in likewise */
};

/* Asynchronous cancellation of the calling thread was possible until now. */
static inline bool pre_cut_off_is_async(const struct pre_cut_off *call)
{
	return call->buffer.__canceltype == PTHREAD_CANCEL_ASYNCHRONOUS;
}

/* @leave: see there. */
void pre_cut_off_begin(struct pre_cut_off *call,
		       bool (*leave)(struct pre_cut_off *call));
void pre_cut_off_end(struct pre_cut_off *call);
/* Between the two: a thread of asynchronous type that was cancelled ends here. */
void pre_cut_off_let_cancel(void);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_TAKE_BACK_H
#define REC_TAKE_BACK_H

/* How a condition wait takes its mutex back, where that is seen. */
#include "calls.h"

/* On the stack of the wait. */
struct rec_back {
	struct rec_waiting waiting;
	struct rec_thread *t;
	pthread_cond_t *c;
	pthread_mutex_t *m;
	void *site;
	u64 since; /* ticks */
	struct rec_site *s;
	struct rec_back *outer; /* of a signal handler that interrupted it */
	bool waits;
};

/* The locks are an interposer's that says when a mutex is taken back. */
extern bool rec_sees_back;
/* Before the first thread. */
void rec_back_prepare(void);
void rec_back_begin(struct rec_back *b, struct rec_thread *t, pthread_cond_t *c,
		    pthread_mutex_t *m, void *site);
/* @err of the condition wait. True: the mutex was waited for, and its hold has begun. */
bool rec_back_end(struct rec_back *b, int err);
void rec_back_broadcast(pthread_cond_t *c);

#endif

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A mutex that is taken back at the end of a wait for a condition variable. A policy's
 * interposer says when that begins; glibc's wait does not, and then nothing of this is seen. If
 * the mutex is held by then, the rest is a wait for it, at the site of the condition wait. It is
 * no acquisition: the thread had the mutex before.
 */
#define _GNU_SOURCE
#include "take_back.h"
#include "stack.h"

#include "watch.h"

#include <dlfcn.h>

bool rec_sees_back;
/* The condition wait in which the thread is. */
static __thread struct rec_back *mine;
/* When each condition variable was last broadcast. Those that share an entry overwrite it. */
static u64 broadcast_at[REC_WANTED];

static void takes_back(pthread_mutex_t *m, bool moved)
{
	struct rec_back *b = mine;
	u64 moved_at;

	if (!b || b->m != m || b->waits || (!moved && !m->__data.__lock))
		return;
	b->s = rec_site(b->t, m, b->site, REC_BACK);
	rec_wait_begin(&b->waiting, b->t, b->s, m);
	b->waiting.back = true;
	b->t->asked.at = 0; /* no function that locks called this */
	if (rec_all_stacks)
		b->waiting.stack = NULL; /* those are of acquisitions */
	moved_at = READ_ONCE(broadcast_at[rec_wanted_at(b->c)]);
	if (moved && moved_at > b->since && moved_at < b->waiting.since)
		b->waiting.since = moved_at;
	b->waits = true;
}

void rec_back_prepare(void)
{
	pre_takes_back_fn **told = dlsym(RTLD_NEXT, "pre_takes_back");

	if (told)
		*told = takes_back;
	else
		dlerror(); /* the program's first is not ours */
	rec_sees_back = told;
}

void rec_back_begin(struct rec_back *b, struct rec_thread *t, pthread_cond_t *c,
		    pthread_mutex_t *m, void *site)
{
	b->t = t;
	b->c = c;
	b->m = m;
	b->site = site;
	b->since = rec_ticks();
	b->waits = false;
	b->outer = mine;
	mine = b;
}

bool rec_back_end(struct rec_back *b, int err)
{
	mine = b->outer;
	if (!b->waits)
		return false;
	if (err == ETIMEDOUT)
		err = 0; /* that was the condition variable's */
	rec_wait_end(&b->waiting, b->t, b->s, err);
	return !err;
}

void rec_back_broadcast(pthread_cond_t *c)
{
	if (rec_sees_back)
		WRITE_ONCE(broadcast_at[rec_wanted_at(c)], rec_ticks());
}

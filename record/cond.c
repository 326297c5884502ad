// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * pthread_cond_* and cnd_*, which glibc makes of the same objects. A wait ends the hold of
 * its mutex and begins another. The mutex is taken back inside of the next definition, so
 * the time for that belongs to the wait, unless take_back.c sees it: then it is the mutex's.
 */
#include "probes.h"
#include "take_back.h"

#include "c11.h"

__asm__(".symver _pthread_cleanup_push, _pthread_cleanup_push@GLIBC_2.2.5");
__asm__(".symver _pthread_cleanup_pop, _pthread_cleanup_pop@GLIBC_2.2.5");
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer,
			   void (*routine)(void *), void *arg);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

struct wait {
	struct rec_thread *t;
	pthread_cond_t *c;
	pthread_mutex_t *m;
	struct rec_waiting waiting;
	struct rec_back back;
	struct rec_site *s;
	struct rec_site *mutex; /* of the acquisition; NULL: it was not seen */
	bool given_up;		/* the probes say so */
};

/* Who does not hold an error-checking mutex cannot give it up: its wait is refused. */
static bool can_be_given_up(const struct wait *w)
{
	return w->mutex ||
	       (w->m->__data.__kind & 3) != PTHREAD_MUTEX_ERRORCHECK_NP;
}

static void probe_taken_back(pthread_mutex_t *m)
{
	PRE_USDT(mutex_entry, m);
	PRE_USDT(mutex_acquired, m);
}

static void begin(struct wait *w, struct rec_thread *t, pthread_cond_t *c,
		  pthread_mutex_t *m, void *site)
{
	struct rec_ended e;
	struct rec_detail *d;

	w->t = t;
	w->c = c;
	w->m = m;
	w->s = rec_site(t, c, site, REC_COND);
	d = rec_detail(t, w->s);
	/* Woken, and at once back to sleep with the mutex held. */
	if (d && t->woken == c && t->woken_mutex == m &&
	    rec_ticks() - t->woken_at < REC_AT_ONCE)
		d->useless++;
	rec_release_begin(&e, t, m);
	rec_release_end(&e, t);
	w->mutex = e.s;
	t->away = NULL; /* it waits, and has the mutex again when it is back */
	rec_cond_begin(&w->waiting, t, w->s);
	rec_back_begin(&w->back, t, c, m, site);
	w->given_up = can_be_given_up(w);
	if (w->given_up)
		PRE_USDT(mutex_release, m);
}

/* It is held again also after a wait that was refused, or cancelled. */
static void end(struct wait *w, int err)
{
	struct rec_thread *t = w->t;
	bool is_back = rec_back_end(&w->back, err);

	if (w->given_up)
		probe_taken_back(w->m);
	if (is_back) /* that time is the mutex's */
		w->waiting.since += rec_ticks() - w->back.waiting.since;
	if (rec_cond_end(&w->waiting, t, w->s, err)) {
		t->woken = err ? NULL : w->c;
		t->woken_mutex = w->m;
		t->woken_at = rec_ticks();
	}
	/* It is no new acquisition, so it is not one inside of another lock. */
	if (!is_back && w->mutex)
		rec_hold_timed(t, w->mutex, rec_hold(t, w->mutex, w->m), 0, 0)
			->outer = NULL;
}

/* The thread is cancelled in the wait, and runs its own cleanups after this. */
static void cancelled(void *wait)
{
	end(wait, ECANCELED);
}

/*
 * The wait itself, by the next definition. Cleanups of glibc's calls for old programs run
 * at a long jump too, and its headers of today do not declare these.
 */
#define WAIT(w, NEXT_WAIT)                                     \
	({                                                     \
		struct _pthread_cleanup_buffer buffer_;        \
		int err_;                                      \
                                                               \
		_pthread_cleanup_push(&buffer_, cancelled, w); \
		err_ = NEXT_WAIT;                              \
		_pthread_cleanup_pop(&buffer_, 0);             \
		end(w, err_);                                  \
		err_;                                          \
	})

/* The same of a thread that is not recorded. */
#define BARE_WAIT(m, PASS_WAIT)             \
	({                                  \
		int err_;                   \
                                            \
		PRE_USDT(mutex_release, m); \
		err_ = PASS_WAIT;           \
		probe_taken_back(m);        \
		err_;                       \
	})

static inline int wait(pthread_cond_t *c, pthread_mutex_t *m, void *site)
{
	struct rec_thread *t = rec_thread();
	struct wait w;

	PRE_USDT2(cond_wait, c, m);
	if (unlikely(!t))
		return BARE_WAIT(m, PASS(pthread_cond_wait)(c, m));
	begin(&w, t, c, m, site);
	return WAIT(&w, NEXT(pthread_cond_wait)(c, m));
}

static inline int timed(pthread_cond_t *c, pthread_mutex_t *m,
			const struct timespec *when, void *site)
{
	struct rec_thread *t = rec_thread();
	struct wait w;

	if (!rec_is_right(when))
		return PASS(pthread_cond_timedwait)(c, m, when);
	PRE_USDT2(cond_wait, c, m);
	if (unlikely(!t))
		return BARE_WAIT(m, PASS(pthread_cond_timedwait)(c, m, when));
	begin(&w, t, c, m, site);
	return WAIT(&w, NEXT(pthread_cond_timedwait)(c, m, when));
}

/* -- pthread_cond_* ------------------------------------------------------ */

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return wait(c, m, CALLER);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *when)
{
	return timed(c, m, when, CALLER);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
				  clockid_t clock, const struct timespec *when)
{
	struct rec_thread *t = rec_thread();
	struct wait w;

	if (!rec_is_right(when) || !rec_is_clock(clock))
		return PASS(pthread_cond_clockwait)(c, m, clock, when);
	PRE_USDT2(cond_wait, c, m);
	if (unlikely(!t))
		return BARE_WAIT(
			m, PASS(pthread_cond_clockwait)(c, m, clock, when));
	begin(&w, t, c, m, CALLER);
	return WAIT(&w, NEXT(pthread_cond_clockwait)(c, m, clock, when));
}

/* -- cnd_* --------------------------------------------------------------- */

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	return lkp_thrd_result(
		wait((pthread_cond_t *)c, (pthread_mutex_t *)m, CALLER));
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
			 const struct timespec *restrict when)
{
	return lkp_thrd_result(
		timed((pthread_cond_t *)c, (pthread_mutex_t *)m, when, CALLER));
}

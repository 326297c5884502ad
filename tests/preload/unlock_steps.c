/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An unlock stopped after its 1st, 2nd, 3rd ... instruction.  At each stop a
 * waiter may already own the object; if so it unlocks it and takes its page
 * away.  What the unlock does from there on must not touch the page.
 */
#include "expect.h"
#include <ucontext.h>

enum { MOST_STEPS = 3000, PAUSE_US = 150, TRAP = 0x100 };
enum kind {
	NORMAL,
	RECURSIVE,
	ERRORCHECK,
	ADAPTIVE,
	DEEP,
	WRITER,
	READER,
	SPIN,
	KINDS
};

union object {
	pthread_mutex_t m;
	pthread_rwlock_t rw;
	pthread_spinlock_t spin;
};

static enum kind kind;
static int sleeper; /* the waiter queues; else it only tries */
static union object *_Atomic object;
static atomic_int stopped, answered, gone;
static int steps, stop_at;

/* The waiter's turn: one try, or a moment for the one that waits. */
static void pause_here(void)
{
	if (sleeper) {
		for (int i = 0; i < 3 && !gone; i++)
			nap_us(PAUSE_US / 3);
		return;
	}
	stopped = 1;
	while (!answered)
		sched_yield();
}

#ifdef __x86_64__
static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)info;
	if (++steps < stop_at)
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	pause_here();
}

static inline void step(int on)
{
	unsigned long long flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP
					  : flags & ~(unsigned long long)TRAP);
}
#else
/* No single steps: one stop, before the unlock. */
static void step(int on)
{
	if (on)
		pause_here();
}
#endif

static void make(union object *o)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP,
				     PTHREAD_MUTEX_RECURSIVE };

	if (kind <= DEEP)
		mutex_of_type(&o->m, types[kind]);
	else if (kind == SPIN)
		RET(pthread_spin_init(&o->spin, PTHREAD_PROCESS_PRIVATE), 0);
	else
		RET(pthread_rwlock_init(&o->rw, NULL), 0);
}

static void lock(union object *o)
{
	if (kind <= DEEP)
		RET(pthread_mutex_lock(&o->m), 0);
	else if (kind == SPIN)
		RET(pthread_spin_lock(&o->spin), 0);
	else if (kind == WRITER)
		RET(pthread_rwlock_wrlock(&o->rw), 0);
	else
		RET(pthread_rwlock_rdlock(&o->rw), 0);
	if (kind == DEEP) {
		RET(pthread_mutex_lock(&o->m), 0);
		RET(pthread_mutex_unlock(&o->m), 0);
	}
}

static int try(union object *o)
{
	return kind <= DEEP   ? pthread_mutex_trylock(&o->m)
	       : kind == SPIN ? pthread_spin_trylock(&o->spin)
			      : pthread_rwlock_trywrlock(&o->rw);
}

static int unlock(union object *o)
{
	return kind <= DEEP   ? pthread_mutex_unlock(&o->m)
	       : kind == SPIN ? pthread_spin_unlock(&o->spin)
			      : pthread_rwlock_unlock(&o->rw);
}

static void *waiter(void *arg)
{
	union object *o;

	while ((o = object) != (void *)-1) {
		int ret = 0;

		if (!o || (!sleeper && !stopped)) {
			sched_yield();
			continue;
		}
		object = NULL;
		if (sleeper && kind <= DEEP)
			RET(pthread_mutex_lock(&o->m), 0);
		else if (sleeper && kind < SPIN)
			RET(pthread_rwlock_wrlock(&o->rw), 0);
		else if (sleeper)
			RET(pthread_spin_lock(&o->spin), 0);
		else
			ret = try(o);
		if (ret == 0) {
			RET(unlock(o), 0);
			take_away(o);
			gone = 1;
		} else {
			EQ(ret, EBUSY);
		}
		answered = 1;
	}
	return arg;
}

/* Whether the unlock had an nth instruction to stop at. */
static int unlock_stopping_at(int n)
{
	union object *o = map_pages(4096, MAP_PRIVATE);
	int ret, reached_it;

	make(o);
	lock(o);
	stopped = 0;
	answered = 0;
	gone = 0;
	steps = 0;
	stop_at = n;
	object = o;
	if (sleeper)
		nap_us(PAUSE_US / 3); /* for it to queue */
	step(1);
	ret = unlock(o);
	step(0);
	EQ(ret, 0);
	reached_it = steps >= stop_at;
	stopped = 1;
	while (!answered)
		sched_yield();
	if (!gone)
		take_away(o);
	return reached_it;
}

static void on_fault(int sig)
{
	(void)sig;
	dprintf(2,
		"%s: kind %d, %s: touched the object after letting it go, step "
		"%d\n",
		__FILE__, kind, sleeper ? "with a waiter" : "alone", stop_at);
	_exit(1);
}

int main(void)
{
	pthread_t thread;

#ifdef __x86_64__
	struct sigaction action = { .sa_sigaction = on_step,
				    .sa_flags = SA_SIGINFO };

	EQ(sigaction(SIGTRAP, &action, NULL), 0);
#endif
	signal(SIGSEGV, on_fault);
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	for (sleeper = 0; sleeper < 2; sleeper++) {
		for (kind = 0; kind < KINDS; kind++) {
			int n = 1;

			unlock_stopping_at(MOST_STEPS *
					   100); /* symbols bound */
			do
				STAGE(n);
			while (unlock_stopping_at(n) && ++n < MOST_STEPS);
		}
	}
	object = (void *)-1;
	EQ(pthread_join(thread, NULL), 0);
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that reaches libc's own functions past any interposer, on the objects
 * the rest of the program uses: a plugin bound with RTLD_DEEPBIND, and calls
 * through pointers that dlsym found in libc.  Both sides exclude each other,
 * and neither waits for a wake-up that the other should have given.
 */
#include "expect.h"
#include "plugins/bypass.h"
#include <dlfcn.h>

enum { THREADS = 8, ROUNDS = 15000 };

static const struct calls here = CALLS;
static struct calls libc;
static const struct calls *plugin;
static const struct calls *sides[3];

static pthread_mutex_t m;
static pthread_spinlock_t spin;
static int type;
static long counter, spin_counter;

static void *body(void *arg)
{
	const struct calls *c = sides[(intptr_t)arg % 3];

	for (int i = 0; i < ROUNDS; i++) {
		struct timespec t;

		if (i % 7 == 0) {
			t = in_ms(CLOCK_REALTIME, 3600 * 1000L);
			RET(c->timedlock(&m, &t), 0);
		} else if (i % 11 == 0) {
			while (c->trylock(&m))
				sched_yield();
		} else {
			RET(c->lock(&m), 0);
		}
		counter++;
		if (i % 500 == 0)
			nap_us(50);
		RET(c->unlock(&m), 0);
	}
	return NULL;
}

static void *spin_body(void *arg)
{
	const struct calls *c = sides[(intptr_t)arg % 3];

	for (int i = 0; i < ROUNDS / 10; i++) {
		RET(c->spin_lock(&spin), 0);
		spin_counter++;
		RET(c->spin_unlock(&spin), 0);
		while (c->spin_trylock(&spin))
			sched_yield();
		spin_counter++;
		RET(c->spin_unlock(&spin), 0);
	}
	return NULL;
}

/* What one side does, the other sees: owner, depth, and who is still there. */
static void test_handover(const struct calls *a, const struct calls *b)
{
	RET(a->lock(&m), 0);
	/* libc's own destroy asks its count of users, which is not everyone's. */
	if (a != &here || b == &here)
		RET(b->destroy(&m), EBUSY);
	EQ(other_mutex(b->trylock, &m), EBUSY);
	EQ(other_mutex(a->trylock, &m), EBUSY);
	if (type == PTHREAD_MUTEX_RECURSIVE) {
		RET(b->lock(&m), 0);
		RET(b->trylock(&m), 0);
		RET(a->unlock(&m), 0);
		RET(a->unlock(&m), 0);
		EQ(other_mutex(a->unlock, &m), EPERM);
		EQ(other_mutex(b->unlock, &m), EPERM);
		EQ(other_mutex(b->trylock, &m), EBUSY);
	} else {
		RET(b->trylock(&m), EBUSY);
	}
	if (type == PTHREAD_MUTEX_ERRORCHECK) {
		RET(b->lock(&m), EDEADLK);
		EQ(other_mutex(b->unlock, &m), EPERM);
		EQ(other_mutex(a->unlock, &m), EPERM);
	}
	RET(b->unlock(&m), 0);
	if (type == PTHREAD_MUTEX_RECURSIVE ||
	    type == PTHREAD_MUTEX_ERRORCHECK) {
		RET(a->unlock(&m), EPERM);
		RET(b->unlock(&m), EPERM);
	}
	RET(a->trylock(&m), 0);
	RET(b->unlock(&m), 0);
}

static void find_libc(void)
{
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	EXPECT(handle);
	*(void **)&libc.lock = dlsym(handle, "pthread_mutex_lock");
	*(void **)&libc.trylock = dlsym(handle, "pthread_mutex_trylock");
	*(void **)&libc.timedlock = dlsym(handle, "pthread_mutex_timedlock");
	*(void **)&libc.unlock = dlsym(handle, "pthread_mutex_unlock");
	*(void **)&libc.destroy = dlsym(handle, "pthread_mutex_destroy");
	*(void **)&libc.spin_init = dlsym(handle, "pthread_spin_init");
	*(void **)&libc.spin_lock = dlsym(handle, "pthread_spin_lock");
	*(void **)&libc.spin_trylock = dlsym(handle, "pthread_spin_trylock");
	*(void **)&libc.spin_unlock = dlsym(handle, "pthread_spin_unlock");
	EXPECT(libc.lock && libc.trylock && libc.timedlock && libc.unlock &&
	       libc.destroy);
	EXPECT(libc.spin_init && libc.spin_lock && libc.spin_trylock &&
	       libc.spin_unlock);
}

int main(int argc, char **argv)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_ADAPTIVE_NP,
				     PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK };
	const struct calls *(*get_calls)(void);
	void *handle;

	EQ(argc, 2);
	find_libc();
	handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	EXPECT(handle);
	*(void **)&get_calls = dlsym(handle, "bypass_calls");
	EXPECT(get_calls);
	plugin = get_calls();
	sides[0] = &here;
	sides[1] = plugin;
	sides[2] = &libc;
	for (int i = 0; i < LEN(types); i++) {
		STAGE(types[i]);
		type = types[i];
		mutex_of_type(&m, type);
		for (int s = 0; s < 9; s++)
			test_handover(sides[s / 3], sides[s % 3]);
		counter = 0;
		run(THREADS, body);
		EQ(counter, THREADS * ROUNDS);
		for (int s = 0; s < 9; s++)
			test_handover(sides[s / 3], sides[s % 3]);
		/* Ours: libc's counts users, and misses those that came by us. */
		RET(here.destroy(&m), 0);
	}
	STAGE(9);
	/* Not ours: libc's code knows only what libc's initialized. */
	RET(libc.spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	run(THREADS, spin_body);
	EQ(spin_counter, THREADS * (ROUNDS / 10) * 2);
	return 0;
}

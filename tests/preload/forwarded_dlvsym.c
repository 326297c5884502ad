/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A library in front of the interposer hands each dlvsym() on. What the interposer finds
 * by it is its own function; it looks on, and what is left to glibc works.
 */
#include "expect.h"

static pthread_mutex_t shared;
static pthread_mutex_t private = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static int turn;

static void init(void)
{
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_cond;
	pthread_rwlockattr_t of_rwlock;

	EQ(pthread_mutexattr_init(&of_mutex), 0);
	EQ(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_mutex_init(&shared, &of_mutex), 0);
	EQ(pthread_condattr_init(&of_cond), 0);
	EQ(pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_cond_init(&cond, &of_cond), 0);
	EQ(pthread_rwlockattr_init(&of_rwlock), 0);
	EQ(pthread_rwlockattr_setpshared(&of_rwlock, PTHREAD_PROCESS_SHARED),
	   0);
	RET(pthread_rwlock_init(&rwlock, &of_rwlock), 0);
	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_SHARED), 0);
}

static void *body(void *arg)
{
	for (int i = 0; i < 100; i++) {
		RET(pthread_mutex_lock(&shared), 0);
		while (turn % 2 != (intptr_t)arg)
			RET(pthread_cond_wait(&cond, &shared), 0);
		turn++;
		RET(pthread_cond_signal(&cond), 0);
		RET(pthread_mutex_unlock(&shared), 0);
	}
	return NULL;
}

/* Each function that the interposer has to look up. */
static void use(void)
{
	struct timespec past = { 1, 0 };

	run(2, body);
	EQ(turn, 200);
	RET(pthread_mutex_timedlock(&shared, &past), 0);
	RET(pthread_cond_timedwait(&cond, &shared, &past), ETIMEDOUT);
	RET(pthread_cond_clockwait(&cond, &shared, CLOCK_MONOTONIC, &past),
	    ETIMEDOUT);
	RET(pthread_mutex_unlock(&shared), 0);
	RET(pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &past), 0);
	RET(pthread_mutex_unlock(&shared), 0);
	RET(pthread_cond_broadcast(&cond), 0);
	RET(pthread_cond_destroy(&cond), 0);
	RET(pthread_rwlock_timedrdlock(&rwlock, &past), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
	RET(pthread_rwlock_timedwrlock(&rwlock, &past), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
	RET(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
	RET(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past), 0);
	RET(pthread_rwlock_unlock(&rwlock), 0);
	RET(pthread_spin_lock(&spin), 0);
	RET(pthread_spin_trylock(&spin), EBUSY);
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_spin_destroy(&spin), 0);
	RET(pthread_mutex_lock(&private), 0);
	RET(pthread_mutex_unlock(&private), 0);
}

static void behind(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char all[4096];

	snprintf(all, sizeof(all), "%s:%s", library, others ? others : "");
	EQ(setenv("LD_PRELOAD", all, 1), 0);
	execl("/proc/self/exe", "forwarded_dlvsym", NULL);
	EXPECT(!"execl() works");
}

int main(int argc, char **argv)
{
	int (*calls)(void);

	if (argc > 1)
		behind(argv[1]);
	calls = (int (*)(void))dlsym(RTLD_DEFAULT, "forwarded_calls");
	EXPECT(calls);
	if (expect_lockwork()) {
		EXPECT(calls() > 0);
		EXPECT(strstr(origin_of("pthread_mutex_lock"), "lockwork"));
	}
	init();
	use();
	return 0;
}

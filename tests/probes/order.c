/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which probes the interposer fires in which order, and with which arguments. */
#include "expect.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t glibcs;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static const struct timespec past = { 1, 0 };

static __thread struct {
	bool watched;
	char seen[1024];
	pthread_mutex_t *mutex;
} fired;

/* Adds "name " to what was seen. The arguments must be those of glibc's probes. */
void probe_fired(const char *name, const void *object, long second, long third);
void probe_fired(const char *name, const void *object, long second, long third)
{
	size_t length = strlen(fired.seen);

	if (!fired.watched)
		return;
	if (!strcmp(name, "cond_wait")) {
		EXPECT(object == &cond && second == (long)fired.mutex);
	} else if (!strncmp(name, "mutex_", 6)) {
		EXPECT(object == fired.mutex);
		if (!strcmp(name, "mutex_timedlock_entry"))
			EXPECT(second == (long)&past);
		if (!strcmp(name, "mutex_clocklock_entry"))
			EXPECT(second == CLOCK_MONOTONIC &&
			       third == (long)&past);
	}
	snprintf(fired.seen + length, sizeof(fired.seen) - length, "%s ", name);
}

static void watch(pthread_mutex_t *m)
{
	fired.mutex = m;
	fired.seen[0] = '\0';
	fired.watched = true;
}

static void expect_seen(int line, const char *want)
{
	fired.watched = false;
	if (!strcmp(fired.seen, want))
		return;
	dprintf(2, "line %d: expected the probes '%s', saw '%s'\n", line, want,
		fired.seen);
	_exit(1);
}

#define SEEN(want) expect_seen(__LINE__, want)

#define LOCK	"mutex_entry mutex_acquired "
#define UNLOCK	"mutex_release "
#define WAITING "cond_wait mutex_release mutex_entry mutex_acquired "

static void test_lock(pthread_mutex_t *m)
{
	watch(m);
	EQ(pthread_mutex_lock(m), 0);
	SEEN(LOCK);
	watch(m);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN(UNLOCK);
	watch(m);
	EQ(pthread_mutex_timedlock(m, &past), 0);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN("mutex_timedlock_entry mutex_timedlock_acquired " UNLOCK);
	watch(m);
	EQ(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past), 0);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN("mutex_clocklock_entry mutex_timedlock_acquired " UNLOCK);
	watch(m);
	EQ(pthread_mutex_clocklock(m, CLOCK_THREAD_CPUTIME_ID, &past), EINVAL);
	SEEN("");
}

static void test_failures(void)
{
	watch(&checking);
	EQ(pthread_mutex_unlock(&checking), EPERM);
	SEEN("");
	EQ(pthread_mutex_lock(&checking), 0);
	watch(&checking);
	EQ(pthread_mutex_lock(&checking), EDEADLK);
	EQ(pthread_mutex_clocklock(&checking, CLOCK_MONOTONIC, &past), EDEADLK);
	SEEN("mutex_entry mutex_clocklock_entry ");
	EQ(pthread_mutex_unlock(&checking), 0);
	watch(&checking);
	EQ(pthread_cond_timedwait(&cond, &checking, &past), EPERM);
	SEEN("cond_wait ");
}

/* Only the outermost lock acquires, and only the outermost unlock releases. */
static void test_nested(pthread_mutex_t *m)
{
	EQ(pthread_mutex_lock(m), 0);
	watch(m);
	EQ(pthread_mutex_lock(m), 0);
	EQ(pthread_mutex_lock(m), 0);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN("mutex_entry mutex_entry ");
	watch(m);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN("");
	watch(m);
	EQ(pthread_mutex_unlock(m), 0);
	SEEN(UNLOCK);
}

static void test_nested_timed(void)
{
	EQ(pthread_mutex_lock(&recursive), 0);
	watch(&recursive);
	EQ(pthread_mutex_timedlock(&recursive, &past), 0);
	EQ(pthread_mutex_clocklock(&recursive, CLOCK_MONOTONIC, &past), 0);
	SEEN("mutex_timedlock_entry mutex_clocklock_entry ");
	for (int i = 0; i < 3; i++)
		EQ(pthread_mutex_unlock(&recursive), 0);
}

static int signalled;

static void *signaller(void *arg)
{
	pthread_mutex_t *m = arg;

	EQ(pthread_mutex_lock(m), 0);
	signalled = 1;
	EQ(pthread_cond_signal(&cond), 0);
	EQ(pthread_mutex_unlock(m), 0);
	return NULL;
}

/* At its deadline, and by a signal that comes when it has begun. */
static void test_wait(pthread_mutex_t *m)
{
	pthread_t thread;

	EQ(pthread_mutex_lock(m), 0);
	watch(m);
	EQ(pthread_cond_timedwait(&cond, m, &past), ETIMEDOUT);
	SEEN(WAITING);
	watch(m);
	EQ(pthread_cond_clockwait(&cond, m, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	SEEN(WAITING);
	signalled = 0;
	EQ(pthread_create(&thread, NULL, signaller, m), 0);
	watch(m);
	EQ(pthread_cond_wait(&cond, m), 0);
	SEEN(WAITING);
	EQ(signalled, 1);
	EQ(pthread_mutex_unlock(m), 0);
	EQ(pthread_join(thread, NULL), 0);
}

static bool waits;

static void see_and_unlock(void *m)
{
	SEEN(WAITING);
	EQ(pthread_mutex_unlock(m), 0);
}

static void *cancelled(void *m)
{
	EQ(pthread_mutex_lock(m), 0);
	waits = true;
	watch(m);
	pthread_cleanup_push(see_and_unlock, m);
	for (;;)
		EQ(pthread_cond_wait(&cond, m), 0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_cancelled(pthread_mutex_t *m)
{
	bool begun = false;
	pthread_t thread;
	void *result;

	waits = false;
	EQ(pthread_create(&thread, NULL, cancelled, m), 0);
	while (!begun) {
		EQ(pthread_mutex_lock(m), 0);
		begun = waits;
		EQ(pthread_mutex_unlock(m), 0);
		sched_yield();
	}
	EQ(pthread_cancel(thread), 0);
	EQ(pthread_join(thread, &result), 0);
	EXPECT(result == PTHREAD_CANCELED);
}

int main(void)
{
	pthread_mutex_t *all[] = { &plain, &recursive, &checking, &glibcs };
	pthread_mutexattr_t attr;

	EQ(pthread_mutexattr_init(&attr), 0);
	EQ(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE), 0);
	EQ(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	EQ(pthread_mutex_init(&glibcs, &attr), 0);
	for (int i = 0; i < LEN(all); i++) {
		STAGE(i);
		test_lock(all[i]);
		test_wait(all[i]);
		test_cancelled(all[i]);
	}
	test_failures();
	test_nested(&recursive);
	test_nested(&glibcs);
	test_nested_timed();
	return 0;
}

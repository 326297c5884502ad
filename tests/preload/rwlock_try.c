/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * While only readers hold, and writers wait, a try to read and a timed read lock
 * succeed. While nobody holds, a try to write succeeds, though the first writer that waits
 * sits in a signal handler.
 */
#include "in_handler.h"
#include "one_of_each.h"

#include <sys/syscall.h>

enum { WRITERS = 3 };

static atomic_int tids[WRITERS];

static void *writer(void *arg)
{
	atomic_store(&tids[(intptr_t)arg], (int)syscall(SYS_gettid));
	wrlock();
	rwunlock();
	return NULL;
}

/* Not this thread, which reads already: that one would pass anyway. */
static void *reader(void *arg)
{
	struct timespec past = in_ms(CLOCK_REALTIME, -1), soon;

	RET(pthread_rwlock_tryrdlock(&rw), 0);
	rwunlock();
	RET(pthread_rwlock_timedrdlock(&rw, &past), 0);
	rwunlock();
	for (int ms = 1; ms < 40; ms += 7) {
		soon = in_ms(CLOCK_REALTIME, ms);
		RET(pthread_rwlock_timedrdlock(&rw, &soon), 0);
		rwunlock();
	}
	RET(pthread_rwlock_trywrlock(&rw), EBUSY);
	return arg;
}

static void queue_up(pthread_t *threads)
{
	for (intptr_t id = 0; id < WRITERS; id++) {
		atomic_store(&tids[id], 0);
		EQ(pthread_create(&threads[id], NULL, writer, (void *)id), 0);
		wait_asleep(&tids[id]);
	}
}

int main(void)
{
	pthread_t threads[WRITERS], one;

	handler_install();
	for (int round = 0; round < 10; round++) {
		STAGE(round);
		rdlock();
		queue_up(threads);
		EQ(pthread_create(&one, NULL, reader, NULL), 0);
		EQ(pthread_join(one, NULL), 0);
		rwunlock();
		finish(threads, WRITERS);

		/* By now the lock may be promised to the first, as by a drain. */
		wrlock();
		atomic_store(&tids[0], 0);
		EQ(pthread_create(&one, NULL, writer, (void *)0), 0);
		wait_asleep(&tids[0]);
		nap_us(3000);
		EQ(pthread_kill(one, SIGUSR1), 0);
		while (!atomic_load(&in_handler))
			sched_yield();
		rwunlock();
		RET(pthread_rwlock_trywrlock(&rw), 0);
		rwunlock();
		handler_ends();
		EQ(pthread_join(one, NULL), 0);
	}
	return 0;
}

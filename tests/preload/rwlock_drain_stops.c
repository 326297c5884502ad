/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A writer that waits sits in a signal handler until a second reader has read. The first
 * reader waits for the second one, which the default kind allows.
 */
#include "in_handler.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *arg)
{
	RET(pthread_rwlock_wrlock(&l), 0);
	RET(pthread_rwlock_unlock(&l), 0);
	return arg;
}

static void *reader(void *arg)
{
	RET(pthread_rwlock_rdlock(&l), 0);
	handler_ends();
	RET(pthread_rwlock_unlock(&l), 0);
	return arg;
}

int main(void)
{
	pthread_t w, r;

	handler_install();
	for (long round = 0; round < 5; round++) {
		RET(pthread_rwlock_rdlock(&l), 0);
		EQ(pthread_create(&w, NULL, writer, NULL), 0);
		/* So long that no new reader passes the writer any more. */
		nap_us(10000);
		EQ(pthread_kill(w, SIGUSR1), 0);
		EQ(pthread_create(&r, NULL, reader, NULL), 0);
		EQ(pthread_join(r, NULL), 0);
		STAGE(round);
		RET(pthread_rwlock_unlock(&l), 0);
		EQ(pthread_join(w, NULL), 0);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Objects on the heap by the hundred thousand: locks made, fought for, freed
 * and made again in whatever memory malloc hands out, while others fork.
 */
#include "expect.h"

enum { THREADS = 8, TABLE = 64, ROUNDS = 6000 };

struct node {
	pthread_mutex_t m;
	pthread_cond_t c;
	pthread_rwlock_t rw;
	long refs;
	size_t size;
	char bytes[];
};

static struct node *table[TABLE];
static pthread_mutex_t table_m = PTHREAD_MUTEX_INITIALIZER;
static long made, freed;

static struct node *make(size_t size)
{
	struct node *n = malloc(sizeof(*n) + size);

	EXPECT(n);
	RET(pthread_mutex_init(&n->m, NULL), 0);
	RET(pthread_cond_init(&n->c, NULL), 0);
	RET(pthread_rwlock_init(&n->rw, NULL), 0);
	n->refs = 1;
	n->size = size;
	memset(n->bytes, size & 255, size);
	return n;
}

/* The last reference frees, with destroy or without. */
static void drop(struct node *n, int destroy)
{
	long left;

	RET(pthread_mutex_lock(&n->m), 0);
	left = --n->refs;
	RET(pthread_mutex_unlock(&n->m), 0);
	if (left)
		return;
	if (destroy) {
		RET(pthread_cond_destroy(&n->c), 0);
		RET(pthread_rwlock_destroy(&n->rw), 0);
		RET(pthread_mutex_destroy(&n->m), 0);
	}
	free(n);
	__atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
}

static void look_at(struct node *n)
{
	RET(pthread_rwlock_rdlock(&n->rw), 0);
	for (size_t i = 0; i < n->size; i += 97)
		EQ((unsigned char)n->bytes[i], n->size & 255);
	RET(pthread_rwlock_unlock(&n->rw), 0);
	RET(pthread_cond_signal(&n->c), 0);
}

static void *body(void *arg)
{
	unsigned int seed = (intptr_t)arg + 99;

	for (int i = 0; i < ROUNDS; i++) {
		struct node *old, *fresh = NULL;
		unsigned int slot;

		seed = seed * 1103515245 + 12345;
		slot = (seed >> 16) % TABLE;
		if (seed >> 30 == 0)
			fresh = make((seed >> 8) % 3000);
		RET(pthread_mutex_lock(&table_m), 0);
		old = table[slot];
		if (fresh) {
			table[slot] = fresh;
			made++;
		} else if (old) {
			RET(pthread_mutex_lock(&old->m), 0);
			old->refs++;
			RET(pthread_mutex_unlock(&old->m), 0);
		}
		RET(pthread_mutex_unlock(&table_m), 0);
		if (old) {
			look_at(old);
			drop(old, seed >> 29 & 1);
		}
		if (i % 1500 == 700) {
			pid_t pid = fork();

			if (pid == 0) {
				free(make(100));
				_exit(0);
			}
			reap(pid);
		}
	}
	return NULL;
}

int main(void)
{
	long left = 0;

	run(THREADS, body);
	for (int i = 0; i < TABLE; i++) {
		if (!table[i])
			continue;
		left++;
		look_at(table[i]);
		drop(table[i], 1);
	}
	EQ(made, freed);
	EXPECT(left > 0);
	return 0;
}

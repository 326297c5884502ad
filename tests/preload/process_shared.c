/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Process-shared objects of every type: between a parent and the children it
 * forks, and between it and a program that runs on plain glibc. Either of those
 * two makes the objects, and the other one destroys them.
 */
#include "expect.h"

enum { CHILDREN = 3, ROUNDS = 20000, TURNS = 1500 };

static struct page {
	pthread_mutex_t m;
	pthread_cond_t cond;
	pthread_rwlock_t rw;
	pthread_spinlock_t spin;
	long by_mutex, by_rw[2], by_spin;
	long turn, arrived, go;
	atomic_int made, done;
} * page;

static void make(int type)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	int shared;

	EQ(pthread_mutexattr_init(&ma), 0);
	EQ(pthread_mutexattr_settype(&ma, type), 0);
	EQ(pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED), 0);
	EQ(pthread_mutexattr_getpshared(&ma, &shared), 0);
	EQ(shared, PTHREAD_PROCESS_SHARED);
	RET(pthread_mutex_init(&page->m, &ma), 0);
	EQ(pthread_condattr_init(&ca), 0);
	EQ(pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED), 0);
	EQ(pthread_condattr_setclock(&ca, CLOCK_MONOTONIC), 0);
	RET(pthread_cond_init(&page->cond, &ca), 0);
	EQ(pthread_rwlockattr_init(&ra), 0);
	EQ(pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED), 0);
	RET(pthread_rwlock_init(&page->rw, &ra), 0);
	RET(pthread_spin_init(&page->spin, PTHREAD_PROCESS_SHARED), 0);
	page->by_mutex = page->by_rw[0] = page->by_rw[1] = page->by_spin = 0;
	page->turn = page->arrived = page->go = 0;
}

static void count_up(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		RET(pthread_mutex_lock(&page->m), 0);
		page->by_mutex++;
		RET(pthread_mutex_unlock(&page->m), 0);
		if (i % 4 == 0) {
			RET(pthread_rwlock_wrlock(&page->rw), 0);
			page->by_rw[0]++;
			page->by_rw[1]++;
		} else {
			RET(pthread_rwlock_rdlock(&page->rw), 0);
			EQ(page->by_rw[0], page->by_rw[1]);
		}
		RET(pthread_rwlock_unlock(&page->rw), 0);
		while (i % 2 && pthread_spin_trylock(&page->spin))
			sched_yield();
		if (i % 2 == 0)
			RET(pthread_spin_lock(&page->spin), 0);
		page->by_spin++;
		RET(pthread_spin_unlock(&page->spin), 0);
	}
}

/* The processes take turns; every wait has its own waker in another process. */
static void take_turns(int me, int n)
{
	RET(pthread_mutex_lock(&page->m), 0);
	page->arrived++;
	while (!page->go) {
		struct timespec t = in_ms(CLOCK_MONOTONIC, 5);
		int ret = pthread_cond_timedwait(&page->cond, &page->m, &t);

		if (ret)
			EQ(ret, ETIMEDOUT);
		if (page->arrived == n)
			page->go = 1;
	}
	for (int i = 0; i < TURNS; i++) {
		while (page->turn % n != me)
			RET(pthread_cond_wait(&page->cond, &page->m), 0);
		page->turn++;
		RET(pthread_cond_broadcast(&page->cond), 0);
	}
	RET(pthread_mutex_unlock(&page->m), 0);
}

/* All that `n` processes did, and what they did it with. */
static void end(int n)
{
	EQ(page->by_mutex, n * ROUNDS);
	EQ(page->by_rw[0], n * ROUNDS / 4);
	EQ(page->by_spin, n * ROUNDS);
	EQ(page->turn, n * TURNS);
	RET(pthread_mutex_destroy(&page->m), 0);
	RET(pthread_cond_destroy(&page->cond), 0);
	RET(pthread_rwlock_destroy(&page->rw), 0);
	RET(pthread_spin_destroy(&page->spin), 0);
}

static void processes(int type)
{
	pid_t pids[CHILDREN];

	make(type);
	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			count_up();
			take_turns(i + 1, CHILDREN + 1);
			_exit(0);
		}
	}
	STAGE(0);
	count_up();
	STAGE(0);
	take_turns(0, CHILDREN + 1);
	for (int i = 0; i < CHILDREN; i++)
		reap(pids[i]);
	end(CHILDREN + 1);
}

enum part { MAKER, USER };

/* One of two programs that share the page: one makes the objects, one ends them. */
static void take_part(enum part part)
{
	if (part == MAKER) {
		make(PTHREAD_MUTEX_NORMAL);
		page->made = 1;
	}
	while (!page->made)
		nap_us(100);
	STAGE(part);
	count_up();
	STAGE(part);
	take_turns(part, 2);
	page->done++;
	if (part == MAKER)
		return;
	while (page->done < 2)
		nap_us(100);
	end(2);
}

/* This program again, without what the environment has loaded into it. */
static void become_plain(enum part part, int fd)
{
	char part_text[12], fd_text[12];
	char *args[] = { "process_shared", part_text, fd_text, NULL };

	snprintf(part_text, sizeof(part_text), "%d", part);
	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	EXPECT(!unsetenv("LD_PRELOAD") && !unsetenv("LOCKWORK_EXPECT"));
	execv("/proc/self/exe", args);
	EQ(errno, 0);
}

static void with_a_plain_program(enum part part, int fd)
{
	pid_t pid;

	page->made = page->done = 0;
	pid = fork();
	if (pid == 0)
		become_plain(part == MAKER ? USER : MAKER, fd);
	take_part(part);
	reap(pid);
}

static void map_page(int fd)
{
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	EXPECT(page != MAP_FAILED);
}

/* The plain program: what the other one wants it to be. */
static int plain_main(char **argv)
{
	enum part part = atoi(argv[1]);

	EXPECT(strstr(origin_of("pthread_mutex_lock"), "libc.so"));
	map_page(atoi(argv[2]));
	take_part(part);
	return 0;
}

static pthread_mutex_t private_m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t private_cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t *use_m;
static pthread_cond_t *use_cond;
static long turn;

static void *alternate(void *arg)
{
	RET(pthread_mutex_lock(use_m), 0);
	for (int i = 0; i < TURNS; i++) {
		while (turn % 4 != (intptr_t)arg)
			RET(pthread_cond_wait(use_cond, use_m), 0);
		turn++;
		RET(pthread_cond_broadcast(use_cond), 0);
	}
	RET(pthread_mutex_unlock(use_m), 0);
	return NULL;
}

/* Inside one process any condition variable goes with any mutex. */
static void mixed(pthread_cond_t *cond, pthread_mutex_t *m)
{
	use_cond = cond;
	use_m = m;
	turn = 0;
	STAGE(0);
	run(4, alternate);
	EQ(turn, 4 * TURNS);
	RET(pthread_cond_destroy(cond), 0);
	RET(pthread_mutex_destroy(m), 0);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc == 3)
		return plain_main(argv);
	fd = memfd_create("page", 0);
	EXPECT(fd >= 0 && !ftruncate(fd, sizeof(*page)));
	map_page(fd);
	with_a_plain_program(MAKER, fd);
	with_a_plain_program(USER, fd);
	processes(PTHREAD_MUTEX_NORMAL);
	processes(PTHREAD_MUTEX_RECURSIVE);
	make(PTHREAD_MUTEX_NORMAL);
	mixed(&page->cond, &private_m);
	mixed(&private_cond, &page->m);
	return 0;
}

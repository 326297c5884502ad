/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Locks before main and after exit: in the program's preinit array, in the
 * constructors and destructors of a library it needs and of one it opens, and
 * in atexit handlers, with other threads still running.
 */
#include "expect.h"
#include <dlfcn.h>

extern pthread_mutex_t needed_mutex;
extern pthread_cond_t needed_cond;
extern long needed_uses;
void needed_use(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static long uses;

static void use(void)
{
	struct timespec past = { 1, 0 };
	int ret;

	RET(pthread_mutex_lock(&m), 0);
	ret = pthread_cond_timedwait(&cond, &m, &past);
	EXPECT(ret == ETIMEDOUT || ret == 0);
	RET(pthread_mutex_lock(&r), 0);
	RET(pthread_mutex_lock(&r), 0);
	RET(pthread_rwlock_rdlock(&rw), 0);
	RET(pthread_cond_broadcast(&cond), 0);
	uses++;
	RET(pthread_rwlock_unlock(&rw), 0);
	RET(pthread_mutex_unlock(&r), 0);
	RET(pthread_mutex_unlock(&r), 0);
	RET(pthread_mutex_unlock(&m), 0);
}

/* Before every constructor there is. */
static void earliest(int argc, char **argv, char **envp)
{
	(void)argc, (void)argv, (void)envp;
	RET(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	RET(pthread_spin_lock(&spin), 0);
	RET(pthread_spin_unlock(&spin), 0);
	use();
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const preinit)(int, char **,
						   char **) = earliest;

static atomic_int running;

/* Never joined: still there when the process ends. */
static void *daemon_body(void *arg)
{
	running++;
	for (;;) {
		use();
		needed_use();
	}
	return arg;
}

static void *daemon_sleeper(void *arg)
{
	RET(pthread_mutex_lock(&r), 0);
	RET(pthread_mutex_unlock(&r), 0);
	RET(pthread_mutex_lock(&needed_mutex), 0);
	running++;
	for (;;)
		RET(pthread_cond_wait(&needed_cond, &needed_mutex), 0);
	return arg;
}

__attribute__((constructor)) static void constructor(void)
{
	EQ(uses, 1);
	EXPECT(needed_uses >= 1);
	use();
	needed_use();
}

__attribute__((destructor)) static void destructor(void)
{
	use();
	needed_use();
	EXPECT(uses > 4);
}

static void at_exit(void)
{
	use();
	needed_use();
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	void *plugin;

	EQ(argc, 2);
	EQ(atexit(at_exit), 0);
	EQ(uses, 2);
	for (int i = 0; i < 3; i++) {
		/* Its constructor locks what we lend it here, and so does its destructor. */
		long before = needed_uses;

		plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		EXPECT(plugin);
		EQ(needed_uses, before + 1);
		EQ(dlclose(plugin), 0);
		EQ(needed_uses, before + 2);
	}
	start(threads, 3, daemon_body);
	start(threads + 3, 1, daemon_sleeper);
	while (running < 4)
		sched_yield();
	EXPECT(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL));
	nap_us(20000);
	return 0;
}

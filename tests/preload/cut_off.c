/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A lock call that waits is cut off: by asynchronous cancellation, by a long jump out of
 * a signal handler, by pthread_exit() in one. Others go on with the lock, and the thread
 * that jumped does too. Its stack is written over meanwhile. POSIX promises nothing of
 * that; glibc's own locks bear it.
 *
 * Each case is a child. One whose waiter cannot leave a queue is ended, with a word.
 */
#include "expect.h"

#include <setjmp.h>
#include <sys/syscall.h>

enum how { CANCEL, JUMP, EXIT, HOWS };
/* RELOCK: a thread that was signalled waits for its mutex. */
enum what { MUTEX, WRITE, READ, COND, RELOCK, SPIN, WHATS };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static enum how how;
static enum what what;
static sigjmp_buf start_over;
static atomic_int tid, jumped, open_again;
static int count;

static void handler(int sig)
{
	(void)sig;
	if (how == JUMP)
		siglongjmp(start_over, 1);
	pthread_exit(NULL);
}

static void take(void)
{
	switch (what) {
	case WRITE:
		RET(pthread_rwlock_wrlock(&rw), 0);
		break;
	case READ:
		RET(pthread_rwlock_rdlock(&rw), 0);
		break;
	case SPIN:
		RET(pthread_spin_lock(&spin), 0);
		break;
	default:
		RET(pthread_mutex_lock(&m), 0);
	}
}

static void give(void)
{
	if (what == WRITE || what == READ)
		RET(pthread_rwlock_unlock(&rw), 0);
	else if (what == SPIN)
		RET(pthread_spin_unlock(&spin), 0);
	else
		RET(pthread_mutex_unlock(&m), 0);
}

static void use(void)
{
	for (int i = 0; i < 100; i++) {
		take();
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
		if (i % 10 == 0)
			nap_us(100);
		give();
	}
}

static void *user(void *arg)
{
	use();
	return arg;
}

static __attribute__((noinline)) void write_over_the_stack(void)
{
	volatile char gone[16384];

	memset((char *)gone, 0x5a, sizeof(gone));
}

static void unlock(void *unused)
{
	(void)unused;
	RET(pthread_mutex_unlock(&m), 0);
}

static void leave_locked(void *unused)
{
	(void)unused;
}

/* A wait that ends early has the mutex, but not one that was to lock it again. */
static void wait_for_ever(void)
{
	RET(pthread_mutex_lock(&m), 0);
	pthread_cleanup_push(what == COND ? unlock : leave_locked, NULL);
	for (;;)
		RET(pthread_cond_wait(&cond, &m), 0);
	pthread_cleanup_pop(0);
}

static void *waiter(void *arg)
{
	int old;

	if (how == CANCEL)
		EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
	if (sigsetjmp(start_over, 1)) {
		write_over_the_stack();
		if (what == COND)
			RET(pthread_mutex_unlock(&m), 0);
		atomic_store(&jumped, 1);
		while (!atomic_load(&open_again))
			nap_us(100);
		use();
		return arg;
	}
	atomic_store(&tid, (int)syscall(SYS_gettid));
	if (what == COND || what == RELOCK)
		wait_for_ever();
	take();
	give();
	return arg;
}

static bool mutexes_spin(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");

	return policy && !strncmp(policy, "qspinlock", 9);
}

/* Until the thread waits: asleep, or some time after it began to spin. */
static void wait_until_it_waits(void)
{
	if (what != SPIN && !(what == MUTEX && mutexes_spin())) {
		wait_asleep(&tid);
		return;
	}
	while (!atomic_load(&tid))
		nap_us(100);
	nap_us(20000);
}

static void cut_off(pthread_t thread)
{
	if (how == CANCEL)
		EQ(pthread_cancel(thread), 0);
	else
		EQ(pthread_kill(thread, SIGUSR1), 0);
	if (how != JUMP)
		EQ(pthread_join(thread, NULL), 0);
	while (how == JUMP && !atomic_load(&jumped))
		nap_us(100);
}

static void run_case(void)
{
	pthread_t thread, users[4];

	EQ(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	if (what == READ)
		RET(pthread_rwlock_wrlock(&rw), 0);
	else if (what != COND && what != RELOCK)
		take();
	EQ(pthread_create(&thread, NULL, waiter, NULL), 0);
	wait_until_it_waits();
	if (what == RELOCK) {
		take();
		RET(pthread_cond_signal(&cond), 0);
		wait_until_it_waits();
	}
	cut_off(thread);
	/* Threads get the stacks of those that are gone. */
	start(users, LEN(users), user);
	nap_us(5000);
	if (what != COND)
		give();
	atomic_store(&open_again, 1);
	finish(users, LEN(users));
	if (how == JUMP)
		EQ(pthread_join(thread, NULL), 0);
	if (what == COND)
		RET(pthread_cond_broadcast(&cond), 0);
	EQ(count, how == JUMP ? 500 : 400);
	_exit(0);
}

/* Whose waiter is in a queue that nobody leaves. */
static bool cannot_leave(void)
{
	const char *policy = getenv("LOCKWORK_LOCK");

	return expect_lockwork() && what == SPIN && how != CANCEL &&
	       (!policy || strcmp(policy, "qspinlock_tas"));
}

static void test_case(void)
{
	int status = 0, said[2];
	char text[512] = "";
	pid_t pid;

	STAGE(how * 10 + what);
	EQ(pipe(said), 0);
	pid = fork();
	if (!pid) {
		if (cannot_leave())
			EQ(dup2(said[1], 2), 2);
		run_case();
	}
	EXPECT(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		EQ(errno, EINTR);
	close(said[1]);
	if (cannot_leave()) {
		EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT);
		EXPECT(read(said[0], text, sizeof(text) - 1) > 0);
		EXPECT(strstr(text, "signal handler"));
	} else {
		EQ(status, 0);
	}
	close(said[0]);
}

/*
 * Nobody sees from outside when a thread begins to spin. One that is cancelled has its mutex
 * first, as POSIX says; with glibc it has not.
 */
static bool can_relock(void)
{
	return how != CANCEL && !mutexes_spin();
}

int main(void)
{
	struct sigaction act = { .sa_handler = handler };

	EQ(sigaction(SIGUSR1, &act, NULL), 0);
	for (how = 0; how < HOWS; how++) {
		for (what = 0; what < WHATS; what++) {
			if (what != RELOCK || can_relock())
				test_case();
		}
	}
	return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * On a C library whose mutexes and spinlocks the interposer does not know they
 * stay the library's, and the user is told once. All else works.
 */
#include "expect.h"

int unknown_calls(void);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static long turn, by_spin;

static void *body(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		RET(pthread_spin_lock(&spin), 0);
		by_spin++;
		RET(pthread_spin_unlock(&spin), 0);
		RET(pthread_mutex_lock(&m), 0);
		while (turn % 2 != (intptr_t)arg)
			RET(pthread_cond_wait(&cond, &m), 0);
		turn++;
		RET(pthread_cond_signal(&cond), 0);
		RET(pthread_mutex_unlock(&m), 0);
	}
	return NULL;
}

static void use(int pshared)
{
	RET(pthread_spin_init(&spin, pshared), 0);
	turn = by_spin = 0;
	STAGE(pshared);
	run(2, body);
	EQ(turn, 2000);
	EQ(by_spin, 2000);
	RET(pthread_spin_trylock(&spin), 0);
	RET(pthread_spin_trylock(&spin), EBUSY);
	RET(pthread_spin_unlock(&spin), 0);
	RET(pthread_spin_destroy(&spin), 0);
}

static int child_main(void)
{
	int before = unknown_calls();

	use(PTHREAD_PROCESS_PRIVATE);
	use(PTHREAD_PROCESS_SHARED);
	if (expect_lockwork())
		EXPECT(unknown_calls() >= before + 4000);
	return 0;
}

/* What a run of this program says on standard error. */
static char *stderr_of_child(void)
{
	static char said[4096];
	size_t length = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		execl("/proc/self/exe", "unknown_glibc", "child", NULL);
		_exit(2);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + length, sizeof(said) - 1 - length)) >
	       0)
		length += n;
	EQ(write(2, said, length), length);
	reap(pid);
	return said;
}

static int lines_about(const char *text, const char *what)
{
	int n = 0;

	while ((text = strstr(text, what))) {
		text++;
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *said;

	(void)argv;
	if (argc > 1)
		return child_main();
	said = stderr_of_child();
	EQ(lines_about(said, "glibc's mutexes"), expect_lockwork());
	EQ(lines_about(said, "glibc's spinlocks"), expect_lockwork());
	EQ(lines_about(said, "\n"), 2 * expect_lockwork());
	return 0;
}

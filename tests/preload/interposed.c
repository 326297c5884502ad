/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which object answers: under Lockwork its own, for every call that locks. Beside that,
 * whether a run without rseq is one.
 */
#include "expect.h"

extern const unsigned int __rseq_size __attribute__((weak));

/* With the tunable glibc registers none. A kernel may lack it without that. */
static void check_rseq(void)
{
	const char *tunables = getenv("GLIBC_TUNABLES");

	if (tunables && strstr(tunables, "glibc.pthread.rseq=0"))
		EXPECT(!&__rseq_size || !__rseq_size);
}

static const char *const names[] = {
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_timedlock",
	"pthread_mutex_clocklock",
	"pthread_mutex_unlock",
	"pthread_cond_wait",
	"pthread_cond_timedwait",
	"pthread_cond_clockwait",
	"pthread_cond_signal",
	"pthread_cond_broadcast",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_tryrdlock",
	"pthread_rwlock_timedrdlock",
	"pthread_rwlock_clockrdlock",
	"pthread_rwlock_wrlock",
	"pthread_rwlock_trywrlock",
	"pthread_rwlock_timedwrlock",
	"pthread_rwlock_clockwrlock",
	"pthread_rwlock_unlock",
	"pthread_spin_lock",
	"pthread_spin_trylock",
	"pthread_spin_unlock",
	"mtx_lock",
	"mtx_trylock",
	"mtx_timedlock",
	"mtx_unlock",
	"cnd_wait",
	"cnd_timedwait",
	"cnd_signal",
	"cnd_broadcast",
};

int main(void)
{
	check_rseq();
	for (int i = 0; i < LEN(names); i++) {
		const char *origin = origin_of(names[i]);

		if (strstr(origin, expect_lockwork() ? "lockwork" : "libc.so"))
			continue;
		dprintf(2, "%s:%d: %s comes from %s\n", __FILE__, __LINE__,
			names[i], origin);
		return 1;
	}
	return 0;
}

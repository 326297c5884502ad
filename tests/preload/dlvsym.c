/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whoever looks for a lock function in whatever way finds one and the same: with
 * glibc's versions too, as sanitizers do.
 */
#include "expect.h"

static const char *const versions[] = { "GLIBC_2.2.5", "GLIBC_2.3.2",
					"GLIBC_2.28", "GLIBC_2.30",
					"GLIBC_2.34" };

static const char *const names[] = {
	"pthread_mutex_init",
	"pthread_mutex_destroy",
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_timedlock",
	"pthread_mutex_clocklock",
	"pthread_mutex_unlock",
	"pthread_cond_init",
	"pthread_cond_destroy",
	"pthread_cond_signal",
	"pthread_cond_broadcast",
	"pthread_cond_wait",
	"pthread_cond_timedwait",
	"pthread_cond_clockwait",
	"pthread_rwlock_init",
	"pthread_rwlock_destroy",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_tryrdlock",
	"pthread_rwlock_timedrdlock",
	"pthread_rwlock_clockrdlock",
	"pthread_rwlock_wrlock",
	"pthread_rwlock_trywrlock",
	"pthread_rwlock_timedwrlock",
	"pthread_rwlock_clockwrlock",
	"pthread_rwlock_unlock",
	"pthread_spin_init",
	"pthread_spin_destroy",
	"pthread_spin_lock",
	"pthread_spin_trylock",
	"pthread_spin_unlock",
	"mtx_init",
	"mtx_destroy",
	"mtx_lock",
	"mtx_trylock",
	"mtx_timedlock",
	"mtx_unlock",
	"cnd_init",
	"cnd_destroy",
	"cnd_signal",
	"cnd_broadcast",
	"cnd_wait",
	"cnd_timedwait",
};

static const char *file_of(void *address)
{
	Dl_info info;

	EXPECT(dladdr(address, &info));
	return info.dli_fname;
}

/* The condition variables of the oldest glibc are others. */
static int is_another(const char *name, const char *version)
{
	return !strncmp(name, "pthread_cond_", 13) &&
	       !strcmp(version, "GLIBC_2.2.5");
}

static void test_name(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	void *plain = dlsym(RTLD_DEFAULT, name), *versioned;
	int found = 0;

	EXPECT(libc && plain);
	for (int i = 0; i < LEN(versions); i++) {
		versioned = dlvsym(RTLD_DEFAULT, name, versions[i]);
		if (is_another(name, versions[i]))
			continue;
		/* What this glibc does not have, nobody looks for. */
		if (!dlvsym(libc, name, versions[i]))
			continue;
		EXPECT(versioned);
		found++;
		if (strcmp(file_of(versioned), file_of(plain))) {
			dprintf(2, "%s@%s is in %s\n", name, versions[i],
				file_of(versioned));
			_exit(1);
		}
	}
	EXPECT(found > 0);
	if (expect_lockwork())
		EXPECT(strstr(file_of(plain), "lockwork"));
}

int main(void)
{
	for (int i = 0; i < LEN(names); i++)
		test_name(names[i]);
	return 0;
}

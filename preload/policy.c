// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * LOCKWORK_LOCK and LOCKWORK_SET, read in the first slow path. Before the C
 * library has an environment there is one thread, so no slow path either.
 */
#include "preload.h"
#include "user.h"

#include <string.h>

static const char *const names[] = {
	[LW_POLICY_MUTEX] = "mutex",
	[LW_POLICY_MUTEX_NUMA] = "mutex_numa",
	[LW_POLICY_QSPIN_FAIR] = "qspinlock_fair",
	[LW_POLICY_QSPIN_STEAL] = "qspinlock_steal",
	[LW_POLICY_QSPIN_TAS] = "qspinlock_tas",
};

static u32 policy;
static u32 state; /* 0 not read, 1 being read, 2 read */

static void complain(const char *what, const char *value)
{
	lw_ignored(what, value, "`lockwork locks` lists what is known");
}

static void read_lock_name(void)
{
	const char *value = lw_env("LOCKWORK_LOCK");

	if (!value || !*value)
		return;
	for (u32 i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(value, names[i])) {
			WRITE_ONCE(policy, i);
			return;
		}
	}
	complain("LOCKWORK_LOCK", value);
}

/* "knob=value,knob=value" */
static void read_knobs(void)
{
	const char *s = lw_env("LOCKWORK_SET");
	char item[96];

	while (s && *s) {
		size_t len = strcspn(s, ",");
		size_t kept = len < sizeof(item) ? len : sizeof(item) - 1;
		char *equals;

		memcpy(item, s, kept);
		item[kept] = '\0';
		equals = strchr(item, '=');
		if (equals)
			*equals = '\0';
		if (kept < len)
			lw_ignored(item, equals ? equals + 1 : "",
				   "it has more than 95 characters");
		else if (len && (!equals || lw_user_knob_set(item, equals + 1)))
			complain(item, equals ? equals + 1 : "");
		s += len;
		s += *s == ',';
	}
}

static __cold void read_policy(void)
{
	u32 none = 0;
	int saved = errno;

	if (try_cmpxchg_acquire(&state, &none, 1)) {
		read_lock_name();
		read_knobs();
		smp_store_release(&state, 2);
	}
	smp_cond_load_acquire(&state, VAL == 2);
	errno = saved;
}

enum lw_policy lw_policy(void)
{
	if (unlikely(smp_load_acquire(&state) != 2))
		read_policy();
	return READ_ONCE(policy);
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * LOCKWORK_LOCK, LOCKWORK_SET and LOCKWORK_EVENTS, as they are when the program starts,
 * read in the first slow path. Before the C library has an environment there is one thread, so
 * no slow path either.
 */
#include "preload.h"

#include "once.h"
#include "user.h"

#include <string.h>

static const char *const names[] = {
#define PRE_POLICY(id, name, mutex, rwlock, spinlock, summary) \
	[PRE_POLICY_##id] = name,
#include "policies.def"
#undef PRE_POLICY
};

__attribute__((constructor(101))) static void keep_stderr(void)
{
	lkp_keep_stderr();
}

/* 1 more than the policy; 0: not known yet. */
static u32 policy;
static struct lkp_once settings;

static void complain(const char *what, const char *value)
{
	lkp_ignored(what, value, "`lockwork locks` lists what is known");
}

/* `lockwork run` loads no interposer, or another one, for these. */
static bool needs_no_lock(const char *name)
{
	return !strcmp(name, "glibc") || !strcmp(name, "glibc_passthrough");
}

static enum pre_policy read_lock_name(bool first)
{
	const char *value = lkp_env("LOCKWORK_LOCK");

	if (!value || !*value)
		return PRE_POLICY_MUTEX;
	for (u32 i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(value, names[i]))
			return (enum pre_policy)i;
	}
	if (first && needs_no_lock(value))
		lkp_ignored("LOCKWORK_LOCK", value,
			    "it is for --lock; the lock is mutex");
	else if (first)
		complain("LOCKWORK_LOCK", value);
	return PRE_POLICY_MUTEX;
}

#define LONGEST 95
_Static_assert(LONGEST == 95, "the complaint below says so");

/* @item: one "knob=value", cut at LONGEST. */
static void read_knob_setting(char *item, bool whole, bool first)
{
	char *equals = strchr(item, '=');
	const char *value = equals ? equals + 1 : "";

	if (equals)
		*equals = '\0';
	if (whole && equals && !lkp_user_knob_set(item, value))
		return;
	if (first && whole)
		complain(item, value);
	else if (first)
		lkp_ignored(item, value, "it has more than 95 characters");
}

/* "knob=value,knob=value" */
static void read_knobs(bool first)
{
	const char *s = lkp_env("LOCKWORK_SET");
	char item[LONGEST + 1];

	while (s && *s) {
		size_t len = strcspn(s, ",");
		size_t kept = len < LONGEST ? len : LONGEST;

		memcpy(item, s, kept);
		item[kept] = '\0';
		if (len)
			read_knob_setting(item, kept == len, first);
		s += len;
		s += *s == ',';
	}
}

/* The first thread that reads them complains. */
static __cold void read_policy(void)
{
	bool first = lkp_once_begin(&settings);
	int saved = errno;

	/* One answer for all, whatever became of the environment meanwhile:
	 * waiters of one mutex must not queue in two ways. */
	(void)lkp_decide(&policy, read_lock_name(first) + 1);
	read_knobs(first);
	/* Kept: the environment's copy is never freed. */
	lkp_user_events_to(lkp_env("LOCKWORK_EVENTS"));
	lkp_once_done(&settings);
	errno = saved;
}

enum pre_policy pre_policy(void)
{
	if (unlikely(!lkp_once_is_done(&settings)))
		read_policy();
	return (enum pre_policy)(READ_ONCE(policy) - 1);
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Tries out, on objects of our own, what we rely on in glibc's mutexes and
 * spinlocks. It runs when we are loaded, and in pthread_spin_init() should that
 * be earlier. A type that is not as we know it is left to glibc.
 *
 * A mutex that was ours until then may become glibc's, since its words have the
 * same meaning. A spinlock may not, but each one begins in pthread_spin_init().
 */
#include "words.h"

#include "once.h"
#include "user.h"

u32 pre_plain_types =
	1u << PTHREAD_MUTEX_TIMED_NP | 1u << PTHREAD_MUTEX_ADAPTIVE_NP;
u32 pre_spin_tag = WAIT_TAG_MARK;

static struct lkp_once trial;

union mutex {
	pthread_mutex_t glibcs;
	struct lk_mutex ours;
	u32 words[sizeof(pthread_mutex_t) / sizeof(u32)];
};

enum special { NONE, SHARED, ROBUST, INHERIT, PROTECT, SPECIALS };

static int init_mutex(union mutex *m, int type, enum special special)
{
	pthread_mutexattr_t attr;
	int err;

	*m = (union mutex){ .words = { 0 } };
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	if (special == SHARED)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	else if (special == ROBUST)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	else if (special == INHERIT)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	else if (special == PROTECT)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	err = __pthread_mutex_init(&m->glibcs, &attr);
	pthread_mutexattr_destroy(&attr);
	return err;
}

/* The kind tells those that are glibc's, and the type of the others. */
static bool knows_kind(int type, enum special special)
{
	union mutex m;
	u32 kind;

	if (init_mutex(&m, type, special))
		return special != NONE; /* nobody has such a mutex */
	kind = m.ours.embed[KIND];
	if (special != NONE)
		return kind & KIND_GLIBCS;
	return !(kind & KIND_GLIBCS) && (kind & KIND_TYPE) == (u32)type;
}

/* Every word but the kind is as told. */
static bool words_are(const union mutex *m, u32 word, u32 count, u32 owner,
		      u32 nusers)
{
	for (u32 i = KIND + 2; i < sizeof(*m) / sizeof(u32); i++) {
		if (m->words[i])
			return false;
	}
	return m->ours.word == word && m->ours.embed[COUNT] == count &&
	       m->ours.embed[OWNER] == owner && m->ours.embed[NUSERS] == nusers;
}

static bool knows_words(void)
{
	union mutex m;
	bool held;

	if (!lkp_has_tid() || init_mutex(&m, PTHREAD_MUTEX_RECURSIVE_NP, NONE))
		return false;
	pre_reals()->mutex_lock(&m.glibcs);
	pre_reals()->mutex_lock(&m.glibcs);
	held = words_are(&m, LK_MUTEX_HELD, 2, lkp_tid(), 1);
	pre_reals()->mutex_unlock(&m.glibcs);
	pre_reals()->mutex_unlock(&m.glibcs);
	return held && words_are(&m, LK_MUTEX_FREE, 0, 0, 0);
}

static bool knows_mutexes(void)
{
	for (int type = PTHREAD_MUTEX_TIMED_NP;
	     type <= PTHREAD_MUTEX_ADAPTIVE_NP; type++) {
		for (enum special special = NONE; special < SPECIALS; special++)
			if (!knows_kind(type, special))
				return false;
	}
	return knows_words();
}

/* Free, held, tried in vain and free again: never like ours. */
static bool knows_spinlocks(int pshared)
{
	const struct pre_reals *real = pre_reals();
	pthread_spinlock_t s = 0;
	bool known;

	real->spin_init(&s, pshared);
	known = spin_is_glibcs((u32)s, WAIT_TAG_MARK);
	real->spin_lock(&s);
	known &= spin_is_glibcs((u32)s, WAIT_TAG_MARK);
	real->spin_trylock(&s);
	known &= spin_is_glibcs((u32)s, WAIT_TAG_MARK);
	real->spin_unlock(&s);
	return known && spin_is_glibcs((u32)s, WAIT_TAG_MARK);
}

/* The first thread that tries speaks. */
void pre_probe(void)
{
	int saved = errno;
	bool first;

	if (lkp_once_is_done(&trial))
		return;
	first = lkp_once_begin(&trial);
	if (!knows_mutexes()) {
		WRITE_ONCE(pre_plain_types, 0);
		if (first)
			lkp_say("this glibc's mutexes are not as Lockwork "
				"knows "
				"them, so they stay glibc's");
	}
	if (!knows_spinlocks(PTHREAD_PROCESS_PRIVATE) ||
	    !knows_spinlocks(PTHREAD_PROCESS_SHARED)) {
		WRITE_ONCE(pre_spin_tag, 0);
		if (first)
			lkp_say("this glibc's spinlocks are not as Lockwork "
				"knows them, so they stay glibc's");
	}
	lkp_once_done(&trial);
	errno = saved;
}

__attribute__((constructor(101))) static void probe_when_loaded(void)
{
	pre_probe();
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Sections that a signal handler does not wait for; thread.h has how they begin and end. */
#include <platform.h>

#include "user.h"

#include <stdlib.h>

__cold void lkp_too_deep(void)
{
	lkp_say("too many signal handlers have interrupted each other in calls "
		"of "
		"locks: block signals while a handler runs (sa_mask of "
		"sigaction)");
	abort();
}

/* -- sections ------------------------------------------------------------ */

static void forget_all(void)
{
	u32 i;

	lkp_self.depth = 0;
	for (i = 0; i < LKP_MAX_SECTIONS; i++)
		lkp_self.sections[i] = NULL;
	for (i = 0; i < LKP_MAX_LATER; i++)
		lkp_self.later[i] = 0;
}

/*
 * A child that was forked in a handler does not return from it. So it never leaves the
 * sections that this handler has interrupted. The notes are those of its parent.
 */
static void forget_the_parents(void)
{
	if (lkp_self.depth && lkp_self.sections_epoch != wait_epoch())
		forget_all();
}

void lkp_sections_anew(void)
{
	forget_all();
	lkp_self.sections_epoch = wait_epoch();
}

u32 lkp_section_inside(void)
{
	forget_the_parents();
	if (lkp_self.depth == LKP_MAX_SECTIONS)
		lkp_too_deep();
	return lkp_self.depth;
}

static bool is_open(const void *obj)
{
	u32 i;

	for (i = 0; i < lkp_self.depth; i++)
		if (lkp_self.sections[i] == obj)
			return true;
	return false;
}

static bool any_is_open(u32 from)
{
	u32 i;

	for (i = from; i < lkp_self.depth; i++)
		if (lkp_self.sections[i])
			return true;
	return false;
}

bool lkp_in_section(const void *obj)
{
	forget_the_parents();
	return is_open(obj);
}

bool lkp_in_any_section(void)
{
	forget_the_parents();
	return any_is_open(0);
}

/* -- notes for later ----------------------------------------------------- */

/*
 * An entry is one word, so that handlers which interrupt each other see all of it or
 * nothing: an object's address, and in the bits that its alignment leaves free, which look.
 */
#define LOOKS 4u

static void (*looks[LOOKS])(void *obj);

static uintptr_t entry_of(void *obj, void (*look)(void *obj))
{
	u32 i;

	for (i = 0; i < LOOKS; i++) {
		void (*seen)(void *) = NULL;

		/* Orders nothing: the word says all. */
		if (try_cmpxchg_relaxed(&looks[i], &seen, look) || seen == look)
			return (uintptr_t)obj | i;
	}
	abort(); /* more kinds of locks than bits */
}

static void *object_of(uintptr_t entry)
{
	return (void *)(entry & ~(uintptr_t)(LOOKS - 1));
}

/* Takes the entry out. False: a handler has, meanwhile. */
static bool take(u32 at, uintptr_t entry)
{
	return try_cmpxchg_relaxed(&lkp_self.later[at], &entry, 0);
}

static void look_at(uintptr_t entry)
{
	READ_ONCE(looks[entry & (LOOKS - 1)])(object_of(entry));
}

static bool is_noted(uintptr_t entry)
{
	u32 i;

	for (i = 0; i < LKP_MAX_LATER; i++)
		if (READ_ONCE(lkp_self.later[i]) == entry)
			return true;
	return false;
}

static bool note_at(u32 at, uintptr_t entry)
{
	uintptr_t none = 0;

	return try_cmpxchg_relaxed(&lkp_self.later[at], &none, entry);
}

/* From the end, so that the places of the others stay for them. */
static bool note_own(uintptr_t entry)
{
	u32 i;

	for (i = LKP_MAX_LATER; i-- > 0;)
		if (note_at(i, entry))
			return true;
	return false;
}

static bool note_other(uintptr_t entry)
{
	u32 i;

	for (i = 0; i < LKP_MAX_OTHERS; i++)
		if (note_at(i, entry))
			return true;
	return false;
}

/* Looks at the objects of other threads: some lists may be free now. The rest is noted again. */
static void look_at_others(void)
{
	u32 i;

	for (i = 0; i < LKP_MAX_OTHERS; i++) {
		uintptr_t entry = READ_ONCE(lkp_self.later[i]);

		if (entry && !is_open(object_of(entry)) && take(i, entry))
			look_at(entry);
	}
}

bool lkp_look_later(void *obj, void (*look)(void *obj))
{
	uintptr_t entry = entry_of(obj, look);
	bool own = is_open(obj);

	if (!is_noted(entry) && !(own ? note_own(entry) : note_other(entry))) {
		if (own)
			lkp_too_deep();
		look_at_others();
		return false;
	}
	barrier();
	WRITE_ONCE(lkp_self.looks_later, true);
	return true;
}

void lkp_look_now(void *obj)
{
	bool last = !any_is_open(0);
	uintptr_t entry;
	u32 i;

	/* First: a handler that comes meanwhile may note more. */
	if (last)
		WRITE_ONCE(lkp_self.looks_later, false);
	barrier();
	for (i = 0; i < LKP_MAX_LATER; i++) {
		entry = READ_ONCE(lkp_self.later[i]);
		if (entry && (last || object_of(entry) == obj) &&
		    take(i, entry))
			look_at(entry);
	}
}

bool lkp_sections_are_open(u32 depth)
{
	forget_the_parents();
	return any_is_open(depth);
}

/* Also what a look was about to do that the jump has cut off. */
void lkp_leave_sections(u32 depth)
{
	if (lkp_self.depth > depth)
		lkp_self.depth = depth;
	lkp_look_now(NULL);
}

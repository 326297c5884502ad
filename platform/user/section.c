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

bool lkp_in_section(const void *obj)
{
	u32 i;

	for (i = 0; i < lkp_self.depth; i++)
		if (lkp_self.sections[i] == obj)
			return true;
	return false;
}

bool lkp_in_any_section(void)
{
	u32 i;

	for (i = 0; i < lkp_self.depth; i++)
		if (lkp_self.sections[i])
			return true;
	return false;
}

/*
 * Of an object whose section is open there is one entry at most, and that one goes with the
 * section. The others may be LKP_MAX_OTHERS. So an object of the first kind always finds
 * room.
 */
bool lkp_look_later(void *obj, void (*look)(void *obj))
{
	u32 limit = lkp_in_section(obj) ? LKP_MAX_LATER : LKP_MAX_OTHERS, i;

	for (i = 0; i < limit; i++) {
		struct lkp_later *later = &lkp_self.later[i];
		void *seen = NULL;

		/* Atomic, since another handler may come. Orders nothing. */
		if (!try_cmpxchg_relaxed(&later->obj, &seen, obj) &&
		    seen != obj)
			continue;
		later->look = look;
		barrier();
		lkp_self.looks_later = true;
		return true;
	}
	return false;
}

void lkp_look_now(void *obj)
{
	bool last = !lkp_in_any_section();
	u32 i;

	/* First: a handler that comes meanwhile may leave more. */
	if (last)
		lkp_self.looks_later = false;
	for (i = 0; i < LKP_MAX_LATER; i++) {
		struct lkp_later later = lkp_self.later[i];

		/* No @look yet: the handler that we interrupted is about to write it. */
		if (!later.obj || !later.look || (!last && later.obj != obj))
			continue;
		lkp_self.later[i].look = NULL;
		barrier();
		lkp_self.later[i].obj = NULL;
		barrier();
		later.look(later.obj);
	}
}

void lkp_leave_sections(u32 depth)
{
	u32 i;

	for (i = depth; i < LKP_MAX_SECTIONS; i++)
		lkp_self.sections[i] = NULL;
	lkp_self.depth = depth;
	if (lkp_self.looks_later)
		lkp_look_now(NULL);
}

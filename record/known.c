// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What is known of a lock itself: where it was made, and what the program calls it. */
#include "site.h"

#include <string.h>

void rec_init(void *lock, void *site)
{
	struct rec_thread *t = rec_thread();

	if (!t)
		return;
	rec_busy(t);
	if (rec_other(t, REC_INIT, (u64)lock, (u64)site,
		      sizeof(struct rec_init)))
		rec_maps_note((u64)site);
	rec_idle(t);
}

/* include/lockwork/profile.h calls it. */
EXPORT void rec_name_lock(const void *lock, const char *name);
void rec_name_lock(const void *lock, const char *name)
{
	struct rec_thread *t = rec_thread();
	struct rec_name *n;

	if (!t || !lock || !name)
		return;
	rec_busy(t);
	n = rec_other(t, REC_NAME, (u64)lock, 0, sizeof(*n));
	if (n) {
		strncpy((char *)n->name, name, sizeof(n->name) - 1);
		n->since = rec_ticks();
	}
	rec_idle(t);
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "locks.h"

static u32 length(const struct lk_ops *const *list)
{
	u32 count = 0;

	while (list[count])
		count++;
	return count;
}

u32 lw_lock_count(void)
{
	return length(lk_catalogue) + length(lw_canaries);
}

const struct lk_ops *lw_lock(u32 i)
{
	u32 real = length(lk_catalogue);

	return i < real ? lk_catalogue[i] : lw_canaries[i - real];
}

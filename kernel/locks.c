// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "locks.h"

static u32 length(const struct lk_ops *const *list)
{
	u32 count = 0;

	while (list[count])
		count++;
	return count;
}

u32 lkm_lock_count(void)
{
	return length(lk_catalogue) + length(lkm_canaries);
}

const struct lk_ops *lkm_lock(u32 i)
{
	u32 real = length(lk_catalogue);

	return i < real ? lk_catalogue[i] : lkm_canaries[i - real];
}

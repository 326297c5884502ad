// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* An entry of the kick table is of one lock, whatever the upper bits of the addresses. */
#include "kick.h"

#include "../lib/expect.h"

static struct lk_kick_table table;

static const void *at(u64 address)
{
	return (const void *)(uintptr_t)address;
}

static void test_pair(u64 one, u64 other)
{
	EXPECT(lk_kick_post(&table, at(one), 7));
	EXPECT(!lk_kick_claim(&table, at(other)));
	/* It gets its own bucket, or none; the first one's entry stays. */
	if (lk_kick_post(&table, at(other), 9))
		EXPECT(lk_kick_claim(&table, at(other)) == 9);
	EXPECT(lk_kick_claim(&table, at(one)) == 7);
	EXPECT(!lk_kick_claim(&table, at(one)));
}

int main(void)
{
	u64 bit, step = 0x9e3779b97f4a7c14ull, address = 0xff11000001234560ull;
	int i;

	/* Five levels of page tables: addresses that agree in 48 bits. */
	for (i = 1; i < 512; i++)
		test_pair(address, address ^ (u64)i << 48);
	for (i = 0; i < 10000; i++, address += step) {
		for (bit = 4; bit < 1ull << 57; bit <<= 1)
			test_pair(address & ~3ull, (address & ~3ull) ^ bit);
	}
	return 0;
}

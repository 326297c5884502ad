// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the world counts of sleeps and wake-ups: each is one that this file brings about. */
#include "expect.h"

#include <lockwork/lockwork.h>
#include <platform.h>
#include <pthread.h>

static uint64_t count_of(const char *event)
{
	uint64_t sum = 0;

	EXPECT(lw_event_sum(event, &sum) == 0);
	return sum;
}

/* Two sleeps of one wait, each ended by a wake-up: the first was for nothing. */
static void *sleep_twice(void *word)
{
	wait_on_value((u32 *)word, 0, NULL, 0);
	wait_on_value((u32 *)word, 0, NULL, 1);
	return NULL;
}

/* Returns how often nobody slept there yet. */
static uint64_t wake_one(u32 *word)
{
	uint64_t early = 0;

	while (!wake_value(word))
		early++;
	return early;
}

void test_sleeps(void)
{
	uint64_t early;
	pthread_t thread;
	u32 word = 0;

	/* Without naps each sleep lasts until it is ended. */
	EXPECT(lw_set_knob("naps", "0") == 0);
	EXPECT(lw_set_knob("count_events", "1") == 0);
	lw_events_reset();

	/* The word has changed already: no sleep. */
	wait_on_value(&word, 1, NULL, NO_NAPS);
	EXPECT(count_of("slept") == 0);
	EXPECT(!wake_value(&word));
	EXPECT(count_of("woke") == 0 && count_of("woke_nobody") == 1);

	EXPECT(!pthread_create(&thread, NULL, sleep_twice, &word));
	early = wake_one(&word);
	early += wake_one(&word);
	EXPECT(!pthread_join(thread, NULL));
	EXPECT(count_of("slept") == 2 && count_of("slept_again") == 1);
	EXPECT(count_of("woke") == 2 && count_of("woke_nobody") == 1 + early);

	EXPECT(lw_set_knob("count_events", "0") == 0);
	EXPECT(!wake_value(&word));
	EXPECT(count_of("woke_nobody") == 1 + early);
	lw_events_reset();
	EXPECT(lw_set_knob("naps", "1") == 0);
}

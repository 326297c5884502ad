// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Events: sums of what locks count in slow paths. Threads have counters of their
 * own, as long as there are not more threads than sets of them, so that to count
 * moves no line.
 */
#include "events.h"
#include "internal.h"
#include "user.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define STRIPES 64u

/* A value of the knob. */
#define AND_PRINT 2u

static struct {
	u64 sum[LK_EVENTS];
} __cacheline_aligned stripes[STRIPES];

__cold void lkp_count_event(u32 event)
{
	u64 *sums = stripes[lkp_self.slot % STRIPES].sum;

	if (event < LK_EVENTS)
		__atomic_fetch_add(&sums[event], 1, __ATOMIC_RELAXED);
}

const char *lkp_user_event_name(uint32_t event)
{
	return event < LK_EVENTS ? lk_events[event].name : NULL;
}

const char *lkp_user_event_help(uint32_t event)
{
	return event < LK_EVENTS ? lk_events[event].help : NULL;
}

uint64_t lkp_user_event_sum(uint32_t event)
{
	u64 sum = 0;

	for (u32 i = 0; i < STRIPES && event < LK_EVENTS; i++)
		sum += READ_ONCE(stripes[i].sum[event]);
	return sum;
}

void lkp_user_events_reset(void)
{
	for (u32 i = 0; i < STRIPES; i++) {
		for (u32 event = 0; event < LK_EVENTS; event++)
			WRITE_ONCE(stripes[i].sum[event], 0);
	}
}

/* Where the sums are printed; NULL: standard error. */
static const char *file;

void lkp_user_events_to(const char *path)
{
	WRITE_ONCE(file, path);
}

/* All sums, also those that are 0: the reader sees that this process counted. */
static void write_events(int fd)
{
	for (u32 event = 0; event < LK_EVENTS; event++)
		dprintf(fd, "%d %s %llu\n", (int)getpid(),
			lk_events[event].name,
			(unsigned long long)lkp_user_event_sum(event));
}

/* At the end of the process; other threads may still be counting. */
__attribute__((destructor)) static void print_events(void)
{
	const char *path = READ_ONCE(file);
	int fd;

	if (READ_ONCE(lkp_count_events) != AND_PRINT)
		return;
	(void)wait_epoch(); /* a forked child's sums are its own */
	if (path) {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
			  0600);
		if (fd >= 0) {
			write_events(fd);
			close(fd);
		}
		return;
	}
	for (u32 event = 0; event < LK_EVENTS; event++) {
		u64 sum = lkp_user_event_sum(event);

		if (sum)
			dprintf(2, "lockwork[%d]: %s %llu\n", (int)getpid(),
				lk_events[event].name, (unsigned long long)sum);
	}
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "frame.h"

u32 check_threads, check_acquisitions;

static u32 sections, begun[CHECK_THREADS];
static bool inside, served[CHECK_THREADS], reading[CHECK_THREADS];

/* Before each execution. */
void check_frame_begin(u32 threads, u32 acquisitions);
void check_frame_begin(u32 threads, u32 acquisitions)
{
	check_threads = threads;
	check_acquisitions = acquisitions;
}

/* NULL behind the last one. */
const char *check_lock_name(u32 index);
const char *check_lock_name(u32 index)
{
	return lk_catalogue[index] ? lk_catalogue[index]->name : NULL;
}

void critical_section(void)
{
	CHECK(!inside, "two threads are inside at once");
	inside = true;
	sections++;
	lwc_others_may_run();
	inside = false;
	begun[lwc_thread()]++;
}

void write_section(void)
{
	u32 i;

	for (i = 0; i < check_threads; i++)
		CHECK(!reading[i], "a reader is inside with a writer");
	critical_section();
}

void read_section(void)
{
	u32 me = lwc_thread(), seen = sections;

	CHECK(!inside, "a writer is inside with a reader");
	reading[me] = true;
	lwc_others_may_run();
	CHECK(seen == sections, "a writer came in beside a reader");
	reading[me] = false;
}

void check_sections(void)
{
	u32 i, all = 0;

	for (i = 0; i < check_threads; i++)
		all += begun[i];
	CHECK(sections == all, "what a holder wrote was lost");
}

void served_after(u32 other)
{
	CHECK(other == NOBODY || served[other],
	      "served before one that was queued first");
	served[lwc_thread()] = true;
}

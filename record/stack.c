// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The stack of a call. glibc's unwinder goes by unwind tables, and ends at code that has
 * none. From there on the stack is followed by frame pointers, if the code keeps them.
 */
#define _GNU_SOURCE
#include "stack.h"
#include "state.h"
#include "system.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
/* No frame is larger. */
#define FARTHEST (1u << 20)

bool rec_all_stacks; /* LOCKWORK_STACKS=all */
static bool none;    /* LOCKWORK_STACKS=none */

/* What a frame pointer points to. */
struct frame {
	u64 next; /* the caller's frame pointer */
	u64 back; /* where the call returns to */
};

/* What is no frame pointer may have any value, so the kernel reads: it fails and never faults. */
bool rec_stack_read(struct rec_window *w, u64 at, void *to, u32 bytes)
{
	u64 rest = PAGE - at % PAGE;
	ssize_t n;

	if (at < w->from || at + bytes > w->from + w->bytes) {
		n = sys_copy((int)rec_file->pid, w->of, at,
			     rest < REC_STACK_WINDOW ? rest : REC_STACK_WINDOW);
		w->from = at;
		w->bytes = n > 0 ? (u64)n : 0;
		if (w->bytes < bytes)
			return false;
	}
	memcpy(to, w->of + (at - w->from), bytes);
	return true;
}

/* By frame pointers, from the recorder's own code outwards. */
static u32 follow(void **frame, u32 room)
{
	u64 at = (u64)__builtin_frame_address(0);
	struct rec_window w = { 0 };
	struct frame f;
	u32 n = 0;

	while (n < room && rec_stack_read(&w, at, &f, sizeof(f)) &&
	       rec_maps_has(f.back)) {
		frame[n++] = (void *)f.back;
		if (f.next <= at || f.next - at > FARTHEST || f.next % 8)
			break;
		at = f.next;
	}
	return n;
}

/* Leaves the frames before @site out. */
static u32 begin_at(u64 site, void **frame, u32 n)
{
	u32 from = 0;

	while (from < n && (u64)frame[from] != site)
		from++;
	memmove(frame, frame + from, (n - from) * sizeof(*frame));
	return n - from;
}

/* Behind the last of @frame: it may be there several times, where functions call themselves. */
static u32 behind_last(void **frame, u32 n, void **other, u32 m)
{
	u32 times = 0, at = 0;

	for (u32 i = 0; i < n; i++)
		times += frame[i] == frame[n - 1];
	while (at < m && times)
		times -= other[at++] == frame[n - 1];
	return times ? m : at;
}

void rec_stack_prepare(void)
{
	const char *when = getenv("LOCKWORK_STACKS");
	void *warm_up[2];

	none = when && !strcmp(when, "none");
	rec_all_stacks = when && !strcmp(when, "all");
	if (!none)
		backtrace(warm_up, 2);
}

u32 rec_unwind(void **frame, u32 room, u64 site)
{
	void *other[REC_UNWOUND];
	u32 got, n, m, from;

	if (none) {
		frame[0] = (void *)site;
		return 1;
	}
	got = (u32)backtrace(frame, (int)room);
	n = begin_at(site, frame, got);
	if (n && got == room)
		return n;
	m = begin_at(site, other, follow(other, room));
	from = n ? behind_last(frame, n, other, m) : 0;
	while (from < m && n < room)
		frame[n++] = other[from++];
	return n;
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The calls of this world that touch no shared memory. Compiled without
 * instrumentation: nothing here is part of what is checked.
 */
#include <string.h>

#include "knobs.h"
#include <platform.h>

struct check_world check_world;

void *lwc_here(void)
{
	return __builtin_return_address(0);
}

static struct {
	u32 spins;
	u32 queues; /* queue_enter() without its queue_exit() */
	u32 depth; /* of sections: a handler's are inside of those that it interrupts */
	void *sections[LKP_MAX_NEST];
	struct {
		void *obj;
		void (*look)(void *obj);
	} later[LKP_MAX_NEST];
	bool at_event;	 /* in what a client does there */
	bool in_handler; /* of check_world.signal */
	u32 signals;	 /* so far */
} self[CHECK_THREADS];

/* Before each execution; the client's init() then sets what it wants. */
void check_world_reset(void)
{
	const struct lk_knob *knob;

	memset(&self, 0, sizeof(self));
	memset(&check_world, 0, sizeof(check_world));
	for (u32 i = 0; i < CHECK_THREADS; i++)
		check_world.spin_budget[i] = UINT32_MAX;
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) \
	check_world.name = check;
#include <knobs.def>
	check_world.clusters = 1;
	for (knob = lk_knobs; knob->name; knob++)
		*knob->value = knob->dflt;
}

/*
 * A way that threads change is loaded as a word of theirs: so the model explores each
 * change before and after each look, and each thread may see an old one.
 */
u32 check_world_read(const u32 *field)
{
	if (field == &check_world.wait_way && check_world.way_changes)
		return READ_ONCE(*field);
	return *field;
}

void queue_enter(void)
{
	self[lwc_thread()].queues++;
}

void queue_exit(void)
{
	if (!self[lwc_thread()].queues--)
		lwc_broken("queue_exit() without its queue_enter()");
}

/* After each execution. */
void check_world_end(void)
{
	for (u32 i = 0; i < CHECK_THREADS; i++)
		if (self[i].queues)
			lwc_broken("queue_enter() without its queue_exit()");
}

u32 this_slot(void)
{
	if (!self[lwc_thread()].queues)
		lwc_broken("a thread asks for its slot before queue_enter()");
	return check_world.no_slots ? 0 : lwc_thread() + 1;
}

/*
 * A signal arrives at the worst moment; its handler is not interrupted. The work that a
 * handler leaves is a section again: with a signal in each, it would have no end.
 */
#define MOST_SIGNALS 8u /* in one thread */

static void signal_arrives(void)
{
	u32 id = lwc_thread();

	if (!check_world.signal || self[id].in_handler ||
	    self[id].signals == MOST_SIGNALS)
		return;
	self[id].signals++;
	self[id].in_handler = true;
	check_world.signal();
	self[id].in_handler = false;
}

void check_before_store(void)
{
	if (check_world.signal_stores && self[lwc_thread()].depth)
		signal_arrives();
}

u16 wait_epoch(void)
{
	return check_world.epoch;
}

u32 wait_tag(void)
{
	return (u32)check_world.epoch << 10 & WAIT_TAG_MASK;
}

u32 this_vcpu(void)
{
	return check_world.one_cpu ? 0 : lwc_thread();
}

u32 this_priority(void)
{
	return check_world.priority[lwc_thread()];
}

u32 this_cluster(void)
{
	u32 clusters = check_world.clusters;

	return clusters ? lwc_thread() % clusters : 0;
}

bool vcpu_is_preempted(u32 vcpu)
{
	return vcpu == this_vcpu();
}

bool cpus_are_short(void)
{
	return check_world.cpus_short;
}

bool on_hypervisor(void)
{
	return check_world.hypervisor;
}

/* From here on mode auto is another one. */
void saw_preempted(void)
{
	check_world.cpus_short = true;
}

void begin_waiting(void)
{
	self[lwc_thread()].spins = 0;
}

bool budget_is_spent(void)
{
	u32 id = lwc_thread();

	return self[id].spins++ >= check_world.spin_budget[id];
}

void *section_enter(void *obj)
{
	u32 id = lwc_thread();
	u32 depth = self[id].depth++;

	if (check_world.sections_exclude)
		lwc_enter_section(obj);
	self[id].sections[depth] = obj;
	signal_arrives();
	return (void *)(uintptr_t)depth;
}

/* What was left for later, of @obj or of all objects. */
static void look_now(u32 id, const void *obj)
{
	for (u32 i = 0; i < LKP_MAX_NEST; i++) {
		void *left = self[id].later[i].obj;

		if (!left || (obj && left != obj))
			continue;
		self[id].later[i].obj = NULL;
		self[id].later[i].look(left);
	}
}

void section_exit(void *outer)
{
	u32 id = lwc_thread();
	u32 depth = (u32)(uintptr_t)outer;

	self[id].depth = depth;
	if (check_world.sections_exclude)
		lwc_leave_section();
	look_now(id, depth ? self[id].sections[depth] : NULL);
}

bool in_section(const void *obj)
{
	u32 id = lwc_thread();

	for (u32 i = 0; i < self[id].depth; i++)
		if (self[id].sections[i] == obj)
			return true;
	return false;
}

bool interrupts_section(void)
{
	return self[lwc_thread()].depth;
}

/* Of each object at most one entry is kept, so there is room for all. */
bool leave_for_later(void *obj, void (*look)(void *obj))
{
	u32 id = lwc_thread(), i, free = LKP_MAX_NEST;

	for (i = 0; i < LKP_MAX_NEST; i++) {
		if (self[id].later[i].obj == obj)
			return true;
		if (!self[id].later[i].obj)
			free = i;
	}
	if (free == LKP_MAX_NEST)
		lwc_broken("a handler leaves too much for later");
	i = free;
	self[id].later[i].obj = obj;
	self[id].later[i].look = look;
	return true;
}

void at_event(u32 event)
{
	u32 id = lwc_thread();

	if (!check_world.at_event || self[id].at_event)
		return;
	self[id].at_event = true;
	check_world.at_event(event);
	self[id].at_event = false;
}

bool mutex_outlives_unlock(void)
{
	return !check_world.posix;
}

bool spin_outlives_unlock(void)
{
	return !check_world.posix;
}

bool foreign_waiters(void)
{
	return check_world.foreign;
}

bool foreign_unlocks_ours(void)
{
	u32 *unlocks = check_world.foreign_unlocks;

	return unlocks && READ_ONCE(*unlocks);
}

bool waiters_halt(void)
{
	return check_world.halts;
}

bool waiters_leave(void)
{
	return check_world.leave;
}

u32 check_world_spurious(void)
{
	return check_world.spurious;
}

void deadline_after(struct lkp_deadline *deadline, u64 ns)
{
	(void)ns;
	deadline->never = check_world.no_time;
}

bool deadline_within(const struct lkp_deadline *deadline, u64 ns)
{
	(void)deadline;
	(void)ns;
	return check_world.soon;
}

bool may_pass(const struct lkp_deadline *deadline)
{
	return deadline && !deadline->never;
}

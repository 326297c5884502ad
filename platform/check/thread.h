/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_CHECK_THREAD_H
#define LKP_CHECK_THREAD_H

/* Threads under the model checker, and what a client decides about them. */
#include <atomic.h>
/* -- what a client sets: see tests/check/frame.h ------------------------- */

#define CHECK_THREADS 32u

/* What a thread does that begins to wait while others sleep. */
enum check_turns {
	CHECK_NO_TURNS,	   /* turns do not end */
	CHECK_TURNS_GO_ON, /* it wakes the first, and goes on */
	CHECK_TURNS_END,   /* it wakes the first, and sleeps */
};

struct check_world {
	u32 spin_budget[CHECK_THREADS]; /* rounds until need_resched() */
/* The limits of knobs.def. */
#define LK_LIMIT(name, expert, min, max, user, kernel, check, help) u32 name;
#include <knobs.def>
	u32 priority[CHECK_THREADS]; /* this_priority() */
	u32 spurious;	    /* early returns of wait_on_value() a thread */
	u32 clusters;	    /* of CPUs */
	u16 epoch;	    /* fork epoch that the threads live in */
	bool no_slots;	    /* this_slot() finds all taken */
	bool one_cpu;	    /* all threads run on one CPU */
	bool posix;	    /* as the interposer: see CONTRACT.md */
	bool foreign;	    /* foreign_waiters() */
	bool naps;	    /* sleeps end now and then, but for NO_NAPS */
	bool wakes_blindly; /* wake_value() says true whether or not one slept */
	bool no_time;	    /* deadlines that are made now never pass */
	bool soon;	    /* deadline_within() */
	bool halts;	    /* waiters_halt() */
	bool leave;	    /* waiters_leave() */
	bool leaves[CHECK_THREADS]; /* should_leave() */
	bool hypervisor;	    /* on_hypervisor() */
	bool cpus_short;	    /* cpus_are_short() */
	bool way_changes;	    /* threads store to wait_way */
	bool sections_exclude;	    /* those of one object never overlap */
	enum check_turns turns;
	u32 *foreign_unlocks; /* foreign_unlocks(): what is there; NULL: false */
	void (*signal)(void); /* handler that interrupts each list section */
	bool signal_stores;   /* before each store in it, too */
	/* At each event but its own: a handler too, or what counts them. */
	void (*at_event)(u32 event);
};
extern struct check_world check_world;

/* -- this thread --------------------------------------------------------- */

#define LKP_MAX_SLOTS CHECK_THREADS
#define LKP_MAX_NEST  4u

/* Between them only may a thread ask for its slot; both are counted. */
void queue_enter(void);
void queue_exit(void);
u32 this_slot(void);
u16 wait_epoch(void);
/* As in the interposer, so that a tag is never 0 there and here. */
#define WAIT_TAG_MASK 0xfc00u
u32 wait_tag(void);

/* The type of a waiter's record on its stack. */
#define __wait_record

#define DEFINE_WAIT_NODES(type, name)                                          \
	static type name[LKP_MAX_SLOTS + 1][LKP_MAX_NEST] __cacheline_aligned; \
	u8 name##_depth[CHECK_THREADS]
#define DECLARE_WAIT_DEPTH(name)     extern u8 name##_depth[]
#define wait_node(name, slot, level) (&(name)[slot][level])
#define wait_depth(name)	     ((name##_depth)[lwc_thread()])

/* -- where threads run, how long to spin --------------------------------- */

u32 this_vcpu(void);
bool vcpu_is_preempted(u32 vcpu);
bool cpus_are_short(void);
bool on_hypervisor(void);
void saw_preempted(void);
/* What a baseline asks of the hypervisor: see CONTRACT.md. */
#define yield_to_vcpu(vcpu)	  ((void)(vcpu), cpu_relax())
#define owner_is_preempted(owner) vcpu_is_preempted(owner)
/* No count of turns: time stands still, so nothing is learned. */
#define next_owner(last)  this_vcpu()
#define leave_owner(hint) WRITE_ONCE(*(hint), next_owner(READ_ONCE(*(hint))))
/* Nobody counts here. A client that makes hints itself counts in bits 8 and up. */
#define turns_between(hint, later) ((((later) >> 8) - ((hint) >> 8)) & 0xffff)
#define address_of(object)	   ((u64)(uintptr_t)(object))
/* Thread @n runs in cluster @n modulo this. A mutant may not look: 2. */
#define cluster_count()                                \
	(lwc_left_out(__lwc_site("cluster_count", "")) \
		 ? 2                                   \
		 : check_world_read(&check_world.clusters))
u32 this_cluster(void);
void begin_waiting(void);
/* A mutant may leave it out, as a wait that cannot be given up. */
#define need_resched() \
	(!lwc_left_out(__lwc_site("need_resched", "")) && budget_is_spent())
bool budget_is_spent(void);

/* -- time, sections ------------------------------------------------------ */

/*
 * Time stands still. The schedule makes the choices that time would make. A mutant reads
 * a time at which nothing is due yet.
 */
#define local_clock()  ((u64)!lwc_left_out(__lwc_site("local_clock", "")))
#define give_way()     ((void)0)
#define takes_turns()  (check_world.turns != CHECK_NO_TURNS)
#define turn_is_over() true
#define end_turn()     (check_world.turns == CHECK_TURNS_END)
u32 this_priority(void);

void *section_enter(void *obj);
void section_exit(void *outer);
bool in_section(const void *obj);
bool interrupts_section(void);
/* Mutants: a handler that waits for the section of another thread; one that forgets. */
#define in_any_section()                                    \
	(!lwc_left_out(__lwc_site("in_any_section", "")) && \
	 interrupts_section())
#define look_later(obj, look)                          \
	(lwc_left_out(__lwc_site("look_later", "")) || \
	 leave_for_later(obj, look))
bool leave_for_later(void *obj, void (*look)(void *obj));

/* -- sleeping ------------------------------------------------------------ */

/*
 * A deadline is not a time here: it may be past whenever one looks; or never, if
 * the client had time stand still when it was made.
 */
struct lkp_deadline {
	bool never;
};
void deadline_after(struct lkp_deadline *deadline, u64 ns);
bool deadline_within(const struct lkp_deadline *deadline, u64 ns);

bool may_pass(const struct lkp_deadline *deadline);
#define wait_on_value(word, val, deadline, times)         \
	lwc_sleep(word, val, may_pass(deadline),          \
		  check_world.naps && (times) != NO_NAPS, \
		  __lwc_site("wait_on_value", #word))
#define NO_NAPS UINT32_MAX
static inline bool may_have_woken(bool met)
{
	return met || check_world.wakes_blindly;
}
#define wake_value(word) \
	may_have_woken(lwc_wake(word, __lwc_site("wake_value", #word)))
#define should_halt(rounds) \
	((void)(rounds),    \
	 !lwc_left_out(__lwc_site("should_halt", "")) && budget_is_spent())
/* One that leaves does so at once, or when it looks after a while. */
struct lkp_stall {
	u64 began, free_since;
};
#define should_leave(rounds, stall, free)                 \
	((void)(rounds), (void)(stall),                   \
	 !lwc_left_out(__lwc_site("should_leave", "")) && \
		 check_world.leaves[lwc_thread()] && (free))
#define halt_on_value(word, val)                             \
	((void)lwc_sleep(word, val, false, check_world.naps, \
			 __lwc_site("halt_on_value", #word)))
#define kick_value(word, vcpu) \
	((void)(vcpu), lwc_wake(word, __lwc_site("kick_value", #word)))

/* Both hosts of the user world: a client chooses. */
bool mutex_outlives_unlock(void);
bool spin_outlives_unlock(void);
bool foreign_waiters(void);
bool foreign_unlocks_ours(void);
#define foreign_unlocks(m) ((void)(m), foreign_unlocks_ours())
bool waiters_halt(void);
bool waiters_leave(void);
#define LK_MUTEX_EMBED

#endif

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The rivals of the simulator's baselines, each by the same few functions: see
 * crates/lockwork-sim/baselines/rivals.def. Their knobs are set so that a few
 * acquisitions reach what takes hundreds otherwise.
 */
#include "frame.h"
#include "knobs.h"

#define LK_LOCK(ops) extern const struct lk_ops ops;
#include "rivals.def"
#undef LK_LOCK

static const struct lk_ops *rival;
static char object[16384] __attribute__((aligned(128)));

static void begin(const struct lk_ops *ops)
{
	rival = ops;
	rival->init(object);
}

static void use(void)
{
	critical_section();
	rival->unlock(object);
}

static void lock_and_unlock(u32 id)
{
	(void)id;
	EACH_ACQUISITION(rival->lock(object); use());
}

/* Odd threads only try. */
static void lock_or_try(u32 id)
{
	EACH_ACQUISITION(if (id % 2 == 0) rival->lock(object);
			 else if (!rival->trylock(object)) continue; use());
}

static void finish(void)
{
	check_sections();
	rival->lock(object); /* it is free, or this waits for ever */
	rival->unlock(object);
}

/* -- what each begins with ----------------------------------------------- */

static void two_clusters(const struct lk_ops *ops)
{
	begin(ops);
	check_world.clusters = 2;
}

/* No hand-over stays in the cluster while others wait. */
static void no_local(const struct lk_ops *ops)
{
	two_clusters(ops);
	lk_knob_osq_node_max = 0;
}

static void mcs_tp(void)
{
	begin(&lk_mcs_tp_ops);
}

static void mcs_tp_one_cpu(void)
{
	begin(&lk_mcs_tp_ops);
	check_world.one_cpu = true;
}

static void malthusian(void)
{
	begin(&lk_malthusian_ops);
}

static void malthusian_fair(void)
{
	begin(&lk_malthusian_ops);
	lk_knob_osq_keep_times = 0;
}

static void reciprocating(void)
{
	begin(&lk_reciprocating_ops);
}

static void cohort(void)
{
	two_clusters(&lk_cohort_ops);
}

static void cohort_alone(void)
{
	begin(&lk_cohort_ops);
}

static void cohort_no_local(void)
{
	no_local(&lk_cohort_ops);
}

static void cna(void)
{
	two_clusters(&lk_cna_ops);
}

static void cna_no_local(void)
{
	no_local(&lk_cna_ops);
}

static void cna_spin(void)
{
	two_clusters(&lk_cna_spinlock_ops);
}

/* Nobody waits as pending, so that few threads make a queue. */
static void cna_spin_queue(void)
{
	cna_spin();
	check_world.pending_rounds = 0;
}

/* Those put aside come back at once. */
static void cna_spin_no_local(void)
{
	no_local(&lk_cna_spinlock_ops);
	check_world.pending_rounds = 0;
}

static void shfl(void)
{
	two_clusters(&lk_shfl_lock_ops);
}

static void hq(void)
{
	two_clusters(&lk_hq_spinlock_ops);
}

/*
 * The first hand-over opens the entry. A thread that finds nobody behind it closes the
 * entry. Nobody waits as pending, so that few threads make a queue.
 */
static void hq_switching(void)
{
	two_clusters(&lk_hq_spinlock_ops);
	check_world.pending_rounds = 0;
	lk_knob_osq_keep_times = 0;
}

/* Nobody closes it again within so few acquisitions. */
static void hq_open(void)
{
	two_clusters(&lk_hq_spinlock_ops);
	check_world.pending_rounds = 0;
	lk_knob_osq_keep_times = 0;
	lk_knob_osq_node_max = 0;
}

static void glibc_mutex(void)
{
	begin(&lk_glibc_mutex_ops);
}

static void std_mutex(void)
{
	begin(&lk_std_mutex_ops);
}

static void std_mutex_spurious(void)
{
	begin(&lk_std_mutex_ops);
	check_world.spurious = 1;
}

static void mutex_no_osq(void)
{
	begin(&lk_mutex_no_osq_ops);
}

static void mutex_2013_xchg(void)
{
	begin(&lk_mutex_2013_xchg_ops);
}

static void mutex_2013_read(void)
{
	begin(&lk_mutex_2013_read_ops);
}

/* Both: sleeps that end early. */
static void mutex_2013_spurious(void)
{
	mutex_2013_read();
	check_world.spurious = 1;
}

static void owner(void)
{
	begin(&lk_qspinlock_owner_ops);
}

/* The holder is off its CPU: each round is a yield. */
static void owner_one_cpu(void)
{
	begin(&lk_qspinlock_owner_ops);
	check_world.one_cpu = true;
}

/* Nobody tries for long, and the head stops the stealing at once. */
static void owner_closed(void)
{
	begin(&lk_qspinlock_owner_ops);
	check_world.pending_rounds = 0;
}

static void fair_rmw(void)
{
	begin(&lk_qspinlock_fair_rmw_ops);
}

#define ALL(lock, name, about, threads, acquisitions, preemptions, init)    \
	{                                                                   \
		lock, name, about, threads, acquisitions, preemptions, 300, \
			16, init, lock_and_unlock, finish                   \
	}
#define TRY_WITHIN(lock, threads, acquisitions, preemptions, init)             \
	{                                                                      \
		lock, "try", "a try that fails changes nothing", threads,      \
			acquisitions, preemptions, 300, 16, init, lock_or_try, \
			finish                                                 \
	}
#define TRY(lock, init) TRY_WITHIN(lock, 3, 2, 2, init)

const struct check_client check_rivals[] = {
	ALL("mcs_tp", "exclusion", "one holder at a time", 3, 2, 2, mcs_tp),
	ALL("mcs_tp", "one_cpu", "waiters off their CPU are skipped", 3, 2, 2,
	    mcs_tp_one_cpu),
	TRY("mcs_tp", mcs_tp),
	ALL("malthusian", "exclusion", "one holder at a time", 3, 2, 2,
	    malthusian),
	ALL("malthusian", "crowd", "waiters are put aside", 4, 1, 2,
	    malthusian),
	ALL("malthusian", "fair", "the oldest is let in each time", 4, 1, 2,
	    malthusian_fair),
	TRY("malthusian", malthusian),
	ALL("reciprocating", "exclusion", "one holder at a time", 3, 2, 2,
	    reciprocating),
	ALL("reciprocating", "crowd", "segments are longer than two", 4, 1, 2,
	    reciprocating),
	TRY("reciprocating", reciprocating),
	ALL("cohort", "exclusion", "one holder at a time", 3, 2, 2, cohort),
	ALL("cohort", "alone", "there is one cluster", 3, 2, 2, cohort_alone),
	ALL("cohort", "turns", "clusters take turns", 3, 2, 2, cohort_no_local),
	ALL("cna", "exclusion", "one holder at a time", 3, 2, 2, cna),
	ALL("cna", "crowd", "waiters are passed over", 4, 1, 2, cna),
	ALL("cna", "turns", "those passed over are served", 4, 1, 2,
	    cna_no_local),
	TRY("cna", cna),
	ALL("cna_spinlock", "exclusion", "one holder at a time", 3, 2, 2,
	    cna_spin),
	ALL("cna_spinlock", "crowd", "waiters are put aside", 5, 1, 2,
	    cna_spin_queue),
	ALL("cna_spinlock", "turns", "those put aside are served", 5, 1, 2,
	    cna_spin_no_local),
	TRY("cna_spinlock", cna_spin),
	ALL("shfl_lock", "exclusion", "one holder at a time", 3, 2, 2, shfl),
	ALL("shfl_lock", "crowd", "the queue is regrouped", 4, 1, 1, shfl),
	TRY("shfl_lock", shfl),
	ALL("hq_spinlock", "exclusion", "one holder at a time", 3, 2, 2, hq),
	ALL("hq_spinlock", "switching", "the queue is divided and joined", 3, 2,
	    2, hq_switching),
	ALL("hq_spinlock", "turns", "the same, and clusters take turns", 3, 2,
	    2, hq_open),
	ALL("hq_spinlock", "pair", "two threads, three preemptions", 2, 3, 3,
	    hq_switching),
	TRY_WITHIN("hq_spinlock", 2, 2, 3, hq_switching),
	ALL("glibc_mutex", "exclusion", "one holder at a time", 3, 2, 2,
	    glibc_mutex),
	TRY("glibc_mutex", glibc_mutex),
	ALL("std_mutex", "exclusion", "one holder at a time", 3, 2, 2,
	    std_mutex),
	ALL("std_mutex", "spurious", "sleeps that end early", 3, 2, 2,
	    std_mutex_spurious),
	TRY("std_mutex", std_mutex),
	ALL("mutex_no_osq", "exclusion", "one holder at a time", 3, 2, 1,
	    mutex_no_osq),
	TRY("mutex_no_osq", mutex_no_osq),
	ALL("mutex_2013_xchg", "exclusion", "one holder at a time", 3, 2, 1,
	    mutex_2013_xchg),
	TRY("mutex_2013_xchg", mutex_2013_xchg),
	ALL("mutex_2013_read", "exclusion", "one holder at a time", 3, 2, 1,
	    mutex_2013_read),
	ALL("mutex_2013_read", "spurious", "sleeps that end early", 3, 2, 1,
	    mutex_2013_spurious),
	TRY("mutex_2013_read", mutex_2013_read),
	ALL("qspinlock_owner", "exclusion", "one holder at a time", 3, 2, 2,
	    owner),
	ALL("qspinlock_owner", "one_cpu", "waiters yield to the holder", 3, 1,
	    2, owner_one_cpu),
	ALL("qspinlock_owner", "closed", "the head stops the stealing", 3, 2, 2,
	    owner_closed),
	TRY("qspinlock_owner", owner_closed),
	ALL("qspinlock_fair_rmw", "exclusion", "one holder at a time", 3, 2, 2,
	    fair_rmw),
	TRY("qspinlock_fair_rmw", fair_rmw),
	{ 0 },
};

/* Mistakes in logic, one or two for each rival. */
const struct check_mutant mutants_rivals[] = {
	{ "does not wait to be granted", "mcs_tp.C", NULL, NULL, "no_wait" },
	{ "empties a queue that has grown", "mcs_tp.D", NULL, NULL, "force" },
	{ "does not wait to be granted", "malthusian.B", NULL, NULL,
	  "no_wait" },
	{ "empties a queue that has grown", "malthusian.C", NULL, NULL,
	  "force" },
	{ "does not wait for its segment", "reciprocating.B", NULL, NULL,
	  "no_wait" },
	{ "empties a stack that has grown", "reciprocating.D", NULL, NULL,
	  "force" },
	{ "does not wait in its cluster", "cohort.H", NULL, NULL, "no_wait" },
	{ "does not wait for its cluster's turn", "cohort.E", NULL, NULL,
	  "no_wait" },
	{ "does not wait to be granted", "cna.C", NULL, NULL, "no_wait" },
	{ "empties a queue that has grown", "cna.E", NULL, NULL, "force" },
	{ "takes a byte that is held", "shfl.A", NULL, NULL, "split" },
	{ "takes a word that is held", "cna_spin.A", NULL, NULL, "split" },
	{ "does not wait to be made the head", "cna_spin.H", NULL, NULL,
	  "no_wait" },
	{ "empties a queue that has grown", "cna_spin.I", NULL, NULL, "force" },
	{ "takes a byte that is held", "hq.A", NULL, NULL, "split" },
	{ "does not wait as the pending one", "hq.H", NULL, NULL, "no_wait" },
	{ "takes a word that is held", "qspin_owner.A", NULL, NULL, "split" },
	{ "queues over one that came first", "qspin_owner.H", NULL, NULL,
	  "force" },
	{ "takes a word that is held", "futex_mutex.A", NULL, NULL, "split" },
	{ "wakes nobody", "unlock", "wake_value", NULL, "drop" },
	{ 0 },
};

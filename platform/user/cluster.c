// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Clusters of CPUs: those that share a last cache, or a NUMA node, as sysfs says,
 * or what the user says. Learnt when they are first asked for; a CPU that comes
 * later when it is first met. A wrong answer costs speed, nothing else.
 *
 * Who learns has the table to itself, and draws it up aside. Nobody waits for
 * that: meanwhile all others are in cluster 0. What needs no system call is in
 * cluster.h.
 */
#include "topology.h"
#include "user.h"

#include <string.h>

/* 1 more than each CPU's cluster; 0: not met yet. */
u16 lkp_cluster_of[LKP_MAX_CPUS];
/* Clusters; 0: not learnt yet. */
u32 lkp_cluster_total;
/* Values of the knob. */
enum { BY_CACHE, BY_NODE, BY_CPU };

/* The fork epoch of who learns, plus 1; 0: nobody does. */
static u32 learner;

/* What both will be; the learner's own, as is all below. */
static u16 draft[LKP_MAX_CPUS];
static u32 drafted;

/* By whom the clusters were given. */
static enum { NOT_ASKED, BY_SYSTEM, BY_USER } given;

/* -- one at a time ------------------------------------------------------- */

/* False: somebody learns, perhaps whom this signal handler interrupted. */
static bool try_enter(u64 *signals)
{
	u32 now = wait_epoch() + 1u;

	/* Without a system call for each look. */
	if (READ_ONCE(learner) == now)
		return false;
	*signals = lkp_block_signals();
	if (lkp_learn_begin(&learner, now))
		return true;
	lkp_restore_signals(*signals);
	return false;
}

static u64 enter(void)
{
	u64 signals;
	u32 rounds = 0;

	while (!try_enter(&signals))
		cpu_relax_wait(&rounds);
	return signals;
}

static void leave(u64 signals)
{
	lkp_learn_end(&learner);
	lkp_restore_signals(signals);
}

/* -- drawing up ---------------------------------------------------------- */

/* The CPUs of @cpu's cluster. */
static bool neighbours(u32 cpu, struct lkp_cpus *cpus)
{
	switch (READ_ONCE(lkp_clusters)) {
	case BY_CPU:
		*cpus = (struct lkp_cpus){ 0 };
		lkp_cpus_add(cpus, cpu);
		return true;
	case BY_NODE:
		return lkp_cpus_of_node(cpu, cpus);
	default:
		return lkp_cpus_of_cache(cpu, cpus) ||
		       lkp_cpus_of_node(cpu, cpus);
	}
}

/* Those of @cpus that have no cluster are in number @n, from 1. */
static void draft_cluster(const struct lkp_cpus *cpus, u32 n)
{
	for (u32 cpu = 0; cpu < LKP_MAX_CPUS; cpu++) {
		if (lkp_cpus_have(cpus, cpu) && !draft[cpu])
			draft[cpu] = (u16)n;
	}
}

/* A cluster for @cpu: its neighbours', a new one, or the first. */
static void draft_cpu(u32 cpu)
{
	static struct lkp_cpus cpus;
	u32 n = 0;

	if (given == BY_USER || !neighbours(cpu, &cpus)) {
		draft[cpu] = 1;
		return;
	}
	for (u32 other = 0; other < LKP_MAX_CPUS && !n; other++) {
		if (lkp_cpus_have(&cpus, other))
			n = draft[other];
	}
	if (!n)
		n = ++drafted;
	draft_cluster(&cpus, n);
}

static void draft_system(void)
{
	static struct lkp_cpus online;

	memset(draft, 0, sizeof(draft));
	drafted = 0;
	given = BY_SYSTEM;
	if (!lkp_cpus_online(&online))
		return;
	for (u32 cpu = 0; cpu < LKP_MAX_CPUS; cpu++) {
		if (lkp_cpus_have(&online, cpu) && !draft[cpu])
			draft_cpu(cpu);
	}
}

/* NULL, or why @map is none; then the draft is as it was. */
static const char *draft_map(const char *map)
{
	static struct lkp_cpus cpus;
	const char *text = map, *why;

	cpus = (struct lkp_cpus){ 0 };
	for (;; text++) {
		why = lkp_cpus_parse(&text, &cpus);
		if (why)
			return why;
		if (*text != ';')
			break;
	}
	if (*text)
		return "it has a line break";
	memset(draft, 0, sizeof(draft));
	drafted = 0;
	given = BY_USER;
	for (text = map;; text++) {
		cpus = (struct lkp_cpus){ 0 };
		(void)lkp_cpus_parse(&text, &cpus);
		draft_cluster(&cpus, ++drafted);
		if (!*text)
			return NULL;
	}
}

/* The first draft, from the environment or the system. */
static void draft_first(void)
{
	const char *map = lkp_env("LOCKWORK_CLUSTERS"), *why;

	if (map && *map) {
		why = draft_map(map);
		if (!why)
			return;
		lkp_ignored("LOCKWORK_CLUSTERS", map, why);
	}
	draft_system();
}

static void publish(void)
{
	lkp_cluster_publish(lkp_cluster_of, &lkp_cluster_total, draft,
			    LKP_MAX_CPUS, drafted ? drafted : 1);
}

/* -- asking -------------------------------------------------------------- */

/* All there are, and @cpu if there is such a one. */
static void learn(u32 cpu)
{
	u64 signals;

	if (!try_enter(&signals))
		return;
	if (!READ_ONCE(lkp_cluster_total))
		draft_first();
	if (cpu < LKP_MAX_CPUS && !draft[cpu])
		draft_cpu(cpu);
	publish();
	leave(signals);
}

__cold u32 lkp_cluster_slow(u32 cpu)
{
	u32 n;

	if (cpu >= LKP_MAX_CPUS)
		return 0;
	learn(cpu);
	n = lkp_cluster_entry(&lkp_cluster_of[cpu]);
	return n ? n - 1u : 0;
}

__cold u32 lkp_cluster_total_slow(void)
{
	u32 total;

	learn(LKP_MAX_CPUS);
	total = READ_ONCE(lkp_cluster_total);
	return total ? total : 1;
}

uint32_t lkp_user_cluster_count(void)
{
	return cluster_count();
}

/* -- setting ------------------------------------------------------------- */

const char *lkp_user_set_clusters(const char *map)
{
	const char *why = NULL;
	u64 signals = enter();

	if (map && *map)
		why = draft_map(map);
	else
		draft_system();
	if (!why)
		publish();
	leave(signals);
	return why;
}

void lkp_clusters_changed(void)
{
	u64 signals = enter();

	/* What is not learnt yet will be; what the user gave stays. */
	if (READ_ONCE(lkp_cluster_total) && given == BY_SYSTEM) {
		draft_system();
		publish();
	}
	leave(signals);
}

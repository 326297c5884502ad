/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_USER_TOPOLOGY_H
#define LW_USER_TOPOLOGY_H

/* Sets of CPUs, and what sysfs says of them. Callers come one at a time. */
#include "internal.h"

struct lw_cpus {
	u64 bits[LW_MAX_CPUS / 64];
};

static inline bool lw_cpus_have(const struct lw_cpus *cpus, u32 cpu)
{
	return cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

static inline void lw_cpus_add(struct lw_cpus *cpus, u32 cpu)
{
	cpus->bits[cpu / 64] |= (u64)1 << cpu % 64;
}

/*
 * Adds the list at *@text ("0-3,8"), which ends with the text, a line or ';', and
 * passes it. Returns NULL, or why it is none; then some may have been added.
 */
const char *lw_cpus_parse(const char **text, struct lw_cpus *cpus);

/* The folder that has cpu/ and node/; tests have one of their own. */
extern const char *lw_sysfs;

/* Each returns false where the system does not say. */
bool lw_cpus_online(struct lw_cpus *cpus);
/* Those that share @cpu's last cache, or its NUMA node, it among them. */
bool lw_cpus_of_cache(u32 cpu, struct lw_cpus *cpus);
bool lw_cpus_of_node(u32 cpu, struct lw_cpus *cpus);

#endif

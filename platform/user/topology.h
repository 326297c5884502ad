/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_TOPOLOGY_H
#define LKP_USER_TOPOLOGY_H

/* Sets of CPUs, and what sysfs says of them. Callers come one at a time. */
#include "internal.h"

struct lkp_cpus {
	u64 bits[LKP_MAX_CPUS / 64];
};

static inline bool lkp_cpus_have(const struct lkp_cpus *cpus, u32 cpu)
{
	return cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

static inline void lkp_cpus_add(struct lkp_cpus *cpus, u32 cpu)
{
	cpus->bits[cpu / 64] |= (u64)1 << cpu % 64;
}

/*
 * Adds the list at *@text ("0-3,8"), which ends with the text, a line or ';', and
 * passes it. Returns NULL, or why it is none; then some may have been added.
 */
const char *lkp_cpus_parse(const char **text, struct lkp_cpus *cpus);

/* The folder that has cpu/ and node/; tests have one of their own. */
extern const char *lkp_sysfs;

/* Each returns false where the system does not say. */
bool lkp_cpus_online(struct lkp_cpus *cpus);
/* Those that share @cpu's last cache, or its NUMA node, it among them. */
bool lkp_cpus_of_cache(u32 cpu, struct lkp_cpus *cpus);
bool lkp_cpus_of_node(u32 cpu, struct lkp_cpus *cpus);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_USER_H
#define LKP_USER_H

/*
 * What the user world offers its hosts (the library, the interposer, the
 * lab) beside the primitives of the world: knobs, and a way to shrink
 * resources so that tests can reach their ends.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "knobs.h"

/* Knobs of this world; those of the locks are lk_knobs. Ended as that is. */
extern const struct lk_knob lkp_user_knobs[];

/*
 * Sets knob @name of either table from text @value. Returns 0, -ENOENT (no such knob) or
 * -ERANGE (not a value of this knob; nothing changed).
 */
int lkp_user_knob_set(const char *name, const char *value);

/*
 * Which CPUs are a cluster from now on: lists of CPUs, a cluster each, as in
 * "0-3,8;4-7". What it does not name is in the first one. NULL or "": what the
 * system says, by knob `clusters`. Returns NULL, or why it is no such text;
 * then nothing changed.
 */
const char *lkp_user_set_clusters(const char *map);

/* How many clusters there are, at least 1. */
uint32_t lkp_user_cluster_count(void);

/*
 * Events of locks/events.h, counted if knob count_events says so: names, one
 * line each what they are, how often each was counted. Past the last: NULL, 0.
 */
const char *lkp_user_event_name(uint32_t event);
const char *lkp_user_event_help(uint32_t event);
uint64_t lkp_user_event_sum(uint32_t event);
/* All from 0 again; what is being counted meanwhile may be lost or stay. */
void lkp_user_events_reset(void);
/*
 * The sums that are printed when the process ends are appended to the file @path, a line
 * each of process, name and sum, and not printed on standard error. The text must stay.
 */
void lkp_user_events_to(const char *path);

/* For slow paths, where getenv() and stdio may not be called. */
/* The value of an environment variable, or NULL. */
const char *lkp_env(const char *name);
/* From now on lkp_say() tells standard error as it is now from another file there. */
void lkp_keep_stderr(void);
/*
 * Says @text on standard error, in a line of its own; not if the program has another file
 * there by now, unless that is a terminal, a pipe or a log.
 */
void lkp_say(const char *text);
/* Says on standard error that @what=@value is not heeded, and @why. */
void lkp_ignored(const char *what, const char *value, const char *why);

/* At most @n thread slots (1 … 16383) from now on; threads past it have none. */
void lkp_user_limit_slots(uint32_t n);
/* How many slots are taken now. */
uint32_t lkp_user_slots_in_use(void);

#endif

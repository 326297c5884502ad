/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_EVENTS_H
#define LK_EVENTS_H

/*
 * Events: what slow paths count by count_event(LK_EV_name), where a world has
 * its users ask for that, in the manner of the kernel's lock events. The sums
 * are the world's; events.def lists the names.
 */
#include <platform.h>

#include "events.def"

#define LK_EVENT_NUMBER(name, help) LK_EV_##name,

enum lk_event {
	LK_EVENT_LIST(LK_EVENT_NUMBER) /* and how many there are: */
	LK_EVENTS
};

struct lk_event_name {
	const char *name;
	const char *help;
};

extern const struct lk_event_name lk_events[LK_EVENTS];

#endif

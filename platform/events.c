// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "events.h"

#define LK_EVENT_NAME(name, help) { #name, help },

const struct lk_event_name lk_events[LK_EVENTS] = { LK_EVENT_LIST(
	LK_EVENT_NAME) };

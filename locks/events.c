// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "events.h"

const struct lk_event_name lk_events[LK_EVENTS] = {
#define LK_EVENT(name, help) { #name, help },
#include "events.def"
#undef LK_EVENT
};

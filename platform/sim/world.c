// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the simulator sets; atomic.h says who calls it. */
#include <platform.h>

struct lws_calls lws;

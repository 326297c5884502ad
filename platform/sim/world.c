// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What the simulator sets; platform.h says who calls it. */
#include <platform.h>

struct lws_calls lws;

// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "locks.h"

const struct lk_ops *const lkm_canaries[] = { NULL };

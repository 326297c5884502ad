/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opened at run time; locks while the loader holds its own lock. */
#define PLUGIN
#include "expect.h"

void needed_use(void);

__attribute__((constructor)) static void constructor(void)
{
	needed_use();
}

__attribute__((destructor)) static void destructor(void)
{
	needed_use();
}

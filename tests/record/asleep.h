/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Until thread @tid of this process sleeps. */
static inline void await_sleep(int tid)
{
	char name[64], state = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		sched_yield();
		file = fopen(name, "r");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			abort();
		fclose(file);
	}
}

#endif

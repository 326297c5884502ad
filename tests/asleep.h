/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whether another thread sleeps: then it is in the wait that a test wants it to be in. */
#ifndef LOCKWORK_TESTS_ASLEEP_H
#define LOCKWORK_TESTS_ASLEEP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether thread @tid of this process is asleep in the kernel; 0: there is no such thread yet. */
static inline bool is_asleep(int tid)
{
	char path[64], line[512] = "", *end;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	stat = tid ? fopen(path, "r") : NULL;
	if (!stat)
		return false;
	if (!fgets(line, sizeof(line), stat))
		line[0] = 0;
	fclose(stat);
	end = strrchr(line, ')');
	return end && end[2] == 'S';
}

#endif

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * ebizzy: threads of one process map a chunk of memory, copy to it, search it and unmap
 * it, as web servers do. What the program of that name does, by its description.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "load.h"

#define CHUNK (256 * 1024)

static char text[CHUNK];

static void fill(unsigned workers, const char *dir)
{
	size_t i;

	(void)workers;
	(void)dir;
	for (i = 0; i < CHUNK; i++)
		text[i] = (char)(i * 7 / 5);
}

static void ebizzy(struct worker *w)
{
	size_t size = 4096 + next_random(w) % (CHUNK - 4096);
	char *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
		fail("mmap");
	memcpy(chunk, text, size);
	if (memmem(chunk, size, "\377\376\375\374", 4) == chunk)
		w->random++;
	MUST(munmap(chunk, size));
}

const struct load memory_loads[] = {
	{ "ebizzy", "threads map memory, copy, search and unmap", false, fill,
	  NULL, ebizzy },
	{ 0 },
};

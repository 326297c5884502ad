// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What is mapped where, for the reader, which turns addresses into names: the lines of
 * /proc/self/maps that name files, each first one of a module with its build id. Taken
 * down at the start, and again when a call comes from code that was loaded since.
 */
#define _GNU_SOURCE
#include "state.h"
#include "system.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANGES 1024
/* A program that makes code as it runs is not followed for ever. */
#define MOST_TIMES 16
#define LARGEST	   (256u << 10)

/* Executable ranges. A forked child has its parent's and what it loads itself. */
static struct range {
	u64 from, to;
} ranges[MOST_RANGES];
static u32 nr_ranges, times;

/*
 * A process that has changed its user, as servers do, may not open @memory any more, but
 * the kernel still copies its own memory for it.
 */
static bool in_page(u64 address, void *to, size_t bytes, int memory)
{
	ssize_t n = memory >= 0 ? sys_pread(memory, to, bytes, (off_t)address)
				: sys_copy(sys_getpid(), to, address, bytes);

	return n == (ssize_t)bytes;
}

/* The bytes of the note in hexadecimal; by reads that fail where memory does not. */
static int build_id(u64 base, char *hex, size_t size, int memory)
{
	u8 notes[1024];
	Elf64_Ehdr file;
	Elf64_Phdr part;
	Elf64_Nhdr *note;

	*hex = '\0';
	if (!in_page(base, &file, sizeof(file), memory) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG))
		return 0;
	for (u32 i = 0; i < file.e_phnum; i++) {
		if (!in_page(base + file.e_phoff + i * sizeof(part), &part,
			     sizeof(part), memory))
			return 0;
		if (part.p_type != PT_NOTE || part.p_filesz > sizeof(notes) ||
		    !in_page(base + part.p_offset, notes, part.p_filesz,
			     memory))
			continue;
		for (u64 at = 0; at + sizeof(*note) <= part.p_filesz;) {
			u64 content;

			note = (Elf64_Nhdr *)(notes + at);
			content = at + sizeof(*note) +
				  ((note->n_namesz + 3) & ~3u);
			at = content + ((note->n_descsz + 3) & ~3u);
			if (note->n_type != NT_GNU_BUILD_ID ||
			    at > part.p_filesz)
				continue;
			for (u32 b = 0; b < note->n_descsz && 2 * b + 2 < size;
			     b++)
				snprintf(hex + 2 * b, 3, "%02x",
					 notes[content + b]);
			return 1;
		}
	}
	return 0;
}

/* "from-to perms offset device inode path"; a line is kept if it names a file. */
static u32 keep(const char *line, char *to, u32 room, int memory)
{
	char *rest, hex[65];
	u64 from = strtoull(line, &rest, 16);
	u64 end = strtoull(rest + 1, &rest, 16);
	const char *file = strchr(line, '/');
	bool runs = rest[3] == 'x';
	int n = 0;

	if (runs && nr_ranges < MOST_RANGES)
		ranges[nr_ranges++] = (struct range){ from, end };
	if (!file)
		return 0;
	n = snprintf(to, room, "%s\n", line);
	if (n > 0 && (u32)n < room && !strtoull(rest + 6, NULL, 16) &&
	    build_id(from, hex, sizeof(hex), memory))
		n += snprintf(to + n, room - (u32)n, "id %llx %s\n",
			      (unsigned long long)from, hex);
	return n > 0 && (u32)n < room ? (u32)n : 0;
}

/* All lines that are kept, into @to; returns their bytes. */
static u32 read_maps(int maps, char *to, u32 room)
{
	static char buffer[8192];
	int memory = sys_open("/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
	u32 have = 0, used = 0;
	ssize_t n;

	nr_ranges = 0;
	while ((n = sys_read(maps, buffer + have, sizeof(buffer) - 1 - have)) >
	       0) {
		char *line = buffer, *end;

		have += (u32)n;
		buffer[have] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			used += keep(line, to + used, room - used, memory);
		}
		have -= (u32)(line - buffer);
		memmove(buffer, line, have);
		if (have == sizeof(buffer) - 1)
			have = 0; /* no path is so long */
	}
	if (memory >= 0)
		sys_close(memory);
	return used;
}

void rec_maps_take(void)
{
	int maps = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	struct rec_block *block;
	char *text;
	u32 used;

	times = rec_file->used == REC_BLOCKS ? 1
					     : times + 1; /* anew in a child */
	if (maps < 0)
		return;
	text = rec_memory(LARGEST);
	if (text) {
		used = read_maps(maps, text, LARGEST);
		block = rec_block(REC_BLOCK_MAPS, (u32)sizeof(*block) + used,
				  0);
		if (block) {
			memcpy(block + 1, text, used);
			WRITE_ONCE(block->used, used);
		} else {
			rec_file->refused++;
		}
		sys_munmap(text, LARGEST);
	}
	sys_close(maps);
}

bool rec_maps_has(u64 address)
{
	for (u32 i = 0; i < READ_ONCE(nr_ranges); i++) {
		if (address >= READ_ONCE(ranges[i].from) &&
		    address < READ_ONCE(ranges[i].to))
			return true;
	}
	return false;
}

void rec_maps_note(u64 site)
{
	struct rec_guard guard;

	if (rec_maps_has(site) || times >= MOST_TIMES)
		return;
	rec_lock(&guard);
	if (!rec_maps_has(site))
		rec_maps_take();
	rec_unlock(&guard);
}

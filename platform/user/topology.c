// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Which CPUs belong together: lists of CPUs as text, and what sysfs says. Asked
 * in slow paths of locks, so by system calls alone, and with no memory of its
 * own but a page: callers come one at a time.
 */
#include "topology.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* Past this nobody has caches. */
#define MAX_CACHES 16u

const char *lkp_sysfs = "/sys/devices/system";

/* -- lists of CPUs ------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number at *@text, which it passes; past the last CPU: LKP_MAX_CPUS. */
static u32 number(const char **text)
{
	u32 n = 0;

	for (; is_digit(**text); ++*text) {
		n = n * 10 + (u32)(**text - '0');
		if (n > LKP_MAX_CPUS)
			n = LKP_MAX_CPUS;
	}
	return n;
}

/* @why, or that a list never has a @c. */
static const char *misplaced(char c, const char *why)
{
	if (!c || strchr("-,;\n", c))
		return why;
	return "it has other characters than digits, '-', ',' and ';'";
}

/* "3" or "3-5". */
static const char *add_range(const char **text, struct lkp_cpus *cpus)
{
	u32 first, last;

	if (!is_digit(**text))
		return misplaced(**text, "a CPU's number is missing");
	first = last = number(text);
	if (**text == '-') {
		++*text;
		if (!is_digit(**text))
			return misplaced(**text, "a range has no end");
		last = number(text);
	}
	if (last >= LKP_MAX_CPUS || first >= LKP_MAX_CPUS)
		return "CPUs are numbered from 0 to 8191";
	if (last < first)
		return "a range ends before it begins";
	for (; first <= last; first++) {
		if (lkp_cpus_have(cpus, first))
			return "a CPU is named twice";
		lkp_cpus_add(cpus, first);
	}
	return NULL;
}

_Static_assert(LKP_MAX_CPUS == 8192, "the text above says so");

const char *lkp_cpus_parse(const char **text, struct lkp_cpus *cpus)
{
	for (;;) {
		const char *why = add_range(text, cpus);

		if (why)
			return why;
		if (**text != ',')
			break;
		++*text;
	}
	if (**text && **text != ';' && **text != '\n')
		return misplaced(**text, "a range has two ends");
	return NULL;
}

/* -- sysfs --------------------------------------------------------------- */

/* @format below lkp_sysfs, with @a for the first '#' and @b for the second. */
static bool make_path(char *path, u32 size, const char *format, u32 a, u32 b)
{
	const char *parts[] = { lkp_sysfs, format };
	char digits[10], *end = path + size;
	u32 i, n;

	for (i = 0; i < 2; i++) {
		const char *c;

		for (c = parts[i]; *c; c++) {
			if (end - path < (long)sizeof(digits) + 1)
				return false;
			if (*c != '#' || !i) {
				*path++ = *c;
				continue;
			}
			n = 0;
			do
				digits[n++] = (char)('0' + a % 10);
			while (a /= 10);
			while (n)
				*path++ = digits[--n];
			a = b;
		}
	}
	*path = '\0';
	return true;
}

/* The text of a file; NULL: it is not there, or too long to be one of sysfs. */
static const char *read_file(const char *format, u32 a, u32 b)
{
	static char text[4096 + 2];
	char path[256];
	long fd, got = 0, length = 0;

	if (!make_path(path, sizeof(path), format, a, b))
		return NULL;
	fd = lkp_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC,
			 0, 0, 0);
	if (fd < 0)
		return NULL;
	do {
		got = lkp_syscall(SYS_read, fd, (long)(text + length),
				  (long)sizeof(text) - length, 0, 0, 0);
		length += got > 0 ? got : 0;
	} while (got > 0 && length < (long)sizeof(text));
	lkp_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (got < 0 || length == (long)sizeof(text))
		return NULL;
	text[length] = '\0';
	return text;
}

static bool read_cpus(const char *format, u32 a, u32 b, struct lkp_cpus *cpus)
{
	const char *text = read_file(format, a, b);

	*cpus = (struct lkp_cpus){ 0 };
	return text && !lkp_cpus_parse(&text, cpus);
}

bool lkp_cpus_online(struct lkp_cpus *cpus)
{
	return read_cpus("/cpu/online", 0, 0, cpus);
}

bool lkp_cpus_of_cache(u32 cpu, struct lkp_cpus *cpus)
{
	u32 index, last = 0, highest = 0;

	for (index = 0; index < MAX_CACHES; index++) {
		const char *text =
			read_file("/cpu/cpu#/cache/index#/level", cpu, index);
		u32 level = text ? number(&text) : 0;

		if (!level)
			break;
		if (level > highest) {
			highest = level;
			last = index;
		}
	}
	return highest &&
	       read_cpus("/cpu/cpu#/cache/index#/shared_cpu_list", cpu, last,
			 cpus) &&
	       lkp_cpus_have(cpus, cpu);
}

bool lkp_cpus_of_node(u32 cpu, struct lkp_cpus *cpus)
{
	static struct lkp_cpus nodes; /* a list of the same form */
	u32 node;

	if (!read_cpus("/node/online", 0, 0, &nodes))
		return false;
	for (node = 0; node < LKP_MAX_CPUS; node++) {
		if (lkp_cpus_have(&nodes, node) &&
		    read_cpus("/node/node#/cpulist", node, 0, cpus) &&
		    lkp_cpus_have(cpus, cpu))
			return true;
	}
	return false;
}

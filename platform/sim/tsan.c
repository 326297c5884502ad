// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Plain C accesses of the locks. The hooks are for this object alone. */
#include <platform.h>

#pragma GCC visibility push(hidden)
/* What the linker says of this object: constants are between these two. */
extern const char __ehdr_start[], _GLOBAL_OFFSET_TABLE_[];

/* Constants are nobody's lines; Clang tells of the calls' own table, too. */
static inline bool is_memory(const char *p)
{
	return (size_t)(p - __ehdr_start) >=
		       (size_t)(_GLOBAL_OFFSET_TABLE_ - __ehdr_start) &&
	       (size_t)(p - (const char *)&lws) >= sizeof(lws);
}

static inline void plain_access(const void *p, size_t size, bool write,
				void *pc)
{
	(void)pc;
	if (is_memory(p))
		lws.plain(p, size, write);
}

#define call_begins(pc) ((void)(pc))
#define call_ends()
#include <plain.h>
#pragma GCC visibility pop

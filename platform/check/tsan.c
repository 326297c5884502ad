// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What -fsanitize=thread calls for each plain C access, before it happens.
 * These names are the compiler's; they stay local to this world's object.
 */
#include <platform.h>

/* Tells the model checker; @pc finds the source line. */
void lwc_plain(const volatile void *p, size_t size, bool write, void *pc);

#define HOOKS(size)                                                     \
	void __tsan_read##size(void *p);                                \
	void __tsan_read##size(void *p)                                 \
	{                                                               \
		lwc_plain(p, size, false, __builtin_return_address(0)); \
	}                                                               \
	void __tsan_write##size(void *p);                               \
	void __tsan_write##size(void *p)                                \
	{                                                               \
		lwc_plain(p, size, true, __builtin_return_address(0));  \
	}                                                               \
	void __tsan_unaligned_read##size(void *p);                      \
	void __tsan_unaligned_read##size(void *p)                       \
	{                                                               \
		lwc_plain(p, size, false, __builtin_return_address(0)); \
	}                                                               \
	void __tsan_unaligned_write##size(void *p);                     \
	void __tsan_unaligned_write##size(void *p)                      \
	{                                                               \
		lwc_plain(p, size, true, __builtin_return_address(0));  \
	}

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size)
{
	lwc_plain(p, size, false, __builtin_return_address(0));
}

void __tsan_write_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size)
{
	lwc_plain(p, size, true, __builtin_return_address(0));
}

/* Called once, by a constructor that the compiler adds. */
void __tsan_init(void);
void __tsan_init(void)
{
}

/* Calls of functions are not followed. */
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

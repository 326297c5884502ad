/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKP_PLAIN_H
#define LKP_PLAIN_H

/*
 * What -fsanitize=thread calls for each plain C access, before it happens: for
 * the worlds that want to know of them, and of calls. Who includes this defines first:
 *
 *   plain_access()	@pc finds the source line
 *   call_begins(pc)	a C function begins, to which @pc is the return address
 *   call_ends()	it returns, or is unwound
 *
 * Inlined functions are no calls. The names below are the compiler's.
 */
#define LKP_HOOKS(size)                                                    \
	void __tsan_read##size(void *p);                                   \
	void __tsan_read##size(void *p)                                    \
	{                                                                  \
		plain_access(p, size, false, __builtin_return_address(0)); \
	}                                                                  \
	void __tsan_write##size(void *p);                                  \
	void __tsan_write##size(void *p)                                   \
	{                                                                  \
		plain_access(p, size, true, __builtin_return_address(0));  \
	}                                                                  \
	void __tsan_unaligned_read##size(void *p);                         \
	void __tsan_unaligned_read##size(void *p)                          \
	{                                                                  \
		plain_access(p, size, false, __builtin_return_address(0)); \
	}                                                                  \
	void __tsan_unaligned_write##size(void *p);                        \
	void __tsan_unaligned_write##size(void *p)                         \
	{                                                                  \
		plain_access(p, size, true, __builtin_return_address(0));  \
	}

LKP_HOOKS(1)
LKP_HOOKS(2)
LKP_HOOKS(4)
LKP_HOOKS(8)
LKP_HOOKS(16)

void __tsan_read_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size)
{
	plain_access(p, size, false, __builtin_return_address(0));
}

void __tsan_write_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size)
{
	plain_access(p, size, true, __builtin_return_address(0));
}

/* Called once, by a constructor that the compiler adds. */
void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
	call_begins(pc);
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
	call_ends();
}

#endif

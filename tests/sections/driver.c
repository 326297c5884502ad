// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What a signal handler leaves to be done in the section that it interrupted. A handler is
 * a call between the begin and the end of a section.
 */
#include <platform.h>

#include "../lib/expect.h"

static int a, b;

/* It leaves something, and enters a section of another object. */
static void test_other_object(void)
{
	void *outer = section_enter(&a), *inner;

	EXPECT(in_section(&a) && !in_section(&b));
	section_missed(&a);
	inner = section_enter(&b);
	EXPECT(!section_exit(inner));
	EXPECT(section_exit(outer));
	EXPECT(!in_section(&a) && !in_section(&b));
}

/* A handler that interrupts a handler's section is in the outer section too. */
static void test_nested(void)
{
	void *outer = section_enter(&a), *inner = section_enter(&b);

	EXPECT(in_section(&a) && in_section(&b));
	section_missed(&a);
	EXPECT(!section_exit(inner));
	EXPECT(in_section(&a));
	EXPECT(section_exit(outer));
	EXPECT(!in_section(&a));
}

/* What was left is told once. */
static void test_once(void)
{
	void *outer = section_enter(&a);

	section_missed(&a);
	EXPECT(section_exit(outer));
	outer = section_enter(&a);
	EXPECT(!section_exit(outer));
}

static void test_long_jump(void)
{
	void *outer = section_enter(&a);
	u32 depth = lkp_self.depth;

	section_enter(&b);
	section_missed(&b);
	lkp_leave_sections(depth);
	EXPECT(in_section(&a) && !in_section(&b));
	EXPECT(!section_exit(outer));
	outer = section_enter(&b);
	EXPECT(!section_exit(outer));
}

static void test_deepest(void)
{
	void *outer[LKP_MAX_SECTIONS];
	int i;

	for (i = 0; i < (int)LKP_MAX_SECTIONS; i++)
		outer[i] = section_enter(i ? &b : &a);
	section_missed(&a);
	for (i = (int)LKP_MAX_SECTIONS - 1; i > 0; i--)
		EXPECT(!section_exit(outer[i]));
	EXPECT(section_exit(outer[0]));
}

int main(void)
{
	test_other_object();
	test_nested();
	test_once();
	test_long_jump();
	test_deepest();
	return 0;
}

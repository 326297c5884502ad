// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What a signal handler leaves to be done in the section that it interrupted. A handler is
 * a call between the begin and the end of a section.
 */
#include <platform.h>

#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/expect.h"

static int a, b, looks_at_a, looks_at_b, looks_at_any;

static void look(void *obj)
{
	looks_at_any++;
	looks_at_a += obj == &a;
	looks_at_b += obj == &b;
}

static void expect_looks(int at_a, int at_b)
{
	EXPECT(looks_at_a == at_a && looks_at_b == at_b);
	looks_at_a = looks_at_b = looks_at_any = 0;
}

/* It leaves something, and enters a section of another object. */
static void test_other_object(void)
{
	void *outer = section_enter(&a), *inner;

	EXPECT(in_section(&a) && !in_section(&b) && in_any_section());
	EXPECT(look_later(&a, look));
	inner = section_enter(&b);
	section_exit(inner);
	expect_looks(0, 0);
	section_exit(outer);
	expect_looks(1, 0);
	EXPECT(!in_section(&a) && !in_section(&b) && !in_any_section());
}

/* A handler that interrupts a handler's section is in the outer section too. */
static void test_nested(void)
{
	void *outer = section_enter(&a), *inner = section_enter(&b);

	EXPECT(in_section(&a) && in_section(&b));
	EXPECT(look_later(&a, look));
	section_exit(inner);
	EXPECT(in_section(&a));
	section_exit(outer);
	EXPECT(!in_section(&a));
	expect_looks(1, 0);
}

/* What belongs to a section is looked at when that ends; the rest after the outermost. */
static void test_each_in_time(void)
{
	void *outer = section_enter(&a), *inner = section_enter(&b);

	EXPECT(look_later(&a, look) && look_later(&b, look));
	section_exit(inner);
	expect_looks(0, 1);
	EXPECT(look_later(&b, look));
	inner = section_enter(&looks_at_any);
	section_exit(inner);
	expect_looks(0, 0);
	section_exit(outer);
	expect_looks(1, 1);
}

/* What was left is done once. */
static void test_once(void)
{
	void *outer = section_enter(&a);

	EXPECT(look_later(&a, look) && look_later(&a, look));
	section_exit(outer);
	expect_looks(1, 0);
	outer = section_enter(&a);
	section_exit(outer);
	expect_looks(0, 0);
}

/* A look has sections of its own, and what is left in those is done too. */
static void look_twice(void *obj)
{
	void *outer = section_enter(obj);

	if (!looks_at_any)
		EXPECT(look_later(obj, look_twice));
	look(obj);
	section_exit(outer);
}

static void test_left_by_a_look(void)
{
	void *outer = section_enter(&a);

	EXPECT(look_later(&b, look_twice));
	section_exit(outer);
	expect_looks(0, 2);
}

/* As a call that is cut off outside of its sections. */
static void test_long_jump(void)
{
	void *outer = section_enter(&a);
	u32 depth = lkp_self.depth;

	EXPECT(!lkp_sections_are_open(depth));
	section_enter(&b);
	EXPECT(lkp_sections_are_open(depth));
	EXPECT(look_later(&a, look));
	lkp_leave_sections(depth);
	expect_looks(0, 0);
	EXPECT(in_section(&a) && !in_section(&b));
	section_exit(outer);
	expect_looks(1, 0);
}

/* A look is cut off: the jump out of it does not lose the next one. */
static jmp_buf out;

static void jump(void *obj)
{
	look(obj);
	longjmp(out, 1);
}

static void test_long_jump_out_of_a_look(void)
{
	void *outer = section_enter(&looks_at_any);

	EXPECT(look_later(&a, jump) && look_later(&b, look));
	if (!setjmp(out))
		section_exit(outer);
	lkp_leave_sections(0);
	expect_looks(1, 1);
}

/* Others may fill their part; an object of each section still finds room. */
static void test_deepest(void)
{
	static int others[LKP_MAX_OTHERS], own[LKP_MAX_SECTIONS];
	void *outer[LKP_MAX_SECTIONS];
	u32 i;

	for (i = 0; i < LKP_MAX_SECTIONS; i++)
		outer[i] = section_enter(&own[i]);
	for (i = 0; i < LKP_MAX_SECTIONS; i++)
		EXPECT(look_later(&own[i], look) && look_later(&own[i], look));
	for (i = 0; i < LKP_MAX_OTHERS; i++)
		EXPECT(look_later(&others[i], look));
	/* There is no room: so the others are looked at, and then there is. */
	EXPECT(looks_at_any == 0 && !look_later(&a, look));
	EXPECT(looks_at_any == (int)LKP_MAX_OTHERS && look_later(&a, look));
	for (i = LKP_MAX_SECTIONS; i-- > 0;)
		section_exit(outer[i]);
	EXPECT(looks_at_any == (int)(LKP_MAX_OTHERS + LKP_MAX_SECTIONS + 1));
	expect_looks(1, 0);
}

/* What is a child in a handler never leaves the sections that its parent was in. */
static void test_forked_in_a_handler(void)
{
	void *outer, *inner;
	int status;
	pid_t child;

	EXPECT(this_slot()); /* from here on forks are noticed */
	outer = section_enter(&a);
	EXPECT(look_later(&b, look));
	child = fork();
	EXPECT(child >= 0);
	if (!child) {
		EXPECT(!in_any_section() && !in_section(&a));
		inner = section_enter(&b);
		EXPECT(in_section(&b) && look_later(&b, look));
		section_exit(inner);
		expect_looks(0, 1);
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	section_exit(outer);
	expect_looks(0, 1);
}

int main(void)
{
	test_other_object();
	test_nested();
	test_each_in_time();
	test_once();
	test_left_by_a_look();
	test_long_jump();
	test_long_jump_out_of_a_look();
	test_deepest();
	test_forked_in_a_handler();
	return 0;
}

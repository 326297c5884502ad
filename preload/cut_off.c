// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Lock calls that end early; see cut_off.h. */
#include "cut_off.h"

#include "user.h"

#include <stdlib.h>

/* In glibc for old programs; its headers of today do not declare them. */
__asm__(".symver _pthread_cleanup_push_defer, "
	"_pthread_cleanup_push_defer@GLIBC_2.2.5");
__asm__(".symver _pthread_cleanup_pop_restore, "
	"_pthread_cleanup_pop_restore@GLIBC_2.2.5");
void _pthread_cleanup_push_defer(struct _pthread_cleanup_buffer *buffer,
				 void (*routine)(void *), void *arg);
void _pthread_cleanup_pop_restore(struct _pthread_cleanup_buffer *buffer,
				  int execute);

static __cold void cut_off(void *arg)
{
	struct pre_cut_off *call = arg;
	bool left;

	lkp_self.cancel_in = false;
	left = !lkp_sections_are_open(call->depth) && call->leave(call);
	if (left) {
		lkp_leave_sections(call->depth);
		lkp_self.cancel_in = call->cancel_in;
		return;
	}
	lkp_say("a signal handler has jumped out of a lock call, or ended its "
		"thread, "
		"while others need that call to go on; only glibc's own locks "
		"bear "
		"that: run this program without Lockwork");
	abort();
}

void pre_cut_off_begin(struct pre_cut_off *call,
		       bool (*leave)(struct pre_cut_off *call))
{
	call->leave = leave;
	call->depth = lkp_self.depth;
	call->cancel_in = lkp_self.cancel_in;
	_pthread_cleanup_push_defer(&call->buffer, cut_off, call);
	lkp_self.cancel_in = pre_cut_off_is_async(call);
}

void pre_cut_off_let_cancel(void)
{
	int type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	pthread_setcanceltype(type, &type);
}

void pre_cut_off_end(struct pre_cut_off *call)
{
	lkp_self.cancel_in = call->cancel_in;
	_pthread_cleanup_pop_restore(&call->buffer, 0);
}

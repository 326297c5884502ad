// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A thread's memory: made at its first call, passed on to a later thread when it ends. So
 * a program that starts threads for ever needs as much as it has threads at once.
 */
#define _GNU_SOURCE
#include "stack.h"
#include "state.h"
#include "system.h"
#include "wanted.h"

#define FIRST_BLOCK 4096u
#define LAST_BLOCK  (256u << 10)
/* Each index begins as a page. */
#define FIRST_BITS   10
#define FIRST_SITES  (1u << FIRST_BITS)
#define FIRST_OTHERS 512u

__thread struct rec_thread *rec_mine;
__thread u32 rec_entering;
/* There was no memory for this thread. */
static __thread u32 refused;

static pthread_key_t key;
static u32 has_key;

static void thread_ends(void *arg)
{
	struct rec_thread *t = arg;
	struct rec_guard guard;

	if (t != rec_mine || !t->info)
		return;
	rec_busy(t);
	rec_wait_clear(t);
	rec_mine = NULL;
	t->depth = 0;
	t->inside = 0;
	t->away = NULL;
	rec_lock(&guard);
	t->next_free = rec_state.idle;
	rec_state.idle = t;
	rec_unlock(&guard);
}

void rec_thread_prepare(void)
{
	has_key = !pthread_key_create(&key, thread_ends);
	rec_stack_prepare();
}

/*
 * Where a large block has no room a small one may. Where that has none either, nobody asks
 * again: each time would be five system calls, with the lock, on the path of a call.
 */
static bool next_block(struct rec_thread *t)
{
	struct rec_block *block = NULL;
	struct rec_guard guard;

	rec_lock(&guard);
	if (!rec_state.full)
		block = rec_block(REC_BLOCK_RECORDS, t->next_bytes, t->number);
	if (!block && !rec_state.full && t->next_bytes > FIRST_BLOCK) {
		t->next_bytes = FIRST_BLOCK;
		block = rec_block(REC_BLOCK_RECORDS, FIRST_BLOCK, t->number);
	}
	if (!block) {
		WRITE_ONCE(rec_state.full, 1);
		rec_file->refused++;
	}
	rec_unlock(&guard);
	if (!block)
		return false;
	if (t->next_bytes < LAST_BLOCK)
		t->next_bytes *= 2;
	t->block = block;
	t->room = (char *)(block + 1);
	t->end = (char *)block + block->bytes;
	return true;
}

void *rec_room(struct rec_thread *t, u32 type, u32 bytes)
{
	u32 *record;

	bytes = (bytes + 7) & ~7u;
	if (t->room + bytes > t->end &&
	    (READ_ONCE(rec_state.full) || !next_block(t)))
		return NULL;
	record = (u32 *)t->room;
	t->room += bytes;
	record[0] = type;
	record[1] = bytes;
	WRITE_ONCE(t->block->used, (u32)(t->room - (char *)(t->block + 1)));
	return record;
}

/* Has the lock. A new number, its memory and its first records. */
static struct rec_thread *new_thread(void)
{
	struct rec_thread *t = rec_memory(sizeof(*t));
	u32 *index = rec_memory(FIRST_SITES * sizeof(*index));
	u64 *others = rec_memory(FIRST_OTHERS * sizeof(*others));

	if (!t || !index || !others)
		return NULL;
	t->file = (char *)rec_file;
	t->alone = 1;
	t->index = index;
	t->others = others;
	t->shift = 64 - FIRST_BITS;
	t->others_mask = FIRST_OTHERS - 1;
	t->number = (u32)rec_file->threads;
	if (t->number < REC_MAX_WAITS)
		WRITE_ONCE(rec_threads[t->number], t);
	t->seed = t->number + 1;
	t->next_bytes = FIRST_BLOCK;
	return t;
}

/* Without room the thread has no records, and its acquisitions are counted all the same. */
static void begin_records(struct rec_thread *t)
{
	struct rec_guard guard;

	if (!t->info) {
		t->info = rec_room(t, REC_THREAD, sizeof(*t->info));
		if (t->info)
			t->dropped = &t->info->dropped;
	}
	if (!t->info) {
		t->info = &t->bare;
		t->dropped = &rec_waits()[t->number % REC_MAX_WAITS].dropped;
	}
	if (t->info == &t->bare) {
		rec_lock(&guard);
		rec_file->bare++;
		rec_unlock(&guard);
	}
	t->info->tid = (u64)rec_sys(SYS_gettid, 0, 0, 0, 0);
	t->info->threads++;
}

static struct rec_thread *claim(void)
{
	struct rec_thread *t = NULL;
	struct rec_guard guard;

	rec_lock(&guard);
	if (rec_file_begin()) {
		t = rec_state.idle;
		if (t)
			rec_state.idle = t->next_free;
		else
			t = new_thread();
		if (t && !t->info)
			rec_file->threads++;
		else if (!t)
			rec_file->unseen++;
	}
	rec_unlock(&guard);
	if (t)
		begin_records(t);
	return t;
}

struct rec_thread *rec_thread_begin(void)
{
	struct rec_thread *t = rec_mine;
	int saved = errno;

	if (READ_ONCE(rec_off) || rec_entering || refused || !*rec_path ||
	    (t && t->busy))
		return NULL;
	rec_entering++;
	rec_next_find();
	t = claim();
	rec_mine = t;
	if (t) {
		rec_idle(t);
		if (has_key)
			pthread_setspecific(key, t);
	} else {
		refused = 1;
	}
	rec_entering--;
	errno = saved;
	return t;
}

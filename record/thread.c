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

/* Nobody else can release these, but for robust mutexes. */
static void note_left(struct rec_thread *t)
{
	for (u32 i = 0; i < t->depth; i++) {
		const struct rec_held *h = &t->held[i];
		const struct rec_site *s = rec_held_record(h);
		struct rec_left *l;

		if (!h->lock)
			continue;
		l = rec_other(t, REC_LEFT, (u64)h->lock, rec_site_address(s),
			      sizeof(*l));
		if (!l)
			continue;
		l->since = rec_ticks();
		l->tid = t->info->tid;
	}
}

static void thread_ends(void *arg)
{
	struct rec_thread *t = arg;
	struct rec_guard guard;

	if (t != rec_mine || !t->info)
		return;
	rec_busy(t);
	rec_wait_clear(t);
	note_left(t);
	t->info->lived += rec_ticks() - t->info->begun;
	t->info->begun = 0;
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

/* What each thread has: one mapping, for each takes two system calls. */
struct memory {
	struct rec_thread thread;
	u32 index[FIRST_SITES] __attribute__((aligned(REC_PAGE)));
	u64 others[FIRST_OTHERS];
};

static struct rec_thread *new_memory(void)
{
	struct memory *m = rec_memory(sizeof(*m));
	struct rec_thread *t = m ? &m->thread : NULL;

	if (!t)
		return NULL;
	t->file = (char *)rec_file;
	t->alone = 1;
	t->index = m->index;
	t->others = m->others;
	t->shift = 64 - FIRST_BITS;
	t->others_mask = FIRST_OTHERS - 1;
	t->next_bytes = REC_PAGE;
	return t;
}

/* A new number; NULL: there was no memory, and the thread is counted as unseen. */
static void add_thread(struct rec_thread *t)
{
	struct rec_guard guard;

	rec_lock(&guard);
	if (!t) {
		rec_file->unseen++;
	} else {
		t->number = (u32)rec_file->threads++;
		t->seed = t->number + 1;
		if (t->number < REC_MAX_WAITS)
			WRITE_ONCE(rec_threads[t->number], t);
	}
	rec_unlock(&guard);
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
	t->info->begun = rec_ticks();
}

/* Memory is made without the lock: many threads may begin at once. */
static struct rec_thread *claim(void)
{
	struct rec_thread *t = NULL;
	struct rec_guard guard;
	bool begun;

	rec_lock(&guard);
	begun = rec_file_begin();
	if (begun && rec_state.idle) {
		t = rec_state.idle;
		rec_state.idle = t->next_free;
	}
	rec_unlock(&guard);
	if (!begun)
		return NULL;
	if (!t) {
		t = new_memory();
		add_thread(t);
	}
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

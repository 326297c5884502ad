// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Thread slots: small numbers for threads, so that a 16-bit tail can name a
 * queue node. A thread gets one in its first slow path and gives it back when
 * it exits. Past the last slot a thread has none and waits without a node.
 *
 * A forked child starts anew: its one thread registers again when it needs to.
 * What needs no system call is in slots.h and forks.h.
 */
#include "internal.h"
#include "slots.h"
#include "user.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Slow paths of a slotless thread between two requests for a slot. */
#define RETRY_EVERY 64
/* Such requests that found nothing between two walks over all slots. */
#define RECLAIM_EVERY 1024

__thread struct lkp_self lkp_self;

static struct lkp_slots slots = LKP_SLOTS_INIT;
u32 lkp_slot_limit = LKP_MAX_SLOTS;

/* -- fork ---------------------------------------------------------------- */

/* Not mapped yet: reads 0, so that the first slow path comes here. */
static u32 no_page;
u32 *lkp_fork_page = &no_page;
u16 lkp_epoch;
u32 lkp_wait_tag = WAIT_TAG_MARK;

/*
 * The page that the kernel clears in a child. Several threads may map one, and
 * the first is kept: who waited for another's would wait for ever in the child
 * of a fork that came in between.
 */
static void map_fork_page(void)
{
	u32 *page;

	page = (u32 *)lkp_syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if ((uintptr_t)page > -4096ul) {
		/* Forks go unnoticed. Orders nothing: there is nothing to see. */
		WRITE_ONCE(no_page, LKP_FORK_DONE);
		return;
	}
	lkp_syscall(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK, 0, 0, 0);
	if (!lkp_fork_keep(&lkp_fork_page, &no_page, page))
		lkp_syscall(SYS_munmap, (long)page, 4096, 0, 0, 0, 0);
}

__cold void lkp_after_fork(void)
{
	u32 *page = lkp_fork_state(&lkp_fork_page);
	/* A signal handler that locks must not meet its own thread in here. */
	u64 signals = lkp_block_signals();

	if (page == &no_page) {
		map_fork_page();
		goto out;
	}
	if (!lkp_fork_begin(page))
		goto out;
	lkp_slots_forget(&slots, LKP_MAX_SLOTS);
	if (READ_ONCE(lkp_count_events))
		lkp_user_events_reset();
	WRITE_ONCE(lkp_epoch, (u16)(lkp_epoch + 1));
	WRITE_ONCE(lkp_wait_tag, WAIT_TAG_MARK | (lkp_epoch & 0x1fu) << 10);
	lkp_fork_end(page);
out:
	lkp_restore_signals(signals);
}

/*
 * How far from the thread pointer the C library keeps a thread's id; 0: not known. In
 * the child of a fork that the C library did not make it is still the parent's.
 */
static ptrdiff_t kept_at;
static u16 kept_epoch;

void lkp_tid_is_kept(ptrdiff_t offset)
{
	WRITE_ONCE(kept_epoch, wait_epoch());
	WRITE_ONCE(kept_at, offset);
}

static u32 ask_tid(u16 epoch)
{
	ptrdiff_t offset = READ_ONCE(kept_at);
	long tid;

	if (offset && READ_ONCE(kept_epoch) == epoch)
		return lkp_thread_word(offset);
	tid = lkp_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (tid <= 0)
		lkp_no_tid();
	return (u32)tid;
}

bool lkp_has_tid(void)
{
	if (READ_ONCE(kept_at) && READ_ONCE(kept_epoch) == wait_epoch())
		return true;
	return lkp_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) > 0;
}

u32 lkp_tid(void)
{
	u16 epoch = wait_epoch();

	if (unlikely(!lkp_self.tid || lkp_self.tid_epoch != epoch)) {
		lkp_self.tid = ask_tid(epoch);
		lkp_self.tid_epoch = epoch;
	}
	return lkp_self.tid;
}

/* -- thread exit --------------------------------------------------------- */

/* Keys past this need memory from malloc, which may be who is locking. */
#define EARLY_KEYS 32u

/* See lkp_slots_key(). */
static u32 exit_key;

static void slot_put(void *unused)
{
	u32 slot = lkp_self.slot;

	(void)unused;
	if (!slot || lkp_self.epoch != wait_epoch())
		return;
	lkp_self.slot = 0;
	if (lkp_self.keeps_slot)
		lkp_slots_keep(&slots, slot);
	else
		lkp_slots_put(&slots, slot);
}

void lkp_slot_keep(void)
{
	lkp_self.keeps_slot = true;
}

/* As with the fork page: several may make a key, and the first is kept. */
static u32 make_exit_key(void)
{
	pthread_key_t key;
	u32 now;

	if (pthread_key_create(&key, slot_put))
		return LKP_NO_KEY;
	if (key >= EARLY_KEYS) {
		pthread_key_delete(key);
		lkp_slots_no_key(&exit_key);
		return LKP_NO_KEY;
	}
	now = lkp_slots_keep_key(&exit_key, key);
	if (now != key + LKP_FIRST_KEY)
		pthread_key_delete(key);
	return now;
}

/*
 * This library goes, by dlclose() or at the end of the program. Threads that end later
 * must not come back here.
 */
__attribute__((destructor)) static void drop_exit_key(void)
{
	u32 key = lkp_slots_drop_key(&exit_key);

	if (key >= LKP_FIRST_KEY)
		pthread_key_delete(key - LKP_FIRST_KEY);
}

/* Arranges for slot_put() at this thread's exit, where that is possible. */
static void at_exit(void)
{
	int saved = errno;
	u32 key = lkp_slots_key(&exit_key);

	if (!key)
		key = make_exit_key();
	if (key >= LKP_FIRST_KEY)
		pthread_setspecific(key - LKP_FIRST_KEY, &lkp_self);
	errno = saved;
}

/* -- slots --------------------------------------------------------------- */

static u32 slot_take(u32 tid)
{
	return lkp_slots_take(&slots, tid, READ_ONCE(lkp_slot_limit));
}

/*
 * All taken: find those of threads that ended without giving theirs back. A
 * long walk, so only every now and then.
 */
static void reclaim_slots(void)
{
	static u32 calls;
	long pid = lkp_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	u32 slot, tid;

	if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % RECLAIM_EVERY)
		return;
	for (slot = 1; slot <= LKP_MAX_SLOTS; slot++) {
		tid = READ_ONCE(slots.tid[slot]);
		if (!tid ||
		    lkp_syscall(SYS_tgkill, pid, tid, 0, 0, 0, 0) != -ESRCH)
			continue;
		lkp_slots_reclaim(&slots, slot, tid);
	}
	WRITE_ONCE(slots.hint, 1);
}

__cold u32 lkp_slot_get(void)
{
	u16 epoch = wait_epoch();
	u32 tid;

	if (lkp_self.epoch != epoch) {
		lkp_self.slot = 0;
		lkp_self.retry = 0;
		lkp_self.epoch = epoch;
	}
	/* A signal handler in the midst of its thread's registration has none. */
	if (lkp_self.retry) {
		lkp_self.retry--;
		return 0;
	}
	lkp_self.retry = ~0;
	tid = lkp_tid();
	lkp_self.slot = slot_take(tid);
	if (!lkp_self.slot) {
		if (lkp_user_slots_in_use() >= READ_ONCE(lkp_slot_limit))
			reclaim_slots();
		else
			WRITE_ONCE(slots.hint, 1);
		lkp_self.slot = slot_take(tid);
	}
	if (lkp_self.slot)
		at_exit();
	lkp_self.retry = lkp_self.slot ? 0 : RETRY_EVERY;
	return lkp_self.slot;
}

void lkp_user_limit_slots(uint32_t n)
{
	if (n < 1)
		n = 1;
	WRITE_ONCE(lkp_slot_limit, n < LKP_MAX_SLOTS ? n : LKP_MAX_SLOTS);
}

uint32_t lkp_user_slots_in_use(void)
{
	return (u32)atomic_read(&slots.used);
}

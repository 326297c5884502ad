// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The recorder in a process: where it begins, what a forked child begins anew. */
#define _GNU_SOURCE
#include "site.h"
#include "state.h"
#include "stderr.h"
#include "stack.h"
#include "system.h"
#include "take_back.h"
#include "wanted.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

u32 rec_off;
union rec_state rec_state __attribute__((aligned(REC_PAGE)));
static u32 had_process;
/* FILE was there when this program began, so another process made it. */
static bool is_later;

void *rec_memory(size_t bytes)
{
	void *p = sys_mmap(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p == MAP_FAILED)
		return NULL;
	sys_madvise(p, bytes, MADV_WIPEONFORK);
	return p;
}

/* How many bytes there are now. */
static u64 read_into(const char *file, void *text, size_t size)
{
	int fd = sys_open(file, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = fd >= 0 ? sys_read(fd, text, size) : -1;

	if (fd >= 0)
		sys_close(fd);
	return n > 0 ? (u64)n : 0;
}

static void fill_header(void)
{
	cpu_set_t cpus = { 0 };
	const char *lock = getenv("LOCKWORK_LOCK");

	rec_file->version = REC_VERSION;
	rec_file->used = REC_BLOCKS;
	rec_file->pid = (u64)sys_getpid();
	rec_file->parent = (u64)rec_sys(SYS_getppid, 0, 0, 0, 0);
	rec_file->born = rec_born();
	rec_file->from_fork = had_process;
	rec_file->all_stacks = rec_all_stacks;
	rec_file->sees_back = rec_sees_back;
	rec_both_clocks(&rec_file->start_ticks, &rec_file->start_ns);
	rec_file->start_unix_ns = rec_nanoseconds(CLOCK_REALTIME);
	strncpy((char *)rec_file->lock, lock ? lock : "", 31);
	rec_file->command_bytes =
		read_into("/proc/self/cmdline", rec_file->command,
			  sizeof(rec_file->command) - 1);
	if (rec_sys(SYS_sched_getaffinity, 0, sizeof(cpus), (long)&cpus, 0) > 0)
		rec_file->cpus = (u64)CPU_COUNT(&cpus);
	rec_file_stamp();
	rec_file->magic = REC_MAGIC;
}

bool rec_file_begin(void)
{
	struct stat facts;
	void *mapped;

	if (rec_state.begun || rec_off)
		return rec_file && !rec_off;
	rec_file = NULL;
	if (sys_madvise(&rec_state, sizeof(rec_state), MADV_WIPEONFORK))
		return rec_refuse_file("the kernel is older than 4.14", errno);
	rec_state.begun = 1;
	rec_file_close_parents();
	rec_state.fd = rec_file_create();
	if (rec_state.fd < 0)
		return rec_refuse_uncreated(had_process || is_later, errno);
	rec_state.fd = rec_file_out_of_the_way(rec_state.fd);
	if (sys_fstat(rec_state.fd, &facts) || !rec_file_reserve(0, REC_BLOCKS))
		return rec_refuse_file("there is no space for it", errno);
	rec_file_keep(&facts);
	mapped = sys_mmap(REC_CAPACITY, MAP_SHARED, rec_state.fd);
	rec_wanted = rec_memory(sizeof(*rec_wanted) * REC_WANTED);
	rec_wanted_lock = rec_memory(sizeof(*rec_wanted_lock) * REC_WANTED);
	rec_threads = rec_memory(sizeof(struct rec_thread *) * REC_MAX_WAITS);
	if (mapped == MAP_FAILED || !rec_wanted || !rec_wanted_lock ||
	    !rec_threads)
		return rec_refuse_file("it cannot be mapped", errno);
	sys_madvise(mapped, REC_CAPACITY, MADV_DONTFORK);
	rec_file = mapped;
	fill_header();
	had_process = 1;
	rec_maps_take();
	return true;
}

/* The first process makes its file at once, others when they first use a lock. */
static void begin(void)
{
	const char *wanted = getenv("LOCKWORK_RECORD");
	struct rec_guard guard;
	bool is_first;

	lkp_stderr_note(&rec_error_output);
	if (!wanted || !*wanted || strlen(wanted) >= sizeof(rec_path)) {
		WRITE_ONCE(rec_off, 1);
		return;
	}
	if (*rec_path)
		return;
	if (*wanted != '/') {
		/* A child may have another working directory. */
		rec_refuse("LOCKWORK_RECORD is no absolute path");
		return;
	}
	/*
	 * Before anything that may take memory: the program's malloc may lock a mutex, whose
	 * call makes this process's file.
	 */
	is_first = sys_access(wanted) != 0;
	strcpy(rec_path, wanted);
	is_later = !is_first;
	if (is_later)
		rec_exec_note();
	if (rec_policy_is_in_front()) {
		rec_refuse("the recorder stands behind a policy's library "
			   "in LD_PRELOAD: put it in front");
		return;
	}
	rec_lock_prepare();
	rec_next_find();
	rec_known_prepare();
	rec_back_prepare();
	rec_rwlock_prepare();
	rec_thread_prepare();
	if (!is_first)
		return;
	rec_lock(&guard);
	rec_file_begin();
	rec_unlock(&guard);
}

/* C has errno 0 when main() begins. */
__attribute__((constructor(101))) static void begin_when_loaded(void)
{
	int saved = errno;

	begin();
	errno = saved;
}

/* Other threads may go on, so nothing is taken away. */
__attribute__((destructor)) static void end(void)
{
	struct rec_thread *t = rec_mine;
	struct rec_guard guard;

	if (rec_off || !rec_state.begun || !rec_file)
		return;
	if (t && !READ_ONCE(t->ready))
		t = NULL;
	if (t)
		rec_busy(t);
	rec_lock(&guard);
	rec_file_stamp();
	rec_maps_take();
	rec_file_note_usage();
	WRITE_ONCE(rec_file->ended, 1);
	rec_unlock(&guard);
	if (t)
		rec_idle(t);
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef REC_STATE_H
#define REC_STATE_H

/* What the slow paths share: the recorder's lock, and its file. */
#include "record.h"

#include <sys/stat.h>

#define REC_PAGE 4096u

/* Whole pages of their own, which the kernel clears in a forked child. */
union rec_state {
	struct {
		pthread_mutex_t lock;
		u32 begun;
		u32 full; /* no room for another block: none is asked for again */
		u64 reserved; /* the filesystem has set this aside; at least */
		int fd;
		dev_t device;
		ino_t inode;
		struct rec_thread *idle; /* whose threads have ended */
		u32 level; /* a hint: the highest of all timelines */
	};
	char page[REC_PAGE];
};
extern union rec_state rec_state;

/*
 * Not 0: this thread is in the recorder's slow paths. They call a few functions of the C library,
 * and those may call what another library has replaced, such as malloc(), and that may lock a mutex.
 */
extern __thread u32 rec_entering;

/* LOCKWORK_RECORD; the file of this process. These stay as they are in a child. */
extern char rec_path[3800], rec_own_path[4000];

/* The file of process @pid that has the number @n of these, from 1 on. */
#define REC_MOST_FILES 1000
void rec_file_name(char *to, size_t size, int pid, int n);
/* When this process was started, by the kernel's clock: exec does not change it. 0: unknown. */
u64 rec_born(void);
/* In a new program: notes in the files of this process that the old one was replaced. */
void rec_exec_note(void);
/* Where messages go; prepared when the recorder is loaded. */
extern struct lkp_stderr rec_error_output;
/* Says @why, and records nothing in this process. False. */
bool rec_refuse(const char *why);
/* The same of a file: @what, because of errno @why. */
bool rec_refuse_file(const char *what, int why);
/* The file cannot be created. @later: another process has made the first one. */
bool rec_refuse_uncreated(bool later, int why);
/* Makes the file; -1 and errno. */
int rec_file_create(void);
/* The same file under a descriptor that programs do not close by habit. */
int rec_file_out_of_the_way(int fd);
/* rec_state.fd is this file. */
void rec_file_keep(const struct stat *facts);
/* In a forked child: the parent's descriptor is of no use there. */
void rec_file_close_parents(void);
/* Has the filesystem set @bytes aside at @from. */
bool rec_file_reserve(u64 from, u64 bytes);
/* Notes in the file what the process has taken of the CPUs so far. */
void rec_file_note_usage(void);
u64 rec_nanoseconds(clockid_t clock);
/*
 * The time-stamp counter and CLOCK_MONOTONIC at one moment: they are read again if the thread
 * seems to have lost its CPU in between.
 */
void rec_both_clocks(u64 *ticks, u64 *ns);
/* Whether code is mapped at @address, as far as is known. */
bool rec_maps_has(u64 address);
/* What a thread's state was before it took the recorder's lock. */
struct rec_guard {
	u64 signals;
	int cancel, error; /* errno */
};

/*
 * The recorder's lock. Its holder is not interrupted by signals, and not cancelled: it
 * makes calls that are cancellation points. Not on the path of a call.
 */
void rec_lock(struct rec_guard *guard);
void rec_unlock(const struct rec_guard *guard);
/* Before the lock is taken, unless dlsym() itself leads to that. */
void rec_lock_prepare(void);
/* Before the first thread. */
void rec_thread_prepare(void);

#endif

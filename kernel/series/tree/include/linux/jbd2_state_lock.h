/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef __LINUX_JBD2_STATE_LOCK_H
#define __LINUX_JBD2_STATE_LOCK_H

/* For experiments: a journal's state lock as a rwlock, which it is, or as a spinlock. */
#include <linux/spinlock.h>

#ifdef CONFIG_JBD2_STATE_SPINLOCK
typedef spinlock_t jbd2_state_lock_t;
#define jbd2_state_lock_init(lock)    spin_lock_init(lock)
#define jbd2_state_read_lock(lock)    spin_lock(lock)
#define jbd2_state_read_unlock(lock)  spin_unlock(lock)
#define jbd2_state_write_lock(lock)   spin_lock(lock)
#define jbd2_state_write_unlock(lock) spin_unlock(lock)
#else
typedef rwlock_t jbd2_state_lock_t;
#define jbd2_state_lock_init(lock)    rwlock_init(lock)
#define jbd2_state_read_lock(lock)    read_lock(lock)
#define jbd2_state_read_unlock(lock)  read_unlock(lock)
#define jbd2_state_write_lock(lock)   write_lock(lock)
#define jbd2_state_write_unlock(lock) write_unlock(lock)
#endif

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef __ASM_GENERIC_QUEUE_RWLOCK_H
#define __ASM_GENERIC_QUEUE_RWLOCK_H

/*
 * The queued read/write lock of kernel/locking/lockwork/qrwlock.h behind rwlock_t: the
 * same 8 bytes. Each operation is a call.
 */
#include <asm-generic/qrwlock_types.h>

void queue_read_lock(struct qrwlock *lock);
bool queue_read_trylock(struct qrwlock *lock);
void queue_read_unlock(struct qrwlock *lock);
void queue_write_lock(struct qrwlock *lock);
bool queue_write_trylock(struct qrwlock *lock);
void queue_write_unlock(struct qrwlock *lock);

#define arch_read_lock(l)     queue_read_lock(l)
#define arch_read_trylock(l)  queue_read_trylock(l)
#define arch_read_unlock(l)   queue_read_unlock(l)
#define arch_write_lock(l)    queue_write_lock(l)
#define arch_write_trylock(l) queue_write_trylock(l)
#define arch_write_unlock(l)  queue_write_unlock(l)

/* A waiter holds its queue, or queues on it. */
#define arch_rwlock_is_contended(l) arch_spin_is_locked(&(l)->wait_lock)

#endif

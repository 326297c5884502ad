// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What Rust may know of the locks. build.rs compiles this file, never links it,
 * and makes a Rust constant of each line; the text is for its documentation.
 */
#include "lockwork/lockwork.h"
#include "mutex.h"
#include "qrwlock.h"
#include "rwsem.h"

struct layout {
	u64 value;
	char text[72];
};

/* clang-format off: the expressions as they are shall be seen */
#define BYTES(name, value) \
	const struct layout layout_usize_##name = { (value), #value }
#define VALUE(name, value) \
	const struct layout layout_u32_##name = { (value), #value }
/* clang-format on */

BYTES(MUTEX_SIZE, sizeof(struct lk_mutex));
BYTES(MUTEX_ALIGN, _Alignof(struct lk_mutex));
BYTES(MUTEX_WORD, offsetof(struct lk_mutex, word));
BYTES(MUTEX_OWNER, offsetof(struct lk_mutex, owner));
BYTES(MUTEX_PARKED, offsetof(struct lk_mutex, parked));
BYTES(MUTEX_PASSED, offsetof(struct lk_mutex, passed));
VALUE(MUTEX_FREE, LK_MUTEX_FREE);
VALUE(MUTEX_HELD, LK_MUTEX_HELD);
VALUE(MUTEX_PROMISED, LK_MUTEX_PROMISED);
VALUE(MUTEX_OUTLIVES_UNLOCK, mutex_outlives_unlock());
/* What next_owner() adds, and the bits that it keeps. */
VALUE(OWNER_TURN, LKP_OWNER_TURN);
VALUE(OWNER_TURNS, LKP_OWNER_TURNS);

BYTES(COND_SIZE, sizeof(lw_cond_t));
BYTES(COND_ALIGN, _Alignof(lw_cond_t));

BYTES(SPIN_SIZE, sizeof(struct lk_qspin));
BYTES(SPIN_ALIGN, _Alignof(struct lk_qspin));
BYTES(SPIN_VAL, offsetof(struct lk_qspin, val));
BYTES(SPIN_LOCKED_BYTE, offsetof(struct lk_qspin, locked));
BYTES(SPIN_LOCKED_HALF, offsetof(struct lk_qspin, locked_pending));
VALUE(SPIN_WAITERS_HALT, waiters_halt());
VALUE(SPIN_LOCKED, LK_Q_LOCKED);
VALUE(SPIN_LOCKED_MASK, LK_Q_LOCKED_MASK);
VALUE(QUEUE_OSQ, LW_QUEUE_OSQ);
VALUE(QUEUE_NUMA_OSQ, LW_QUEUE_NUMA_OSQ);
VALUE(SPIN_MODE_FAIR, LW_SPIN_FAIR);
VALUE(SPIN_MODE_STEAL, LW_SPIN_STEAL);
VALUE(SPIN_MODE_TAS, LW_SPIN_TAS);
VALUE(SPIN_MODE_PV, LW_SPIN_PV);
VALUE(SPIN_MODE_AUTO, LW_SPIN_AUTO);

BYTES(RWLOCK_SIZE, sizeof(struct lk_rwsem));
BYTES(RWLOCK_ALIGN, _Alignof(struct lk_rwsem));
BYTES(RWLOCK_WORD, offsetof(struct lk_rwsem, word));
BYTES(RWLOCK_OWNER, offsetof(struct lk_rwsem, owner));
VALUE(RWLOCK_WRITER, LK_RWSEM_WRITER);
VALUE(RWLOCK_QUEUED, LK_RWSEM_QUEUED);
VALUE(RWLOCK_HANDOFF, LK_RWSEM_HANDOFF);
VALUE(RWLOCK_LOOK, LK_RWSEM_LOOK);
VALUE(RWLOCK_READER, LK_RWSEM_READER);

BYTES(SPIN_RWLOCK_SIZE, sizeof(struct lk_qrw));
BYTES(SPIN_RWLOCK_ALIGN, _Alignof(struct lk_qrw));
BYTES(SPIN_RWLOCK_STATE, offsetof(struct lk_qrw, state));
BYTES(SPIN_RWLOCK_HELD_BYTE, offsetof(struct lk_qrw, held));
VALUE(SPIN_RWLOCK_HELD, LK_QRW_HELD);
VALUE(SPIN_RWLOCK_DRAINING, LK_QRW_DRAINING);
VALUE(SPIN_RWLOCK_CLOSED, LK_QRW_CLOSED);
VALUE(SPIN_RWLOCK_READER, LK_QRW_READER);

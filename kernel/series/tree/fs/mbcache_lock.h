/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef __FS_MBCACHE_LOCK_H
#define __FS_MBCACHE_LOCK_H

/*
 * For experiments: one lock for all of an mbcache's hash table, which lookups take to
 * read, as in kernels before 3.14 (there it was one for all caches). The locks of the
 * buckets stay under it, and nobody waits for them.
 */
#include <linux/list_bl.h>
#include <linux/spinlock.h>

#ifdef CONFIG_MBCACHE_RWLOCK
typedef rwlock_t mb_table_lock_t;
#define mb_table_lock_init(lock)    rwlock_init(lock)
#define mb_table_read_lock(lock)    read_lock(lock)
#define mb_table_read_unlock(lock)  read_unlock(lock)
#define mb_table_write_lock(lock)   write_lock(lock)
#define mb_table_write_unlock(lock) write_unlock(lock)
#else
typedef spinlock_t mb_table_lock_t;
#define mb_table_lock_init(lock)    spin_lock_init(lock)
#define mb_table_read_lock(lock)    spin_lock(lock)
#define mb_table_read_unlock(lock)  spin_unlock(lock)
#define mb_table_write_lock(lock)   spin_lock(lock)
#define mb_table_write_unlock(lock) spin_unlock(lock)
#endif

#ifdef CONFIG_MBCACHE_BUCKET_LOCKS
/* The buckets' own locks, and nothing else. */
#define mb_table_init(cache)	     ((void)0)
#define mb_write_lock(cache, head)   hlist_bl_lock(head)
#define mb_write_unlock(cache, head) hlist_bl_unlock(head)
#define mb_read_lock(cache, head)    hlist_bl_lock(head)
#define mb_read_unlock(cache, head)  hlist_bl_unlock(head)
#else
#define mb_table_init(cache) mb_table_lock_init(&(cache)->c_table_lock)
#define mb_write_lock(cache, head)                           \
	do {                                                 \
		mb_table_write_lock(&(cache)->c_table_lock); \
		hlist_bl_lock(head);                         \
	} while (0)
#define mb_write_unlock(cache, head)                           \
	do {                                                   \
		hlist_bl_unlock(head);                         \
		mb_table_write_unlock(&(cache)->c_table_lock); \
	} while (0)
/* Readers do not look at the bucket's lock: a writer holds both. */
#define mb_read_lock(cache, head)   mb_table_read_lock(&(cache)->c_table_lock)
#define mb_read_unlock(cache, head) mb_table_read_unlock(&(cache)->c_table_lock)
#endif

#endif

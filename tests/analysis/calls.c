// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What clang's thread safety analysis says of the calls of lockwork.h. A comment with
 * "expected-warning" stands where it has to warn, for clang's -verify; nowhere else may it.
 */
#include <lockwork/lockwork.h>

static lw_mutex_t mutex = LW_MUTEX_INIT;
static lw_cond_t filled = LW_COND_INIT;
static int items LW_GUARDED_BY(mutex);

static lw_rwlock_t rwlock = LW_RWLOCK_INIT;
static int table LW_GUARDED_BY(rwlock);

static lw_spinlock_t spinlock = LW_SPINLOCK_INIT;
static int hits LW_GUARDED_BY(spinlock);

static lw_spin_rwlock_t spin_rwlock = LW_SPIN_RWLOCK_INIT;
static int entries LW_GUARDED_BY(spin_rwlock);

void add(int n) LW_REQUIRES(mutex);
void add(int n)
{
	items += n;
}

int read_table(void) LW_REQUIRES_SHARED(rwlock);
int read_table(void)
{
	return table;
}

void right_mutex(const struct timespec *deadline)
{
	lw_mutex_lock(&mutex);
	while (!items)
		lw_cond_wait(&filled, &mutex);
	if (lw_cond_timedwait(&filled, &mutex, deadline))
		add(-1);
	lw_mutex_unlock(&mutex);
	if (lw_mutex_trylock(&mutex)) {
		items++;
		lw_mutex_unlock(&mutex);
	}
	if (!lw_mutex_timedlock(&mutex, deadline))
		return;
	items++;
	lw_mutex_unlock(&mutex);
	lw_mutex_destroy(&mutex);
}

int right_rwlock(const struct timespec *deadline)
{
	int sum;

	lw_read_lock(&rwlock);
	sum = read_table();
	lw_read_unlock(&rwlock);
	if (lw_read_trylock(&rwlock)) {
		sum += table;
		lw_read_unlock(&rwlock);
	}
	if (lw_read_timedlock(&rwlock, deadline)) {
		sum += table;
		lw_read_unlock(&rwlock);
	}
	lw_read_lock_nested(&rwlock);
	sum += table;
	lw_read_unlock(&rwlock);
	if (lw_read_trylock_nested(&rwlock))
		lw_read_unlock(&rwlock);
	if (lw_write_trylock(&rwlock)) {
		table++;
		lw_write_unlock(&rwlock);
	}
	if (lw_write_timedlock(&rwlock, deadline)) {
		table++;
		lw_write_unlock(&rwlock);
	}
	lw_write_lock(&rwlock);
	table++;
	lw_write_downgrade(&rwlock);
	sum += table;
	lw_read_unlock(&rwlock);
	return sum;
}

int right_spinning(void)
{
	int sum;

	lw_spin_lock(&spinlock);
	hits++;
	lw_spin_unlock(&spinlock);
	if (lw_spin_trylock(&spinlock))
		lw_spin_unlock(&spinlock);
	lw_spin_write_lock(&spin_rwlock);
	entries++;
	lw_spin_write_unlock(&spin_rwlock);
	if (lw_spin_write_trylock(&spin_rwlock))
		lw_spin_write_unlock(&spin_rwlock);
	lw_spin_read_lock(&spin_rwlock);
	sum = entries;
	lw_spin_read_unlock(&spin_rwlock);
	if (lw_spin_read_trylock(&spin_rwlock))
		lw_spin_read_unlock(&spin_rwlock);
	return sum;
}

void not_locked(void)
{
	// expected-warning@+1 {{writing variable 'items' requires}}
	items++;
	// expected-warning@+1 {{calling function 'add' requires}}
	add(1);
	// expected-warning@+1 {{releasing mutex 'mutex' that was not held}}
	lw_mutex_unlock(&mutex);
	// expected-warning@+1 {{calling function 'lw_cond_wait' requires}}
	lw_cond_wait(&filled, &mutex);
}

void locked_twice(void)
{
	lw_mutex_lock(&mutex);
	// expected-warning@+1 {{mutex 'mutex' that is already held}}
	lw_mutex_lock(&mutex);
	lw_mutex_unlock(&mutex);
}

void destroyed_while_held(void)
{
	lw_mutex_lock(&mutex);
	// expected-warning@+1 {{while mutex 'mutex' is held}}
	lw_mutex_destroy(&mutex);
	lw_mutex_unlock(&mutex);
}

int left_locked(int fails)
{
	lw_spin_lock(&spinlock);
	if (fails)
		return -1;
	lw_spin_unlock(&spinlock);
	return 0;
	// expected-warning@+1 {{'spinlock' is not held on every path}}
}

void written_by_a_reader(void)
{
	lw_read_lock(&rwlock);
	// expected-warning@+1 {{writing variable 'table' requires}}
	table++;
	lw_read_unlock(&rwlock);
	lw_write_lock(&rwlock);
	lw_write_downgrade(&rwlock);
	// expected-warning@+1 {{writing variable 'table' requires}}
	table++;
	lw_read_unlock(&rwlock);
}

void not_taken(void)
{
	if (lw_spin_write_trylock(&spin_rwlock)) {
		lw_spin_write_unlock(&spin_rwlock);
	} else {
		// expected-warning@+1 {{writing variable 'entries' requires}}
		entries++;
	}
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the threads of a read/write lock's client do. Who includes this defines read() and write(),
 * each of which makes all acquisitions of its kind.
 */
static void read(void);
static void write(void);

static inline void writers(u32 id)
{
	(void)id;
	write();
}

/* Thread 0 writes, the others read. */
static inline void one_writer(u32 id)
{
	if (id == 0)
		write();
	else
		read();
}

/* Thread 0 reads, the others write. */
static inline void one_reader(u32 id)
{
	if (id == 0)
		read();
	else
		write();
}

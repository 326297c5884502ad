// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Room for a thread's records: blocks of the file. The first is a page, and each is twice as large as
 * the one before, up to LAST_BLOCK.
 */
#include "state.h"

#define LAST_BLOCK (256u << 10)

/*
 * Where a large block has no room a small one may. Where that has none either, nobody asks
 * again: each time would be five system calls, with the lock, on the path of a call.
 */
static bool next_block(struct rec_thread *t)
{
	struct rec_block *block = NULL;
	struct rec_guard guard;

	rec_lock(&guard);
	if (!rec_state.full)
		block = rec_block(REC_BLOCK_RECORDS, t->next_bytes, t->number);
	if (!block && !rec_state.full && t->next_bytes > REC_PAGE) {
		t->next_bytes = REC_PAGE;
		block = rec_block(REC_BLOCK_RECORDS, REC_PAGE, t->number);
	}
	if (!block) {
		WRITE_ONCE(rec_state.full, 1);
		rec_file->refused++;
	}
	rec_unlock(&guard);
	if (!block)
		return false;
	if (t->next_bytes < LAST_BLOCK)
		t->next_bytes *= 2;
	t->block = block;
	t->room = (char *)(block + 1);
	t->end = (char *)block + block->bytes;
	return true;
}

void *rec_room(struct rec_thread *t, u32 type, u32 bytes)
{
	u32 *record;

	bytes = (bytes + 7) & ~7u;
	if (t->room + bytes > t->end &&
	    (READ_ONCE(rec_state.full) || !next_block(t)))
		return NULL;
	record = (u32 *)t->room;
	t->room += bytes;
	record[0] = type;
	record[1] = bytes;
	WRITE_ONCE(t->block->used, (u32)(t->room - (char *)(t->block + 1)));
	return record;
}

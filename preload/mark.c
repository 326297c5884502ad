// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Whose a condition variable or a read/write lock is.
 *
 *   as a static initializer leaves it --first call--> with our mark: ours
 *   made private by our init -----------------------> with our mark: ours
 *   anything else --------------------------------------------------: glibc's
 *
 * This asks nothing of glibc's fields, which move from version to version.
 * Static initializers are compiled into programs, so every version takes what
 * they leave for a private object. A process-shared one differs from that as
 * long as it exists: otherwise glibc itself could not tell the two apart. So it
 * does not matter which process initialized it.
 */
#include "preload.h"

#include "mark.h"

bool pre_adopt(const u32 *words, u32 count, u32 *mark)
{
	return lkp_mark_adopt(words, count, mark, PRE_MARK);
}

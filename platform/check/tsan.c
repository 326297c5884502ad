// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Plain C accesses. The hooks stay local to this world's object. */
#include <platform.h>

/* Tells the model checker; @pc finds the source line. */
void lwc_plain(const volatile void *p, size_t size, bool write, void *pc);

#define plain_access lwc_plain
#include <plain.h>

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Plain C accesses and calls. The hooks stay local to this world's object. */
#include <platform.h>

/* Tells the model checker; @pc finds the source line. */
void lwc_plain(const volatile void *p, size_t size, bool write, void *pc);

/* Tell it where in the program a thread is, beyond the line of C. */
void lwc_call_begins(void *pc);
void lwc_call_ends(void);

#define plain_access lwc_plain
#define call_begins  lwc_call_begins
#define call_ends    lwc_call_ends
#include <plain.h>

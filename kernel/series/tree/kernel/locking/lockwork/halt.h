/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_HALT_H
#define LW_HALT_H

/* Waiters of spinlocks halt their vCPUs from now on. */
void lw_halt_init(void);

#endif

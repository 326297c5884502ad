/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_HALT_H
#define LKM_HALT_H

/* Waiters of spinlocks halt their vCPUs from now on. */
void lkm_halt_init(void);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_FILES_H
#define LW_KERNEL_FILES_H

/* The module's files in debugfs; debugfs.c says which. */
void lw_debugfs_start(void);
void lw_debugfs_stop(void);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LW_KERNEL_FILES_H
#define LW_KERNEL_FILES_H

/* The files of the module: debugfs.c and proc.c say which. */
void lw_debugfs_start(void);
void lw_debugfs_stop(void);

/* 0 or -ENOMEM. */
int lw_proc_start(void);
void lw_proc_stop(void);

#endif

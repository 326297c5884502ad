/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LKM_FILES_H
#define LKM_FILES_H

/* The module's files in debugfs; debugfs.c says which. */
void lkm_debugfs_start(void);
void lkm_debugfs_stop(void);

#endif

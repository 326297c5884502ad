/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_RIVAL_NODE_H
#define LK_RIVAL_NODE_H

/*
 * The queue nodes of the rivals: one stack of LKP_MAX_NEST nodes for each slot,
 * as for the queue locks of locks/. A lock whose holder keeps its node pushes in
 * lock() and pops in unlock(); the others pop before lock() returns. Each lock
 * says in its own file what it uses the fields for.
 */
#include <platform.h>

struct lk_rival_node {
	struct lk_rival_node *next; /* behind this one in the queue */
	uintptr_t state;	    /* what its thread waits on; 0: it waits */
	struct lk_rival_node *tail, *link;
	u32 cluster;
	u32 vcpu;
	u32 count;
	u32 role;
};

/*
 * A clean node, with the queue entered. Waits while the thread has no slot. The
 * node's fields are visible before what is published after the call by a release
 * or behind its write barrier.
 */
struct lk_rival_node *lk_rival_push(void);
/* The same; NULL: there is no node now, and the queue is not entered. */
struct lk_rival_node *lk_rival_try_push(void);
/* This thread's last pushed node; only with the queue entered. */
struct lk_rival_node *lk_rival_top(void);
/*
 * Its name in 13 bits, not 0; and the node of a name, with its pusher's acquire or behind its
 * write barrier.
 */
u32 lk_rival_code(void);
struct lk_rival_node *lk_rival_decode(u32 code);
/* Gives the last pushed node back, and leaves the queue. */
void lk_rival_pop(void);

#endif

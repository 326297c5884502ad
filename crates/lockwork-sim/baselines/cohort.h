/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LK_COHORT_H
#define LK_COHORT_H

/*
 * A cohort of MCS queues: one for each cluster of CPUs, and one of clusters.
 *
 *   top             the last cluster in the queue of clusters; NULL: free
 *   clusters[].tail the last waiter of the cluster
 *   state           of a cluster's waiter: 0 it waits; NEED_TOP: it is the first
 *                   and has to queue for its cluster; else it holds, after so
 *                   many hand-overs inside the cluster, from HOLD on
 *
 *   a of X: X.tail NULL --> a --> top NULL --> X           holds
 *   b of X: behind a, waits --unlock a--> HOLD + 1          holds, top stays X
 *   c of Y: Y.tail NULL --> c --> top X --> Y               waits for X's turn
 *   unlock by X's last waiter, or after osq_node_max hand-overs: Y has the top, and
 *   the next of X, if there is one, queues behind Y
 *
 * Invariants: of a cluster only the one that is neither waiting nor done uses its
 * place in the queue of clusters; a cluster is in that queue once.
 *
 * Written from the description of lock cohorting in Dice, Marathe and Shavit,
 * "Lock Cohorting", PPoPP 2012: C-MCS-MCS. The bound of hand-overs is the
 * knob osq_node_max, whose default is the paper's 64. The top
 * queue's node belongs to the cluster, so that another thread may release it.
 * Left out: time-outs; and more clusters than MOST, which share a queue by modulo.
 */
#include "rival_node.h"

#define LK_COHORT_MOST 62u

struct lk_cohort_cluster {
	struct lk_rival_node *tail;
	struct lk_cohort_cluster *next;
	u32 granted;
} __cacheline_aligned;

struct lk_cohort {
	struct lk_cohort_cluster *top;
	struct lk_cohort_cluster clusters[LK_COHORT_MOST];
};

/* With a clean node of the caller's, which it keeps until it has left. */
void lk_cohort_enter(struct lk_cohort *cohort, struct lk_rival_node *node);
/* True: nobody was seen waiting, in no cluster. */
bool lk_cohort_leave(struct lk_cohort *cohort, struct lk_rival_node *node);

#endif

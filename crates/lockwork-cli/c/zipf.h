/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef ZIPF_H
#define ZIPF_H

#include <stdint.h>

/* Walker's alias table: draws from any distribution in constant time. */
struct zipf {
	uint32_t n;
	float *keep;
	uint32_t *other;
};

/* Numbers 0 … n-1, the k-th as often as (k+1)^-skew. Returns 0 or ENOMEM. */
int zipf_init(struct zipf *z, uint32_t n, double skew);

static inline uint32_t zipf_draw(const struct zipf *z, uint64_t random)
{
	uint32_t i = (uint32_t)(((random >> 32) * z->n) >> 32);
	float toss = (float)(random & 0xffffff) / 16777216.0f;

	return toss < z->keep[i] ? i : z->other[i];
}

#endif

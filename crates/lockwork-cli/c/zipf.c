// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include "zipf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void zipf_fill(struct zipf *z, double *p, uint32_t *stack)
{
	uint32_t small = 0,
		 large = z->n; /* two stacks, growing to each other */

	for (uint32_t i = 0; i < z->n; i++)
		stack[p[i] < 1.0 ? small++ : --large] = i;
	while (small > 0 && large < z->n) {
		uint32_t s = stack[--small], l = stack[large];

		z->keep[s] = (float)p[s];
		z->other[s] = l;
		p[l] -= 1.0 - p[s];
		if (p[l] < 1.0) {
			large++;
			stack[small++] = l;
		}
	}
	while (small > 0)
		z->keep[stack[--small]] = 1.0f;
	for (; large < z->n; large++)
		z->keep[stack[large]] = 1.0f;
}

int zipf_init(struct zipf *z, uint32_t n, double skew)
{
	double *p = malloc(n * sizeof(*p)), total = 0;
	uint32_t *stack = malloc(n * sizeof(*stack));

	z->n = n;
	z->keep = malloc(n * sizeof(*z->keep));
	z->other = calloc(n, sizeof(*z->other));
	if (p && stack && z->keep && z->other) {
		for (uint32_t i = 0; i < n; i++)
			total += p[i] = pow(i + 1.0, -skew);
		for (uint32_t i = 0; i < n; i++)
			p[i] *= n / total;
		zipf_fill(z, p, stack);
		total = 0;
	}
	free(p);
	free(stack);
	return p && stack && z->keep && z->other ? 0 : ENOMEM;
}

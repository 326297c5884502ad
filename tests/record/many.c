/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Many locks and a hot one: its profile has more than 50 MB. docs/profile.md has figures. */
#include <pthread.h>
#define LOCKS 34000
static pthread_mutex_t many[LOCKS], hot = PTHREAD_MUTEX_INITIALIZER;
static volatile long work;
static void *run(void *x)
{
	for (int i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(&many[i]);
		work++;
		pthread_mutex_unlock(&many[i]);
		pthread_mutex_lock(&hot);
		for (int n = 0; n < 300; n++)
			work++;
		pthread_mutex_unlock(&hot);
	}
	return x;
}
int main(void)
{
	pthread_t t[24];
	for (int i = 0; i < 24; i++)
		pthread_create(t + i, 0, run, 0);
	for (int i = 0; i < 24; i++)
		pthread_join(t[i], 0);
	return 0;
}

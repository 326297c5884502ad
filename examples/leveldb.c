/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A small LevelDB driver for `lockwork compare`: THREADS threads put and get
 * random keys of one database in a fresh folder below /tmp, then it prints
 * "throughput: N ops/s". One operation in PUTS is a put. With 0 there are only
 * gets, of a database that is filled before the time is taken.
 *
 *   cc -O2 examples/leveldb.c -o leveldb -lleveldb -lpthread
 *   lockwork compare --metric 'throughput: ([0-9]+)' -- ./leveldb 8 200000
 */
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 100000

static leveldb_t *db;
static long ops_each, puts_one_in = 10;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "leveldb: %s: %s\n", what, why);
	exit(1);
}

static void *work(void *arg)
{
	leveldb_writeoptions_t *write = leveldb_writeoptions_create();
	leveldb_readoptions_t *read = leveldb_readoptions_create();
	unsigned int seed = (unsigned int)(size_t)arg;
	char key[32], value[100], *err = NULL;

	memset(value, 'v', sizeof(value));
	for (long i = 0; i < ops_each; i++) {
		int n = snprintf(key, sizeof(key), "%08d",
				 rand_r(&seed) % KEYS);
		size_t len;

		if (puts_one_in && i % puts_one_in == 0) {
			leveldb_put(db, write, key, (size_t)n, value,
				    sizeof(value), &err);
		} else {
			char *got = leveldb_get(db, read, key, (size_t)n, &len,
						&err);

			leveldb_free(got);
		}
		if (err)
			fail("operation", err);
	}
	leveldb_writeoptions_destroy(write);
	leveldb_readoptions_destroy(read);
	return NULL;
}

static void fill(void)
{
	leveldb_writeoptions_t *write = leveldb_writeoptions_create();
	char key[32], value[100], *err = NULL;

	memset(value, 'v', sizeof(value));
	for (int i = 0; i < KEYS; i++) {
		int n = snprintf(key, sizeof(key), "%08d", i);

		leveldb_put(db, write, key, (size_t)n, value, sizeof(value),
			    &err);
		if (err)
			fail("fill", err);
	}
	leveldb_writeoptions_destroy(write);
	leveldb_compact_range(db, NULL, 0, NULL, 0);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/lockwork-leveldb-XXXXXX", *err = NULL;
	leveldb_options_t *options = leveldb_options_create();
	int threads = argc > 1 ? atoi(argv[1]) : 8;
	long ops = argc > 2 ? atol(argv[2]) : 200000;
	struct timespec start, end;
	pthread_t *thread;
	double seconds;

	if (argc > 3)
		puts_one_in = atol(argv[3]);
	if (threads < 1 || threads > 1024 || ops < threads || puts_one_in < 0)
		fail("usage", "leveldb [THREADS 1-1024 [OPERATIONS [PUTS]]]");
	if (!mkdtemp(dir))
		fail(dir, "cannot make a folder");
	leveldb_options_set_create_if_missing(options, 1);
	db = leveldb_open(options, dir, &err);
	if (err)
		fail("open", err);
	if (!puts_one_in)
		fill();
	ops_each = ops / threads;
	thread = calloc((size_t)threads, sizeof(*thread));
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(size_t)(i + 1));
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) +
		  1e-9 * (double)(end.tv_nsec - start.tv_nsec);
	printf("throughput: %.0f ops/s\n",
	       (double)(ops_each * threads) / seconds);
	leveldb_close(db);
	leveldb_destroy_db(options, dir, &err);
	leveldb_options_destroy(options);
	free(thread);
	return 0;
}

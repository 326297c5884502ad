# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Threads that share one SQLite database in memory: python3 sqlite_threads.py THREADS STEPS

All threads use one connection, whose mutex SQLite takes for each call. All threads together
take STEPS steps: a row is written, and a few rows are read.
"""
import sqlite3
import sys
import threading

threads, steps = int(sys.argv[1]), int(sys.argv[2])
base = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
base.execute("CREATE TABLE pairs (key INTEGER PRIMARY KEY, value TEXT)")


def work(own):
    for step in range(steps // threads):
        key = step * threads + own
        base.execute("INSERT INTO pairs VALUES (?, ?)", (key, "x" * 20)).close()
        base.execute("SELECT sum(key) FROM pairs WHERE key > ?", (key - 50,)).close()


everyone = [threading.Thread(target=work, args=(own,)) for own in range(threads)]
for one in everyone:
    one.start()
for one in everyone:
    one.join()

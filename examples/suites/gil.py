# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Threads that take turns with Python's global lock: python3 gil.py THREADS STEPS

Each thread computes, and passes a token to the next one now and then. All threads together
take STEPS steps, so that more threads have no more to do.
"""
import queue
import sys
import threading

threads, steps = int(sys.argv[1]), int(sys.argv[2])
tokens = [queue.SimpleQueue() for _ in range(threads)]


def work(own):
    total = 0
    for step in range(steps // threads):
        total += step * step
        if step % 50 == 0:
            tokens[(own + 1) % threads].put(total)
            tokens[own].get()


everyone = [threading.Thread(target=work, args=(own,)) for own in range(threads)]
for one in everyone:
    one.start()
for one in everyone:
    one.join()

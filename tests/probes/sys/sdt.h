/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef LOCKWORK_TESTS_PROBES_SDT_H
#define LOCKWORK_TESTS_PROBES_SDT_H

/* Stands in for systemtap's header: each probe is a call of the program's probe_fired(). */
void probe_fired(const char *name, const void *object, long second, long third)
	__attribute__((weak));

#define PROBE_FIRED(name, a, b, c)                                       \
	do {                                                             \
		if (probe_fired)                                         \
			probe_fired(#name, (const void *)(a), (long)(b), \
				    (long)(c));                          \
	} while (0)

#define DTRACE_PROBE1(provider, name, a)       PROBE_FIRED(name, a, 0, 0)
#define DTRACE_PROBE2(provider, name, a, b)    PROBE_FIRED(name, a, b, 0)
#define DTRACE_PROBE3(provider, name, a, b, c) PROBE_FIRED(name, a, b, c)

#endif

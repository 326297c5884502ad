/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef PRE_USDT_H
#define PRE_USDT_H

/*
 * Probes for bpftrace, bcc and systemtap, under the names and with the arguments of those
 * that glibc has where it is built with them: provider libpthread. A probe that nobody
 * uses is a nop. Without the header (systemtap-sdt-dev) there are none.
 */
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>

#define PRE_USDT(name, a)	 DTRACE_PROBE1(libpthread, name, a)
#define PRE_USDT2(name, a, b)	 DTRACE_PROBE2(libpthread, name, a, b)
#define PRE_USDT3(name, a, b, c) DTRACE_PROBE3(libpthread, name, a, b, c)
#else
#define PRE_USDT(name, a)	 ((void)(a))
#define PRE_USDT2(name, a, b)	 ((void)(a), (void)(b))
#define PRE_USDT3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif

# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck disable=SC2154 # dir: of foreign-build
# The Open POSIX Test Suite, from Debian's source package posixtestsuite: what it has
# for the pthread_ calls. The stress programs run until a signal comes: 10 s here.

fetch() {
	fetch_tar posixtestsuite
}

prepare() {
	:
}

names() {
	(cd source && find conformance/interfaces/pthread_* functional/threads stress/threads \
		-name '*.c' ! -name testfrmw.c ! -name threads_scenarii.c ! -name helper.c) |
		sed 's,\.c$,,; s,/,.,g' | sort
}

compile_one() {
	local name=$1 path file
	path=${name//.//}
	file=source/$path.c
	if ! grep -qE '\bmain *\(' "$file"; then
		not_run "$name" "has no main: the suite only compiles it"
		return
	fi
	if grep -q clock_settime "$file"; then
		not_run "$name" "sets the machine's clock"
		return
	fi
	case $path in
	functional/threads/pi_test/*)
		not_run "$name" "measures priority inheritance, without end (those mutexes stay glibc's)"
		return
		;;
	*/s-c*)
		not_run "$name" "measures how a call scales, and tests nothing"
		return
		;;
	esac
	compile "$name" gcc -std=gnu99 -O2 -w -D_GNU_SOURCE -Isource/include \
		-Isource/functional/threads/include "$file" -pthread -lrt -lm ||
		return
	case $path in
	stress/*) program "$name" "timeout --preserve-status -s USR1 10 $dir/bin/$name" ;;
	*) program "$name" "$dir/bin/$name" ;;
	esac
}

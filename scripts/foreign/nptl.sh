# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck disable=SC2154 # dir: of foreign-build
# glibc's own tests of threads, from the package glibc-source: the programs of nptl/
# and sysdeps/pthread/ with glibc's support library, compiled against the system's
# headers. What needs glibc's internals does not compile there.

fetch() {
	fetch_deb glibc-source
	tar -xf package/usr/src/glibc/glibc-*.tar.xz --strip-components 1 -C source
	rm -rf package
}

# The makefiles, each variable on one line.
makefiles() {
	sed -e ':join' -e '/\\$/N' -e 's/\\\n//' -e 't join' \
		source/nptl/Makefile source/sysdeps/pthread/Makefile
}

# Not all of the source: its other headers would hide the system's. config.h only
# tells of glibc's own compilation.
prepare() {
	local file
	mkdir view
	: >view/config.h
	for file in support sysdeps posix nptl test-skeleton.c include/array_length.h \
		include/libc-diag.h include/intprops.h sysdeps/x86_64/stackinfo.h \
		sysdeps/x86/tst-stack-align.h; do
		ln -s "$dir/source/$file" view/
	done
	makefiles >variables
	# shellcheck disable=SC2016 # expanded by the inner shell
	sed -n '/^libsupport-routines/,/^$/p' source/support/Makefile |
		sed -n 's/^ *\([a-z0-9_-]*\) *\\$/\1/p' | grep -v libsupport-routines |
		xargs -P 2 -n 1 bash -c 'compile_support "$1"' -
	ar rcs bin/support.a compile/*.o
}

# Some of it wants glibc's internals; what needs that does not link.
compile_support() {
	gcc -std=gnu11 -fgnu89-inline -O2 -w -D_GNU_SOURCE -DTIMEOUTFACTOR=1 -include limits.h \
		-D{SRCDIR,OBJDIR,OBJDIR_ELF_LDSO,INSTDIR,LIBDIR,BINDIR,SBINDIR}_PATH='"/none"' \
		-D{SLIBDIR,ROOTSBINDIR,COMPLOCALEDIR}_PATH='"/none"' -Iview -Iview/support \
		-c "source/support/$1.c" -o "compile/$1.o" 2>"compile/$1.log" || :
}
export -f compile_support

names() {
	(cd source && ls nptl/tst-*.c nptl/tst-*.cc sysdeps/pthread/tst-*.c) |
		sed 's,.*/,,; s,\.cc*$,,' | grep -vE 'mod[a-z0-9]*$|moda$|modb$|aux$|common$' | sort -u
}

arguments() {
	case $1 in
	tst-umask1) echo umask.temp ;;
	tst-exec4) echo "$dir/bin/$1" ;;
	tst-cancel7 | tst-cancelx7) echo "--command 'exec $dir/bin/$1'" ;;
	esac
}

compile_one() {
	local name=$1 compiler="gcc -std=gnu11 -fgnu89-inline" file flags
	# The suite's own word on what is not an ordinary program.
	if grep -E '^(tests|xtests)-(internal|static|container|printers)' variables |
		grep -qE -- "[ =]$name( |\$)"; then
		not_run "$name" "needs glibc's internals or its build, or is static"
		return
	fi
	if grep -qE -- "^\\\$\\(objpfx\\)$name(\.out)?:.*(mod|/tst-.*\.so)|^LDFLAGS-$name +=|^$name-ENV" \
		variables; then
		not_run "$name" "needs modules, linker flags or variables of glibc's build"
		return
	fi
	for file in source/{nptl,sysdeps/pthread}/"$name".{c,cc}; do
		[ ! -e "$file" ] || break
	done
	[ "$file" = "${file%.cc}" ] || compiler="g++ -std=gnu++11"
	flags=$(sed -n "s/^CFLAGS-$name\.[co] *+\{0,1\}= *\([^\$]*\)\$/\1/p" variables)
	# shellcheck disable=SC2086 # lists of words
	compile "$name" $compiler -O2 -w -D_GNU_SOURCE $flags -Iview -Iview/support \
		-iquote source/sysdeps/pthread -iquote source/nptl \
		-iquote source/sysdeps/unix/sysv/linux "$file" bin/support.a \
		-pthread -lrt -ldl || return
	program "$name" "$dir/bin/$name $(arguments "$name")"
}
export -f arguments

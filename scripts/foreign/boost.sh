# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck disable=SC2154 # dir: of foreign-build
# Boost.Thread's tests, from Debian's source package of the release's default Boost, with
# the headers and shared libraries of the packages built from it.

fetch() {
	local version name packages
	version=$(own_apt apt-cache depends libboost-dev |
		sed -n 's/.*Depends: libboost\([0-9.]*\)-dev/\1/p')
	packages=
	for name in atomic chrono date-time system test thread timer; do
		packages="$packages libboost-$name$version-dev $(own_apt apt-cache depends \
			"libboost-$name$version-dev" |
			sed -n "s/.*Depends: \(libboost-${name}[0-9.]*\(t64\)*\)\$/\1/p")"
	done
	# shellcheck disable=SC2086 # a list of words
	fetch_deb "libboost$version-dev" $packages
	fetch_tar "boost$version" '*/libs/thread/test/*' '*/libs/thread/example/*'
}

prepare() {
	# Lines of name, rule and file, from the list that Boost's build reads; a program
	# without a name has its file's.
	sed -nE 's/^ *\[ *(thread-(run|test)[a-z0-9-]*) +([^ ]+\.cpp)( +: *([^] ]+))?.*/\1 \3 \5/p' \
		source/libs/thread/test/Jamfile.v2 |
		while read -r rule file name; do
			[ -n "$name" ] || name=$(basename "$file" .cpp)
			printf '%s\t%s\t%s\n' "$name" "$rule" "${file#./}"
		done | sort -u -k 1,1 >list
}

names() {
	cut -f 1 list
}

compile_one() {
	local name=$1 rule file libraries="-lboost_thread -lboost_chrono"
	IFS=$'\t' read -r rule file < <(grep -P "^$name\t" list | cut -f 2-)
	case $rule in
	thread-test) libraries="-lboost_unit_test_framework $libraries" ;;
	thread-run-lib2 | thread-run2-h)
		not_run "$name" "is only for a static Boost, or for none"
		return
		;;
	esac
	# shellcheck disable=SC2086 # a list of words
	compile "$name" g++ -O0 -w -DBOOST_THREAD_THROW_IF_PRECONDITION_NOT_SATISFIED \
		-DBOOST_ALL_DYN_LINK -DBOOST_ALL_NO_LIB -Ipackage/usr/include \
		"source/libs/thread/test/$file" -pthread \
		-Lpackage/usr/lib/x86_64-linux-gnu \
		-Wl,-rpath,"$dir/package/usr/lib/x86_64-linux-gnu" $libraries || return
	program "$name" "$dir/bin/$name"
}

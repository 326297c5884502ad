# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck disable=SC2154 # dir: of foreign-build
# libstdc++'s tests of threads (testsuite/30_threads), from the package of the sources of
# the system's compiler: those that DejaGnu would run.

fetch() {
	fetch_deb "gcc-$(gcc -dumpversion)-source"
	tar -xf package/usr/src/gcc-*/gcc-*.tar.xz --strip-components 3 -C source \
		--wildcards '*/libstdc++-v3/testsuite/30_threads/*' '*/libstdc++-v3/testsuite/util/*'
	rm -rf package
}

prepare() {
	:
}

names() {
	(cd source/30_threads && grep -rlE 'dg-do run' --include '*.cc') |
		sed 's,\.cc$,,; s,/,.,g' | sort
}

compile_one() {
	local name=$1 file standard
	file=source/30_threads/${name//.//}.cc
	[ -e "$file" ] || file=source/30_threads/$(cd source/30_threads &&
		find . -name '*.cc' | sed 's,^\./,,' |
		while read -r path; do
			[ "${path//\//.}" != "$name.cc" ] || echo "$path"
		done)
	if grep -qE 'dg-options.*"-static|dg-do run.*\{ \*-\*-gnu\* \}' "$file"; then
		not_run "$name" "is static, or for another system"
		return
	fi
	# The directive's standard, or that of DejaGnu's default.
	standard=$(grep -m 1 -oE 'std=gnu\+\+[0-9a-z]+' "$file" || :)
	! grep -qE 'dg-do run.*c\+\+11_only' "$file" || standard=std=gnu++11
	compile "$name" g++ "-${standard:-std=gnu++17}" -O2 -w -D_GLIBCXX_ASSERT \
		-Isource/util "$file" -pthread -latomic || return
	program "$name" "$dir/bin/$name"
}

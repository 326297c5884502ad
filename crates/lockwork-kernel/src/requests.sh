#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# requests.sh DIR [here]: loads our module, if there is one in DIR, makes the requests of
# DIR/requests one after the other, and says on its output how they went, for
# crates/lockwork-kernel/src/guest.rs. here: on a machine that is no guest.
dir=${1%/}
here=${2-}
files=/sys/kernel/debug/lockwork
counts=/sys/kernel/debug/lock_event_counts

# Of the kernel's own locks, where these are ours; and of the module's.
controls=/sys/kernel/debug/lockwork_osq
knobs=/proc/lockwork

# Ctrl-C, or a time that is up: nothing of ours stays on a machine.
at=$dir/mnt
end() {
	toggle_end
	give_back
	umount "$at" 2>/dev/null
	for module in lockwork_locks locktorture torture; do
		[ ! -d "/sys/module/$module" ] || [ ! -e "$dir/$module.ko" ] || rmmod $module
	done
	exit 1
}
trap end INT TERM

toggles=
exec 3>&1
say() {
	echo "$*" >&3
}

# insert FILE [PARAMETER...]
insert() {
	if ! why=$(insmod "$@" 2>&1); then
		say "refused module ${1##*/} $why"
		exit
	fi
}

# set_file FILE VALUE
set_file() {
	why=$({ echo "$2" >"$1"; } 2>&1) || say "refused $number $1 $2: $why"
}

# set_control NAME VALUE, of the kernel's own locks: the first time, keeps what it was.
before=
set_control() {
	case "$before " in
	*" $1="*) ;;
	*) before="$before $1=$(cat "$controls/$1")" ;;
	esac
	set_file "$controls/$1" "$2"
}

# Controls are what they were before the first request.
give_back() {
	for control in $before; do
		set_file "$controls/${control%=*}" "${control#*=}"
	done
	before=
}

# Divides queues and joins them, ten times a second, until toggle_end.
toggle_begin() {
	toggles=
	[ -e $controls/dynamic_enable ] && [ -z "$keep" ] || return
	divides=$(cat $controls/dynamic_enable)
	while :; do
		for value in 0 1; do
			echo $value >$controls/dynamic_enable
			sleep 0.1
		done
	done &
	toggles=$!
}

toggle_end() {
	[ -n "$toggles" ] || return
	kill "$toggles"
	wait "$toggles" 2>/dev/null
	toggles=
	echo "$divides" >$controls/dynamic_enable
}

# torture REQUEST: by our module
torture() {
	if why=$({ echo "$*" >$files/torture; } 2>&1); then
		while grep -qE '^state (running|stopping)' $files/torture; do
			sleep 1
		done
		sed "s/^/result $number /" $files/torture >&3
	else
		say "refused $number $*: $why"
	fi
}

# stock LOCK SECONDS [PARAMETER...]: by the kernel's own
stock() {
	lock=$1 seconds=$2
	shift 2
	dmesg -c >/dev/null
	if ! why=$(insmod "$dir/locktorture.ko" torture_type="$lock" "$@" 2>&1); then
		say "refused $number $lock $*: $why"
		return
	fi
	toggle_begin
	sleep "$seconds"
	toggle_end
	rmmod locktorture || say "stuck locktorture cannot be removed"
	dmesg | sed -n "s/^\[[^]]*\] *//
		s/^\(Writes:\|Reads \|$lock-torture:\)/result $number stock \1/p" >&3
	say "result $number hotplug off $(dmesg | grep -c 'is now offline') refused 0"
}

# mount_fs FS: an empty one, at $at
mount_fs() {
	case $1 in
	none | tmpfs) mount -t tmpfs none "$at" ;;
	ext4)
		if [ -n "$here" ]; then
			gunzip -c "$dir/ext4.gz" >"$dir/ext4" &&
				mount -t ext4 -o loop "$dir/ext4" "$at"
		else
			gunzip -c "$dir/ext4.gz" >/dev/ram0 &&
				mount -t ext4 /dev/ram0 "$at"
		fi
		;;
	esac
}

# load KIND WORKERS SECONDS FS: a program
load() {
	if ! why=$(mount_fs "$4" 2>&1); then
		say "refused $number the file system $4: $why"
		return
	fi
	toggle_begin
	if why=$("$dir/load" "$1" "$2" "$3" "$at" 2>&1); then
		say "result $number state passed"
		say "result $number writes threads $2 $why fail 0"
	else
		say "refused $number $*: $why"
	fi
	toggle_end
	umount "$at"
}

nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
say "booted $(uname -r) $(nproc) $nodes"
spinlocks=$(dmesg | sed -n 's/.*spinlocks: \(unfair queued, mode [a-z]*\).*/\1/p')
[ -z "$spinlocks" ] || say "spinlocks $spinlocks"
[ ! -e "$dir/lockwork_locks.ko" ] || insert "$dir/lockwork_locks.ko" count_events=1
[ ! -e "$dir/torture.ko" ] || insert "$dir/torture.ko"
say loaded

number=-1
while read -r kind rest; do
	case $kind in
	start)
		number=$((number + 1))
		keep=
		say "start $number"
		# A serial port sends later, and its CPU may hang by then. stty waits until all
		# is sent; it fails where the output is no serial port.
		stty -echo <&3 2>/dev/null
		;;
	knob) set_file "$knobs/${rest% *}" "${rest#* }" ;;
	control)
		set_control "${rest% *}" "${rest#* }"
		# This value was asked for: toggle_begin does not change it.
		[ "${rest% *}" != dynamic_enable ] || keep=yes
		;;
	torture | stock | load)
		# shellcheck disable=SC2086 # a list of words
		$kind $rest
		say "end $number"
		;;
	esac
done <"$dir/requests"

give_back
[ ! -d $files ] || sed 's/^/event /' $files/events >&3
if [ -d $counts ]; then
	for count in "$counts"/numa_* "$counts"/osq_*; do
		[ ! -e "$count" ] || say "event kernel:${count##*/} $(cat "$count")"
	done
fi
for module in lockwork_locks torture; do
	[ ! -e "$dir/$module.ko" ] || rmmod $module || say "stuck $module cannot be removed"
done
say bye

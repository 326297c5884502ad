#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The first and only process of the guest. It loads our module, if there is one, makes the
# requests of /requests one after the other, and says on the second serial port how they
# went, for crates/lockwork-kernel/src/guest.rs.
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
files=/sys/kernel/debug/lockwork
counts=/sys/kernel/debug/lock_event_counts

# Where the kernel's own locks have controls, our module's are elsewhere.
controls=/proc/lockwork
knobs=/proc/lockwork
[ ! -d $controls ] || knobs=/proc/lockwork_module

if [ -e /shell ]; then
	insmod /lockwork_locks.ko count_events=1 &&
		echo "The module is loaded: see $files and $knobs."
	echo "exit ends the guest."
	setsid cttyhack sh
	poweroff -f
fi

exec 3>/dev/ttyS1
say() {
	echo "$*" >&3
}

# load FILE [PARAMETER...]
load() {
	if ! why=$(insmod "$@" 2>&1); then
		say "refused module ${1#/} $why"
		poweroff -f
	fi
}

# set_file FILE VALUE
set_file() {
	why=$({ echo "$2" >"$1"; } 2>&1) || say "refused $number $1 $2: $why"
}

# Divides queues and joins them, ten times a second.
toggle() {
	while :; do
		for value in 0 1; do
			echo $value >$controls/dynamic_enable
			usleep 100000
		done
	done
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
	if ! why=$(insmod /locktorture.ko torture_type="$lock" "$@" 2>&1); then
		say "refused $number $lock $*: $why"
		return
	fi
	toggles=
	if [ -e $controls/dynamic_enable ]; then
		toggle &
		toggles=$!
	fi
	sleep "$seconds"
	if [ -n "$toggles" ]; then
		kill $toggles
		wait $toggles 2>/dev/null
		echo 1 >$controls/dynamic_enable
	fi
	rmmod locktorture || say "stuck locktorture cannot be removed"
	dmesg | sed -n "s/^\[[^]]*\] *//
		s/^\(Writes:\|Reads \|$lock-torture:\)/result $number stock \1/p" >&3
	say "result $number hotplug off $(dmesg | grep -c 'is now offline') refused 0"
}

say "booted $(uname -r) $(nproc) $(ls -d /sys/devices/system/node/node* | wc -l)"
[ ! -e /lockwork_locks.ko ] || load /lockwork_locks.ko count_events=1
[ ! -e /torture.ko ] || load /torture.ko
say loaded

number=-1
while read -r kind rest; do
	case $kind in
	start)
		number=$((number + 1))
		say "start $number"
		;;
	knob) set_file "$knobs/${rest% *}" "${rest#* }" ;;
	control) set_file "$controls/${rest% *}" "${rest#* }" ;;
	torture | stock)
		# shellcheck disable=SC2086 # a list of words
		$kind $rest
		say "end $number"
		;;
	esac
done </requests

if [ -d $files ]; then
	sed 's/^/event /' $files/events >&3
	rmmod lockwork_locks || say "stuck the module cannot be removed"
elif [ -d $counts ]; then
	for count in "$counts"/numa_* "$counts"/osq_*; do
		say "event ${count##*/} $(cat "$count")"
	done
fi
say bye
exec 3>&-
poweroff -f

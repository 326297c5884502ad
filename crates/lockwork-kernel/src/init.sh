#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The first and only process of the guest. It loads the module, makes the requests of
# /requests one after the other, and says on the second serial port how they went, for
# crates/lockwork-kernel/src/guest.rs.
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
files=/sys/kernel/debug/lockwork

if [ -e /shell ]; then
	insmod /lockwork_locks.ko count_events=1 &&
		echo "The module is loaded: see $files and /proc/lockwork."
	echo "exit ends the guest."
	setsid cttyhack sh
	poweroff -f
fi

exec 3>/dev/ttyS1
say() {
	echo "$*" >&3
}

say "booted $(uname -r) $(nproc) $(ls -d /sys/devices/system/node/node* | wc -l)"
if ! why=$(insmod /lockwork_locks.ko count_events=1 2>&1); then
	say "refused module $why"
	poweroff -f
fi
say loaded

number=-1
while read -r kind rest; do
	case $kind in
	start)
		number=$((number + 1))
		say "start $number"
		;;
	knob)
		why=$({ echo "${rest#* }" >"/proc/lockwork/${rest% *}"; } 2>&1) ||
			say "refused $number $rest: $why"
		;;
	torture)
		if why=$({ echo "$rest" >$files/torture; } 2>&1); then
			while grep -qE '^state (running|stopping)' $files/torture; do
				sleep 1
			done
			sed "s/^/result $number /" $files/torture >&3
		else
			say "refused $number $rest: $why"
		fi
		say "end $number"
		;;
	esac
done </requests

sed 's/^/event /' $files/events >&3
rmmod lockwork_locks || say "stuck the module cannot be removed"
say bye
exec 3>&-
poweroff -f

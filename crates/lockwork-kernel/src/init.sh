#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=dash
# The first process of the guest: a shell for the user, or what requests.sh does.
/bin/busybox mkdir -p /proc /sys /dev /mnt /tmp
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug

if [ -e /shell ]; then
	insmod /lockwork_locks.ko count_events=1 &&
		echo "The module is loaded: see /sys/kernel/debug/lockwork and /proc/lockwork*."
	echo "exit ends the guest."
	setsid cttyhack sh
else
	sh /requests.sh / >/dev/ttyS1
fi
poweroff -f

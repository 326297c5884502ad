#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=dash
# The first process of the emulated host: runs the guest under KVM, as /guest says, and then
# tells how often the guest's CPUs halted and called the hypervisor.
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug

while read -r module; do
	insmod "/$module"
done </modules

counts=/sys/kernel/debug/kvm
sh /guest &
# The counts are those of guests that run.
while kill -0 $! 2>/dev/null; do
	now="hypercalls $(cat $counts/hypercalls) halts $(cat $counts/halt_exits)"
	[ "$now" = "hypercalls 0 halts 0" ] || last=$now
	sleep 1
done
echo "host: ${last-no guest ran}"
poweroff -f

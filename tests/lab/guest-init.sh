#!/bin/sh
# The first process of a lab guest: hot-plug works, the guest agent answers, and the serial line is a shell.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
for m in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk virtio_console; do insmod /m/$m.ko; done
for p in /sys/class/virtio-ports/*; do
    [ "$(cat $p/name 2>/dev/null)" = org.qemu.guest_agent.0 ] &&
        /sbin/qemu-ga -d -m virtio-serial -p /dev/$(basename $p) -t /run -f /run/qga.pid -l /var/log/qga.log
done
echo "GUEST-UP $(cat /proc/uptime)"
while read -r c; do eval "$c" 2>&1; echo "RC=$?"; done < /dev/ttyS0
exec sleep 1000000

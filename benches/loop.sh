#!/bin/bash
# What operators do without volrecon: for every VM of a host, the disks that libvirt shows and the volumes that the database has.
#   loop.sh URI MY.CNF SCHEMA [HOW_MANY]
# It only fetches: setting one beside the other is left to the eye.
set -euo pipefail
uri=$1 defaults=$2 schema=$3 many=${4:-1000000}
for vm in $(virsh -r -c "$uri" list --name | head -n "$many"); do
    virsh -r -c "$uri" domblklist "$vm" --details
    mariadb --defaults-file="$defaults" "$schema" -e "
        SELECT v.uuid, v.name, v.path, v.state, v.device_id FROM volumes v
          JOIN vm_instance i ON i.id = v.instance_id
         WHERE i.instance_name = '$vm' AND v.removed IS NULL ORDER BY v.device_id"
done

//! volrecon: finds disks on which Apache CloudStack's database and the KVM hypervisors disagree.

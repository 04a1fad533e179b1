#!/bin/bash
# Takes one lab away: ends what its pid files name (and nothing else), removes its namespaces, then its directory.
#   reap.sh DIR        at once
#   reap.sh DIR wait   when standard input is closed, which happens however its owner ends
# A pid file holds "PID STARTTIME": a number that was given to another process since is left alone.
set -u
trap '' INT TERM HUP PIPE
dir=$1
[ -f "$dir/owner" ] || exit 0
[ "${2:-}" = wait ] && cat >/dev/null

started() { awk '{ sub(/^.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null; }
ours() { [ -n "$1" ] && [ "$(started "$1")" = "$2" ]; }

# Guests first: libvirt writes their pids itself, so the process must live in a network namespace of this lab.
for f in "$dir"/h/*/run/qemu/*.pid; do
    [ -f "$f" ] || continue
    pid=$(cat "$f")
    for ns in "$dir"/netns/*; do
        if [ "/proc/$pid/ns/net" -ef "/run/netns/$(basename "$ns")" ]; then kill -KILL "$pid" 2>/dev/null; fi
    done
done
for f in "$dir"/pids/*; do
    [ -f "$f" ] || continue
    read -r pid start <"$f" || continue
    ours "$pid" "$start" && kill -KILL "$pid" 2>/dev/null
done
for f in "$dir"/pids/*; do
    [ -f "$f" ] || continue
    read -r pid start <"$f" || continue
    for _ in $(seq 100); do ours "$pid" "$start" || break; sleep 0.02; done
done
for f in "$dir"/netns/*; do
    [ -e "$f" ] && ip netns del "$(basename "$f")" 2>/dev/null
done
# Files may still be written by a process on its way out.
for _ in 1 2 3; do rm -rf -- "$dir" && break; sleep 0.1; done
exit 0

#!/bin/sh
# Makes sure that a Docker engine answers, and that a registry can be started: installs Debian's packages where they
# are missing, starts dockerd where none runs. Usage: .ci/docker.sh PIDFILE
#
# PIDFILE gets the id of the dockerd that this script started, for the caller to end (kill "$(cat PIDFILE)"); no file
# is written where an engine was there already. Its log is PIDFILE.log. Exit 1, with the reason, where none comes up.
set -eu

pidfile=${1:?usage: .ci/docker.sh PIDFILE}
rm -f "$pidfile"

say() { echo "docker: $*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# The client's own wait for an engine that hangs has no end.
answers() { timeout 20 docker info >/dev/null 2>&1; }

# name of a command, and the package that brings it
missing=""
need() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need mmdebstrap mmdebstrap
docker compose version >/dev/null 2>&1 || need docker-compose docker-compose
# A registry for the test of what is pushed.
need docker-registry docker-registry
if ! answers; then
  need dockerd docker.io
  need docker docker.io
  need iptables iptables
fi

# shellcheck disable=SC2086
[ -z "$missing" ] || "$(dirname "$0")/packages.sh" $missing

if answers; then
  say "an engine runs already, version $(docker version --format '{{.Server.Version}}')"
  exit 0
fi

# --bip: without it this engine's bridge has no gateway address, and workerd fails with "DNS lookup failed".
# --ip: published ports stay on loopback.
log=$pidfile.log
as_root sh -c 'PATH="$PATH:/usr/sbin:/sbin" setsid nohup dockerd --bip=172.17.0.1/16 --ip=127.0.0.1 >"$0" 2>&1 </dev/null & echo $!' \
  "$log" >"$pidfile"
pid=$(cat "$pidfile")

waited=0
until answers; do
  if ! as_root kill -0 "$pid" 2>/dev/null || [ "$waited" -ge 60 ]; then
    say "dockerd did not come up in $waited s; the end of its log:"
    tail -n 20 "$log" >&2 || true
    as_root kill "$pid" 2>/dev/null || true
    rm -f "$pidfile"
    exit 1
  fi
  sleep 1
  waited=$((waited + 1))
done
say "started version $(docker version --format '{{.Server.Version}}') after $waited s, process $pid"

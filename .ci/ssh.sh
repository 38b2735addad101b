#!/bin/sh
# Makes sure that OpenSSH's server is there, for the tests of a host by SSH, which start one of their own. Exit 1, with
# the reason, where it cannot be installed.
set -eu

[ -x /usr/sbin/sshd ] && exit 0

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "sshd: missing, and this is no Debian to install it on" >&2
  exit 1
fi
as_root apt-get update -q >&2
# In runlevel 1 the package starts no service.
as_root env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends openssh-server >&2

#!/bin/sh
# Installs Debian's packages. Usage: .ci/packages.sh PACKAGE… Exit 1, with the reason, where this cannot be done.
set -eu

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "missing: $*, and this is no Debian to install them on" >&2
  exit 1
fi
echo "installing $*" >&2
as_root apt-get -o Acquire::Retries=3 update -q >&2
# In runlevel 1 a package starts no service of its own.
as_root env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
  apt-get -o Acquire::Retries=3 install -q -y --no-install-recommends "$@" >&2

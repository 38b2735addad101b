#!/bin/sh
# Makes sure that Debian's Chromium is there, for the tests of the chat page. Exit 1, with the reason, where it cannot
# be installed.
set -eu

[ -x /usr/bin/chromium ] && exit 0

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "chromium: missing, and this is no Debian to install it on" >&2
  exit 1
fi
as_root apt-get update -q >&2
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium >&2

# What every steward image stands on: Debian's libraries and certificates, an init, the pinned Node, the user.
# DEBIAN is either the public image or one of the same release that was assembled from Debian's packages.
ARG DEBIAN
FROM ${DEBIAN}

# The public image lacks the two, and may be older than the last security update; the assembled one has them, and no
# package manager. Both have setpriv, with which a host starts each chat's gateway.
RUN command -v tini >/dev/null || ( \
      apt-get update -q \
      && apt-get upgrade -q -y \
      && apt-get install -q -y --no-install-recommends ca-certificates tini \
      && rm -rf /var/lib/apt/lists/* ) \
    && command -v setpriv >/dev/null

# The data directory lies below /root, which is therefore open to be passed through, and belongs to the one user.
RUN echo 'steward:x:10001:10001:steward:/root/.steward:/usr/sbin/nologin' >>/etc/passwd \
    && echo 'steward:x:10001:' >>/etc/group \
    && mkdir -p /root/.steward \
    && chown 10001:10001 /root/.steward \
    && chmod 711 /root \
    && chmod 700 /root/.steward

# Only root may read these two programs: processes of theirs are closed to all others of the same user, so that the
# program of an MCP server finds no keys in their environment or memory (https://man7.org/linux/man-pages/man5/proc.5.html,
# "dumpable"). Node comes with these permissions: to change them here would double its layer.
RUN chmod 711 /usr/bin/tini
COPY node /usr/local/bin/node

# A signal would otherwise open Node's debugger, which reads everything.
ENV NODE_ENV=production HOME=/root/.steward NODE_OPTIONS=--disable-sigusr1
WORKDIR /app
USER steward

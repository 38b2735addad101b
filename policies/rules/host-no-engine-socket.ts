import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, list, text } from "../reading/values.ts";

const SOCKET = /(^|\/)(docker|containerd|podman)[\w.-]*\.sock$/;
/** The folders in which an engine's socket lies. */
const FOLDERS = ["/", "/var", "/var/run", "/run", "/run/containerd", "/run/podman"];

/**
 * The container does not get the engine's socket, nor a folder that holds it.
 *
 * Severity: critical. Whoever speaks to the engine is root on the host.
 * Fix: take the mount away; the runtime starts no containers.
 */
export const hostNoEngineSocket = resourceRule({
  name: "host-no-engine-socket",
  description: "The engine's socket is not mounted into the container.",
  severity: "critical",
  topics: ["host"],
  types: [TYPES.container],
  check({ props }) {
    const sources = [
      ...list(props.volumes).map((volume) => text(fields(volume).hostPath)),
      ...list(props.mounts).map((mount) => text(fields(mount).source)),
    ];
    return sources.flatMap((source) => {
      const path = source?.replace(/(?<=.)\/+$/, "");
      if (path === undefined || (!SOCKET.test(path) && !FOLDERS.includes(path))) return [];
      return [`${path} is mounted, and with it the container engine's socket. Remove the mount.`];
    });
  },
});

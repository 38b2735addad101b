import { resourceRule } from "../rule.ts";
import { TYPES } from "../reading/resource.ts";
import { fields, list, text } from "../reading/values.ts";

const SOCKET = /(^|\/)(docker|containerd|podman)[\w.-]*\.sock$/;
const FOLDERS = ["/", "/var", "/var/run", "/run", "/run/containerd", "/run/podman"];

/** Forbids mounting the Docker engine's socket or its folder: access to the engine is root access to the host. */
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

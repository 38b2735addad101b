import { sample } from "../resources.ts";
import { adding, all, named, props, type Case } from "./case.ts";

const plain = (address: string) =>
  `ADMIN_TOKEN would cross the network unencrypted: port 8080 is open on ${address}. Set steward:hostAddress to 127.0.0.1 behind a proxy with TLS, or name what ends TLS in the policy configuration: {"host-loopback-or-tls": {"tls": "…"}}.`;
const socket = (path: string) =>
  `${path} is mounted, and with it the container engine's socket. Remove the mount.`;
const port = (ip: string | undefined) => ({ ports: [{ internal: 8080, external: 8080, ip }] });
const TAG = "registry.example.com/steward:latest";
const DIGEST = `registry.example.com/steward@sha256:${"a".repeat(64)}`;

const CHAT_USERS = {
  user: "root",
  securityOpts: ["no-new-privileges"],
  capabilities: { adds: ["CAP_CHOWN", "CAP_KILL", "CAP_SETGID", "CAP_SETUID"], drops: ["ALL"] },
};

export const HOST_CASES: readonly Case[] = [
  ...["root", "0", "0:10001", "root:root"].map((user) => ({
    rule: "host-non-root",
    what: `refuses the user ${user}`,
    change: props("container", { user }),
    messages: [`The container runs as ${user}. Set user to steward.`],
  })),
  {
    rule: "host-non-root",
    what: "refuses a user that is left to the image",
    change: props("container", { user: undefined }),
    messages: ["The container has no explicit user. Set user to steward."],
  },
  {
    rule: "host-non-root",
    what: "passes another user by number",
    change: props("container", { user: "10001:10001" }),
    messages: [],
  },
  ...["host-non-root", "host-no-privileges"].map((rule) => ({
    rule,
    what: "passes root that only gives each chat a user of its own",
    change: props("container", CHAT_USERS),
    messages: [],
  })),
  {
    rule: "host-non-root",
    what: "refuses root with such rights that can gain others",
    change: props("container", { ...CHAT_USERS, securityOpts: [] }),
    messages: ["The container runs as root. Set user to steward."],
  },
  {
    rule: "host-no-privileges",
    what: "refuses a right more than these",
    change: props("container", {
      ...CHAT_USERS,
      capabilities: { adds: [...CHAT_USERS.capabilities.adds, "CAP_DAC_OVERRIDE"], drops: ["ALL"] },
    }),
    messages: [
      "The container is given CAP_CHOWN, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_DAC_OVERRIDE. Remove capabilities.adds.",
    ],
  },
  {
    rule: "host-no-privileges",
    what: "refuses a privileged container",
    change: props("container", { privileged: true }),
    messages: ["The container is privileged. Remove privileged."],
  },
  {
    rule: "host-no-privileges",
    what: "refuses capabilities",
    change: props("container", { capabilities: { adds: ["NET_ADMIN", "SYS_PTRACE"], drops: ["ALL"] } }),
    messages: ["The container is given NET_ADMIN, SYS_PTRACE. Remove capabilities.adds."],
  },
  ...["networkMode", "pidMode", "ipcMode", "usernsMode"].map((mode) => ({
    rule: "host-own-namespaces",
    what: `refuses the host's ${mode}`,
    change: props("container", { [mode]: "host" }),
    messages: [`The container's ${mode} is host. Remove ${mode}.`],
  })),
  ...["/var/run/docker.sock", "/run", "/", "/run/podman/podman.sock"].map((hostPath) => ({
    rule: "host-no-engine-socket",
    what: `refuses the volume ${hostPath}`,
    change: props("container", { volumes: [{ hostPath, containerPath: "/mounted" }] }),
    messages: [socket(hostPath)],
  })),
  {
    rule: "host-no-engine-socket",
    what: "refuses the socket as a mount",
    change: props("container", { mounts: [{ type: "bind", source: "/var/run/", target: "/host" }] }),
    messages: [socket("/var/run")],
  },
  {
    rule: "host-no-engine-socket",
    what: "passes another folder of the host",
    change: props("container", { volumes: [{ hostPath: "/srv/steward", containerPath: "/mounted" }] }),
    messages: [],
  },
  {
    rule: "host-loopback-or-tls",
    what: "refuses every address",
    change: props("container", port("0.0.0.0")),
    messages: [plain("0.0.0.0")],
  },
  {
    rule: "host-loopback-or-tls",
    what: "refuses a port without an address",
    change: props("container", port(undefined)),
    messages: [plain("0.0.0.0")],
  },
  {
    rule: "host-loopback-or-tls",
    what: "passes where something ends TLS",
    change: props("container", port("0.0.0.0")),
    config: { tls: "the load balancer" },
    messages: [],
  },
  {
    rule: "host-loopback-or-tls",
    what: "passes IPv6's loopback address",
    change: props("container", port("::1")),
    messages: [],
  },
  {
    rule: "host-loopback-or-tls",
    what: "passes a host without admin pages",
    change: props("container", { envs: [], ...port("0.0.0.0") }),
    messages: [],
  },
  {
    rule: "host-limits",
    what: "refuses memory without a limit",
    change: props("container", { memory: undefined }),
    messages: ["The container's memory has no limit. Set memory: steward:memoryMiB."],
  },
  {
    rule: "host-limits",
    what: "refuses every processor",
    change: props("container", { cpus: undefined }),
    messages: ["The container may use every processor of the host. Set cpus: steward:cpus."],
  },
  {
    rule: "host-limits",
    what: "refuses swap without a limit",
    change: props("container", { memorySwap: -1 }),
    messages: ["The container's swap is not limited. Set memorySwap to the memory limit."],
  },
  {
    rule: "host-image-pinned",
    what: "refuses an image by its tag",
    change: props("image", { name: TAG }),
    messages: [`The image ${TAG} is named by a tag. Set steward:image to <repository>@sha256:<digest>.`],
  },
  {
    rule: "host-image-pinned",
    what: "passes an image by its digest",
    change: props("image", { name: DIGEST }),
    messages: [],
  },
  {
    rule: "host-image-pinned",
    what: "passes an image that the stack builds",
    change: props("image", { name: "steward:next", build: { context: "." } }),
    messages: [],
  },
  {
    rule: "host-image-pinned",
    what: "refuses a container that names a tag itself",
    change: all(props("container", { image: TAG }), (samples) => {
      named(samples, "container").sources = {};
    }),
    messages: [
      `The container runs ${TAG}, which is named by a tag. Give it the imageId of the stack's RemoteImage.`,
    ],
  },
  {
    rule: "image-digest",
    what: "refuses an image by its tag in production",
    change: props("application", { image: TAG }),
    messages: [
      `The image ${TAG} is named by a tag. Set steward:image to <repository>@sha256:<digest>, as the push printed it.`,
    ],
  },
  {
    rule: "image-digest",
    what: "passes a tag elsewhere",
    change: props("application", { image: TAG }),
    stack: "dev",
    messages: [],
  },
  {
    rule: "known-types",
    what: "refuses a type that no rule knows",
    change: adding(sample("cloudflare:index/workersKvNamespace:WorkersKvNamespace", "kv", {})),
    messages: [
      'cloudflare:index/workersKvNamespace:WorkersKvNamespace is a type that no rule checks. Remove the resource, or allow the type in the policy configuration: {"known-types": {"allow": ["cloudflare:index/workersKvNamespace:WorkersKvNamespace"]}}.',
    ],
  },
  {
    rule: "known-types",
    what: "passes a type that the configuration allows",
    change: adding(sample("cloudflare:index/workersKvNamespace:WorkersKvNamespace", "kv", {})),
    config: { allow: ["cloudflare:index/workersKvNamespace:WorkersKvNamespace"] },
    messages: [],
  },
  {
    rule: "known-types",
    what: "passes the project's own components and dynamic resources",
    change: adding(
      sample("steward:serverless:Worker", "component", {}),
      sample("steward:serverless:ContainerApplication", "dynamic", {}),
    ),
    messages: [],
  },
];

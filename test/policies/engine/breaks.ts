import type { Inputs } from "@pulumi/pulumi";
import { TYPES } from "../../../policies/reading/resource.ts";
import { createSurplus, type Breaks } from "./program.ts";

/** A stack that is broken in several ways, and what the rules say of it. */
export interface Broken {
  what: string;
  breaks: Breaks;
  /** The policy configuration. */
  config: object;
  /** The message of each rule that stops the preview. */
  stops: Record<string, string>;
}

const set = (changed: Inputs) => (props: Inputs) => ({ ...props, ...changed });

/** Migrations stay as they were applied: they are broken before anything is. */
export const BEFORE_UPDATE: Broken = {
  what: "migrations",
  breaks: { migrations: [{ tag: "v2", newSqliteClasses: ["Other"] }] },
  config: {},
  stops: {
    "migration-tags-in-order": "Migration 1 has the tag v2. Name it v1 in steward:migrations.",
    "sandbox-class-listed": "No migration creates the class Sandbox.",
  },
};

const RESOURCES: Broken = {
  what: "single resources",
  breaks: {
    application: true,
    image: "registry.example.com/steward:latest",
    protect: false,
    more: createSurplus,
    props: {
      [TYPES.workerVersion]: (props) => ({
        ...props,
        containers: [],
        bindings: [
          ...(props["bindings"] ?? []),
          { name: "ANTHROPIC_API_KEY", type: "plain_text", text: "the-key-of-the-model" },
          { name: "TELEGRAM_DM_POLICY", type: "plain_text", text: "open" },
          { name: "SANDBOX_SLEEP_AFTER", type: "plain_text", text: "never" },
        ],
      }),
      [TYPES.accessPolicy]: set({ decision: "allow", includes: [{ everyone: {} }] }),
      [TYPES.container]: set({
        user: "root",
        privileged: true,
        networkMode: "host",
        volumes: [{ hostPath: "/var/run/docker.sock", containerPath: "/var/run/docker.sock" }],
        ports: [{ internal: 8080, external: 8080, ip: "0.0.0.0" }],
        memory: 0,
      }),
    },
  },
  config: {},
  stops: {
    "sandbox-runs-containers": "The class Sandbox is not container-enabled.",
    "secrets-stay-secret": "ANTHROPIC_API_KEY is a secret but bound as plain_text. Bind it as secret_text.",
    "no-dm-policy": "TELEGRAM_DM_POLICY is set, which stops the gateway.",
    "no-everyone-allowed": 'The policy "steward operators" allows everyone.',
    "bucket-private": "The bucket prod-steward is public at its r2.dev address.",
    "state-protected": "The volume steward-data is not protected.",
    "never-with-reason": "SANDBOX_SLEEP_AFTER is never, at the container's full price.",
    "image-digest": "The image registry.example.com/steward:latest is named by a tag.",
    "host-non-root": "The container runs as root. Set user to steward.",
    "host-no-privileges": "The container is privileged. Remove privileged.",
    "host-own-namespaces": "The container's networkMode is host. Remove networkMode.",
    "host-no-engine-socket": "/var/run/docker.sock is mounted, and with it the container engine's socket.",
    "host-loopback-or-tls": "ADMIN_TOKEN would cross the network unencrypted: port 8080 is open on 0.0.0.0.",
    "host-limits": "The container's memory has no limit. Set memory: steward:memoryMiB.",
    "known-types": "WorkersKvNamespace is a type that no rule checks.",
  },
};

const STACK: Broken = {
  what: "what resources are to one another",
  breaks: {
    teamDomain: "steward.example.com",
    outputs: { leak: "Bearer xoxb-the-bot-token" },
    props: {
      [TYPES.accessApplication]: set({
        destinations: [{ type: "public", uri: "steward.example.com/debug/cli" }],
      }),
      [TYPES.workerVersion]: (props) => ({
        ...props,
        bindings: [
          ...(props["bindings"] ?? []),
          { name: "EDGE_ACCESS_AUD", type: "plain_text", text: "typed by hand" },
        ],
      }),
      [TYPES.image]: set({ name: "registry.example.com/steward:latest" }),
    },
  },
  config: { "bucket-lifecycle": "mandatory", "fresh-backup": { deployed: ["prod-former"] } },
  stops: {
    "no-secret-in-outputs": "The output leak holds a secret.",
    "team-domain-is-foreign": "EDGE_ACCESS_TEAM_DOMAIN is the Worker's own host steward.example.com.",
    "audience-from-application": "EDGE_ACCESS_AUD is not the audience of this stack's Access application.",
    "private-routes-gated": "/metrics, /debug/processes",
    "public-routes-exact": "steward.example.com/debug/cli is open to everyone.",
    "bucket-lifecycle": "The bucket prod-steward has no lifecycle.",
    "fresh-backup": "prod-former is replaced or deleted without a backup younger than a day.",
    "host-image-pinned": "The image registry.example.com/steward:latest is named by a tag.",
  },
};

/** What is broken about a stack that was deployed as it should be. */
export const AFTER_UPDATE: readonly Broken[] = [RESOURCES, STACK];

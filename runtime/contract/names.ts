/** Names, ports and paths that the runtime, the stacks and the policies share. */

/** The agent's name: directory, container and bucket keys derive from it. */
export const AGENT = "steward";

/** The version that every part reports. Equal to package.json's, which a test holds. */
export const VERSION = "0.1.0";

/** Changes of every version, also of one that was never released, in the repository that package.json names. */
export const CHANGELOG = "https://github.com/example/steward/blob/HEAD/CHANGELOG.md";

/** TCP ports. `edge` is the host deployment's; the two others listen inside the container. */
export const PORTS = { edge: 8080, gateway: 18789, supervisor: 18790 } as const;

/** The data directory inside the container; elsewhere `STEWARD_HOME` names it. */
export const DATA_DIRECTORY = `/root/.${AGENT}`;

/** The user that everything in the container runs as but chats' own gateways, and its group. Equal to the base image's, which a test holds. */
export const CONTAINER_USER = 10_001;

/**
 * Users of a host whose chats have gateways of their own: the first one's id, and root's rights that it takes to give each
 * chat its own. None of these rights reads or writes another user's file.
 */
export const CHAT_USERS = { first: 20_000, rights: ["CHOWN", "KILL", "SETGID", "SETUID"] } as const;

/** The config file's name inside the data directory. */
export const CONFIG_FILE = `${AGENT}.json`;

/** The database's name inside the data directory. */
export const STATE_FILE = "state.db";

/** The schema of the gateway's tables in it, counted up by each change. Equal to the store's, which a test holds. */
export const STATE_SCHEMA = 10;

/** The oldest schema that the gateway migrates: that of the oldest archive in test/releases. */
export const OLDEST_STATE_SCHEMA = 9;

/**
 * Format of the edge's ledger. Only a change that an older edge would misread raises it: the older version then refuses
 * the ledger. A change that an older one can ignore, such as a new column, leaves it, so that a failed update can put the
 * version before it back.
 */
export const LEDGER_FORMAT = 1;

/** Lies at the top of a container's bundle and holds the bundle's hash. */
export const BUNDLE_FILE = "bundle";

/** In the place of a bundle's hash where what runs was not bundled. */
export const FROM_SOURCE = "source";

/** File in the data directory with the token that reads the gateway's status, for the command line. */
export const STATUS_TOKEN_FILE = "status-token";

/** Place where a host's backups lie inside the data directory. */
export const BACKUPS_DIRECTORY = "backups";

/** Lies in the data directory while a restore is being put in place; the next start finishes it. */
export const RESTORE_MARKER = "restore.json";

/** The Durable Object class that owns the container (specification, section 9). */
export const SANDBOX_CLASS = "Sandbox";

/** The Durable Object class that knows the tenants, where each chat has a sandbox of its own. */
export const DIRECTORY_CLASS = "Directory";

/** The Worker's bindings that are not environment variables. */
export const BINDINGS = {
  sandbox: "SANDBOX",
  directory: "DIRECTORY",
  state: "STATE",
  version: "VERSION",
  email: "ALERT_EMAIL",
} as const;

/** Names of the host deployment on its Docker engine. */
export const HOST_NAMES: HostNames = { container: AGENT, volume: `${AGENT}-data` };

/** Names on a Docker engine. */
export interface HostNames {
  container: string;
  volume: string;
}

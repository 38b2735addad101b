/** The agent's name. The names of its directory, container and bucket keys derive from it. */
export const AGENT = "steward";

/** Version that every part reports, equal to package.json's. */
export const VERSION = "0.1.0";

/** Address of the changelog, including unreleased versions. */
export const CHANGELOG = "https://github.com/example/steward/blob/HEAD/CHANGELOG.md";

/** TCP ports. `edge` belongs to the host deployment; the others listen inside the container. */
export const PORTS = { edge: 8080, gateway: 18789, supervisor: 18790 } as const;

/** Data directory inside the container. Outside a container, the variable `STEWARD_HOME` names it. */
export const DATA_DIRECTORY = `/root/.${AGENT}`;

/** User and group id of all processes in the container, except gateways that serve a single chat. */
export const CONTAINER_USER = 10_001;

/**
 * With TENANCY=chat on a host, each chat's gateway runs as its own user. `first` is the lowest user id. `rights` are
 * the Linux capabilities that root needs to run these gateways.
 */
export const CHAT_USERS = { first: 20_000, rights: ["CHOWN", "KILL", "SETGID", "SETUID"] } as const;

/** File name in the data directory. */
export const CONFIG_FILE = `${AGENT}.json`;

/** File name of the database in the data directory. */
export const STATE_FILE = "state.db";

/** Schema version of the gateway's tables in {@link STATE_FILE}. */
export const STATE_SCHEMA = 10;

/** Oldest schema version that the gateway can migrate. */
export const OLDEST_STATE_SCHEMA = 9;

/**
 * Format version of the edge's ledger. Raise it only for a change that older edges would misread; they then refuse
 * the ledger. Do not raise it for a new column, because an older edge must still work after a failed update.
 */
export const LEDGER_FORMAT = 1;

/** File at the top of a container's bundle that holds the bundle's hash. */
export const BUNDLE_FILE = "bundle";

/** Value reported instead of a bundle's hash if the code runs from source. */
export const FROM_SOURCE = "source";

/** File in the data directory with the token that lets the command line read the gateway's status. */
export const STATUS_TOKEN_FILE = "status-token";

/** Folder of a host's backups in the data directory. */
export const BACKUPS_DIRECTORY = "backups";

/** File in the data directory during a restore. If the restore is interrupted, the next start finishes it. */
export const RESTORE_MARKER = "restore.json";

/** The Durable Object class that owns the container. */
export const SANDBOX_CLASS = "Sandbox";

/** The Durable Object class that lists the tenants if each chat has its own sandbox. */
export const DIRECTORY_CLASS = "Directory";

/** The Worker's bindings that are not environment variables. */
export const BINDINGS = {
  sandbox: "SANDBOX",
  directory: "DIRECTORY",
  state: "STATE",
  version: "VERSION",
  email: "ALERT_EMAIL",
} as const;

export const HOST_NAMES: HostNames = { container: AGENT, volume: `${AGENT}-data` };

export interface HostNames {
  container: string;
  volume: string;
}

import path from "node:path";
import { accountAdmission, startFront, startIdentityGateway, type IdentityGateway } from "./access/index.ts";
import { createRunner, startCloudflare, type ContainerMode, type WorkerRunner } from "./cloudflare/index.ts";
import { LOOPBACK } from "./loopback.ts";
import type { RehearsalSettings } from "./settings.ts";

const SESSION_HOURS = 24;
/** The account's name on workers.dev. */
export const SUBDOMAIN = "rehearsal";

/** An account at the emulated Cloudflare with what it has deployed, and its identity gateway. */
export interface Cloud {
  /** Base address of the API. */
  apiUrl: string;
  /** The deployed Worker's public address. */
  origin: string;
  /** The same for containers. */
  containerOrigin: string;
  identity: IdentityGateway;
  runner: WorkerRunner;
  /** Lets every version but this one fail on each request; `undefined` ends that. */
  breakAllBut(version: string | undefined): void;
  close(): Promise<void>;
}

/** Folder of the emulated account, its settings, and the way to run its containers. */
export interface CloudOptions {
  dir: string;
  settings: RehearsalSettings;
  containers: ContainerMode;
  /** The address at which containers reach this machine. */
  containerHost: string;
  log: (line: string) => void;
}

/** Starts the emulated account as it was when it was last closed. */
export async function startCloud({
  dir,
  settings,
  containers,
  containerHost,
  log,
}: CloudOptions): Promise<Cloud> {
  const { ports, accountId, apiToken } = settings;
  const ends: (() => Promise<void>)[] = [];
  // The latest first: users end before what they use.
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  const note = (message: string, fields: object = {}) => log(`${message} ${JSON.stringify(fields)}`);
  try {
    const runner = createRunner({ dir: path.join(dir, "storage"), containers, log: note });
    ends.push(() => runner.close());
    const cloudflare = await startCloudflare({
      dir: path.join(dir, "account"),
      port: ports.api,
      accountId,
      apiToken,
      runner,
      log: note,
      subdomain: SUBDOMAIN,
    });
    ends.push(() => cloudflare.close());
    const identity = await startIdentityGateway({
      port: ports.identity,
      dir: path.join(dir, "identity"),
      sessionHours: SESSION_HOURS,
      clock: Date.now,
      admit: accountAdmission(cloudflare.account),
    });
    ends.push(() => identity.close());
    let only: string | undefined;
    const front = await startFront({
      port: ports.front,
      containerHost: containerHost === LOOPBACK ? undefined : containerHost,
      account: cloudflare.account,
      runner,
      access: identity,
      fails: (version) => only !== undefined && version !== only,
    });
    ends.push(() => front.close());
    const containerOrigin = `http://${containerHost}:${ports.front}`;
    const breakAllBut = (version: string | undefined) => void (only = version);
    return {
      apiUrl: cloudflare.url,
      origin: front.url,
      containerOrigin,
      identity,
      runner,
      breakAllBut,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

import path from "node:path";
import { accountAdmission, startFront, startIdentityGateway, type IdentityGateway } from "./access/index.ts";
import { createRunner, startCloudflare, type ContainerMode, type WorkerRunner } from "./cloudflare/index.ts";
import { LOOPBACK } from "./loopback.ts";
import type { RehearsalSettings } from "./settings.ts";

const SESSION_HOURS = 24;
export const SUBDOMAIN = "rehearsal";

/** An emulated Cloudflare account with its deployed Workers and identity gateway. */
export interface Cloud {
  apiUrl: string;
  origin: string;
  containerOrigin: string;
  identity: IdentityGateway;
  runner: WorkerRunner;
  /** Makes all versions except this one answer every request with an error; `undefined` ends the simulation. */
  breakAllBut(version: string | undefined): void;
  close(): Promise<void>;
}

export interface CloudOptions {
  dir: string;
  settings: RehearsalSettings;
  containers: ContainerMode;
  /** Address at which containers reach this machine. */
  containerHost: string;
  log: (line: string) => void;
}

export async function startCloud({
  dir,
  settings,
  containers,
  containerHost,
  log,
}: CloudOptions): Promise<Cloud> {
  const { ports, accountId, apiToken } = settings;
  const ends: (() => Promise<void>)[] = [];
  // Stop the servers in reverse order, because later ones depend on earlier ones.
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

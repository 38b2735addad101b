import { createAdaptorServer } from "@hono/node-server";
import type { Server } from "node:http";
import { listenOnLoopback } from "../loopback.ts";
import type { AccountContext, IssueCredentials } from "./account/context.ts";
import { deployedOf } from "./account/deployed.ts";
import { ModuleStore } from "./account/modules.ts";
import { AccountStore } from "./account/store.ts";
import { cloudflareApi } from "./api.ts";
import type { Tokens } from "./auth.ts";
import { Faults } from "./faults.ts";
import type { Log, WorkerRunner } from "./runner.ts";
import type { TokenScope } from "./scopes.ts";

export interface CloudflareOptions {
  /** Data folder with secrets; created with mode 0700. */
  dir: string;
  /** 0 picks a free port. */
  port: number;
  accountId: string;
  /** API token with all scopes: 40 to 80 letters, digits, hyphens or underscores. */
  apiToken: string;
  /** Additional tokens with their scopes. Default: none. */
  scopedTokens?: Readonly<Record<string, readonly TokenScope[]>>;
  /** Runner, which the caller closes. */
  runner: WorkerRunner;
  log: Log;
  /** Subdomain of workers.dev. Default: rehearsal. */
  subdomain?: string;
  /** Returns milliseconds since the epoch. Default: Date.now. */
  clock?: () => number;
  /** Issues credentials for the account's container registry. Default: no registry. */
  issueCredentials?: IssueCredentials;
}

export interface RunningCloudflare {
  /** Base URL for clients, including `/client/v4`. */
  url: string;
  account: AccountStore;
  faults: Faults;
  /** Finishes requested changes, then stops the server. Does not close the runner. */
  close(): Promise<void>;
}

/**
 * Starts the emulated API and runs the account's last deployment. If the deployment does not start, only logs the
 * error, because a new deployment can repair it.
 */
export async function startCloudflare(options: CloudflareOptions): Promise<RunningCloudflare> {
  const { dir, runner, log, clock = Date.now, subdomain = "rehearsal", issueCredentials } = options;
  const store = AccountStore.open(dir, options.accountId, subdomain);
  const faults = new Faults();
  const context: AccountContext = {
    store,
    modules: new ModuleStore(dir),
    runner,
    clock,
    log,
    issueCredentials,
    faults,
  };
  const tokens: Tokens = new Map([
    [options.apiToken, undefined],
    ...Object.entries(options.scopedTokens ?? {}),
  ]);
  const api = cloudflareApi(context, tokens);
  await runner.apply(deployedOf(store.state, context.modules)).catch((error: unknown) => {
    log("the last deployment does not start", { error: String(error) });
  });

  const server = createAdaptorServer({ fetch: api.fetch }) as Server;
  const { url, close } = await listenOnLoopback(server, options.port);
  return {
    url: `${url}/client/v4`,
    account: store,
    faults,
    async close() {
      await store.settled();
      await close();
    },
  };
}

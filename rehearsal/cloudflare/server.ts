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
  /** Where the account is kept: account.json and the uploaded modules. Holds secrets, created with mode 0700. */
  dir: string;
  /** 0 takes a free port. */
  port: number;
  accountId: string;
  /** 40 to 80 characters of 0-9 A-Z a-z - and _; any other token is refused as Cloudflare does. */
  apiToken: string;
  /** Further tokens, each with the only things that it may do. Default: none. */
  scopedTokens?: Readonly<Record<string, readonly TokenScope[]>>;
  /** Runs what is deployed. Belongs to the caller, who closes it. */
  runner: WorkerRunner;
  log: Log;
  /** The account's part of `<worker>.<subdomain>.workers.dev`. Default: rehearsal. */
  subdomain?: string;
  /** Milliseconds since the epoch. Default: Date.now. */
  clock?: () => number;
  /** Credentials of a registry that belongs to the caller. Default: there is none. */
  issueCredentials?: IssueCredentials;
}

export interface RunningCloudflare {
  /** The base URL for a client, with `/client/v4`. */
  url: string;
  account: AccountStore;
  /** What is to go wrong. */
  faults: Faults;
  /** Ends the server after the change under way. The runner and the files stay. */
  close(): Promise<void>;
}

/**
 * Starts the emulated API on 127.0.0.1 and what the account had deployed when it was last closed.
 * A persisted version that no longer starts is logged, since a new deployment is what repairs it.
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
    log("what was deployed before does not start", { error: String(error) });
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

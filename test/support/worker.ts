import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Socket } from "node:net";
import path from "node:path";
import { buildBundle, COMPATIBILITY } from "../../infra/bundle/bundle.ts";
import { createRunner, forward, withoutHops } from "../../rehearsal/cloudflare/index.ts";
import type { Bucket } from "../../rehearsal/cloudflare/runner.ts";
import { listenOnLoopback, type LoopbackServer } from "../../rehearsal/loopback.ts";
import { startModel } from "../../rehearsal/standins/model.ts";
import { startSlack } from "../../rehearsal/standins/slack.ts";
import { BINDINGS, DIRECTORY_CLASS, SANDBOX_CLASS } from "../../runtime/contract/names.ts";

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const NAMESPACE = "0123456789abcdef0123456789abcdef";
const DIRECTORY = "123456789abcdef0123456789abcdef0";
const SCRIPT = "steward";
const BUCKET = "steward-state";
const SECRETS = {
  SLACK_BOT_TOKEN: "xoxb-test-0123456789ab",
  SLACK_SIGNING_SECRET: "0123456789abcdef0123456789abcdef",
  ANTHROPIC_API_KEY: "sk-ant-test-0123456789abcdef",
};

/** `config` is the container's config file at every start. */
export interface WorkerOptions {
  config?: object;
}

/** Starts the built Worker in workerd, with its container as a local process. */
export async function startWorker(variables: Record<string, string> = {}, { config }: WorkerOptions = {}) {
  const dir = await mkdtemp(path.join(tmpdir(), "steward-worker-"));
  const { worker, container } = await buildBundle();
  const slack = await startSlack({
    ...LOOPBACK,
    botToken: SECRETS.SLACK_BOT_TOKEN,
    signingSecret: SECRETS.SLACK_SIGNING_SECRET,
  });
  let modelDelayMs = 0;
  const model = await startModel({
    ...LOOPBACK,
    apiKey: SECRETS.ANTHROPIC_API_KEY,
    delayMs: () => modelDelayMs,
  });
  const modules = await Promise.all(
    worker.files.map(async ({ name, contentType, path: file }) => {
      const content = await readFile(file);
      return { name, contentType, sha256: createHash("sha256").update(content).digest("hex"), content };
    }),
  );
  const before = config === undefined ? [] : ["--import", await configWriter(dir, config)];
  const command = [process.execPath, ...before, path.join(container.dir, "supervisor/main.js")];
  const start = () =>
    createRunner({
      dir: path.join(dir, "storage"),
      containers: { kind: "process", supervise: { command, dir: path.join(dir, "containers") } },
      log: () => {},
    });
  let runner = start();
  let version = 0;
  const publicAddress = await startPublicAddress(() => runner.connect(SCRIPT));

  const deploy = async (changed: Record<string, string>): Promise<void> => {
    const endpoints = { SLACK_API_URL: slack.apiUrl, ANTHROPIC_BASE_URL: model.url };
    const origin = { PUBLIC_ORIGIN: publicAddress.url };
    const texts: Record<string, string> = { ...SECRETS, ...endpoints, ...origin, ...variables, ...changed };
    const byChat = texts["TENANCY"] === "chat";
    version += 1;
    await runner.apply({
      scripts: [
        {
          name: SCRIPT,
          versionId: `version-${version}`,
          versionCreatedOn: new Date().toISOString(),
          mainModule: worker.mainModule,
          modules,
          bindings: [
            ...Object.entries(texts).map(([name, text]) => ({ type: "plain_text", name, text })),
            {
              type: "durable_object_namespace",
              name: BINDINGS.sandbox,
              class_name: SANDBOX_CLASS,
              namespace_id: NAMESPACE,
            },
            ...(byChat
              ? [
                  {
                    type: "durable_object_namespace",
                    name: BINDINGS.directory,
                    class_name: DIRECTORY_CLASS,
                    namespace_id: DIRECTORY,
                  } as const,
                ]
              : []),
            { type: "r2_bucket", name: BINDINGS.state, bucket_name: BUCKET },
            { type: "version_metadata", name: BINDINGS.version },
          ],
          compatibilityDate: COMPATIBILITY.date,
          compatibilityFlags: [...COMPATIBILITY.flags],
          classes: [
            {
              className: SANDBOX_CLASS,
              namespaceId: NAMESPACE,
              sqlite: true,
              containerEnabled: true,
              image: "steward:test",
            },
            ...(byChat
              ? [
                  {
                    className: DIRECTORY_CLASS,
                    namespaceId: DIRECTORY,
                    sqlite: true,
                    containerEnabled: false,
                  },
                ]
              : []),
          ],
        },
      ],
      buckets: [BUCKET],
      namespaces: byChat ? [NAMESPACE, DIRECTORY] : [NAMESPACE],
      boundNamespaces: byChat ? [NAMESPACE, DIRECTORY] : [NAMESPACE],
      ...(texts["MAX_SANDBOXES"] && { maxInstances: { [NAMESPACE]: Number(texts["MAX_SANDBOXES"]) } }),
    });
  };
  await deploy({});
  const resume = async (changed: Record<string, string> = {}): Promise<void> => {
    runner = start();
    await deploy(changed);
  };

  const request = async (route: string, init?: RequestInit): Promise<Response> => {
    const address = await runner.address(SCRIPT);
    return fetch(new URL(route, address), init);
  };
  const state = async (): Promise<string> => {
    const answer = await request("/readyz");
    return ((await answer.json()) as { state: string }).state;
  };
  return {
    slack,
    secrets: SECRETS,
    request,
    state,
    origin: async (): Promise<string> => new URL((await runner.address(SCRIPT)) ?? "").origin,
    setModelDelay: (ms: number): void => void (modelDelayMs = ms),
    /** Sends SIGTERM, as Cloudflare does when it moves a container. */
    endContainer: () => runner.stopContainers(NAMESPACE),
    withBucket: <T>(work: (bucket: Bucket) => Promise<T>): Promise<T> => runner.withBucket(BUCKET, work),
    /** The container continues to run, as on Cloudflare. */
    deploy,
    postSlack: (event: unknown) => request("/slack/events", { method: "POST", ...slack.sign(event) }),
    async inState(wanted: string): Promise<void> {
      const deadline = Date.now() + 60_000;
      let now = await state();
      while (now !== wanted) {
        if (Date.now() > deadline)
          throw new Error(`still ${now}, not ${wanted}\n${runner.containerLog().join("\n")}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        now = await state();
      }
    },
    async ready(): Promise<void> {
      await request("/");
      await this.inState("ready");
    },
    starts: () => runner.containerLog().filter((line) => line.includes("environment_invalid")).length,
    halt: () => runner.close(),
    containers: path.join(dir, "containers"),
    storage: path.join(dir, "storage"),
    resume,
    async restart(): Promise<void> {
      await runner.close();
      await resume();
    },
    async stop(): Promise<void> {
      await runner.close();
      await Promise.all([slack.close(), model.close(), publicAddress.close()]);
      await rm(dir, { recursive: true });
    },
  };
}

/** Starts a server whose address stays the same across versions, like a Worker's URL. */
async function startPublicAddress(connect: () => Promise<Socket | undefined>): Promise<LoopbackServer> {
  const server = createServer(async (request, response) => {
    const to = await connect().catch(() => undefined);
    // The client has disconnected: its request would be sent too late.
    if (response.destroyed) return void to?.destroy();
    const { url = "/", headers } = request;
    const failed = () => response.writeHead(502).end();
    if (to === undefined) failed();
    else forward(request, response, { to, path: url, headers: withoutHops(headers) }, failed);
  });
  return listenOnLoopback(server, 0);
}

async function configWriter(dir: string, config: object): Promise<string> {
  const file = path.join(dir, "config-writer.mjs");
  const text = JSON.stringify(JSON.stringify(config));
  await writeFile(
    file,
    `import { writeFileSync } from "node:fs";
    writeFileSync(process.env.STEWARD_HOME + "/steward.json", ${text}, { mode: 0o600 });`,
  );
  return file;
}

export async function environsOf(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
  return all.filter((environ) => environ.includes(`STEWARD_HOME=${folder}`));
}

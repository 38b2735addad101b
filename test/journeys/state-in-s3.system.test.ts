import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isOlder } from "../../rehearsal/engine/go.ts";
import { goProgram } from "../support/go-program.ts";
import { selfSigned } from "../support/certificate.ts";
import { copyCheckout, type Checkout } from "../support/checkout.ts";
import { freePort, listens } from "../support/ports.ts";
import { ENGINE_MS, testEngine } from "../support/stack.ts";
import { type, type Shell } from "./typed.ts";

const S3 = {
  what: "an S3 server",
  codePrefix: "s3",
  module: resolve(import.meta.dirname, "s3"),
  command: "github.com/johannesboyne/gofakes3/cmd/gofakes3",
  ldflags: "-s -w",
  place: "gofakes3/gofakes3",
};

let server: ChildProcess;
let port: number;
let checkout: Checkout;
let home: string;
let shell: Shell;

beforeAll(async () => {
  port = await freePort();
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const executable = await goProgram(S3, { env: process.env, log });
  server = spawn(executable, ["-backend", "memory", "-host", `127.0.0.1:${port}`, "-autobucket"], {
    stdio: "ignore",
  });
  while (!(await listens(port))) await sleep(50);
  checkout = await copyCheckout();
  home = await mkdtemp(join(tmpdir(), "steward-home-"));
  shell = {
    folder: checkout.root,
    environment: {
      ...(await testEngine()).env,
      PULUMI_HOME: home,
      PULUMI_CONFIG_PASSPHRASE: "a test's passphrase",
      AWS_REGION: "auto",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
    },
    transcript: resolve(".steward/artefacts/transcripts/state-in-s3.txt"),
  };
  await rm(shell.transcript, { force: true });
}, ENGINE_MS);

afterAll(async () => {
  if (server !== undefined) {
    server.kill();
    await once(server, "exit");
  }
  await checkout?.close();
  if (home !== undefined) await rm(home, { recursive: true, force: true });
});

test("the address that stacks/README.md gives keeps a stack's state in a bucket", async () => {
  const guide = await readFile(resolve("stacks/README.md"), "utf8");
  const [login = ""] = /^pulumi login 's3:.*'$/m.exec(guide) ?? [];
  const own = login
    .replace("<bucket>", "state")
    .replace("<host>", `127.0.0.1:${port}`)
    // A loopback server has no certificate.
    .replace(/'$/, "&disableSSL=true'");
  const lines = [
    own,
    "pulumi stack init dev",
    "pulumi config set -s dev --secret steward:anthropicApiKey sk-test",
    "pulumi stack ls",
    own,
    "pulumi stack rm dev --yes",
  ];
  for (const line of lines) {
    const typed = await type(shell, line);
    expect(typed.code, typed.said).toBe(0);
  }
}, 120_000);

test("over TLS a write carries no trailer, so a store that implements none takes it", async ({ skip }) => {
  const { version } = await testEngine();
  skip(isOlder(version, "3.274.1"), "an older CLI sends one, as stacks/README.md says");
  const store = await startWithoutTrailers(home);
  const withStore = { ...shell, environment: { ...shell.environment, AWS_CA_BUNDLE: store.certificate } };
  const { host } = new URL(store.url);
  const { code, said } = await type(
    withStore,
    `pulumi login 's3://state?endpoint=${host}&s3ForcePathStyle=true'`,
  );
  await store.close();

  expect(code, said).toBe(0);
  expect(store.written()).toEqual([expect.stringContaining("/state/.pulumi/meta.yaml")]);
}, 60_000);

/**
 * A store that keeps nothing and refuses trailers, as S3-compatible ones do that do not implement them
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html). Not modelled: everything else.
 */
async function startWithoutTrailers(folder: string) {
  const { key, cert, file } = await selfSigned(folder, "IP:127.0.0.1");
  const written: string[] = [];
  const answer = (status: number, code: string, response: ServerResponse): void => {
    response
      .writeHead(status, { "content-type": "application/xml" })
      .end(`<Error><Code>${code}</Code></Error>`);
  };
  const store = createServer({ key, cert }, ({ method, headers, url = "" }, response) => {
    const trails = String(headers["x-amz-content-sha256"]).endsWith("-TRAILER");
    if (url.includes("list-type=")) response.end("<ListBucketResult></ListBucketResult>");
    else if (method === "GET" || method === "HEAD") answer(404, "NoSuchKey", response);
    else if (trails) answer(501, "NotImplemented", response);
    else {
      written.push(url);
      response.end();
    }
  });
  store.listen(0, "127.0.0.1");
  await once(store, "listening");
  return {
    certificate: file,
    url: `https://127.0.0.1:${(store.address() as AddressInfo).port}`,
    written: () => written,
    async close() {
      store.closeAllConnections();
      await new Promise((resolve) => store.close(resolve));
    },
  };
}

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import schema from "../../infra/provider/schema.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import { selfSigned } from "../support/certificate.ts";
import { pushBuiltTree } from "../../scripts/release/built-tree.ts";
import { execute } from "../../scripts/execute.ts";
import { succeed, type Shell } from "../journeys/typed.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";

const HOST = "git.example.test";
/** Nothing else listens at this address of this machine. */
const ADDRESS = `127.0.44.${1 + (process.pid % 250)}`;
const TAG = `v${packageJson.version}`;
/** The engine takes port 443 and a host name with a dot only, so the name belongs to a namespace of the shell's own. */
const isRoot = process.getuid?.() === 0;
if (!isRoot)
  process.stderr.write("skipped: a package from a git tag (port 443 and a hosts file need root)\n");

let folder: string;
let project: Project;

beforeAll(async () => {
  if (!isRoot) return;
  folder = await mkdtemp(join(tmpdir(), "steward-git-tag-"));
  project = await emptyProject("git-tag");
}, ENGINE_MS);

afterAll(async () => {
  await project?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

// The second half of `pulumi package add`, which writes and links an SDK, is the language host's: those that can be built
// from source do not implement it.
test.skipIf(!isRoot)(
  "the engine takes the package from the tag that a release pushes, as pulumi package add does, and runs it",
  async () => {
    await pushTag(await project.pack());
    const file = await serve(join(folder, "served"));
    const hosts = join(folder, "hosts");
    await writeFile(hosts, `127.0.0.1 localhost\n${ADDRESS} ${HOST}\n`);
    // Links to the engine's own plugins, so that what is added here stays here.
    const home = join(folder, "home");
    await execute("cp", ["-as", project.shell.environment["PULUMI_HOME"] ?? "", home]);
    const environment = { ...project.shell.environment, PULUMI_HOME: home, SSL_CERT_FILE: file };
    const shell: Shell = { ...project.shell, environment };
    const asked = `pulumi package get-schema https://${HOST}/acme/steward.git@${TAG} 2>/dev/null`;
    const { said } = await succeed(
      shell,
      `unshare --mount sh -c 'mount --bind ${hosts} /etc/hosts && exec ${asked}'`,
    );
    const { name, version, resources } = JSON.parse(said) as typeof schema;
    expect({ name, version }).toEqual({ name: "steward", version: packageJson.version });
    expect(Object.keys(resources).toSorted()).toEqual(Object.keys(schema.resources).toSorted());
  },
  UPDATE_MS,
);

/** Pushes the package as a release does, into a repository that git serves. */
async function pushTag(tarball: string): Promise<void> {
  const clone = join(folder, "clone");
  const bare = join(folder, "served/acme/steward.git");
  const git = (...words: string[]): Promise<string> => execute("git", words, { cwd: folder });
  await mkdir(join(folder, "served/acme"), { recursive: true });
  await git("init", "--quiet", "--bare", bare);
  await git("init", "--quiet", clone);
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.test"];
  await git("-C", clone, ...author, "commit", "--quiet", "--allow-empty", "-m", "Sources");
  const source = (await git("-C", clone, "rev-parse", "HEAD")).trim();
  await pushBuiltTree({ root: clone, remote: bare, env: process.env }, { tarball, tag: TAG, source });
}

/** Serves a folder's repositories at {@link HOST}. Returns the certificate's file. */
async function serve(root: string): Promise<string> {
  const { key, cert, file } = await selfSigned(folder, `DNS:${HOST}`);
  const server = createServer({ key, cert }, (request, response) => backend(root, request, response));
  await new Promise<void>((resolve) => server.listen(443, ADDRESS, resolve));
  onTestFinished(() => void server.close());
  return file;
}

/** Answers a request by `git http-backend`, a CGI program: https://git-scm.com/docs/git-http-backend */
function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", `https://${HOST}`);
  const env = {
    ...process.env,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers["content-type"],
    HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
    GIT_PROTOCOL: request.headers["git-protocol"]?.toString(),
  };
  const child = spawn("git", ["http-backend"], { env, stdio: ["pipe", "pipe", "inherit"] });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.once("close", () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf("\r\n\r\n");
    const headers = answer.subarray(0, end).toString().split("\r\n");
    for (const line of headers) {
      const [name = "", value = ""] = line.split(": ", 2);
      if (name === "Status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(answer.subarray(end + 4));
  });
}

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkPermissions, permissionsOf } from "../../infra/serverless/permissions.ts";
import { ACCOUNT, clientOf, TOKEN, type ScopedTokens } from "../rehearsal/support.ts";
import { program } from "../../stacks/program.ts";
import { isManaged, registered, type RegisteredResource } from "../support/registered.ts";
import { startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";

const AREAS = {
  "Workers Scripts": "workers",
  "Workers R2 Storage": "r2",
  Containers: "containers",
  "Access: Apps and Policies": "access",
} as const;
const NAMES = Object.keys(AREAS) as (keyof typeof AREAS)[];

/** A token that may do all but what these words name. */
function shortOf(...names: string[]): [string, ScopedTokens[string]] {
  const scopes = NAMES.filter((name) => !names.includes(name)).map((name) => `${AREAS[name]}:edit` as const);
  return [
    `short-of-${names.map((name) => AREAS[name as keyof typeof AREAS]).join("-")}`.padEnd(40, "x"),
    scopes,
  ];
}

const READ_ONLY = "may-read-and-nothing-else".padEnd(40, "x");

describe("the permissions of the API token", () => {
  let world: ServerlessStage;

  beforeAll(async () => {
    world = await startServerlessStage({
      scopedTokens: {
        ...Object.fromEntries([
          ...NAMES.map((name) => shortOf(name)),
          shortOf("Containers", "Workers R2 Storage"),
        ]),
        [READ_ONLY]: NAMES.map((name) => `${AREAS[name]}:read` as const),
      },
    });
  });

  afterAll(() => world?.close());

  /** What a check with this token says: its error, or what it warns of. */
  async function check(apiToken: string, { gate = true, baseURL = world.stage.cloudflare.url } = {}) {
    const warned: string[] = [];
    const warn = (line: string) => void warned.push(line);
    const permissions = permissionsOf({ gate });
    const failed = await checkPermissions({ permissions, accountId: ACCOUNT, apiToken, baseURL, warn }).then(
      () => undefined,
      (error: Error & { code: string }) => error,
    );
    return { code: failed?.code, message: failed?.message ?? "", warned };
  }

  test("are these four, and the README names each", async () => {
    const readme = (await readFile("README.md", "utf8")).replaceAll(/\s+/g, " ");

    expect(permissionsOf({ gate: true }).map(({ name }) => name)).toEqual(NAMES);
    expect(NAMES.filter((name) => !readme.includes(`**${name}**`))).toEqual([]);
  });

  test.each(NAMES)("without %s it is named, and nothing else is", async (missing) => {
    const { code, message } = await check(shortOf(missing)[0]);

    expect(code).toBe("token_permission_missing");
    expect(message).toContain(`  ${missing}: needed for `);
    expect(message).toContain(`fix: add Account, ${missing}, Edit to the token`);
    expect(NAMES.filter((name) => message.includes(`  ${name}: `))).toEqual([missing]);
  });

  test("all that are missing are named at once, in Cloudflare's words and never with the token", async () => {
    const [token] = shortOf("Containers", "Workers R2 Storage");
    const { message } = await check(token);

    expect(message).toContain("lacks 2 permissions");
    expect(message).toContain(
      "Workers R2 Storage: needed for the bucket; Cloudflare says 403 Authentication error (10000)",
    );
    expect(message).toContain(
      "Containers: needed for the container application; Cloudflare says 401 Unauthorized",
    );
    expect(message).not.toContain(token);
  });

  test("a token that is none is told as such", async () => {
    const { code, message } = await check("y".repeat(40));

    expect(code).toBe("token_refused");
    expect(message).toContain("(token_refused): 403 Authentication error (10000)");
    expect(message).not.toContain("yyy");
  });

  test("the gate's is not asked for where there is no gate, nor what only an update can tell", async () => {
    expect(await check(shortOf("Access: Apps and Policies")[0], { gate: false })).toMatchObject({
      message: "",
    });
    expect(await check(TOKEN)).toEqual({ code: undefined, message: "", warned: [] });
    expect(await check(READ_ONLY)).toMatchObject({ message: "", warned: [] });
    const { r2 } = clientOf(world.stage.cloudflare.url, READ_ONLY);
    await expect(r2.buckets.create({ account_id: ACCOUNT, name: "any-name" })).rejects.toMatchObject({
      status: 403,
    });
  });

  test("a Cloudflare that is out of order refuses nothing, and is told", async () => {
    const server = createServer((_request, response) => response.writeHead(503).end()).listen(0, "127.0.0.1");
    const port = await new Promise((resolve) => {
      server.once("listening", () => resolve(Object(server.address()).port));
    });
    const { message, warned } = await check(TOKEN, { baseURL: `http://127.0.0.1:${String(port)}` });
    server.close();

    expect(message).toBe("");
    expect(warned).toHaveLength(4);
    expect(warned[0]).toContain(
      "Could not check whether the API token has the permission Workers Scripts: Cloudflare answered 503",
    );
  });

  test("are checked before anything is created", async () => {
    const [token] = shortOf("Containers");
    const found: RegisteredResource[] = [];
    const config = { ...world.config(), "cloudflare:apiToken": { value: token, secret: true } };
    const failure = await registered(program, { config, found }).then(() => "", String);

    expect(failure).toContain("Containers: needed for the container application");
    expect(failure).not.toContain("    at ");
    // The key is in the state alone.
    const managed = found.filter(isManaged);
    expect(managed.map(({ name }) => name)).toEqual(["steward-attestation-key"]);
  });
});

import { createRemoteJWKSet, decodeJwt, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  accountAdmission,
  startFront,
  startIdentityGateway,
  type Front,
  type IdentityGateway,
} from "../../rehearsal/access/index.ts";
import { ACCOUNT, deployAll, SCRIPT, startStage, type Stage } from "./support.ts";

const HOST = `${SCRIPT}.example.workers.dev`;
const OPERATOR = "op@example.com";
const BROWSER = { accept: "text/html" };

let stage: Stage;
let access: IdentityGateway;
let front: Front;
let now: number;

beforeEach(async () => {
  stage = await startStage();
  now = Date.now();
  const { account } = stage.cloudflare;
  access = await openGateway();
  front = await startFront({ port: 0, account, runner: stage.runner, access });
});

afterEach(async () => {
  await front.close();
  await access.close();
  await stage.close();
});

function openGateway(): Promise<IdentityGateway> {
  return startIdentityGateway({
    port: 0,
    dir: join(stage.dir, "access"),
    sessionHours: 24,
    clock: () => now,
    admit: accountAdmission(stage.cloudflare.account),
  });
}

/** The stack's way: one application for the guarded paths, one that opens a public path below them. */
async function guard(): Promise<string> {
  const { zeroTrust } = stage.client;
  const operators = await zeroTrust.access.policies.create({
    account_id: ACCOUNT,
    name: "operators",
    decision: "allow",
    include: [{ email: { email: OPERATOR } }, { email_domain: { domain: "team.example" } }],
    exclude: [{ email: { email: "former@team.example" } }],
  } as never);
  const open = await zeroTrust.access.policies.create({
    account_id: ACCOUNT,
    name: "public",
    decision: "bypass",
    include: [{ everyone: {} }],
  } as never);
  const application = await createApplication("steward", operators.id, [
    `${HOST}/secret*`,
    `${HOST}/headers*`,
  ]);
  await createApplication("open", open.id, [`${HOST}/headers/open`]);
  return application;
}

async function createApplication(name: string, policy: unknown, uris: string[]): Promise<string> {
  const created = await stage.client.zeroTrust.access.applications.create({
    account_id: ACCOUNT,
    type: "self_hosted",
    name,
    destinations: uris.map((uri) => ({ type: "public", uri })),
    policies: [{ id: policy, precedence: 1 }],
  } as never);
  return (created as { aud: string }).aud;
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${front.url}${path}`, { headers, redirect: "manual" });
}

describe("the identity gateway", () => {
  test("issues tokens that jose verifies against its key set, and keeps the key over a restart", async () => {
    const token = await access.issue({ aud: "a".repeat(64), email: OPERATOR });
    const keys = createRemoteJWKSet(new URL(`${access.url}/cdn-cgi/access/certs`));
    const { payload } = await jwtVerify(token, keys, { issuer: access.url, audience: "a".repeat(64) });
    expect(payload).toMatchObject({ email: OPERATOR, type: "app", aud: ["a".repeat(64)] });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(24 * 3600);

    const published = await (await fetch(`${access.url}/cdn-cgi/access/certs`)).text();
    expect(Object.keys(JSON.parse(published).keys[0]).toSorted()).toEqual([
      "alg",
      "e",
      "kid",
      "kty",
      "n",
      "use",
    ]);
    await access.close();
    access = await openGateway();
    expect(await (await fetch(`${access.url}/cdn-cgi/access/certs`)).text()).toBe(published);
  });

  test("sends nobody to another machine", async () => {
    const response = await fetch(access.loginUrl("evil.example", "x", "/"));
    expect(response.status).toBe(400);
    const aud = await guarded();
    const form = access.loginUrl(new URL(front.url).host, aud, "//evil.example/");
    const back = await signIn(form, OPERATOR);
    expect(new URL(back.headers.get("location") ?? "").searchParams.get("state")).toBe("/");
  });
});

describe("the front", () => {
  test("says so while nothing is deployed", async () => {
    const response = await get("/");
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("No Worker of this account serves this address yet");
  });

  test("passes unguarded requests on as they are", async () => {
    await guarded();
    const response = await fetch(`${front.url}/echo?a=b`, { method: "POST", body: "payload" });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-url")).toBe(`${front.url}/echo?a=b`);
    expect(await response.text()).toBe("payload");
  });

  test("sends a browser to the sign-in and lets it in afterwards", async () => {
    await guarded();
    const refused = await get("/secret?x=1", BROWSER);
    expect(refused.status).toBe(302);
    const login = refused.headers.get("location") ?? "";
    expect(login.startsWith(`${access.url}/cdn-cgi/access/login/`)).toBe(true);
    const page = await (await fetch(login)).text();
    expect(page).toContain("local identity gateway, rehearsal only");

    const signedIn = await signIn(login, OPERATOR);
    const authorized = await fetch(signedIn.headers.get("location") ?? "", { redirect: "manual" });
    expect(authorized.status).toBe(302);
    expect(authorized.headers.get("location")).toBe("/secret?x=1");
    const cookie = (authorized.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    expect((await get("/secret", { cookie })).status).toBe(200);

    const again = await fetch(signedIn.headers.get("location") ?? "", { redirect: "manual" });
    expect(again.status).toBe(400);
    expect((await get("/cdn-cgi/access/logout")).headers.get("set-cookie")).toContain("Max-Age=0");
  });

  test("a person whom no policy names, or one excludes, is refused at the sign-in", async () => {
    const aud = await guarded();
    const login = access.loginUrl(new URL(front.url).host, aud, "/secret");
    expect((await signIn(login, "Member@Team.example")).status).toBe(302);
    for (const email of ["stranger@example.com", "former@team.example"]) {
      const response = await signIn(login, email);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("does not have access");
    }
    expect((await signIn(login, "no address")).status).toBe(400);
  });

  test("hands the Worker the token, and drops what a client says of itself", async () => {
    const aud = await guarded();
    const token = await access.issue({ aud, email: OPERATOR });
    const forged = { "cf-access-jwt-assertion": "forged", "cf-connecting-ip": "203.0.113.9" };
    const seen = (await (await get("/headers", { ...forged, "cf-access-token": token })).json()) as Record<
      string,
      string
    >;
    expect(seen["cf-access-jwt-assertion"]).toBe(token);
    expect(seen["cf-access-authenticated-user-email"]).toBe(OPERATOR);
    expect(seen["cf-connecting-ip"]).toMatch(/127\.0\.0\.1$/);

    const open = (await (await get("/headers/open", forged)).json()) as Record<string, string>;
    expect(open).not.toHaveProperty("cf-access-jwt-assertion");
    expect(open["cf-connecting-ip"]).toBe(seen["cf-connecting-ip"]);
    expect((await get("/headers", forged)).status).toBe(302);
  });

  test("the most specific path decides, however it is written", async () => {
    await guarded();
    expect((await get("/headers/open")).status).toBe(200);
    expect((await get("/headers/other")).status).toBe(302);
    expect((await get("/")).status).toBe(200);
    const written = ["/%73ecret", "//secret", "/SECRET", "/x/../secret", "/headers/open/../x"];
    const statuses = await Promise.all(written.map(async (path) => [path, await statusOf(path)]));
    expect(statuses).toEqual(written.map((path) => [path, 302]));
  });

  test("refuses tokens of another key, another audience, and old ones", async () => {
    const aud = await guarded();
    const { privateKey } = await generateKeyPair("RS256");
    const good = decodeJwt(await access.issue({ aud, email: OPERATOR }));
    const foreign = await new SignJWT(good).setProtectedHeader({ alg: "RS256" }).sign(privateKey);
    const tokens = [
      foreign,
      await access.issue({ aud: "b".repeat(64), email: OPERATOR }),
      await access.issue({ aud, email: OPERATOR, expiresIn: -60 }),
      "nonsense",
    ];
    for (const token of tokens) {
      expect((await get("/secret", { cookie: `CF_Authorization=${token}` })).status).toBe(302);
    }
    const token = await access.issue({ aud, email: OPERATOR });
    expect((await get("/secret", { cookie: `CF_Authorization=${token}` })).status).toBe(200);
    now += 25 * 3600 * 1000;
    expect((await get("/secret", { cookie: `CF_Authorization=${token}` })).status).toBe(302);
  });

  test("a page's own request gets 401 instead of a redirect", async () => {
    await guarded();
    expect((await get("/secret", { "x-requested-with": "XMLHttpRequest" })).status).toBe(401);
  });

  test("an upgrade is guarded too", async () => {
    await guarded();
    const socket = connect(Number(new URL(front.url).port), "127.0.0.1");
    socket.write(
      "GET /secret HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n",
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(head.toString()).toContain("403");
    socket.destroy();
  });

  test("a Worker whose workers.dev name is off is not reached", async () => {
    await guarded();
    await stage.client.workers.scripts.subdomain.delete(SCRIPT, { account_id: ACCOUNT });
    expect((await get("/")).status).toBe(404);
  });
});

async function guarded(): Promise<string> {
  await deployAll(stage.client);
  return guard();
}

function signIn(login: string, email: string): Promise<Response> {
  return fetch(login, { method: "POST", body: new URLSearchParams({ email }), redirect: "manual" });
}

/** Sends the path as it is written: fetch would tidy it. */
async function statusOf(path: string): Promise<number | undefined> {
  const { port } = new URL(front.url);
  const sent = httpRequest({ host: "127.0.0.1", port, path }).end();
  const [response] = (await once(sent, "response")) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

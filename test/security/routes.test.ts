import { describe, expect, it } from "vitest";
import { ROUTES, type Route, type WebhookPath } from "../../runtime/contract/routes.ts";
import { command, createDiscordKey } from "../support/discord.ts";
import {
  NONCE_PARAMETER,
  signAsStack,
  STACK_SIGNATURE_HEADER,
  type SignedRequest,
} from "../../runtime/contract/stack-signature.ts";
import {
  createSigner,
  edgeFixture,
  NOW,
  slackEvent,
  slackHeaders,
  STACK_KEY,
  TELEGRAM_SECRET,
} from "../support/edge.ts";

const HOST = "https://steward.example.com";
const ADMIN_TOKEN = "the-admin-token-0123456789";
const JSON_TYPE = { "content-type": "application/json" };
const TABLE: readonly (readonly [string, Route])[] = Object.entries<Route>(ROUTES);

/** Who vouches for people: an identity gateway, the admin token of a host, or nobody. */
const VOUCHERS = ["gateway", "adminToken", "nobody"] as const;
const IDENTITIES = ["anonymous", "wrong token", "identity"] as const;
const SIGNATURES = ["unsigned", "forged", "signed"] as const;
const WEBHOOKS = ["public", "private"] as const;
const STATES = ["ready", "starting", "stopped", "crash-looping"] as const;

interface Cell {
  voucher: (typeof VOUCHERS)[number];
  identity: (typeof IDENTITIES)[number];
  signature: (typeof SIGNATURES)[number];
  webhooks: (typeof WEBHOOKS)[number];
  state: (typeof STATES)[number];
}

const CELLS: Cell[] = VOUCHERS.flatMap((voucher) =>
  IDENTITIES.flatMap((identity) =>
    SIGNATURES.flatMap((signature) =>
      WEBHOOKS.flatMap((webhooks) =>
        STATES.map((state) => ({ voucher, identity, signature, webhooks, state })),
      ),
    ),
  ),
);

const signer = await createSigner();
const discord = await createDiscordKey();
const TOKENS = {
  gateway: { identity: await signer.sign(), "wrong token": await signer.sign({ aud: "another" }) },
  adminToken: { identity: ADMIN_TOKEN, "wrong token": `${ADMIN_TOKEN}x` },
};

type Signed = Readonly<{ body: string; forged: object; signed: object }>;

/** An event of each platform, and the headers by which it is known. */
const EVENTS: Record<WebhookPath, Signed> = {
  [ROUTES.slackEvents.path]: await event(slackEvent(), slackHeaders, (body) =>
    slackHeaders(body, "another-secret"),
  ),
  [ROUTES.telegramWebhook.path]: await event(
    { update_id: 1, message: { message_id: 1, date: 1, chat: { id: 1, type: "private" }, text: "hello" } },
    async () => ({ "x-telegram-bot-api-secret-token": TELEGRAM_SECRET }),
    async () => ({ "x-telegram-bot-api-secret-token": "another-secret" }),
  ),
  [ROUTES.discordInteractions.path]: await event(command("hello"), discord.headers, (body) =>
    discord.headers(`${body} `),
  ),
};

async function event(
  value: object,
  sign: (body: string) => Promise<object>,
  forge: (body: string) => Promise<object>,
) {
  const body = JSON.stringify(value);
  return { body, signed: await sign(body), forged: await forge(body) };
}

/** What a stack signs a request with, which other routes do not look at. */
async function stackSignatures(
  request: SignedRequest,
): Promise<{ body?: string; forged: object; signed: object }> {
  return {
    signed: { [STACK_SIGNATURE_HEADER]: await signAsStack(STACK_KEY, request, NOW) },
    forged: { [STACK_SIGNATURE_HEADER]: await signAsStack("another-key", request, NOW) },
  };
}

function identityHeaders({ voucher, identity }: Cell): Record<string, string> {
  if (identity === "anonymous") return {};
  if (voucher === "adminToken") return { authorization: `Bearer ${TOKENS.adminToken[identity]}` };
  return { "cf-access-jwt-assertion": TOKENS.gateway[identity] };
}

/**
 * Returns the edge as it is deployed for a cell. Routes share one, since building it costs more than a dozen requests;
 * with ADMIN_TOKEN each has its own, which the wrong tokens of the others have not locked.
 */
function edgeOf(name: string, { voucher, webhooks, state }: Cell) {
  const deployment = `${voucher} ${webhooks} ${state} ${voucher === "adminToken" ? name : ""}`;
  const served = edges.get(deployment) ?? edge({ voucher, webhooks, state });
  edges.set(deployment, served);
  return served;
}

const edges = new Map<string, ReturnType<typeof edge>>();

function edge({ voucher, webhooks, state }: Pick<Cell, "voucher" | "webhooks" | "state">) {
  return edgeFixture({
    replayEvents: 1,
    state,
    publicWebhooks: webhooks === "public",
    discordPublicKey: discord.publicKey,
    jwk: signer.jwk,
    ...(voucher === "adminToken" && { adminToken: ADMIN_TOKEN }),
    ...(voucher === "nobody" && { audience: null }),
  });
}

/** What happens in a cell: the status, and whether an event is recorded or the container's servers are asked. */
async function outcome(
  { method, path }: Route,
  cell: Cell,
  served: ReturnType<typeof edge>,
): Promise<string> {
  const { app, admitted, requests } = served;
  admitted.length = 0;
  requests.length = 0;
  // A route with a parameter is asked with some value for it, and the stack signs each request apart from the others.
  const nonce = path.startsWith("/stack/") ? `?${NONCE_PARAMETER}=${crypto.randomUUID()}` : "";
  const asked = `${path.replaceAll(/:\w+|\*/g, "1")}${nonce}`;
  const {
    body = "{}",
    forged = {},
    signed = {},
  } = (EVENTS as Readonly<Record<string, Signed>>)[path] ?? (await stackSignatures({ method, path: asked }));
  const signature = { unsigned: {}, forged, signed }[cell.signature];
  const headers = { ...JSON_TYPE, ...signature, ...identityHeaders(cell) };
  const init = { method, headers, ...(method === "POST" && { body }) };
  const response = await app.request(`${HOST}${asked}`, init);
  const { status } = response;
  if (admitted.length > 0) return `${status}, recorded`;
  return requests.length > 0 && isRefusal(status)
    ? `${status}, although the container was asked`
    : `${status}`;
}

function isRefusal(status: number): boolean {
  return [401, 403, 500].includes(status);
}

/** What the table says of a cell. */
function expected(name: string, route: Route, cell: Cell): string {
  const { voucher, identity, state } = cell;
  const isKnown = identity === "identity" && voucher !== "nobody";
  // Where a route is not served, its address is one of many below /_admin/.
  if (route.onlyWithAdminToken && voucher !== "adminToken") return isKnown ? "404" : refusal(voucher);
  switch (route.access) {
    case "identity":
      return isKnown ? "let in" : refusal(voucher);
    case "webhook":
      return webhookAnswer(name, cell, isKnown);
    case "stack":
      return cell.signature === "signed" ? "let in" : "403";
    case "gateway":
      return "403";
    case "device":
      return name === "chatSocket" ? "426" : "403";
    case "public":
      return publicAnswers(state === "ready")[name] ?? "a public route that this test does not know";
  }
}

function refusal(voucher: Cell["voucher"]): string {
  return voucher === "nobody" ? "500" : "403";
}

function webhookAnswer(name: string, { webhooks, signature, state }: Cell, isKnown: boolean): string {
  if (webhooks === "private" && !isKnown) return "401";
  const isDiscord = name === "discordInteractions";
  if (signature === "signed") return state === "ready" || isDiscord ? "200, recorded" : "503, recorded";
  if (isDiscord) return "401";
  return state === "ready" ? "403" : "503";
}

/** The answers of public routes: nothing but the gateway's state makes a difference. */
function publicAnswers(isReady: boolean): Record<string, string> {
  return {
    home: isReady ? "200" : "502",
    live: "200",
    ready: isReady ? "200" : "503",
    chat: "200",
    chatManifest: "200",
    // There is no such file.
    asset: "404",
    signInPage: "200",
    // Without the token in the form.
    signIn: "403",
    signOut: "303",
  };
}

describe.each(TABLE)("%s", (name, route) => {
  it.each(VOUCHERS)(
    `answers each caller as the table says where people are vouched for by: %s`,
    async (by) => {
      const cells = CELLS.filter(({ voucher }) => voucher === by);
      const wanted = new Map(cells.map((cell) => [Object.values(cell).join(), expected(name, route, cell)]));
      const found = new Map<string, string>();
      for (const cell of cells) {
        const key = Object.values(cell).join();
        // Callers differ by what they send, edges by how they are deployed.
        const answer = await outcome(route, cell, edgeOf(name, cell));
        const isIn = wanted.get(key) === "let in" && !isRefusal(Number.parseInt(answer, 10));
        found.set(key, isIn ? "let in" : answer);
      }
      expect(found.size).toBe(IDENTITIES.length * SIGNATURES.length * WEBHOOKS.length * STATES.length);
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
    },
  );
});

describe("the table", () => {
  const registered = (fixture: Parameters<typeof edgeFixture>[0]) =>
    edgeFixture(fixture)
      .app.routes.filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path}`);
  const listed = (routes: readonly (readonly [string, Route])[]) =>
    routes.map(([, { method, path }]) => `${method} ${path}`);
  const sorted = (lines: string[]) => [...new Set(lines)].sort();

  it("holds every route that is served, and no other", () => {
    expect(sorted(registered({ adminToken: ADMIN_TOKEN }))).toEqual(sorted(listed(TABLE)));
    const always = TABLE.filter(([, { onlyWithAdminToken }]) => !onlyWithAdminToken);
    expect(sorted(registered({}))).toEqual(sorted(listed(always)));
  });

  it("closes every other address below /_admin/ and /debug/", async () => {
    for (const path of ["/_admin", "/_admin/nothing", "/_admin/api/nothing", "/debug", "/debug/nothing"]) {
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const init = { method, headers: JSON_TYPE };
        expect([method, path, (await edgeFixture().app.request(`${HOST}${path}`, init)).status]).toEqual([
          method,
          path,
          403,
        ]);
      }
    }
  });

  it("keeps everything that wants an identity where the identity gateway stands before it", () => {
    const elsewhere = TABLE.filter(
      ([, { access, path }]) => access === "identity" && !/^\/(?:_admin(?:\/|$)|debug\/|metrics$)/.test(path),
    );
    expect(elsewhere).toEqual([]);
  });
});

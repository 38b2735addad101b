import type { Tenants } from "../../runtime/edge/tenants/ports.ts";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import type { GatewayStatus, SandboxStatus, UsageReport } from "../../runtime/contract/control.ts";
import type { Delivery } from "../../runtime/contract/delivery.ts";
import { attestationOf } from "../../runtime/contract/attestation.ts";
import type { Environment } from "../../runtime/contract/environment.ts";
import { reason, StewardError } from "../../runtime/contract/errors.ts";
import { adminTokenAccess } from "../../runtime/edge/sign-in.tsx";
import { createEdge } from "../../runtime/edge/app.ts";
import type { TenantChat } from "../../runtime/contract/tenant.ts";
import { createBroker, type BrokerOptions } from "../../runtime/edge/broker.ts";
import { accessIdentity } from "../../runtime/edge/identity.ts";
import type { GenerationManifest } from "../../runtime/contract/backup.ts";
import type {
  Activity,
  ActivityEntry,
  LastAnswer,
  Backups,
  Clock,
  Ledger,
  NameEntry,
  PortRequest,
  SandboxPort,
  Sighting,
} from "../../runtime/edge/ports.ts";

export const TEAM_DOMAIN = "team.cloudflareaccess.example";
export const AUDIENCE = "1a2bf2908fb84661b9ee74604a1e382f";
const SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
export const TELEGRAM_SECRET = "telegram-webhook-secret-0123";
export const BROKER_TOKEN = "broker-token-0123456789";
export const EDGE_BUNDLE = "0123456789abcdef";
/** In milliseconds since the epoch. */
export const NOW = 1_795_000_000_000;

interface SignOptions {
  /** Time of issue in jose's form: `1h` is one hour from now. */
  issuedAt?: string | undefined;
  named?: boolean;
}

export async function createSigner(kid = "key-1") {
  const header = (named: boolean) => ({ alg: "RS256", ...(named && { kid }) });
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" };
  const sign = (claims: JWTPayload = {}, expiresIn = "1h", { issuedAt, named = true }: SignOptions = {}) =>
    new SignJWT({ email: "operator@example.com", ...claims })
      .setProtectedHeader(header(named))
      .setIssuer(claims.iss ?? `https://${TEAM_DOMAIN}`)
      .setAudience(claims.aud ?? AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresIn)
      .sign(privateKey);
  return { jwk, sign };
}

export async function slackHeaders(body: string, secret = SIGNING_SECRET, at = NOW) {
  const timestamp = String(Math.floor(at / 1_000));
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const mac = await crypto.subtle.sign("HMAC", key, encoder.encode(`v0:${timestamp}:${body}`));
  const hex = [...new Uint8Array(mac)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return {
    "content-type": "application/json",
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `v0=${hex}`,
  };
}

/** Returns a signed-in operator's headers, and the public key that verifies them. */
export async function signedIn() {
  const { jwk, sign } = await createSigner();
  return { jwk, headers: { "cf-access-jwt-assertion": await sign() } };
}

export function slackEvent(id = "Ev1", event: Record<string, unknown> = {}) {
  return {
    type: "event_callback",
    event_id: id,
    team_id: "T1",
    event: {
      type: "app_mention",
      channel: "C1",
      user: "U1",
      ts: "1795000000.000100",
      text: "hello",
      ...event,
    },
  };
}

interface EdgeFixture {
  /** Gzipped files by name. */
  assets?: Record<string, Uint8Array<ArrayBuffer>>;
  /** Default: one shared sandbox. */
  tenants?: Tenants;
  tenant?: string;
  environmentName?: string;
  /** Default: every request fails. */
  services?: BrokerOptions["fetch"];
  /** Only chat to which the gateway may send. Default: any chat. */
  chat?: TenantChat;
  /** True while the gateway is about to be replaced by one per chat. */
  isReplaced?: boolean;
  proxy?: NonNullable<BrokerOptions["proxy"]>;
  state?: SandboxStatus["state"];
  status?: Partial<SandboxStatus>;
  publicWebhooks?: boolean;
  signingSecret?: string | null;
  discordPublicKey?: string;
  telegramSecret?: string | null;
  teamDomain?: string | null;
  audience?: string | null;
  stackKey?: null;
  grantsWake?: boolean;
  /** Enables sign-in with this ADMIN_TOKEN. Default: sign-in through an identity gateway. */
  adminToken?: string;
  clock?: Clock;
  environment?: Environment;
  ledgerError?: StewardError;
  jwk?: object;
  /** A key is a path of the supervisor, or `gateway <path>` for the gateway. */
  answers?: Record<string, (request: PortRequest) => Response | Promise<Response>>;
  gateway?: Partial<GatewayStatus>;
  usage?: Partial<UsageReport>;
  replayEvents?: number;
  ledger?: Partial<Ledger>;
  named?: NameEntry[];
  activity?: Partial<Activity>;
  remembered?: [string, LastAnswer][];
  backups?: Partial<Backups>;
}

export function manifestOf(id: string, differs: Partial<GenerationManifest> = {}): GenerationManifest {
  return {
    version: 1,
    id,
    createdAt: new Date(NOW - 3_600_000).toISOString(),
    sha256: "b".repeat(64),
    size: 12_345,
    configSha256: "c".repeat(64),
    configValid: true,
    counts: { files: 9, sessions: 2, messages: 40, schedules: 1, approvals: 3 },
    agentVersion: "0.1.0",
    ...differs,
  };
}

export const STACK_KEY = "the-key-of-the-stack-0123456789";

const BACKUP = manifestOf("00000001-00000001");
const REPORT = { id: BACKUP.id, counts: BACKUP.counts, configProblems: [] };

const CONTAINER_CONFIG = {
  config: { channels: {} },
  path: "/root/.steward/steward.json",
  valid: true,
  problems: [],
};
const PROCESSES = {
  processes: [{ name: "gateway", pid: 7, state: "running", startedAt: null, restarts: 0, exitCode: null }],
};
const MODEL = "anthropic/claude-sonnet-4-5";
const GATEWAY_STATUS: GatewayStatus = {
  version: "0.1.0",
  since: new Date(NOW).toISOString(),
  model: { id: MODEL },
  models: [{ id: MODEL, state: "ready" }],
  channels: [{ platform: "slack", state: "failing", reason: reason("slack_token_expired") }],
  counts: { conversations: 1, messages: 2, answered: 1, active: 0 },
  schedules: { count: 1, nextAt: "2026-11-22T08:00:00.000Z", missed: 0 },
  config: { loadedAt: new Date(NOW).toISOString() },
  usage: [
    { day: "2026-11-18", model: MODEL, requests: 3, inputTokens: 400, outputTokens: 50 },
    { day: "2026-11-17", model: MODEL, requests: 2, inputTokens: 100, outputTokens: 25 },
  ],
  limited: 0,
};

const USAGE_REPORT: UsageReport = {
  days: ["2026-11-17", "2026-11-18"],
  messages: [{ day: "2026-11-18", received: 3, answered: 2 }],
  models: GATEWAY_STATUS.usage,
  prices: { [MODEL]: { input: 3, output: 15 } },
};

function replyOf(value: unknown) {
  const isError = typeof value === "object" && value !== null && "error" in value;
  if (!isError) return { ok: true, value, notes: "" };
  const { detail: message, ...rest } = Object(value.error);
  return { ok: false, error: { message, ...rest }, notes: "" };
}

type Asked = [operation: string, input: Record<string, unknown>];

/**
 * Returns handlers of a container's operations. `answer` returns each response: a value or `{error}`, or `undefined`
 * for none.
 */
export function operationAnswers(answer: (line: string, ...asked: Asked) => unknown) {
  const asked: Asked[] = [];
  const lines: string[] = [];
  const handle = async ({ body = "" }: PortRequest): Promise<Response> => {
    const { operation, input } = JSON.parse(body);
    const values = Object.entries(input).map(([name, value]) => (value === true ? `--${name}` : value));
    const line = [operation, ...values].join(" ");
    asked.push([operation, input]);
    lines.push(line);
    const value = answer(line, operation, input);
    return value === undefined ? new Promise<Response>(() => undefined) : Response.json(replyOf(value));
  };
  return { asked, lines, answers: { "/operations": handle } };
}

/** Creates the edge with stand-ins for its ledger and sandbox. */
export function edgeFixture(fixture: EdgeFixture = {}) {
  const { state = "ready", publicWebhooks = true, grantsWake = true, clock = () => NOW } = fixture;
  const orUndefined = (value: string | null | undefined, fallback: string) =>
    value === null ? undefined : (value ?? fallback);
  const admitted: Delivery[] = [];
  const wakes: string[] = [];
  const requests: { port: SandboxPort; request: PortRequest }[] = [];
  const activity: ActivityEntry[] = [];
  const answers = new Map<string, LastAnswer>(fixture.remembered);
  const signatures = new Set<string>();
  const noted: Sighting[] = [];
  const uses: string[] = [];
  const logged: string[] = [];
  let statusCalls = 0;
  const log = (message: string, fields?: object) => void logged.push(JSON.stringify({ message, ...fields }));
  const signingSecret = orUndefined(fixture.signingSecret, SIGNING_SECRET);
  const telegramSecret = orUndefined(fixture.telegramSecret, TELEGRAM_SECRET);
  const gateway = () =>
    accessIdentity({
      teamDomain: orUndefined(fixture.teamDomain, TEAM_DOMAIN),
      audience: orUndefined(fixture.audience, AUDIENCE),
      keys: () => createLocalJWKSet({ keys: fixture.jwk ? [fixture.jwk as { kty: string }] : [] }),
    });
  const access = fixture.adminToken
    ? adminTokenAccess({ adminToken: fixture.adminToken, clock })
    : { identify: gateway() };
  const inside = async (port: SandboxPort, request: PortRequest): Promise<Response> => {
    requests.push({ port, request });
    const answer = fixture.answers?.[request.path];
    if (answer !== undefined) return answer(request);
    if (request.path === "/operations") return Response.json(replyOf({ error: reason("command_failed") }));
    return Response.json(request.path.startsWith("/config") ? CONTAINER_CONFIG : PROCESSES);
  };
  const broker = createBroker({
    environment: fixture.environment ?? {},
    token: () => BROKER_TOKEN,
    fetch: fixture.services ?? (() => Promise.reject(new Error("no services"))),
    ...(fixture.chat && { chat: fixture.chat }),
    isReplaced: () => fixture.isReplaced ?? false,
    ...(fixture.proxy && { proxy: fixture.proxy }),
    log: { debug: log, info: log, warn: log, error: log },
  });
  const app = createEdge({
    bundle: EDGE_BUNDLE,
    attestation: attestationOf(fixture.environment ?? {}),
    stackKey: orUndefined(fixture.stackKey, STACK_KEY),
    broker: async (request) => {
      const response = await broker.handle(request);
      // A Durable Object also drops the body of a response to HEAD.
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
    readAsset: async (name) => fixture.assets?.[name],
    tenants: fixture.tenants,
    tenant: fixture.tenant,
    settings: {
      publicWebhooks,
      configRecovery: "manual",
      sleepAfterMs: 600_000,
      replayEvents: fixture.replayEvents ?? 0,
      tenancy: "shared",
      maxSandboxes: 1,
      canaryTenants: [],
      ...(fixture.environmentName && { environmentName: fixture.environmentName }),
      ...(signingSecret && { slackSigningSecret: signingSecret }),
      ...(fixture.discordPublicKey && { discordPublicKey: fixture.discordPublicKey }),
      ...(telegramSecret && { telegramWebhookSecret: telegramSecret }),
    },
    ledger: {
      admit: async (event) => {
        if (fixture.ledgerError !== undefined) throw fixture.ledgerError;
        admitted.push(event);
        return { duplicate: false, ready: state === "ready" };
      },
      counts: async () => ({ waiting: 1, delivering: 2, answered: 3, ignored: 0, failed: 4 }),
      list: async () => ({ entries: [] }),
      details: async () => undefined,
      excerpt: async () => undefined,
      recent: async () => [],
      replay: async () => "unknown",
      ...fixture.ledger,
    },
    directory: {
      names: async (keys) =>
        new Map((fixture.named ?? []).filter(({ key }) => keys.includes(key)).map((one) => [one.key, one])),
      entries: async () => ({ entries: fixture.named ?? [] }),
      noteNames: async (sightings) => void noted.push(...sightings),
    },
    activity: {
      record: async (entry) => void activity.unshift({ at: new Date(NOW).toISOString(), ...entry }),
      activity: async (_, actions) => activity.filter(({ action }) => actions?.includes(action) ?? true),
      ...fixture.activity,
    },
    answers: {
      keepAnswer: async (question, text) =>
        void answers.set(question, { at: new Date(clock()).toISOString(), text }),
      lastAnswer: async (question) => answers.get(question),
    },
    signatures: {
      useSignature: async (mac) => {
        if (signatures.has(mac)) return "used";
        signatures.add(mac);
        return "accepted";
      },
    },
    sandbox: {
      status: async () => {
        statusCalls += 1;
        return { state, since: new Date(NOW).toISOString(), restarts: 0, ...fixture.status };
      },
      wake: async (by) => {
        if (state === "stopped") wakes.push(by);
        return state !== "stopped" || grantsWake || by === "operator";
      },
      restart: async () => {
        const answer = await inside("supervisor", { method: "POST", path: "/restart" });
        if (!answer.ok) throw new StewardError("gateway_unavailable");
      },
      request: (port, request) => {
        uses.push(request.path);
        return inside(port, request);
      },
      peek: async (request, port = "gateway") => {
        if (port === "supervisor") return state === "stopped" ? undefined : inside(port, request);
        if (state !== "ready") return undefined;
        const answer = fixture.answers?.[`gateway ${request.path}`];
        if (answer !== undefined) return answer(request);
        if (request.path === "/usage") return Response.json({ ...USAGE_REPORT, ...fixture.usage });
        return Response.json({ ...GATEWAY_STATUS, ...fixture.gateway });
      },
    },
    backups: {
      status: async () => ({ lastAt: BACKUP.createdAt }),
      list: async () => [BACKUP],
      create: async () => BACKUP,
      verify: async () => REPORT,
      restore: async () => REPORT,
      download: async () => new Blob(["archive"]).stream(),
      cachedConfig: async () => undefined,
      configOf: async () => ({ text: "{}\n", sha256: null }),
      ...fixture.backups,
    },
    ...access,
    clock,
    log: { debug: log, info: log, warn: log, error: log },
  });
  return {
    app,
    admitted,
    noted,
    wakes,
    requests,
    uses,
    logged,
    statusCalls: () => statusCalls,
    brokered: broker.counts,
    remembered: answers,
  };
}

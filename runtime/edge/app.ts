import type { Log } from "../shared/log.ts";
import { Hono, type Context, type MiddlewareHandler } from "hono";
import type { Attest } from "../contract/attestation.ts";
import type { EdgeSettings } from "../contract/environment.ts";
import { ERRORS, isErrorCode, StewardError } from "../contract/errors.ts";
import { ROUTES, type WebhookPath } from "../contract/routes.ts";
import type { TenantId } from "../contract/tenant.ts";
import {
  clientOf,
  noStore,
  refuseCrossSite,
  refuseForeignChanges,
  requireIdentity,
  requirePublicOrIdentity,
  wakeForOperator,
  type AccessVariables,
  wantsHtml,
} from "./access.ts";
import { describeVisitor } from "./admin/visitor.ts";
import { addAdminPages } from "./admin/routes.ts";
import { keepNamedChat } from "./admin/tenants.tsx";
import { discordInteractions } from "./admission/discord.ts";
import { recordedBySlack, slackEvents } from "./admission/slack.ts";
import { telegramUpdates } from "./admission/telegram.ts";
import { webhook, type WebhookOptions } from "./admission/webhook.ts";
import { streamChanges } from "./changes.ts";
import { asset, type ReadAsset } from "./assets.ts";
import { chat, chatApp, chatFile, chatSocket } from "./chat.ts";
import { changeByCli, createLineRunner, debugCli } from "./cli-route.ts";
import { debugContainerConfig, debugLogs, debugProcesses, debugVersion } from "./debug-routes.ts";
import { WrongValuesError } from "./form.ts";
import { home, live, readiness } from "./home-route.tsx";
import type { Identify } from "./identity.ts";
import { withBrowserNames } from "./operate.ts";
import { limitRequests, PER_MINUTE, RateLimit } from "./rate-limit.ts";
import { debugLedger, replayEntry } from "./ledger-routes.ts";
import { metricsJson, metricsText } from "./metrics.ts";
import type { AlertSender } from "./alerts.ts";
import type { Tenants } from "./tenants/ports.ts";
import type {
  Activity,
  AnswerMemory,
  Backups,
  Clock,
  Ledger,
  NameDirectory,
  RecordChange,
  Sandbox,
  Signatures,
} from "./ports.ts";
import { type Problem, problem, PROBLEM_TYPE } from "../contract/problem.ts";
import { CONTENT_SECURITY_POLICY, ProblemPage } from "./ui/document.tsx";
import { SentForm } from "./ui/form.tsx";
import { sendError, sendProblem } from "./problems.ts";
import {
  createStackBackup,
  requireStack,
  stackBackups,
  stackChannels,
  stackChats,
  stackConfigVariables,
  stackReplay,
  tryStackAlerts,
  verifyStackBackup,
} from "./stack-routes.ts";
import { showSignIn, signIn as signInWith, type SignIn, signOut } from "./sign-in.tsx";

export interface EdgeOptions {
  settings: EdgeSettings;
  /** Hash of the edge's bundle, or `source`. */
  bundle: string;
  workerVersion?: string | undefined;
  /** Computes keyed hashes of the secrets in use. */
  attestation: Attest;
  stackKey: string | undefined;
  ledger: Ledger;
  directory: NameDirectory;
  activity: Activity;
  answers: AnswerMemory;
  /** Set if each chat has a separate sandbox. */
  tenants?: Tenants | undefined;
  /** Tenant of the sandbox that the pages show. Default: the deployment's sandbox. */
  tenant?: TenantId | undefined;
  signatures: Signatures;
  sandbox: Sandbox;
  /** Returns the sandbox that serves a paired browser. Default: {@link EdgeOptions.sandbox}. */
  browserSandbox?(deviceId: string): Promise<Sandbox | undefined>;
  backups: Backups;
  identify: Identify;
  /** The sign-in form. Absent if an identity gateway signs users in, or if no ADMIN_TOKEN is set. */
  signIn?: SignIn;
  /** Forwards a gateway's request to a service. `client` is the gateway's IPv4 address or IPv6 prefix. */
  broker(request: Request, client: string): Promise<Response>;
  readAsset: ReadAsset;
  sendEmail?: AlertSender["sendEmail"];
  clock: Clock;
  log: Log;
}

/** Builds the app with every public route, for the Worker and for Node. */
export function createEdge(options: EdgeOptions): Hono<AccessVariables> {
  const { settings, bundle, attestation, ledger, directory, activity, answers, backups } = options;
  const sandbox = withBrowserNames(options.sandbox, directory);
  const { identify, signIn, sendEmail, clock, log } = options;
  const record = recorder(activity, log);
  const app = new Hono<AccessVariables>();
  const limit = (perMinute: number) => new RateLimit({ perMinute, clock });
  const identified = [
    requireIdentity(identify),
    limitRequests(limit(PER_MINUTE.identity), (context) => context.get("identity").name),
  ] as const;

  const { tenants } = options;
  const aboutOne = tenants === undefined ? [] : [keepNamedChat()];

  app.get(ROUTES.live.path, live);
  app.use(securityHeaders());
  app.use(showProblems());
  for (const { method, path } of [
    ROUTES.brokerGet,
    ROUTES.brokerPost,
    ROUTES.brokerPut,
    ROUTES.brokerPatch,
  ]) {
    app.on(method, path, (context) => options.broker(context.req.raw, clientOf(context)));
  }
  app.get(ROUTES.asset.path, asset(options.readAsset));
  app.get(ROUTES.ready.path, readiness(options));
  app.get(ROUTES.home.path, limitRequests(limit(PER_MINUTE.visits), clientOf), home(sandbox, clock));

  app.get(ROUTES.chatManifest.path, chatApp());
  app.get(ROUTES.chat.path, chat(tenants === undefined ? sandbox : undefined));
  app.get(ROUTES.chatSocket.path, chatSocket());
  app.get(
    ROUTES.chatFile.path,
    limitRequests(limit(PER_MINUTE.visits), clientOf),
    chatFile(options.browserSandbox ?? (async () => sandbox)),
  );

  const webhooks = {
    [ROUTES.slackEvents.path]: {
      read: slackEvents({ signingSecret: settings.slackSigningSecret, clock }),
      recorded: recordedBySlack,
    },
    [ROUTES.telegramWebhook.path]: {
      read: telegramUpdates({ secret: settings.telegramWebhookSecret, clock }),
    },
    [ROUTES.discordInteractions.path]: discordInteractions({ publicKey: settings.discordPublicKey, clock }),
  } satisfies Record<WebhookPath, Pick<WebhookOptions, "read" | "recorded">>;
  const refusals = limit(PER_MINUTE.refusedWebhooks);
  for (const [path, options] of Object.entries(webhooks)) {
    app.use(path, requirePublicOrIdentity(settings.publicWebhooks, identify));
    app.post(path, webhook({ ...options, refusals, ledger, sandbox, clock }));
  }

  app.use("/_admin/*", noStore(), refuseForeignChanges());
  if (signIn !== undefined) {
    app.get(ROUTES.signInPage.path, showSignIn());
    app.post(ROUTES.signIn.path, signInWith(signIn, log));
    app.post(ROUTES.signOut.path, signOut());
  }
  app.use("/_admin/api/*", refuseCrossSite());
  app.use("/_admin/*", ...identified, ...aboutOne);
  app.get(ROUTES.adminBare.path, (context) => context.redirect(ROUTES.admin.path, 308));
  app.use("/_admin/*", wakeForOperator(sandbox));
  const { environmentName } = settings;
  const signsOut = signIn !== undefined;
  const shown = tenants && (options.tenant ?? "everyChat");
  app.use(
    "/_admin/*",
    describeVisitor({
      clock,
      ledger,
      activity,
      answers,
      sandbox,
      backups,
      signsOut,
      environmentName,
      chat: shown,
      tenants,
    }),
  );
  addAdminPages(app, {
    bundle,
    ledger,
    directory,
    activity,
    answers,
    tenants,
    sandbox,
    backups,
    clock,
    log,
    record,
  });

  app.post(ROUTES.ledgerReplay.path, replayEntry({ ledger, log, record }));

  app.get(ROUTES.changes.path, streamChanges({ ledger, sandbox, activity, clock }));
  const measured = { ledger, sandbox, tenants: options.tenant === undefined ? tenants : undefined };
  app.get(ROUTES.metricsJson.path, metricsJson(measured));

  app.use(ROUTES.metrics.path, noStore(), refuseCrossSite(), ...identified);
  app.get(ROUTES.metrics.path, metricsText(measured));

  app.use("/debug/*", noStore(), refuseForeignChanges(), refuseCrossSite(), ...identified, ...aboutOne);
  const runLine = createLineRunner({ sandbox, directory, backups, log, record });
  app.get(ROUTES.cli.path, debugCli(runLine));
  app.post(ROUTES.cliChange.path, changeByCli(runLine));
  app.get(ROUTES.logs.path, debugLogs(sandbox));
  app.get(ROUTES.version.path, debugVersion(sandbox, bundle, attestation));
  app.get(ROUTES.ledger.path, debugLedger(ledger, directory));
  app.get(ROUTES.processes.path, debugProcesses(sandbox));
  app.get(ROUTES.containerConfig.path, debugContainerConfig(sandbox));

  app.use(
    "/stack/*",
    noStore(),
    requireStack({ key: options.stackKey, signatures: options.signatures, clock, refusals }),
  );
  app.get(ROUTES.stackBackups.path, stackBackups(backups));
  app.post(ROUTES.stackBackupsCreate.path, createStackBackup(backups, log));
  app.post(ROUTES.stackAlerts.path, tryStackAlerts(settings.alerts, { sendEmail, clock }));
  app.get(ROUTES.stackChats.path, stackChats(tenants));
  app.get(ROUTES.stackChannels.path, stackChannels(sandbox));
  app.get(ROUTES.stackConfigVariables.path, stackConfigVariables(sandbox, backups));
  const { replayEvents } = settings;
  app.post(ROUTES.stackReplay.path, stackReplay({ ledger, sandbox, replayEvents, log }));
  app.post(ROUTES.stackBackupsVerify.path, verifyStackBackup(backups, log, record));

  app.notFound(() => sendProblem("not_found"));
  app.onError((error, context) => answerError(error, context, log));
  return app;
}

/** Returns an app for an edge with invalid settings. Every route reports the error. */
export function createClosedEdge(error: StewardError): Hono {
  return new Hono().use(securityHeaders()).notFound(() => sendError(error));
}

/**
 * Security headers of every response. They replace Hono's `secure-headers`, which would add 1 KB to the Worker's
 * bundle.
 */
const SECURITY_HEADERS = {
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "same-origin",
  "Strict-Transport-Security": "max-age=15552000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Frame-Options": "DENY",
};

const CSP = "content-security-policy";

function securityHeaders(): MiddlewareHandler {
  return async function addSecurityHeaders(context, next) {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
    const isPage = headers.get("content-type")?.startsWith("text/html") === true;
    if (isPage && !headers.has(CSP)) headers.set(CSP, CONTENT_SECURITY_POLICY);
    headers.delete("X-Powered-By");
  };
}

/** Converts problem documents to pages for browsers, except on debug routes. */
function showProblems(): MiddlewareHandler {
  return async function showProblemsMiddleware(context, next) {
    await next();
    const { res, req } = context;
    if (res.headers.get("content-type") !== PROBLEM_TYPE || !wantsHtml(req.raw)) return;
    if (req.path.startsWith("/debug/")) return;
    // A Durable Object's response to HEAD has no body to convert.
    const page = req.raw.method === "HEAD" ? null : String(await ProblemPage((await res.json()) as Problem));
    const headers = new Headers(res.headers);
    headers.set("content-type", "text/html; charset=UTF-8");
    context.res = undefined;
    context.res = new Response(page, { status: res.status, headers });
  };
}

function recorder(activity: Activity, log: Log): RecordChange {
  return async function recordChange(by, action, detail = "", diff) {
    await activity
      .record({ by, action, detail, ...(diff !== undefined && { diff }) })
      .catch((error: unknown) =>
        log.error("a change could not be recorded", { action, error: String(error) }),
      );
  };
}

async function answerError(error: Error, context: Context, log: Log): Promise<Response> {
  const { path, raw } = context.req;
  if (error instanceof WrongValuesError && wantsHtml(raw) && !path.startsWith("/debug/")) {
    const shown = problem(error.code, error.message);
    const method = raw.method === "POST" ? "post" : "get";
    const form = SentForm({ method, action: path, values: error });
    return context.html(ProblemPage({ ...shown, form }), ERRORS[error.code].status);
  }
  if (error instanceof StewardError) return sendError(error);
  // Errors of a Durable Object keep code and message but lose their class.
  if ("code" in error && isErrorCode(error.code)) return sendProblem(error.code, error.message);
  log.error("request failed", { path: context.req.path, error: error.message });
  return sendProblem("internal");
}

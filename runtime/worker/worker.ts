import { ATTESTATION_KEY_VARIABLE, attestationOf } from "../contract/attestation.ts";
import { AGENT, FROM_SOURCE } from "../contract/names.ts";
import { StewardError } from "../contract/errors.ts";
import { ROUTES } from "../contract/routes.ts";
import { type TenantId, tenantOfBrowser } from "../contract/tenant.ts";
import { BUNDLE_VARIABLE } from "../contract/variables.ts";
import { chosenTenant } from "../edge/admin/tenants.tsx";
import { createClosedEdge, createEdge } from "../edge/app.ts";
import { live } from "../edge/home-route.tsx";
import { accessIdentity } from "../edge/identity.ts";
import { BrokerDoor } from "../edge/tenants/broker-door.ts";
import { EdgesByChat } from "../edge/tenants/edges.ts";
import { readBrokerUrl } from "../edge/tenants/routing.ts";
import { readAsset } from "./assets.ts";
import { remoteBackups } from "./remote-backups.ts";
import { isChatUpgrade, proxyChat } from "./chat.ts";
import { consoleLog, emailOf, readWorker, type WorkerEnvironment } from "./environment.ts";
import { unwrap } from "./rpc.ts";
import { objectNameOf, remoteNames, remoteSandbox, remoteTenants, withDeployment } from "./tenants.ts";

export { Directory } from "./directory.ts";
export { Sandbox } from "./sandbox.ts";

type Edge = ReturnType<typeof createEdge>;

/** Edges by chat, cached for the isolate's lifetime: an isolate never runs a second version of the Worker. */
const edges = new EdgesByChat<Edge>();

function edgeFor(request: Request, env: WorkerEnvironment): Edge {
  const tenant = env.DIRECTORY === undefined ? undefined : chosenTenant(request);
  return edges.of(tenant, () => buildEdge(env, tenant));
}

function buildEdge(env: WorkerEnvironment, tenant: TenantId | undefined): Edge {
  const { variables, settings } = readWorker(env);
  // A stub belongs to the request that created it, so each call gets a new one.
  const object = () => env.SANDBOX.getByName(tenant ?? AGENT);
  const tenants = remoteTenants(env);
  const door = new BrokerDoor({ knows: async (whose) => tenants?.knows(whose) ?? false, clock: Date.now });
  return createEdge({
    settings,
    tenant,
    tenants,
    bundle: variables[BUNDLE_VARIABLE] ?? FROM_SOURCE,
    workerVersion: env.VERSION?.id,
    attestation: attestationOf(variables),
    stackKey: variables[ATTESTATION_KEY_VARIABLE],
    ledger: {
      admit: (event) => unwrap(env.SANDBOX.getByName(objectNameOf(event, settings)).admit(event)),
      counts: () => unwrap(object().counts()),
      list: (query) => unwrap(object().list(query)),
      details: (key) => unwrap(object().details(key)),
      excerpt: (key) => unwrap(object().excerpt(key)),
      recent: (limit) => unwrap(object().recent(limit)),
      replay: (key) => unwrap(object().replay(key)),
    },
    directory: remoteNames(
      () => (tenant === undefined ? env.DIRECTORY?.getByName(AGENT) : undefined) ?? object(),
    ),
    activity: {
      record: (entry) => unwrap(object().record(entry)),
      activity: (limit, actions) => unwrap(object().activity(limit, actions)),
    },
    answers: {
      keepAnswer: (question, text) => unwrap(object().keepAnswer(question, text)),
      lastAnswer: (question) => unwrap(object().lastAnswer(question)),
    },
    signatures: { useSignature: (mac, expiresAt) => unwrap(object().useSignature(mac, expiresAt)) },
    sandbox: withDeployment(remoteSandbox(env, tenant ?? AGENT), env),
    ...(tenants && {
      browserSandbox: async (deviceId) => {
        const browser = tenantOfBrowser(deviceId);
        return (await tenants.knows(browser)) ? remoteSandbox(env, browser) : undefined;
      },
    }),
    backups: remoteBackups(object),
    broker: async (request, client) => {
      const { tenant: whose, url } = readBrokerUrl(request.url);
      const refusal = whose === undefined ? undefined : await door.refusal(whose, request, client);
      if (refusal !== undefined) return refusal;
      const answer = await env.SANDBOX.getByName(whose ?? AGENT).fetch(new Request(url, request));
      // Copy the response: the headers of an object's response are immutable, and the edge adds its own.
      return new Response(answer.body, answer);
    },
    readAsset,
    sendEmail: emailOf(env),
    identify: accessIdentity({ teamDomain: settings.teamDomain, audience: settings.audience }),
    clock: Date.now,
    log: consoleLog(variables),
  });
}

/** Returns true for a liveness check, which invalid settings must not affect. */
function isLivenessCheck({ method, url }: Request): boolean {
  return method === ROUTES.live.method && new URL(url).pathname === ROUTES.live.path;
}

export default {
  /** Handles a request to the Worker: https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/ */
  async fetch(request: Request, env: WorkerEnvironment): Promise<Response> {
    if (isLivenessCheck(request)) return live();
    let edge: Edge;
    try {
      edge = edgeFor(request, env);
    } catch (error) {
      if (error instanceof StewardError) return createClosedEdge(error).fetch(request);
      throw error;
    }
    if (isChatUpgrade(request)) return proxyChat(request, env);
    // Cloudflare sets this header, so clients cannot forge it:
    // https://developers.cloudflare.com/fundamentals/reference/http-headers/#cf-connecting-ip
    return edge.fetch(request, { clientAddress: request.headers.get("cf-connecting-ip") ?? undefined });
  },
};

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import {
  forward,
  forwardUpgrade,
  withoutHops,
  type AccountStore,
  type ForwardTarget,
  type WorkerRunner,
} from "../cloudflare/index.ts";
import { listenOnLoopback, type LoopbackServer } from "../loopback.ts";
import { admitRequest, isIdentityHeader, type AdmissionResult } from "./admission.ts";
import { localPath, type IdentityGateway } from "./gateway.ts";
import { messagePage, nothingDeployedPage, signedOutPage } from "./pages.ts";
import { servedWorker } from "./served-worker.ts";

const COOKIE = "CF_Authorization";
/**
 * Maximum number of attempts to reach a version. A deployment may remove the chosen version before the connection
 * opens.
 */
const ATTEMPTS = 5;

export interface FrontOptions {
  /** 0 picks a free port. */
  port: number;
  /** Second address to listen on, besides 127.0.0.1, so that containers reach the Worker. Default: none. */
  containerHost?: string | undefined;
  account: AccountStore;
  runner: WorkerRunner;
  access: IdentityGateway;
  /** Host name of the Worker to serve. Default: taken from the Host header. */
  hostname?: string | undefined;
  /**
   * Returns true if this version answers every request with 500, to simulate a broken release. Default: always false.
   */
  fails?: (version: string) => boolean;
}

export type Front = LoopbackServer;

/**
 * Serves the Worker on 127.0.0.1 instead of its public address. Requests pass the same Access checks as on
 * Cloudflare.
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  const front = new EdgeFront(options);
  const { port, containerHost } = options;
  const open = await listenOnLoopback(serverOf(front), port);
  if (containerHost === undefined) return open;
  try {
    const inner = await listenOnLoopback(serverOf(front), Number(new URL(open.url).port), containerHost);
    return { url: open.url, close: async () => void (await Promise.all([open.close(), inner.close()])) };
  } catch (error) {
    await open.close();
    throw error;
  }
}

function serverOf(front: EdgeFront): Server {
  const server = createServer((request, response) => {
    front.serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendPage(response, 502, messagePage("Error", error instanceof Error ? error.message : "unknown"));
    });
  });
  return server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    front.upgrade(request, socket, head).catch(() => socket.destroy());
  });
}

class EdgeFront {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    if (url === undefined)
      return sendPage(response, 400, messagePage("Bad request", "The request target is not a path."));
    if (url.pathname === "/cdn-cgi/access/authorized") return this.#authorized(url, response);
    if (url.pathname === "/cdn-cgi/access/logout") return signOut(response);
    const route = await this.#route(request, url);
    if (route === undefined) return sendPage(response, 404, nothingDeployedPage());
    if (route.kind !== "pass") {
      response.writeHead(route.status, route.headers).end();
      return;
    }
    forward(request, response, route.target, (error) => {
      sendPage(response, 502, messagePage("Error", `The Worker cannot be reached: ${error.message}`));
    });
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = urlOf(request);
    const route = url && (await this.#route(request, url));
    if (route?.kind === "pass") forwardUpgrade(request, socket, head, route.target);
    else socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  }

  /** https://developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie/ */
  #authorized(url: URL, response: ServerResponse): void {
    const { access } = this.#options;
    const token = access.redeem(url.searchParams.get("nonce") ?? "");
    if (token === undefined) {
      sendPage(
        response,
        400,
        messagePage("Sign in again", "This sign-in link has already been used or has expired."),
      );
      return;
    }
    response
      .writeHead(302, {
        location: localPath(url.searchParams.get("state") ?? "/"),
        "set-cookie": `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${access.sessionSeconds}`,
        "cache-control": "no-store",
      })
      .end();
  }

  async #route(
    request: IncomingMessage,
    url: URL,
    attempts = ATTEMPTS,
  ): Promise<
    Exclude<AdmissionResult, { kind: "pass" }> | { kind: "pass"; target: ForwardTarget } | undefined
  > {
    const { account, runner, access, hostname, fails } = this.#options;
    const served = servedWorker(account.state, hostname ?? request.headers.host ?? "", Math.random());
    if (served === undefined || served.hostname !== (hostname ?? served.hostname)) return undefined;
    if (fails?.(served.version) === true) return { kind: "answer", status: 500, headers: {} };
    const admitted = await admitRequest(account.state, access, {
      hostname: served.hostname,
      path: url.pathname,
      search: url.search,
      headers: request.headers,
    });
    if (admitted.kind !== "pass") return admitted;
    const to = await runner.connect(served.script);
    if (to === undefined) {
      // A deployment has just removed this version. Wait for the deployment, then choose another version.
      await account.settled();
      return attempts > 1 ? this.#route(request, url, attempts - 1) : undefined;
    }
    const headers = { ...clientHeaders(request), ...admitted.headers };
    return { kind: "pass", target: { to, path: request.url ?? "/", headers } };
  }
}

/**
 * Parses the request's URL. Parsing resolves `..` segments, so that Access checks the same path that the Worker
 * serves.
 */
function urlOf(request: IncomingMessage): URL | undefined {
  const target = request.url ?? "";
  return target.startsWith("/") ? new URL(`http://front${target}`) : undefined;
}

/**
 * Returns the headers that the Worker receives. Removes identity headers and adds the address headers of Cloudflare's
 * edge: https://developers.cloudflare.com/fundamentals/reference/http-headers/
 */
function clientHeaders(request: IncomingMessage): OutgoingHttpHeaders {
  const kept = Object.entries(withoutHops(request.headers)).filter(([name]) => !isIdentityHeader(name));
  const ip = request.socket.remoteAddress ?? "127.0.0.1";
  return {
    ...Object.fromEntries(kept),
    "cf-connecting-ip": ip,
    "x-forwarded-for": ip,
    "x-forwarded-proto": "http",
  };
}

function signOut(response: ServerResponse): void {
  response.setHeader("set-cookie", `${COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`);
  sendPage(response, 200, signedOutPage());
}

function sendPage(response: ServerResponse, status: number, page: ReturnType<typeof signedOutPage>): void {
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
  response.end(String(page));
}

import { BROKER_PATH } from "../contract/services.ts";

/** `/telegram/bot<id>:<pass>/<method>`, and with `/file` before the bot the place of a file. */
const TELEGRAM = /^\/telegram(?<file>\/file)?\/bot\d*:(?<pass>[^/:]+)\/(?<place>.+)$/;
const DISCORD_MESSAGE = /^\/discord\/channels\/(?<channel>\d+)\/messages(?:\/(?<message>\d+))?$/;
const ANTHROPIC_MODEL = /^\/anthropic\/v1\/models\/(?<id>[^/]+)$/;

/** A request in the broker's present form, unchecked. */
interface BrokerRequest {
  /** Below the broker's own path: `<service>/<operation>`. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
}

/**
 * Reads a request to the broker. A container outlives the deployment of another Worker by minutes: a gateway of before
 * the operations had names asks by the services' own paths, and its replies must not be lost meanwhile. The next
 * release removes those paths.
 */
export function brokerRequest(request: Request): BrokerRequest {
  const { pathname, searchParams } = new URL(request.url);
  const path = pathname.slice(BROKER_PATH.length);
  const { headers } = request;
  const named = (name: string, values: Record<string, string | undefined> = {}): BrokerRequest => {
    const given = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { path: name, query: new URLSearchParams(given), headers };
  };
  const { file, pass, place = "" } = TELEGRAM.exec(path)?.groups ?? {};
  if (pass !== undefined) {
    const asked =
      file === undefined ? named(`telegram/${place}`) : named("telegram/file", { path: decoded(place) });
    return { ...asked, headers: withHeader(headers, "authorization", `Bearer ${pass}`) };
  }
  const message = DISCORD_MESSAGE.exec(path)?.groups;
  if (message)
    return named(`discord/message.${message["message"] === undefined ? "create" : "edit"}`, message);
  const model = ANTHROPIC_MODEL.exec(path)?.groups;
  if (model) return named("anthropic/model", { id: decoded(model["id"] ?? "") });
  if (path === "/discord/users/@me") return named("discord/user");
  if (path === "/anthropic/v1/messages") return named("anthropic/messages");
  return { path: path.slice(1), query: searchParams, headers };
}

function withHeader(headers: Headers, name: string, value: string): Headers {
  const changed = new Headers(headers);
  changed.set(name, value);
  return changed;
}

/** A text that is not encoded well names nothing: it stays as it is, and is refused. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

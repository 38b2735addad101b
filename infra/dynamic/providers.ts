import type { dynamic } from "@pulumi/pulumi";
import * as methods from "../provider/methods.ts";
import { RESOURCES } from "../provider/resources.ts";
import { CONNECTION } from "../shell/connection.ts";

type Properties = Record<string, unknown>;

/**
 * Providers of the dynamic resources that versions before 0.1.0 deployed. Pulumi finds them by this file's path and
 * their names. The next update converts the resources.
 */
export const providers: Record<string, dynamic.ResourceProvider> = Object.fromEntries(
  Object.keys(RESOURCES).map((type) => [type, formerProvider(`::::steward:${type}::`)]),
);

/** Throws the error without its stack trace, which Pulumi would print beside the engine's message. */
function untraced(error: Error): never {
  const stack = "its error is among the diagnostics";
  throw Object.assign(error, { toString: () => "A resource failed", stack });
}

function formerProvider(urn: string): dynamic.ResourceProvider {
  let connection = {};
  const connected = (inputs: Properties) => ({ ...inputs, [CONNECTION]: connection });
  const kept = (id: string, props: Properties) => ({ urn, id, inputs: connected(props), outputs: props });
  return {
    async configure({ config }) {
      const cloudflare = {
        apiToken: config.get("cloudflare:apiToken"),
        baseUrl: config.get("cloudflare:baseUrl"),
      };
      connection = { cloudflare, endpoints: JSON.parse(config.get("steward:endpoints") ?? "{}") };
    },
    async diff(id, olds: Properties, news: Properties) {
      return (await methods.diff(kept(id, olds), connected(news)).catch(untraced)) ?? {};
    },
    // Programs no longer register dynamic resources.
    create: () => Promise.reject(new Error("steward 0.1.0 and later deploy no dynamic resources")),
    async read(id, props: Properties) {
      const found = await methods.read(kept(id, props)).catch(untraced);
      if (found === undefined) return { id: "" };
      const { [CONNECTION]: _, ...inputs } = found.inputs;
      return { id: found.id, inputs, props: found.outputs };
    },
    delete: (id, props: Properties) => methods.remove(kept(id, props)).catch(untraced),
  };
}

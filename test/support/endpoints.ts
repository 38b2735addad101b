import * as methods from "../../infra/provider/methods.ts";
import type { Endpoints } from "../../infra/shell/connection.ts";
import type { ResourceProvider } from "../../infra/shell/provider.ts";
import type { OwnType } from "../../infra/shell/resource.ts";

let endpoints: Endpoints = {};

/** Sets the servers that providers from {@link connected} call. */
export function useEndpoints(servers: Endpoints = {}): void {
  endpoints = servers;
}

type Properties = Record<string, unknown>;

/** Returns a provider that gets the endpoints of {@link useEndpoints} as an input. */
export function connected<Inputs extends object = Properties>(
  type: OwnType,
): Required<Omit<ResourceProvider<Inputs>, "check">> {
  const urn = `urn:pulumi:test::steward::steward:${type}::one`;
  const withConnection = (inputs: object) => ({ ...inputs, connection: { endpoints } });
  const kept = (id: string, props: object) => ({
    urn,
    id,
    inputs: withConnection(props),
    outputs: { ...props },
  });
  const provider: Required<Omit<ResourceProvider<object>, "check">> = {
    async diff(id, olds, news) {
      return (await methods.diff(kept(id, olds), withConnection(news))) ?? { changes: true };
    },
    create: (inputs) => methods.create(urn, withConnection(inputs)),
    async read(id, props) {
      const found = await methods.read(kept(id, props));
      if (found === undefined) return { id: "" };
      const { connection: _, ...inputs } = found.inputs;
      return { id: found.id, inputs, props: found.outputs };
    },
    update: async (id, olds, news) => ({ outs: await methods.update(kept(id, olds), withConnection(news)) }),
    delete: (id, props) => methods.remove(kept(id, props)),
  };
  return provider as Required<Omit<ResourceProvider<Inputs>, "check">>;
}

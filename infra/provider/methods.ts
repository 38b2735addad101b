import { StewardError } from "../../runtime/contract/errors.ts";
import { LEDGER_FORMAT, VERSION } from "../../runtime/contract/names.ts";
import { CONNECTION, type Connection, runInContext } from "../shell/connection.ts";
import { explain, explanationText } from "../shell/explain.ts";
import { commandsFor } from "../shell/package.ts";
import { type Difference, type ResourceProvider, UNKNOWN } from "../shell/provider.ts";
import { RESOURCES } from "./resources.ts";

type Properties = Record<string, unknown>;
type AnyProvider = ResourceProvider<Properties>;

/**
 * Versions of the data formats that a deployment stores: `state` for this package's resources in Pulumi's state,
 * `ledger` for the ledger. Increment a version only if older releases would misread the new format.
 */
const FORMATS: Readonly<Record<string, number>> = { state: 1, ledger: LEDGER_FORMAT };

export interface StoredResource {
  urn: string;
  id: string;
  inputs: Properties;
  outputs: Properties;
}

/** Result of a check. If `reason` is set, the engine rejects the inputs. */
interface Checked {
  inputs: Properties;
  reason?: string;
}

/** Validates a resource's inputs and adds values that its provider chooses. */
export async function check(urn: string, before: Properties, given: Properties): Promise<Checked> {
  const { connection, own: news } = split(given);
  const provider = providerOf(urn);
  const { connection: former, own: olds } = split(before);
  const written = { ...connection, writer: { version: VERSION, formats: FORMATS } };
  try {
    refuseNewer(former);
    // If the connection is not known yet, the check runs in the update.
    const isReachable = provider.check !== undefined && !isUnknown(connection);
    const inputs = isReachable
      ? await runInContext({ connection }, () => provider.check?.(olds, news))
      : news;
    return { inputs: { ...(inputs ?? news), [CONNECTION]: written } };
  } catch (error) {
    return { inputs: given, reason: textOf(error, connection) };
  }
}

/** Returns `undefined` to let the engine compare. */
export async function diff(stored: StoredResource, given: Properties): Promise<Difference | undefined> {
  const { connection, own: news } = split(given);
  if (isUnknown(connection)) return undefined;
  return withExplainedErrors(connection, () =>
    providerOf(stored.urn).diff(stored.id, split(stored.outputs).own, news),
  );
}

export async function create(urn: string, given: Properties): Promise<{ id: string; outs: Properties }> {
  const { connection, own } = split(given);
  return withExplainedErrors(connection, () => providerOf(urn).create(own));
}

/** Returns `undefined` if the resource is gone. */
export async function read({
  urn,
  id,
  inputs,
  outputs,
}: StoredResource): Promise<Pick<StoredResource, "id" | "inputs" | "outputs"> | undefined> {
  const { connection } = split(inputs);
  const { own } = split(outputs);
  const provider = providerOf(urn);
  if (Object.keys(own).length === 0 && Object.keys(inputs).length === 0) {
    throw new Error(
      "steward's resources cannot be imported. Deploy instead, which adopts or recreates them.",
    );
  }
  if (provider.read === undefined) return { id, inputs, outputs: own };
  const found = await withExplainedErrors(connection, async () => {
    refuseNewer(connection);
    return provider.read?.(id, own);
  });
  if (!found?.props) return undefined;
  const seen = found.inputs === undefined ? inputs : { ...found.inputs, [CONNECTION]: connection };
  return { id: found.id, inputs: seen, outputs: found.props };
}

export async function update(stored: StoredResource, given: Properties): Promise<Properties> {
  const { connection, own: news } = split(given);
  const { own: olds } = split(stored.outputs);
  const provider = providerOf(stored.urn);
  const updated = await withExplainedErrors(connection, async () => provider.update?.(stored.id, olds, news));
  return updated?.outs ?? news;
}

export async function remove({ urn, id, inputs, outputs }: StoredResource): Promise<void> {
  const { connection } = split(inputs);
  const provider = providerOf(urn);
  await withExplainedErrors(connection, async () => {
    refuseNewer(connection);
    return provider.delete?.(id, split(outputs).own);
  });
}

function providerOf(urn: string): AnyProvider {
  const type = urn.split("::")[2]?.split("$").at(-1) ?? "";
  const name = type.replace(/^steward:/, "");
  if (!Object.hasOwn(RESOURCES, name)) throw new Error(`steward has no resource ${type}`);
  return RESOURCES[name as keyof typeof RESOURCES] as AnyProvider;
}

/**
 * Separates a resource's properties from the connection. Removes `__provider`, a property of dynamic resources from
 * versions before 0.1.0.
 */
function split(properties: Properties): { connection: Connection; own: Properties } {
  const { [CONNECTION]: connection = {}, ...own } = properties;
  Reflect.deleteProperty(own, "__provider");
  return { connection: connection as Connection, own };
}

/** @throws StewardError `state_newer` if the stack's data has a format that only later versions support */
function refuseNewer({ writer }: Connection): void {
  if (writer === undefined) return;
  const { version, formats } = writer;
  const newer = Object.keys(formats).filter((name) => Number(formats[name]) > (FORMATS[name] ?? 0));
  if (newer.length === 0) return;
  const detail = `steward ${version} deployed this stack, and ${VERSION} does not support its format of ${newer.join(" and ")}.`;
  throw new StewardError("state_newer", detail, {
    fix: `Deploy with steward ${version} or later. Nothing was changed.`,
  });
}

function isUnknown({ cloudflare, endpoints }: Connection): boolean {
  return JSON.stringify([cloudflare, endpoints]).includes(UNKNOWN);
}

async function withExplainedErrors<Result>(
  connection: Connection,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await runInContext({ connection }, work);
  } catch (error) {
    throw Object.assign(new Error(textOf(error, connection), { cause: error }), created(error));
  }
}

function textOf(error: unknown, { stack }: Connection): string {
  return explanationText(explain(error, commandsFor(stack)));
}

/** Returns the error fields that make the engine keep an incomplete new resource in the state. */
function created(error: unknown): object {
  if (!(error instanceof Error) || !("id" in error) || !("properties" in error)) return {};
  return { id: error.id, properties: error.properties };
}

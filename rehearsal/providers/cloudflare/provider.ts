import packageFile from "@pulumi/cloudflare/package.json" with { type: "json" };
import type { CheckFailure, LiveState, Provider } from "../serve.ts";
import { isProperties, reveal, revealAll, type Properties, type Value } from "../values.ts";
import { accessApplication } from "./access-application.ts";
import { accessPolicy } from "./access-policy.ts";
import { CloudflareApi } from "./api.ts";
import type { ResourceDefinition } from "./definition.ts";
import { r2Bucket } from "./r2-bucket.ts";
import { differs, inputsOf, outputsOf, overlay, withDefaults } from "./shape.ts";
import { workerVersion } from "./worker-version.ts";
import { worker } from "./worker.ts";
import { workersCustomDomain } from "./workers-custom-domain.ts";
import { workersDeployment } from "./workers-deployment.ts";

const RESOURCES: readonly ResourceDefinition[] = [
  worker,
  workerVersion,
  workersDeployment,
  workersCustomDomain,
  r2Bucket,
  accessApplication,
  accessPolicy,
];

/**
 * Creates a `cloudflare` provider for machines without the official plugin. It supports only the resources and inputs
 * of this project.
 */
export function createCloudflareProvider(environment: NodeJS.ProcessEnv): Provider {
  let variables: Properties = {};
  let client: CloudflareApi | undefined;

  const api = () => (client ??= connect(variables, environment));
  return {
    name: "cloudflare",
    version: packageFile.version,
    configure: (given) => {
      variables = revealAll(given);
      client = undefined;
    },
    async check(type, given) {
      const definition = find(type);
      const failures = checkInputs(definition, given);
      const prepared = failures.length === 0 && definition.prepare ? definition.prepare(given) : given;
      return { inputs: await prepared, failures };
    },
    /**
     * Compares the new inputs with the account's last known state, not with the previous inputs. Terraform does the
     * same.
     */
    diff(type, { inputs, outputs }, after) {
      const { replaceOn, defaults = {} } = find(type);
      const planned = withDefaults(defaults, after);
      const removed = Object.keys(inputs).filter((key) => planned[key] === undefined);
      const changed = Object.keys(planned).filter((key) => differs(planned[key], outputs[key]));
      changed.push(...removed);
      return {
        changed,
        replaces: replaceOn === "all" ? changed : changed.filter((k) => replaceOn.includes(k)),
      };
    },
    async create(type, inputs) {
      const { id, live } = await find(type).create(api(), revealAll(inputs));
      return { id, outputs: merge(live, inputs) };
    },
    async read(type, { id, inputs }) {
      if (Object.keys(inputs).length === 0) return importExisting(find(type), api(), id);
      const live = await find(type).read(api(), id, revealAll(inputs));
      if (!live) return undefined;
      const { unanswered } = find(type);
      return {
        id,
        inputs: asProperties(inputsOf(inputs, live, unanswered)),
        outputs: asProperties(outputsOf(live, inputs, unanswered)),
      };
    },
    async update(type, id, inputs) {
      const definition = find(type);
      if (!definition.update) throw new Error(`${type} cannot be changed in place`);
      return merge(await definition.update(api(), id, revealAll(inputs)), inputs);
    },
    async delete(type, id, inputs) {
      await find(type).delete?.(api(), id, revealAll(inputs));
    },
  };
}

/**
 * Imports an existing resource. Accepts the official provider's ids: `<account>/<worker>`,
 * `<account>/<bucket>/<jurisdiction>`, `<account>/<policy>`, `accounts/<account>/<application>`.
 */
async function importExisting(
  { type, importable, required, optional, read }: ResourceDefinition,
  api: CloudflareApi,
  given: string,
): Promise<LiveState | undefined> {
  const [accountId, id] = given.replace(/^accounts\//, "").split("/");
  if (!importable) throw new Error(`This rehearsal's cloudflare provider cannot import ${type}`);
  if (!accountId || !id) throw new Error(`${type} is imported as <account>/<id>, not as ${given}`);
  const live = await read(api, id, { accountId });
  if (!live) return undefined;
  const known = Object.entries(live).filter(([key]) => required.includes(key) || optional.includes(key));
  const inputs = { ...Object.fromEntries(known), accountId };
  return { id, inputs, outputs: merge(live, inputs) };
}

function connect(variables: Properties, environment: NodeJS.ProcessEnv): CloudflareApi {
  const token = variables["apiToken"] ?? environment["CLOUDFLARE_API_TOKEN"];
  if (typeof token !== "string" || token === "") {
    throw new Error("No API token. Run `pulumi config set --secret cloudflare:apiToken <token>`.");
  }
  const baseUrl = variables["baseUrl"] ?? environment["CLOUDFLARE_BASE_URL"];
  return new CloudflareApi(token, typeof baseUrl === "string" && baseUrl !== "" ? baseUrl : undefined);
}

function find(type: string): ResourceDefinition {
  const definition = RESOURCES.find((candidate) => candidate.type === type);
  if (!definition) throw new Error(`This rehearsal's cloudflare provider does not know ${type}`);
  return definition;
}

function checkInputs({ required, optional, type }: ResourceDefinition, inputs: Properties): CheckFailure[] {
  const missing = required
    .filter((key) => inputs[key] === undefined || reveal(inputs[key]) === null)
    .map((property) => ({ property, reason: `${type} requires ${property}` }));
  const unknown = Object.keys(inputs)
    .filter((key) => !required.includes(key) && !optional.includes(key) && !key.startsWith("__"))
    .map((property) => ({ property, reason: `${property} is not known to this rehearsal's ${type}` }));
  return [...missing, ...unknown];
}

function merge(live: Properties, inputs: Properties): Properties {
  return asProperties(overlay(live, inputs));
}

function asProperties(value: Value): Properties {
  return isProperties(value) ? value : {};
}

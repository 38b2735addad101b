import type { AccountState, BindingRecord } from "./account/state.ts";
import { ApiError, notModelled } from "./envelope.ts";

const MODELLED = new Set([
  "plain_text",
  "secret_text",
  "json",
  "r2_bucket",
  "durable_object_namespace",
  "version_metadata",
  "send_email",
]);

/**
 * Checks the bindings of an uploaded version. A deployed migration must have created each Durable Object class,
 * otherwise the error is 10061: https://github.com/cloudflare/workers-sdk/issues/10246 A migration in the same
 * version does not count: https://github.com/cloudflare/terraform-provider-cloudflare/issues/6322
 */
export function checkBindings(state: AccountState, script: string, bindings: readonly BindingRecord[]): void {
  for (const binding of bindings) {
    if (!MODELLED.has(binding.type)) throw notModelled(`the binding type ${binding.type}`);
    if (binding.type === "r2_bucket") checkBucket(state, binding);
    if (binding.type === "durable_object_namespace") namespaceOf(state, script, binding);
  }
}

/**
 * Returns bindings as the API presents them: sorted by name, with `namespace_id` for Durable Objects, and without
 * secret values, which cannot be read back: https://developers.cloudflare.com/workers/configuration/secrets/
 */
export function presentBindings(
  state: AccountState,
  script: string,
  bindings: readonly BindingRecord[],
): Record<string, unknown>[] {
  return bindings
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map((binding) => {
      if (binding.type === "secret_text") return { type: binding.type, name: binding.name };
      if (binding.type !== "durable_object_namespace") return binding;
      const namespace = state.namespaces.find(({ script: owner, class: name }) => {
        return owner === ownerOf(script, binding) && name === binding["class_name"];
      });
      return namespace ? Object.assign({}, binding, { namespace_id: namespace.id }) : binding;
    });
}

export function ownerOf(script: string, binding: BindingRecord): string {
  const named = binding["script_name"];
  return typeof named === "string" && named !== "" ? named : script;
}

function checkBucket(state: AccountState, binding: BindingRecord): void {
  const name = String(binding["bucket_name"]);
  if (state.buckets.some((bucket) => bucket.name === name)) return;
  throw new ApiError(400, 10085, `R2 bucket '${name}' not found. Please use a different name and try again.`);
}

function namespaceOf(state: AccountState, script: string, binding: BindingRecord): void {
  const owner = ownerOf(script, binding);
  const name = String(binding["class_name"]);
  if (state.namespaces.some((namespace) => namespace.script === owner && namespace.class === name)) return;
  throw new ApiError(
    400,
    10061,
    `Cannot create binding for class '${name}' because it is not currently configured to implement ` +
      "Durable Objects. Ensure a --new-class migration has been applied to it.",
  );
}

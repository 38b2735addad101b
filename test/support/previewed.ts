import type { EngineEvent, Stack } from "@pulumi/pulumi/automation/index.js";

/** A resource as a preview of a new stack would create it. */
export interface PreviewedResource {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
}

/** Everything that a preview would create, by type and name. Secrets are "[secret]", what is not known yet "[unknown]". */
export async function previewed(stack: Stack): Promise<PreviewedResource[]> {
  const found: PreviewedResource[] = [];
  const onEvent = ({ resourcePreEvent: event }: EngineEvent): void => {
    const { new: after, type, urn } = event?.metadata ?? {};
    if (!after || type === undefined || urn === undefined || type.startsWith("pulumi:")) return;
    found.push({ type, name: urn.split("::").slice(3).join("::"), inputs: plain(after.inputs) });
  };
  await stack.preview({ onEvent });
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** What stands for a value that is not known in a preview, and for a secret (pulumi sdk/nodejs/runtime/rpc.ts). */
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** Without what a provider keeps for itself: a dynamic one's code, another one's defaults. */
function plain(inputs: object): Record<string, unknown> {
  const given = Object.entries(inputs).filter(([name]) => !name.startsWith("__"));
  return Object.fromEntries(given.map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (value === UNKNOWN) return "[unknown]";
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return SIGNATURE in value ? "[secret]" : plain(value);
}

function key({ type, name }: PreviewedResource): string {
  return `${type} ${name}`;
}

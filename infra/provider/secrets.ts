/** Key that marks an object as a wrapped value, from pulumi sdk/go/common/resource/properties.go. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

type Properties = Readonly<Record<string, unknown>>;

/** Returns true for a secret wrapped by the engine. */
export function isSecret<Value = unknown>(value: unknown): value is { value: Value } {
  return isObject(value) && value[SIGNATURE] === SECRET && "value" in value;
}

export function makeSecret<Value>(value: Value): Record<string, Value | string> {
  return { [SIGNATURE]: SECRET, value };
}

/** Unwraps secrets, including nested ones. */
export function reveal(properties: Properties): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, revealed(value)]));
}

export function revealed(value: unknown): unknown {
  if (isSecret(value)) return revealed(value.value);
  if (Array.isArray(value)) return value.map(revealed);
  return isObject(value) ? reveal(value) : value;
}

/** Marks outputs as secret if the input at the same path is secret. */
export function keepSecret(outputs: Properties, inputs: Properties): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [name, keptSecret(value, inputs[name])]),
  );
}

function keptSecret(output: unknown, input: unknown): unknown {
  if (isSecret(input)) return makeSecret(output);
  if (Array.isArray(output) && Array.isArray(input))
    return output.map((item, index) => keptSecret(item, input[index]));
  return isObject(output) && isObject(input) ? keepSecret(output, input) : output;
}

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

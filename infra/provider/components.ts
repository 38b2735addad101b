/** Creates the components in a thread of the provider `steward`; see serve.ts. */
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { type ConstructResult, main, type Provider } from "@pulumi/pulumi/provider/index.js";
import manifest from "../../package.json" with { type: "json" };
import { HostGateway } from "../gateway/host-gateway.ts";
import { ServerlessGateway } from "../gateway/serverless-gateway.ts";

const COMPONENTS = {
  "steward:index:HostGateway": HostGateway,
  "steward:index:ServerlessGateway": ServerlessGateway,
} as const;
type ComponentType = keyof typeof COMPONENTS;

/** Schema fields that determine how an argument is passed. */
interface Property {
  plain?: boolean;
  $ref?: string;
}
interface Schema {
  types: Record<string, { properties?: Record<string, Property> }>;
  resources: Record<
    ComponentType,
    { inputProperties: Record<string, Property>; properties: Record<string, unknown> }
  >;
}

const schema = JSON.parse(readFileSync(new URL("schema.json", import.meta.url), "utf8")) as Schema;

const provider: Provider = {
  version: manifest.version,
  async construct(name, type, inputs, options): Promise<ConstructResult> {
    if (!isComponent(type)) throw new Error(`steward has no component ${type}.`);
    const { inputProperties, properties } = schema.resources[type];
    const args = await membersOf(inputs, inputProperties);
    const component = new COMPONENTS[type](name, args as never, options);
    // The schema's outputs are generated from the component's class, so each output is a field.
    const outputs = component as unknown as Record<string, unknown>;
    return {
      urn: component.urn,
      state: Object.fromEntries(Object.keys(properties).map((one) => [one, outputs[one]])),
    };
  },
};

function isComponent(type: string): type is ComponentType {
  return Object.hasOwn(COMPONENTS, type);
}

async function membersOf(
  values: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, Property>> = {},
): Promise<pulumi.Inputs> {
  const members = Object.entries(values).map(async ([name, value]) => [
    name,
    await argumentOf(value, properties[name]),
  ]);
  return Object.fromEntries(await Promise.all(members)) as pulumi.Inputs;
}

/**
 * Converts an argument to the form that its component expects: one output per member. SDKs of other languages send an
 * object as a single output if a member is secret or unknown.
 */
async function argumentOf(value: unknown, property: Property = {}): Promise<unknown> {
  const held = pulumi.Output.isInstance(value) ? await heldBy(value) : value;
  if (pulumi.isUnknown(held)) return value;
  if (typeof held !== "object" || held === null) return property.plain ? held : value;
  const memberOf = (name: string | number): unknown =>
    pulumi.Output.isInstance(value)
      ? value.apply((group) => (group as Record<string | number, unknown>)[name])
      : (held as Record<string | number, unknown>)[name];
  if (Array.isArray(held)) return property.plain ? held : held.map((_, index) => memberOf(index));
  const { properties = {} } = schema.types[property.$ref?.replace("#/types/", "") ?? ""] ?? {};
  const members = Object.entries(held).map(([name, one]) => [
    name,
    properties[name]?.plain ? one : memberOf(name),
  ]);
  return membersOf(Object.fromEntries(members) as Record<string, unknown>, properties);
}

/**
 * Returns an output's value. In a preview, values that are not yet known appear as Pulumi's marker for unknown
 * values.
 */
function heldBy(output: pulumi.Output<unknown>): Promise<unknown> {
  // Pulumi implements the parameter but omits it from its types.
  return (output as unknown as { promise(withUnknowns: boolean): Promise<unknown> }).promise(true);
}

await main(provider, process.argv.slice(2));

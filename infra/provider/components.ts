/** Creates the components, in a thread of the provider `steward`: see serve.ts. */
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { type ConstructResult, main, type Provider } from "@pulumi/pulumi/provider/index.js";
import manifest from "../../package.json" with { type: "json" };
import { UNKNOWN, whenKnown } from "../gateway/check.ts";
import { HostGateway } from "../gateway/host-gateway.ts";
import { ServerlessGateway } from "../gateway/serverless-gateway.ts";

const COMPONENTS = {
  "steward:index:HostGateway": HostGateway,
  "steward:index:ServerlessGateway": ServerlessGateway,
} as const;
type ComponentType = keyof typeof COMPONENTS;

/** The parts of the schema that say how an argument is passed on. */
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
 * Returns an argument as the components take it. Another language's SDK sends a group with a secret in it, or with a
 * value of another resource, as one output; the components take a group of outputs. Of a plain argument they take the
 * value.
 */
async function argumentOf(value: unknown, property: Property = {}): Promise<unknown> {
  if (pulumi.Output.isInstance(value)) {
    const known = await whenKnown(value);
    if (known === UNKNOWN || known === undefined || known === null) return value;
    if (property.plain) return known;
    if (Array.isArray(known)) return known.map((_, index) => memberOf(value, index));
    if (typeof known !== "object") return value;
    const members = Object.keys(known).map((name) => [name, memberOf(value, name)]);
    return argumentOf(Object.fromEntries(members), property);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const type = property.$ref?.replace("#/types/", "") ?? "";
  return membersOf(value as Record<string, unknown>, schema.types[type]?.properties);
}

function memberOf(group: pulumi.Output<unknown>, name: string | number): pulumi.Output<unknown> {
  return group.apply((value) => (value as Record<string | number, unknown>)[name]);
}

await main(provider, process.argv.slice(2));

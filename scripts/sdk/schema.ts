/**
 * Writes the two components of infra/gateway into infra/provider/schema.json: `npm run schema`. Other resources in the
 * schema are maintained by hand.
 */
import { readFile, writeFile } from "node:fs/promises";
import ts from "typescript";
import { partOf, type Schema } from "./types.ts";
import manifest from "../../package.json" with { type: "json" };
import { commandParser, runCommand, type CommandOutput } from "../../infra/shell/command.ts";

const SCRIPT = "npm run schema --";
const SCHEMA = "infra/provider/schema.json";
const ARGUMENTS = "infra/gateway/args.ts";
const COMPONENTS = {
  ServerlessGateway: "infra/gateway/serverless-gateway.ts",
  HostGateway: "infra/gateway/host-gateway.ts",
};
/** Matches the doc comments of secret arguments, which end with "; a secret." */
const SECRET = /\ba secret\b/;
/** Arguments that may be decimal numbers. */
const FRACTIONS = new Set(["cpus", "expectedAwakeHours", "monthlyBudget", "monthlyChatBudget"]);

/** https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/ */
interface Property {
  type?: string;
  $ref?: string;
  items?: Property;
  additionalProperties?: Property;
  description?: string;
  plain?: true | undefined;
  secret?: true;
}

interface ObjectType {
  type?: "object";
  description?: string;
  properties: Record<string, Property>;
  required?: string[];
}

type Types = Record<string, ObjectType | { type: "string"; enum: { value: string }[] }>;

async function main(argv: string[], { say }: CommandOutput): Promise<number> {
  const command = commandParser(SCRIPT, `Writes the components into ${SCHEMA}.`)
    .option("--check", "only check that the schema is up to date", false)
    .parse(argv, { from: "user" });
  const text = await readFile(SCHEMA, "utf8");
  const schema = JSON.parse(text) as Schema<Types[string]>;
  const own = partOf(schema, false);
  const made = componentsOf(own.types);
  const written = JSON.stringify({
    ...schema,
    version: manifest.version,
    types: { ...own.types, ...made.types },
    resources: { ...own.resources, ...made.resources },
  });
  if (!command.opts<{ check: boolean }>().check)
    await writeFile(SCHEMA, `${JSON.stringify(JSON.parse(written), null, 2)}\n`);
  else if (written !== JSON.stringify(JSON.parse(text))) {
    say(
      `${SCHEMA} does not match ${ARGUMENTS} and the components. Fix: npm run schema, then npm run format\n`,
    );
    return 1;
  }
  return 0;
}

/** Returns the components' resources and types. `known` contains types that other resources use too. */
function componentsOf(known: Types): { types: Types; resources: Record<string, object> } {
  const program = ts.createProgram([ARGUMENTS, ...Object.values(COMPONENTS)], {
    ...ts.readConfigFile("tsconfig.json", ts.sys.readFile).config.compilerOptions,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noEmit: true,
    strict: true,
    types: [],
    lib: undefined,
    jsx: ts.JsxEmit.ReactJSX,
  });
  const checker = program.getTypeChecker();
  const types: Types = {};
  const exported = (file: string, name: string): ts.Symbol => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file) ?? fail(`no ${file}`));
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    return symbols.find((symbol) => symbol.name === name) ?? fail(`${file} exports no ${name}`);
  };

  const describe = (symbol: ts.Symbol): { description?: string } => {
    const text = ts
      .displayPartsToString(symbol.getDocumentationComment(checker))
      .replaceAll(/\s*\n\s*/g, " ");
    return text === "" ? {} : { description: text };
  };

  function property(symbol: ts.Symbol): Property {
    const about = describe(symbol);
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
    const form = formOf(type, `${symbol.name[0]?.toUpperCase()}${symbol.name.slice(1)}`);
    if (form.type === "number" && !FRACTIONS.has(symbol.name)) form.type = "integer";
    return { ...form, ...about, ...(SECRET.test(about.description ?? "") && { secret: true }) };
  }

  /** @param name of an enumeration */
  function formOf(type: ts.Type, name: string): Property {
    const wrapped = unwrapped(type);
    if (wrapped !== undefined) return { ...formOf(wrapped, name), plain: undefined };
    if (type.flags & ts.TypeFlags.StringLike && !type.isUnion()) return { type: "string", plain: true };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: "number", plain: true };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean", plain: true };
    if (type.isUnion() && type.types.every((one) => one.isStringLiteral())) {
      const words = type.types.map((one) => (one as ts.StringLiteralType).value);
      types[`steward:index:${name}`] = { type: "string", enum: words.map((value) => ({ value })) };
      return { $ref: `#/types/steward:index:${name}`, plain: true };
    }
    const item = checker.isArrayType(type)
      ? checker.getTypeArguments(type as ts.TypeReference)[0]
      : undefined;
    if (item !== undefined) {
      const { plain, ...items } = formOf(item, name);
      // An object type is plain if none of its members accepts a `pulumi.Input`.
      return { type: "array", items, ...((plain || items.$ref) && { plain: true }) };
    }
    const value = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (value !== undefined)
      return { type: "object", additionalProperties: { ...formOf(value, name), plain: undefined } };
    return { $ref: `#/types/${objectType(type.aliasSymbol ?? type.symbol)}` };
  }

  /** Returns the type inside `pulumi.Input`, or `undefined` for a plain type. */
  function unwrapped(type: ts.Type): ts.Type | undefined {
    const [input] = type.aliasSymbol?.name === "Input" ? (type.aliasTypeArguments ?? []) : [];
    return input;
  }

  function objectType(symbol: ts.Symbol): string {
    const token = `steward:index:${symbol.name.replace(/Args$/, "")}`;
    if (token in types || token in known) return token;
    const about = describe(symbol);
    types[token] = { type: "object", ...about, ...members(checker.getDeclaredTypeOfSymbol(symbol)) };
    return token;
  }

  function members(type: ts.Type): Pick<ObjectType, "properties" | "required"> {
    const symbols = checker.getPropertiesOfType(type);
    const required = symbols.filter((symbol) => !(symbol.flags & ts.SymbolFlags.Optional));
    return {
      properties: Object.fromEntries(symbols.map((symbol) => [symbol.name, property(symbol)])),
      ...(required.length > 0 && { required: required.map((symbol) => symbol.name) }),
    };
  }

  const resources = Object.entries(COMPONENTS).map(([name, file]) => {
    const component = exported(file, name);
    const args = members(checker.getDeclaredTypeOfSymbol(exported(ARGUMENTS, `${name}Args`)));
    const outputs = [...(component.members?.values() ?? [])].filter(
      ({ valueDeclaration }) => valueDeclaration !== undefined && ts.isPropertyDeclaration(valueDeclaration),
    );
    const certain = outputs.filter((symbol) => !canBeUndefined(checker.getTypeOfSymbol(symbol)));
    const resource = {
      ...describe(component),
      isComponent: true,
      inputProperties: args.properties,
      ...(args.required && { requiredInputs: args.required }),
      properties: Object.fromEntries(
        outputs.map((symbol) => [symbol.name, { type: "string", ...describe(symbol) }]),
      ),
      required: certain.map((symbol) => symbol.name),
    };
    return [`steward:index:${name}`, resource];
  });
  return { types, resources: Object.fromEntries(resources) };
}

function canBeUndefined(type: ts.Type): boolean {
  return type.isUnion() && type.types.some((one) => one.flags & ts.TypeFlags.Undefined);
}

function fail(message: string): never {
  throw new Error(message);
}

await runCommand(SCRIPT, main);

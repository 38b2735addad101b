import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import grpc, { type ServiceError } from "@grpc/grpc-js";
import service from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import proto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SECRET_ARGUMENTS } from "../../../infra/gateway/properties.ts";
import { RESOURCES } from "../../../infra/provider/resources.ts";
import { ROOT } from "../../../infra/shell/package.ts";
import manifest from "../../../package.json" with { type: "json" };
import { ACCOUNT, startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";

const TYPES = Object.keys(RESOURCES);
const LAUNCHER = join(ROOT, "pulumi-resource-steward");

const struct = (values: object) => structProto.Struct.fromJavaScript(values as never);
const urn = (type: string) => `urn:pulumi:dev::bot::steward:index:ServerlessGateway$steward:${type}::one`;

describe("the provider as an engine starts it", () => {
  let stage: Stage;
  let provider: ChildProcessByStdio<Writable, Readable, null>;
  let client: InstanceType<typeof service.ResourceProviderClient>;

  beforeAll(async () => {
    stage = await startStage();
    const env = { ...process.env, STEWARD_NODE: process.execPath, CLOUDFLARE_API_TOKEN: "" };
    // No engine listens there: messages to people are lost.
    provider = spawn(LAUNCHER, ["127.0.0.1:1"], { env, stdio: ["pipe", "pipe", "inherit"] });
    const [port] = (await once(provider.stdout, "data")) as [Buffer];
    const address = `127.0.0.1:${port.toString().trim()}`;
    client = new service.ResourceProviderClient(address, grpc.credentials.createInsecure());
  });

  afterAll(async () => {
    client?.close();
    provider?.kill();
    await stage?.close();
  });

  /** Waits for the answer to a call. */
  function answer<Response>(
    ask: (done: (error: ServiceError | null, response: Response) => void) => unknown,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      ask((error, response) => (error ? reject(error) : resolve(response)));
    });
  }

  const bucket = (changes: object = {}) => ({
    accountId: ACCOUNT,
    name: "bot-dev-steward",
    owner: "bot/dev",
    onDestroy: "keep",
    connection: { stack: "acme/dev", cloudflare: { apiToken: TOKEN, baseUrl: stage.cloudflare.url } },
    ...changes,
  });
  const create = (inputs: object) =>
    answer<messages.CreateResponse>((done) => {
      const request = new proto.CreateRequest().setUrn(urn("serverless:StateBucket"));
      return client.create(request.setProperties(struct(inputs)), done);
    });

  test("tells its version, and has a schema with each of its resources and the type that it had before", async () => {
    const info = await answer<PluginInfo>((done) => client.getPluginInfo(new emptyProto.Empty(), done));
    expect(info.getVersion()).toBe(manifest.version);
    const described = await answer<messages.GetSchemaResponse>((done) =>
      client.getSchema(new proto.GetSchemaRequest(), done),
    );
    const schema = JSON.parse(described.getSchema()) as {
      version: string;
      resources: Record<string, { isComponent?: boolean; aliases: { type: string }[] }>;
    };
    expect(schema.version).toBe(manifest.version);
    const components = ["steward:index:ServerlessGateway", "steward:index:HostGateway"];
    expect(Object.keys(schema.resources)).toEqual([...TYPES.map((type) => `steward:${type}`), ...components]);
    const resources = Object.values(schema.resources).filter(({ isComponent }) => !isComponent);
    expect(resources.flatMap(({ aliases }) => aliases)).toEqual(
      TYPES.map((type) => ({ type: `pulumi-nodejs:dynamic/${type}` })),
    );
  });

  test("keeps nothing of a stack's configuration", async () => {
    const news = struct({ anthropicApiKey: "sk-secret", target: "serverless" });
    const checked = await answer<messages.CheckResponse>((done) =>
      client.checkConfig(new proto.CheckRequest().setNews(news), done),
    );
    expect(checked.getInputs()?.toJavaScript()).toEqual({});
  });

  test("asks the account with the resource's own credentials, which are no output", async () => {
    const created = await create(bucket());
    expect(created.getId()).toBe("bot-dev-steward");
    expect(Object.keys(created.getProperties()?.toJavaScript() ?? {}).sort()).toEqual([
      "accountId",
      "name",
      "onDestroy",
      "owner",
      "ownerId",
    ]);
    const wrong = {
      stack: "acme/dev",
      cloudflare: { apiToken: "x".repeat(TOKEN.length), baseUrl: stage.cloudflare.url },
    };
    const refused = await create(bucket({ connection: wrong })).catch(({ details }: ServiceError) => details);
    expect(refused).toContain("(token_permission_missing)");
    expect(refused).toContain("pulumi config set -s acme/dev --secret cloudflare:apiToken");
    expect(refused).not.toContain("xxx");
    expect(refused).not.toContain("    at ");
  });

  test("a resource that was created and is not complete stays in the state", async () => {
    stage.cloudflare.faults.requests.push({ method: "PUT", path: /owner/, times: 9, outcome: 403 });
    const failure = await create(bucket({ name: "bot-half" })).catch((error: ServiceError) => error);
    stage.cloudflare.faults.requests.splice(0);
    const [details] = (failure as ServiceError).metadata.get("grpc-status-details-bin");
    expect(String(details)).toContain("pulumirpc.ErrorResourceInitFailed");
    expect(String(details)).toContain("bot-half");
    expect(String(details)).not.toContain(TOKEN);
  });

  test("credentials that a preview does not know are not used", async () => {
    const unknown = { apiToken: "04da6b54-80e4-46f7-96ec-b56ff0331ba9", baseUrl: stage.cloudflare.url };
    const news = struct(bucket({ name: "bot-next", connection: { cloudflare: unknown } }));
    const request = new proto.CheckRequest().setUrn(urn("serverless:StateBucket")).setNews(news);
    const checked = await answer<messages.CheckResponse>((done) => client.check(request, done));
    expect(checked.getFailuresList()).toEqual([]);
  });

  test("a resource that a newer version deployed in another format is refused, and one of the same format is not", async () => {
    const writer = { version: "9.9.9", formats: { state: 99, ledger: 1 } };
    const from = (written: object) =>
      struct(bucket({ connection: { ...bucket().connection, writer: written } }));
    const check = (written: object) => {
      const request = new proto.CheckRequest()
        .setUrn(urn("serverless:StateBucket"))
        .setNews(struct(bucket()));
      return answer<messages.CheckResponse>((done) => client.check(request.setOlds(from(written)), done));
    };
    const read = new proto.ReadRequest().setId("bot-dev-steward").setUrn(urn("serverless:StateBucket"));
    const remove = new proto.DeleteRequest().setId("bot-dev-steward").setUrn(urn("serverless:StateBucket"));

    const [failure] = (await check(writer)).getFailuresList();
    const known = await check({ version: "9.9.9", formats: { state: 1 } });
    const refused = [
      answer((done) => client.read(read.setInputs(from(writer)).setProperties(struct(bucket())), done)),
      answer((done) =>
        client.delete(remove.setOldInputs(from(writer)).setProperties(struct(bucket())), done),
      ),
    ];

    expect(failure?.getReason()).toBe(
      `steward 9.9.9 deployed this stack, and ${manifest.version} does not support its format of state (state_newer)\n` +
        "  fix: Deploy with steward 9.9.9 or later. Nothing was changed.",
    );
    expect(known.getFailuresList()).toEqual([]);
    expect(known.getInputs()?.toJavaScript()["connection"]).toMatchObject({
      writer: { version: manifest.version, formats: { state: 1, ledger: 1 } },
    });
    for (const one of refused) await expect(one).rejects.toThrow("(state_newer)");
  });

  test("a type that it does not have is refused", async () => {
    const request = new proto.CreateRequest().setUrn(urn("serverless:Nothing")).setProperties(struct({}));
    const created = answer<messages.CreateResponse>((done) => client.create(request, done));
    await expect(created).rejects.toThrow("steward has no resource");
  });
});

test("an older Node first on PATH names the one that is needed", async () => {
  // A Node in all but its version.
  const code = `Object.defineProperty(process.versions, "node", { value: "20.20.2" }); require(${JSON.stringify(
    join(ROOT, "infra/provider/needs-node.cjs"),
  )})`;
  const older = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", "pipe"] });
  const [said] = (await once(older.stderr, "data")) as [Buffer];
  const [exit] = (await once(older, "close")) as [number];
  expect(String(said)).toContain("steward needs Node 24 or newer");
  expect(String(said)).toContain("fix: type `npm run pulumi --` in place of `pulumi`");
  expect(exit).toBe(1);
});

test("every input that the stacks give is in the schema, and none that it requires is missing", async () => {
  const text = await readFile(join(ROOT, "infra/provider/schema.json"), "utf8");
  const schema = JSON.parse(text) as {
    resources: Record<string, { isComponent?: boolean; inputProperties: object; requiredInputs: string[] }>;
  };
  const own = Object.entries(schema.resources).filter(([, { isComponent }]) => !isComponent);
  const resources = Object.fromEntries(own);
  const seen = new Set<string>();
  for (const name of ["dev", "prod", "host"]) {
    const file = join(ROOT, `test/stacks/golden/${name}.json`);
    const shapes = JSON.parse(await readFile(file, "utf8")) as { type: string; inputs: object }[];
    for (const { type, inputs } of shapes.filter((shape) => Object.hasOwn(resources, shape.type))) {
      const { inputProperties = {}, requiredInputs = [] } = resources[type] ?? {};
      seen.add(type);
      expect(Object.keys(inputProperties), type).toEqual(expect.arrayContaining(Object.keys(inputs)));
      expect(Object.keys(inputs), type).toEqual(expect.arrayContaining(requiredInputs));
    }
  }
  // A Slack app takes a configuration token, which no example has.
  expect([...seen, "steward:channels:SlackApp"].toSorted()).toEqual(Object.keys(resources).toSorted());
});

type Properties = Record<string, { $ref?: string; secret?: boolean }>;

test("the schema marks every secret argument of the components as one", async () => {
  const { types, resources } = JSON.parse(
    await readFile(join(ROOT, "infra/provider/schema.json"), "utf8"),
  ) as Record<"types" | "resources", Record<string, { properties: Properties; inputProperties: Properties }>>;
  for (const target of ["Serverless", "Host"] as const) {
    const given = resources[`steward:index:${target}Gateway`]?.inputProperties ?? {};
    for (const argument of Object.values(SECRET_ARGUMENTS)) {
      const [group = "", member] = argument.split(".");
      const type = types[given[group]?.$ref?.replace("#/types/", "") ?? ""]?.properties;
      const property = member === undefined ? given[group] : type?.[member];
      expect(property?.secret ?? (target === "Serverless" && argument === "adminToken"), argument).toBe(true);
    }
  }
});

test.each(TYPES)("a state of a version before the provider finds what manages its %s", (type) => {
  const line = `exports.handler = () => require("./infra/dynamic/providers.ts").providers[${JSON.stringify(type)}];`;
  const exports = {} as { handler(): object };
  // oxlint-disable-next-line no-implied-eval -- the engine does the same with a state's code
  new Function("exports", "require", line)(exports, createRequire(join(ROOT, "x")));
  expect(Object.keys(exports.handler())).toEqual(["configure", "diff", "create", "read", "delete"]);
});

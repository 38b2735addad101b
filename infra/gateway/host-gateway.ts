import * as pulumi from "@pulumi/pulumi";
import { ATTESTATION_KEY_VARIABLE } from "../../runtime/contract/attestation.ts";
import { channelsWithCredentials } from "../../runtime/contract/config/credentials.ts";
import { SANDBOXES } from "../../runtime/contract/environment.ts";
import { CHAT_USERS, type HostNames } from "../../runtime/contract/names.ts";
import { buildArguments } from "../bundle/arguments.ts";
import { ensureBaseImage } from "../bundle/base.ts";
import { buildBundle, type Bundle } from "../bundle/bundle.ts";
import { APP_DOCKERFILE } from "../bundle/image.ts";
import { warnOfPublicDiscordApp } from "../channels/discord-app.ts";
import { DiscordCommands } from "../channels/discord-commands.ts";
import { Container } from "../host/container.ts";
import { type DataPlace, Volume } from "../host/data.ts";
import { Image, type ImageBuild, imageName } from "../host/image.ts";
import { operatorStack, warnOfUnlistedPlugin } from "../shell/resource.ts";
import { nameHooks } from "../host/names.ts";
import { Placement } from "../host/placement.ts";
import { preflight } from "../host/preflight.ts";
import { memoryForChats } from "../host/preflight/chats.ts";
import { Service } from "../host/service.ts";
import { shapeOf, type Shape } from "../host/shape.ts";
import { probeEnvironment } from "../readiness/readiness.ts";
import { AttestationKey } from "../secrets/attestation-key.ts";
import { SecretChecks } from "../secrets/secret-checks.ts";
import { defaultName, fittingName } from "../serverless/names.ts";
import { type DockerEngine, resolveEngine } from "../shell/docker.ts";
import { commandsFor } from "../shell/package.ts";
import { type WithDefaults, withDefaults, type HostGatewayArgs } from "./args.ts";
import { checkArgs, UNKNOWN_IN_PREVIEW, whenKnown } from "./check.ts";
import { environmentOf, type RuntimeEnvironment } from "./environment.ts";
import { throwExplained, gateOf, type CheckGate } from "./gate.ts";
import { gatewayImage } from "./image.ts";
import { judgeConfigText } from "./running-config.ts";

type Settings = WithDefaults<"host">;

const ANY = new Set(["0.0.0.0", "::"]);
/**
 * Maximum length, in characters, of default names. Docker's limit is 128, so suffixes such as `-former` still fit.
 */
const LONGEST_NAME = 63;

/**
 * An assistant gateway in one Docker container. If a new container fails a check, the deployment fails and the
 * previous container is restored.
 *
 * Pass the `docker` provider in `providers`, and the Docker Engine's address as `dockerHost`.
 */
export class HostGateway extends pulumi.ComponentResource {
  /** The service's address, without a trailing slash. */
  readonly url: pulumi.Output<string>;
  /** Id of the container's image. */
  readonly image: pulumi.Output<string>;
  /** Hash of all built code, including the Worker's. */
  readonly bundleHash: pulumi.Output<string>;
  readonly containerId: pulumi.Output<string>;
  /** Name of the data volume; `undefined` if the data is in a host directory. */
  readonly volumeName: pulumi.Output<string> | undefined;
  /** Host directory of the data; `undefined` if the data is in a volume. */
  readonly dataDirectory: string | undefined;
  /** Results of the service's checks, one line per check. */
  readonly readiness: pulumi.Output<string>;
  /** Id of the Discord application whose commands were registered; `undefined` without Discord. */
  readonly discordCommands: pulumi.Output<string> | undefined;

  /** @throws RunError that lists all problems with the arguments; no resource is registered */
  constructor(name: string, args: HostGatewayArgs, opts?: pulumi.ComponentResourceOptions) {
    const settings = withDefaults("host", args);
    const checked = checkArgs("host", name, settings);
    warnOfUnlistedPlugin();
    super("steward:index:HostGateway", name, {}, opts);

    if (settings.tenancy === "chat") explainChats(settings);
    const { dockerHost } = settings;
    const names = namesOf(name, settings);
    const hooks = nameHooks(names, dockerHost);
    const environment = environmentOf("host", settings);
    const engine = resolveEngine(dockerHost);
    const wanted = gatewayImage(settings, checked);
    const gate = gateOf(
      Promise.all([engine, wanted.checked, checked, hooks.registered]).then(([found, image]) =>
        checkHost(
          settings,
          names,
          environment,
          found,
          wanted.isOwn || image === UNKNOWN_IN_PREVIEW ? undefined : image,
        ),
      ),
    );
    const runtime = { ...environment, secrets: gatedSecrets(environment, gate) };
    const parent = { parent: this };
    const connection = { endpoints: settings.endpoints };
    const built = buildBundle().catch(throwExplained);
    const bundle = gate(built);
    warnOfPublicDiscordApp(runtime.secrets["DISCORD_BOT_TOKEN"], settings.endpoints?.discord);
    const secrets = new SecretChecks(`${name}-secrets`, { secrets: runtime.secrets, connection }, parent);
    const attestation = new AttestationKey(`${name}-attestation-key`, parent);
    const source = wanted.name === undefined ? imageBuild(built, engine, gate) : { name: gate(wanted.name) };
    const placement = new Placement(
      `${name}-placement`,
      {
        container: names.container,
        image: "name" in source ? source.name : imageName(source),
        volume: settings.dataDirectory === undefined ? names.volume : "",
        dockerHost,
      },
      parent,
    );
    const image = new Image(`${name}-image`, { source, round: placement.imageRound }, parent);
    const data =
      settings.dataDirectory === undefined
        ? createVolume(`${name}-data`, settings, {
            volumeName: gate(names.volume),
            hooks: hooks.volume,
            ...parent,
          })
        : { directory: settings.dataDirectory };
    const container = new Container(
      `${name}-service`,
      {
        shape: containerShape(settings, names),
        imageId: image.imageId,
        data,
        variables: runtime.variables,
        secrets: { ...runtime.secrets, [ATTESTATION_KEY_VARIABLE]: attestation.key },
        dockerHost,
        hooks: hooks.container,
        round: placement.containerRound,
      },
      { ...parent, dependsOn: secrets },
    );
    const service = new Service(
      `${name}-service`,
      {
        container: names.container,
        containerId: container.containerId,
        imageId: image.imageId,
        dockerHost,
        key: attestation.key,
        probe: probeEnvironment({
          url: `http://${addressOnHost(settings)}:${settings.port}`,
          // A custom image contains unknown code, so the bundle's hash is not checked.
          bundle: wanted.isOwn ? bundle.container.hash : undefined,
          attestation: attestation.expected(runtime),
          channels: channelsWithCredentials(runtime.secrets),
          alerts: runtime.secrets["ALERTS"] !== undefined,
          publicWebhooks: settings.publicWebhooks,
        }),
      },
      { ...parent, dependsOn: container },
    );
    const commands = createCommands(`${name}-discord-commands`, settings, runtime, {
      ...parent,
      dependsOn: service,
    });

    this.url = gate(engine).apply(
      ({ address }) => `http://${publicAddress(settings, address)}:${settings.port}`,
    );
    this.image = image.imageId;
    this.bundleHash = bundle.hash;
    this.containerId = container.containerId;
    this.volumeName = "volumeName" in data ? pulumi.output(data.volumeName) : undefined;
    this.dataDirectory = settings.dataDirectory;
    this.readiness = service.report;
    this.discordCommands = commands?.id;
    this.registerOutputs({ url: this.url, containerId: this.containerId, readiness: this.readiness });
  }
}

function namesOf(name: string, { containerName, volumeName }: Settings): HostNames {
  const parts = { project: pulumi.getProject(), stack: pulumi.getStack(), name };
  const container = containerName ?? defaultName(parts, LONGEST_NAME);
  return { container, volume: volumeName ?? fittingName(container, LONGEST_NAME, "-data") };
}

export function containerShape(settings: Settings, names: HostNames): Shape {
  return shapeOf({
    containerName: names.container,
    port: { external: settings.port, address: settings.address },
    memoryMiB: settings.memoryMiB,
    cpus: settings.cpus,
    maxProcesses: settings.maxProcesses,
    logs: { maxMiB: settings.logMaxMiB, files: settings.logFiles },
    isPerChat: settings.tenancy === "chat",
  });
}

function explainChats({ maxSandboxes = SANDBOXES.default, memoryMiB }: Settings): void {
  const [rights, first] = [CHAT_USERS.rights.join(", "), CHAT_USERS.first];
  void pulumi.log.info(
    `Each chat's gateway runs as a separate user, with ids from ${first}. For this, the container starts as root with only the capabilities ${rights}. If the engine does not support this, the preview reports it, or else the service when it starts.`,
  );
  const needed = memoryForChats(maxSandboxes);
  const { configSet } = commandsFor(operatorStack());
  if (needed > memoryMiB)
    void pulumi.log.warn(
      `${maxSandboxes} chat gateways need about ${needed} MiB in total, but the container is limited to ${memoryMiB} MiB. Raise the limit (${configSet("steward:memoryMiB", String(needed))}), or lower steward:maxSandboxes.`,
    );
}

function gatedSecrets({ secrets }: RuntimeEnvironment, gate: CheckGate): RuntimeEnvironment["secrets"] {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, gate(value)]));
}

/** Checks the host before anything is created, also in previews. */
async function checkHost(
  settings: Settings,
  names: HostNames,
  { variables, secrets }: RuntimeEnvironment,
  engine: DockerEngine,
  image: string | undefined,
): Promise<void> {
  const { memoryMiB, cpus, diskMiB, dataDirectory: directory, port, address } = settings;
  const known = await whenKnown(variables);
  const commands = commandsFor(operatorStack());
  await preflight({
    names,
    environment: engine.env,
    port: { external: port, address },
    directory,
    memoryMiB,
    cpus,
    diskMiB,
    chats: settings.tenancy === "chat" ? settings.maxSandboxes : undefined,
    image,
    commands,
    ...(known !== UNKNOWN_IN_PREVIEW && {
      judgeConfig: (text: string) => judgeConfigText(text, { variables: known, secrets }, commands),
    }),
  });
}

/**
 * Builds the base image on the container's Docker engine. Returns the inputs for building the gateway's image from
 * the base image.
 */
function imageBuild(bundle: Promise<Bundle>, engine: Promise<DockerEngine>, gate: CheckGate): ImageBuild {
  const log = (line: string) => void pulumi.log.info(line, undefined, undefined, true);
  const { context, hash } = gate(bundle).container;
  const base = gate(engine)
    .apply(({ env }) => ensureBaseImage({ log, env }).catch(throwExplained))
    .apply(({ image }) => image);
  const buildArgs = pulumi
    .all([hash, base])
    .apply(([built, on]) => buildArguments({ hash: built, base: on }));
  return { context, dockerfile: APP_DOCKERFILE, hash, buildArgs };
}

/** Creates the data volume. Not called if a host directory is configured. */
function createVolume(
  name: string,
  { protectState: protect }: Settings,
  {
    volumeName,
    hooks,
    parent,
  }: { volumeName: pulumi.Output<string>; hooks: pulumi.ResourceHook[]; parent: pulumi.Resource },
): DataPlace {
  return { volumeName: new Volume(name, { volumeName, protect, hooks }, { parent }).volumeName };
}

/**
 * Registers Discord's commands. Does not register webhooks, because Telegram is polled and the host's public address
 * is unknown.
 */
function createCommands(
  name: string,
  { discord, endpoints }: Settings,
  { secrets: { DISCORD_BOT_TOKEN: botToken } }: RuntimeEnvironment,
  opts: pulumi.CustomResourceOptions,
): DiscordCommands | undefined {
  const applicationId = discord?.applicationId;
  if (applicationId === undefined || botToken === undefined) return undefined;
  return new DiscordCommands(name, { botToken, applicationId, connection: { endpoints } }, opts);
}

/**
 * Returns the address at which people reach the service: the engine's host if a remote engine publishes the port on
 * all addresses, otherwise the published address.
 */
function publicAddress(settings: Settings, engineAddress: string): string {
  if (engineAddress.startsWith("ssh://") && ANY.has(settings.address)) return new URL(engineAddress).hostname;
  return addressOnHost(settings);
}

function addressOnHost({ address }: Settings): string {
  if (ANY.has(address)) return "127.0.0.1";
  return address.includes(":") ? `[${address}]` : address;
}

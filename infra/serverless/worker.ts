import { readFile } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";
import { parseAlerts } from "../../runtime/contract/alerts.ts";
import { BINDINGS, DIRECTORY_CLASS, SANDBOX_CLASS } from "../../runtime/contract/names.ts";
import * as cloudflare from "./cloudflare.ts";
import { Deployment } from "./deployment.ts";
import type { ConnectionArgs } from "../shell/resource.ts";
import type { Migration } from "./migration-list.ts";
import { Migrations } from "./migrations.ts";

interface WorkerArgs {
  accountId: pulumi.Input<string>;
  workerName: string;
  /** Host name in one of the account's zones. Default: none; the Worker is served on workers.dev. */
  hostname?: pulumi.Input<string> | undefined;
  mainModule: pulumi.Input<string>;
  modules: pulumi.Input<WorkerModule[]>;
  compatibility: { date: string; flags: readonly string[] };
  migrations: readonly Migration[];
  variables: Readonly<Record<string, pulumi.Input<string>>>;
  /** Secret variables, as Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
  /**
   * Alert settings as JSON. They contain the only sender and recipient addresses that the Worker can use for e-mail.
   * Default: no e-mail.
   */
  alerts?: pulumi.Input<string> | undefined;
  bucketName: pulumi.Input<string>;
  /** Binds the Durable Object that lists the tenants. A migration must create its class first. Default: false. */
  hasDirectory?: boolean | undefined;
  connection?: ConnectionArgs | undefined;
}

export class Worker extends pulumi.ComponentResource {
  readonly scriptName: pulumi.Output<string>;
  readonly versionId: pulumi.Output<string>;
  /** Deployment of the current version. Resources that use the Worker's Durable Object classes must depend on it. */
  readonly deployment: Deployment;

  constructor(name: string, args: WorkerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:Worker", name, {}, opts);
    const { accountId, compatibility, connection } = args;

    const worker = new cloudflare.Worker(
      name,
      {
        accountId,
        name: args.workerName,
        // Set the provider's defaults explicitly, because a refresh and `drift` compare only properties that are set.
        logpush: false,
        observability: { enabled: true, headSamplingRate: 1 },
        // A preview URL would bypass the identity gateway.
        subdomain: { enabled: args.hostname === undefined, previewsEnabled: false },
        tags: [],
        tailConsumers: [],
      },
      // Replace the Worker if its name changes: otherwise the provider would look for the Worker's resources under
      // the old name.
      { parent: this, replaceOnChanges: ["name"] },
    );
    const migrations = new Migrations(
      `${name}-migrate`,
      {
        accountId,
        worker,
        workerName: args.workerName,
        migrations: args.migrations,
        containerClass: SANDBOX_CLASS,
        compatibilityDate: compatibility.date,
        bucketName: args.bucketName,
        connection,
      },
      { parent: this },
    );
    const current = new cloudflare.WorkerVersion(
      `${name}-current`,
      {
        accountId,
        workerId: worker.id,
        compatibilityDate: compatibility.date,
        compatibilityFlags: [...compatibility.flags],
        mainModule: args.mainModule,
        modules: args.modules,
        bindings: bindings(args),
        containers: [{ className: SANDBOX_CLASS }],
      },
      { parent: this, dependsOn: migrations },
    );
    const deployment = new Deployment(
      `${name}-deployed`,
      {
        accountId,
        scriptName: worker.name,
        versions: [{ versionId: current.id, percentage: 100 }],
        lastTag: migrations.lastTag,
        connection,
      },
      { parent: this, dependsOn: migrations },
    );
    const domain =
      args.hostname === undefined
        ? undefined
        : new cloudflare.WorkersCustomDomain(
            `${name}-domain`,
            { accountId, hostname: args.hostname, service: worker.name },
            // Delete the old domain first: a host name can point to only one Worker.
            { parent: this, dependsOn: deployment, deleteBeforeReplace: true },
          );

    this.scriptName = worker.name;
    this.versionId = current.id;
    this.deployment = deployment;
    this.registerOutputs({
      scriptName: this.scriptName,
      versionId: this.versionId,
      hostname: domain?.hostname,
    });
  }
}

type Binding = cloudflare.types.input.WorkerVersionBinding & { name: string };

/** Returns the bindings sorted by name, as Cloudflare sorts them. Another order would show as drift. */
function bindings(args: WorkerArgs): pulumi.Input<Binding[]> {
  const { variables, secrets, bucketName, hasDirectory, alerts } = args;
  const all: Binding[] = [
    ...Object.entries(variables).map(([name, text]) => ({ name, type: "plain_text", text })),
    ...Object.entries(secrets).map(([name, text]) => ({ name, type: "secret_text", text })),
    objectBinding(BINDINGS.sandbox, SANDBOX_CLASS),
    ...(hasDirectory ? [objectBinding(BINDINGS.directory, DIRECTORY_CLASS)] : []),
    { name: BINDINGS.state, type: "r2_bucket", bucketName },
    { name: BINDINGS.version, type: "version_metadata" },
  ];
  const complete = (text = ""): Binding[] =>
    [...all, ...emailBinding(text)].sort((a, b) => (a.name < b.name ? -1 : 1));
  // Call `apply` only if `alerts` is an output, because `apply` turns all bindings into an output.
  return alerts === undefined || typeof alerts === "string"
    ? complete(alerts)
    : (pulumi.output(alerts).apply(complete) as pulumi.Input<Binding[]>);
}

function objectBinding(name: string, className: string): Binding {
  return { name, type: "durable_object_namespace", className };
}

function emailBinding(alerts: string): Binding[] {
  const email = parseAlerts(alerts)?.email;
  if (email === undefined) return [];
  return [
    {
      name: BINDINGS.email,
      type: "send_email",
      allowedDestinationAddresses: [pulumi.secret(email.to)],
      allowedSenderAddresses: [pulumi.secret(email.from)],
    },
  ];
}

interface WorkerModule {
  name: string;
  contentType: string;
  contentBase64: string;
}

interface ModuleFile {
  name: string;
  path: string;
  contentType: string;
}

/** Reads built modules. The result contains no paths, so a deployment from another machine shows no change. */
export function readModules(files: readonly ModuleFile[]): Promise<WorkerModule[]> {
  return Promise.all(
    files.map(async ({ name, path, contentType }) => ({
      name,
      contentType,
      contentBase64: (await readFile(path)).toString("base64"),
    })),
  );
}

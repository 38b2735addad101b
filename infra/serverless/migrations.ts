import * as pulumi from "@pulumi/pulumi";
import * as cloudflare from "./cloudflare.ts";
import { type Migration, type MigrationStep, migrationSteps } from "./migration-list.ts";

/** Arguments of {@link Migrations}. */
interface MigrationsArgs {
  accountId: string;
  worker: cloudflare.Worker;
  /** A list that `checkMigrations` finds nothing wrong with. */
  migrations: readonly Migration[];
  /** The class that owns the container. A class that is created without this can never get one. */
  containerClass: string;
  /** `YYYY-MM-DD` */
  compatibilityDate: string;
}

/**
 * The Worker's applied migrations: for each tag one frozen version that carries the migration, and
 * the frozen deployment that applies it. Frozen, since every change of a version replaces it, and a
 * replacement would send its migration again, which Cloudflare refuses once the tag is applied.
 *
 * The version's code is not the bundle but the smallest module that exports the classes: it serves
 * for the seconds until the current version takes over, and asks callers to come again.
 */
export class Migrations extends pulumi.ComponentResource {
  /** The deployment that applied the last tag: what binds a class has to wait for it. */
  readonly last: cloudflare.WorkersDeployment;
  /** The last tag. A deployment of the current version that does not change with it is not the last one. */
  readonly lastTag: string;

  constructor(name: string, args: MigrationsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:Migrations", name, {}, opts);
    const [first, ...rest] = migrationSteps(args.migrations);
    if (!first) throw new pulumi.InputPropertyError({ propertyPath: "migrations", reason: "it is empty" });

    // A Worker of another name begins without classes: it gets every migration, and the program's own of today.
    const frozen = { parent: this, ignoreChanges: ["*"], replaceWith: [args.worker] };
    let last = createStep(name, args, first, frozen);
    for (const step of rest) last = createStep(name, args, step, { ...frozen, dependsOn: last });

    this.last = last;
    this.lastTag = (rest.at(-1) ?? first).newTag;
    this.registerOutputs({ deploymentId: last.id, lastTag: this.lastTag });
  }
}

function createStep(
  name: string,
  args: MigrationsArgs,
  step: MigrationStep,
  opts: pulumi.CustomResourceOptions,
): cloudflare.WorkersDeployment {
  const version = new cloudflare.WorkerVersion(`${name}-${step.newTag}`, versionArgs(args, step), opts);
  return new cloudflare.WorkersDeployment(
    `${name}-${step.newTag}-deployed`,
    {
      accountId: args.accountId,
      scriptName: args.worker.name,
      strategy: "percentage",
      versions: [{ percentage: 100, versionId: version.id }],
    },
    opts,
  );
}

function versionArgs(args: MigrationsArgs, step: MigrationStep): cloudflare.WorkerVersionArgs {
  const { oldTag, newTag, created, classes } = step;
  return {
    accountId: args.accountId,
    workerId: args.worker.id,
    compatibilityDate: args.compatibilityDate,
    mainModule: "index.js",
    modules: [
      {
        name: "index.js",
        contentType: "application/javascript+module",
        contentBase64: Buffer.from(moduleText(classes)).toString("base64"),
      },
    ],
    migrations: {
      ...(oldTag && { oldTag }),
      newTag,
      ...(created.length > 0 && { newSqliteClasses: created }),
    },
    ...(classes.includes(args.containerClass) && { containers: [{ className: args.containerClass }] }),
  };
}

function moduleText(classes: readonly string[]): string {
  return [
    'import { DurableObject } from "cloudflare:workers";',
    ...classes.map((name) => `export class ${name} extends DurableObject {}`),
    "const init = { status: 503, headers: { 'retry-after': '5' } };",
    "export default { fetch: () => new Response('A new version is being deployed.', init) };",
    "",
  ].join("\n");
}

import * as pulumi from "@pulumi/pulumi";
import { type Route, type RouteAccess, ROUTES } from "../../runtime/contract/routes.ts";
import * as cloudflare from "./cloudflare.ts";

export interface AccessGateArgs {
  accountId: pulumi.Input<string>;
  /** Prefix for the names of everything created in the account. */
  label: string;
  host: pulumi.Input<string>;
  /** E-mail addresses. At least one. */
  operators: readonly pulumi.Input<string>[];
  /** True if platform webhooks may reach the Worker without an identity. */
  publicWebhooks: boolean;
}

/** Lifetime of a sign-in. */
const SESSION = "24h";
/** Provider defaults. Set explicitly, because a refresh and `drift` compare only properties that the program sets. */
const POLICY = { excludes: [], requires: [], sessionDuration: SESSION };

/** Paths that need an identity. Folders become wildcards, such as `/_admin*`; single routes stay exact. */
const PRIVATE_PATHS = foldersOf(pathsWith("identity"));
/** Paths that platforms and probes call. Each webhook handler checks its platform's signature. */
const PUBLIC_PATHS = [...pathsWith("webhook"), ROUTES.live.path];

/**
 * Cloudflare Access login for the admin and debug paths. The Worker also verifies that each login token was issued
 * for `audience`.
 */
export class AccessGate extends pulumi.ComponentResource {
  readonly audience: pulumi.Output<string>;

  constructor(name: string, args: AccessGateArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:serverless:AccessGate", name, {}, opts);
    const { accountId, label } = args;

    const operators = new cloudflare.ZeroTrustAccessPolicy(
      `${name}-operators`,
      {
        accountId,
        name: `${label} operators`,
        decision: "allow",
        includes: args.operators.map((email) => ({ email: { email } })),
        ...POLICY,
      },
      { parent: this },
    );
    const application = new cloudflare.ZeroTrustAccessApplication(
      name,
      applicationArgs(args, label, PRIVATE_PATHS, operators),
      { parent: this },
    );
    const publicPaths = args.publicWebhooks ? createPublicPaths(name, args, { parent: this }) : undefined;

    this.audience = application.aud;
    this.registerOutputs({ audience: this.audience, publicApplicationId: publicPaths?.id });
  }
}

function createPublicPaths(
  name: string,
  args: AccessGateArgs,
  opts: pulumi.CustomResourceOptions,
): cloudflare.ZeroTrustAccessApplication {
  const label = `${args.label} public`;
  const everyone = new cloudflare.ZeroTrustAccessPolicy(
    `${name}-everyone`,
    { accountId: args.accountId, name: label, decision: "bypass", includes: [{ everyone: {} }], ...POLICY },
    opts,
  );
  return new cloudflare.ZeroTrustAccessApplication(
    `${name}-public`,
    applicationArgs(args, label, PUBLIC_PATHS, everyone),
    opts,
  );
}

function applicationArgs(
  { accountId, host }: AccessGateArgs,
  label: string,
  paths: readonly string[],
  policy: cloudflare.ZeroTrustAccessPolicy,
): cloudflare.ZeroTrustAccessApplicationArgs {
  return {
    accountId,
    name: label,
    type: "self_hosted",
    destinations: paths.map((path) => ({ type: "public", uri: pulumi.interpolate`${host}${path}` })),
    policies: [{ id: policy.id, precedence: 1 }],
    appLauncherVisible: true,
    httpOnlyCookieAttribute: true,
    sessionDuration: SESSION,
  };
}

function pathsWith(wanted: RouteAccess): string[] {
  return Object.values<Route>(ROUTES).flatMap(({ access, path }) => (access === wanted ? [path] : []));
}

function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set(paths.map((path) => `/${path.split("/")[1]}`));
  return [...folders].map((folder) =>
    paths.every((path) => path === folder || !path.startsWith(folder)) ? folder : `${folder}*`,
  );
}

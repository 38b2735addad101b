import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { slackRoot } from "./endpoints.ts";
import { askPlatform, bodyFields } from "./platform-call.ts";
import { say } from "../shell/connection.ts";

const TOKEN_ERRORS = ["not_authed", "invalid_auth", "token_expired", "token_revoked", "account_inactive"];

/** Inputs of {@link SlackApp}. The configuration token is needed only to set a changed manifest. */
interface SlackAppInputs extends SlackAppAccess {
  /** JSON: https://docs.slack.dev/reference/app-manifest */
  manifest: string;
}

/**
 * Provider of {@link SlackApp}. The resource's id is the app's id, so switching to another app replaces the resource.
 */
export const slackAppProvider: ResourceProvider<SlackAppInputs, SlackAppInputs> = {
  async diff(id, olds, news) {
    const replaces = id === news.appId ? [] : ["appId"];
    return { changes: replaces.length > 0 || olds.manifest !== news.manifest, replaces };
  },

  async create(inputs) {
    await updateManifest(inputs);
    return { id: inputs.appId, outs: inputs };
  },

  /** Reads the app's manifest. A changed value, such as an address, is drift; fields that Slack adds are not. */
  async read(id, props) {
    const answer = await askSlack(props, "apps.manifest.export");
    if (answer.refused) {
      say("Slack's app was not checked: the configuration token has expired.");
      return { id, inputs: props, props };
    }
    const manifest = containsDeep(answer.body["manifest"], JSON.parse(props.manifest))
      ? props.manifest
      : JSON.stringify(answer.body["manifest"]);
    const inputs = { ...props, manifest };
    return { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await updateManifest(news);
    return { outs: news };
  },

  /** Keeps the app, because the operator owns it. */
  async delete() {},
};

/** https://docs.slack.dev/reference/methods/apps.manifest.update */
async function updateManifest(inputs: SlackAppInputs): Promise<void> {
  const body = await callSlack(inputs, "apps.manifest.update", { manifest: inputs.manifest });
  if (body["permissions_updated"] !== true) return;
  say(`The permissions of Slack's app ${inputs.appId} have changed: reinstall it in its workspace.`);
}

/**
 * Returns true if `found` contains everything in `wanted`. Objects may have additional fields. Lists may not, because
 * an additional scope or event is an unwanted permission.
 */
function containsDeep(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return found === wanted;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return false;
    return wanted.every((item) => found.some((other) => containsDeep(other, item)));
  }
  if (typeof found !== "object" || found === null) return false;
  return Object.entries(wanted).every(([key, value]) =>
    containsDeep((found as Record<string, unknown>)[key], value),
  );
}

interface SlackAppAccess {
  /** Such as `A0123456789`. */
  appId: string;
  /**
   * App configuration token, valid for 12 hours:
   * https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests#config-tokens
   */
  configToken: string;
}

/** Slack's response. `refused` means that Slack rejects the token. */
type SlackAnswer = { refused: true } | { refused: false; body: Record<string, unknown> };

/** Calls a method of the App Manifest API: https://docs.slack.dev/reference/methods#apps.manifest */
async function askSlack(
  { appId, configToken }: SlackAppAccess,
  method: string,
  parameters: object = {},
): Promise<SlackAnswer> {
  const headers = { authorization: `Bearer ${configToken}` };
  const body = { app_id: appId, ...parameters };
  const answer = await askPlatform("POST", `${slackRoot()}/${method}`, headers, body);
  if (answer.status === 0 || answer.status >= 500) {
    throw new StewardError("registration_unreachable", `Slack did not answer ${method}`);
  }
  const fields = bodyFields(answer.body);
  if (fields["ok"] === true) return { refused: false, body: fields };
  const error = String(fields["error"] ?? answer.status);
  if (TOKEN_ERRORS.includes(error)) return { refused: true };
  throw new StewardError(
    "registration_refused",
    `Slack rejects ${method}: ${[error, ...problemsOf(fields)].join("; ")}`,
  );
}

/** Like {@link askSlack}, but throws if Slack rejects the token. */
async function callSlack(
  access: SlackAppAccess,
  method: string,
  parameters: object = {},
): Promise<Record<string, unknown>> {
  const answer = await askSlack(access, method, parameters);
  if (answer.refused)
    throw new StewardError("slack_config_token_invalid", "Slack refuses the app configuration token");
  return answer.body;
}

function problemsOf({ errors }: Record<string, unknown>): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((error: unknown) => {
    const { pointer = "", message = "" } = bodyFields(error);
    return `${String(pointer)} ${String(message)}`.trim();
  });
}

export interface SlackAppArgs {
  /** Such as `A0123456789`. */
  appId: pulumi.Input<string>;
  /** App configuration token; a Pulumi secret. */
  configToken: pulumi.Output<string>;
  /** JSON. */
  manifest: pulumi.Input<string>;
  connection?: ConnectionArgs | undefined;
}

/**
 * The manifest of an existing Slack app. Must depend on the readiness check, because Slack calls the service when the
 * manifest is set.
 */
export class SlackApp extends OwnResource {
  constructor(name: string, args: SlackAppArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["configToken"] };
    super("channels:SlackApp", name, args, secret);
  }
}

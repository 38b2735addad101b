import type { dynamic } from "@pulumi/pulumi";
import { configureEndpoints } from "./endpoints.ts";
import { askSlack, callSlack, type SlackAppAccess } from "./slack-api.ts";

/**
 * The dynamic provider of `SlackApp`. Pulumi serialises what is reachable from here into the stack's state, so
 * it captures texts alone. A configuration token is good for half a day: it is used where the manifest changes, and
 * what is unchanged asks for none.
 */

/** An app, and what it has to be. */
export interface SlackAppInputs extends SlackAppAccess {
  /** JSON: https://docs.slack.dev/reference/app-manifest */
  manifest: string;
}

/** See {@link SlackAppInputs}. The id is the app's own, so another app is a replacement. */
export const slackAppProvider: dynamic.ResourceProvider<SlackAppInputs, SlackAppInputs> = {
  configure: configureEndpoints,

  async diff(id, olds, news) {
    const replaces = id === news.appId ? [] : ["appId"];
    return { changes: replaces.length > 0 || olds.manifest !== news.manifest, replaces };
  },

  async create(inputs) {
    await updateManifest(inputs);
    return { id: inputs.appId, outs: inputs };
  },

  /** Another address in the app is drift; Slack adds members of its own to a manifest, which are none. */
  async read(id, props) {
    if (!props) throw new Error("An app cannot be imported: deploy, and its manifest is set.");
    const answer = await askSlack(props, "apps.manifest.export");
    if (answer.refused) {
      process.stdout.write("Slack's app is not looked at: the configuration token has expired.\n");
      return { id, inputs: props, props };
    }
    const manifest = holds(answer.body["manifest"], JSON.parse(props.manifest))
      ? props.manifest
      : JSON.stringify(answer.body["manifest"]);
    const inputs = { ...props, manifest };
    return { id, inputs, props: inputs };
  },

  async update(_id, _olds, news) {
    await updateManifest(news);
    return { outs: news };
  },

  /** The app is the operator's own, and stays. */
  async delete() {},
};

/** https://docs.slack.dev/reference/methods/apps.manifest.update */
async function updateManifest(inputs: SlackAppInputs): Promise<void> {
  const body = await callSlack(inputs, "apps.manifest.update", { manifest: inputs.manifest });
  if (body["permissions_updated"] !== true) return;
  process.stdout.write(
    `Slack's app ${inputs.appId} has other permissions now: reinstall it to its workspace.\n`,
  );
}

/** Whether everything that is wanted is there, at any depth. */
function holds(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return found === wanted;
  if (typeof found !== "object" || found === null) return false;
  return Object.entries(wanted).every(([key, value]) =>
    holds((found as Record<string, unknown>)[key], value),
  );
}

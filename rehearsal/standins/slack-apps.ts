import { Hono, type Context } from "hono";

export interface SlackAppOptions {
  id: string;
  configToken: string;
}

/**
 * Returns routes of Slack's App Manifest API for one app:
 * https://docs.slack.dev/reference/methods/apps.manifest.update
 * Not modelled: manifest validation, Slack's verification of a changed request URL, token expiry and rotation.
 */
export function slackApps(app: SlackAppOptions) {
  let manifest: Record<string, unknown> = {};
  let scopes = "";
  const routes = new Hono();
  const asked = async (context: Context): Promise<Record<string, string> | Response> => {
    if (context.req.header("authorization") !== `Bearer ${app.configToken}`) {
      return context.json({ ok: false, error: "invalid_auth" });
    }
    const body = await context.req.json<Record<string, string>>();
    return body["app_id"] === app.id ? body : context.json({ ok: false, error: "app_not_found" });
  };
  routes.post("/apps.manifest.update", async (context) => {
    const body = await asked(context);
    if (body instanceof Response) return body;
    const given = parse(body["manifest"] ?? "");
    if (given === undefined) {
      const errors = [{ message: "must be JSON", pointer: "/" }];
      return context.json({ ok: false, error: "invalid_manifest", errors });
    }
    manifest = given;
    const before = scopes;
    scopes = JSON.stringify(given["oauth_config"]);
    return context.json({ ok: true, app_id: app.id, permissions_updated: before !== scopes });
  });
  routes.post("/apps.manifest.export", async (context) => {
    const body = await asked(context);
    if (body instanceof Response) return body;
    return context.json({ ok: true, manifest: { ...manifest, _metadata: { major_version: 1 } } });
  });
  return {
    routes,
    manifest: () => manifest,
    edit: (changes: Record<string, unknown>): void => {
      manifest = { ...manifest, ...changes };
    },
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

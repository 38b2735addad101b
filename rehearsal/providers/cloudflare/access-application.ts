import { text, type Properties } from "../values.ts";
import { without, type ResourceDefinition } from "./definition.ts";
import { restOperations } from "./rest.ts";
import { bodyOf, withDefaults } from "./shape.ts";

const DEFAULTS: Properties = {
  appLauncherVisible: true,
  httpOnlyCookieAttribute: true,
  sessionDuration: "24h",
};

/** An Access application. Its `aud` is the audience of the sign-in tokens that Access issues. */
export const accessApplication: ResourceDefinition = {
  type: "cloudflare:index/zeroTrustAccessApplication:ZeroTrustAccessApplication",
  required: ["accountId", "name", "type"],
  optional: ["appLauncherVisible", "destinations", "httpOnlyCookieAttribute", "policies", "sessionDuration"],
  replaceOn: ["accountId"],
  defaults: DEFAULTS,
  unanswered: ["accountId"],
  importable: true,
  ...restOperations({
    path: (inputs) => `/accounts/${text(inputs, "accountId")}/access/apps`,
    body: (inputs) => bodyOf(withDefaults(DEFAULTS, without(inputs, "accountId"))),
  }),
};

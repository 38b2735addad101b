import type { AccountStore } from "../cloudflare/index.ts";
import type { IdentityGatewayOptions } from "./gateway.ts";
import { decide } from "./policy.ts";

export function accountAdmission(account: AccountStore): IdentityGatewayOptions["admit"] {
  return ({ aud, email }) => {
    const application = account.state.accessApplications.find((one) => one.aud === aud);
    if (application === undefined) return { allowed: false, reason: "no application has this audience" };
    return decide(account.state, application, email);
  };
}

export { startFront, type Front, type FrontOptions } from "./front.ts";
export { startIdentityGateway, type IdentityGateway, type IdentityGatewayOptions } from "./gateway.ts";
export { accountAdmission } from "./account-admission.ts";
export type { Decision } from "./policy.ts";

export { startFront, type Front } from "./front.ts";
export { startIdentityGateway, type IdentityGateway } from "./gateway.ts";
export { accountAdmission } from "./account-admission.ts";

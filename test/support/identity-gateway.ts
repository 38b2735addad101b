import { onTestFinished } from "vitest";
import { openIdentityGateway } from "./identity-keys.ts";

/** {@link openIdentityGateway}, ended with the test. */
export async function identityGateway() {
  const { close, ...gateway } = await openIdentityGateway();
  onTestFinished(close);
  return gateway;
}

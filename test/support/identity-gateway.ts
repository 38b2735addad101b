import { onTestFinished } from "vitest";
import { openIdentityGateway } from "./identity-keys.ts";

/** Starts {@link openIdentityGateway} until the test ends. */
export async function identityGateway() {
  const { close, ...gateway } = await openIdentityGateway();
  onTestFinished(close);
  return gateway;
}

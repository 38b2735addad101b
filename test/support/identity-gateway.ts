import { onTestFinished } from "vitest";
import { openIdentityGateway } from "./identity-keys.ts";

export async function identityGateway() {
  const { close, ...gateway } = await openIdentityGateway();
  onTestFinished(close);
  return gateway;
}

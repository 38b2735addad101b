import { onTestFinished } from "vitest";
import { startIdentityKeys, type IdentityKeys } from "./identity-keys.ts";

/** {@link startIdentityKeys}, ended with the test. */
export async function identityGateway(): Promise<IdentityKeys> {
  const keys = await startIdentityKeys();
  onTestFinished(() => keys.close());
  return keys;
}

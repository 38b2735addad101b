import { hmacHex } from "./digest.ts";
import { ownNames, SECRET_NAMES, type Environment, type VariableName } from "./variables.ts";

/**
 * Hashes that identify the secrets of a running deployment without revealing them. Only the stack and its deployment
 * know the hashes' key.
 */
export interface Attestation {
  /** Hash over all secrets that are set. */
  all: string;
  /** Hash of each secret that is set, by name. */
  secrets: Record<string, string>;
}

export const ATTESTATION_KEY_VARIABLE = "ATTESTATION_KEY" satisfies VariableName;

const HASH_LENGTH = 16;
const ATTESTED = SECRET_NAMES.filter((name) => name !== ATTESTATION_KEY_VARIABLE).sort();

/** Returns the attestation of an environment's nonempty secrets. */
export async function attest(key: string, environment: Environment): Promise<Attestation> {
  const hash = async (text: string): Promise<string> => (await hmacHex(key, text)).slice(0, HASH_LENGTH);
  const secrets: Attestation["secrets"] = {};
  for (const name of [...ATTESTED, ...ownNames(environment, { secretOnly: true })]) {
    const value = environment[name];
    if (value) secrets[name] = await hash(`${name}\0${value}`);
  }
  return { all: await hash(JSON.stringify(secrets)), secrets };
}

/** Returns the attestation of the deployment's secrets; `undefined` if there is no ATTESTATION_KEY. */
export type Attest = () => Promise<Attestation | undefined>;

/** Returns a function that attests an environment's secrets with its ATTESTATION_KEY. */
export function attestationOf(environment: Environment): Attest {
  let reckoned: Promise<Attestation> | undefined;
  return async () => {
    const key = environment[ATTESTATION_KEY_VARIABLE];
    if (!key) return undefined;
    return (reckoned ??= attest(key, environment));
  };
}

import { hmacHex } from "./digest.ts";
import { ownNames, SECRET_NAMES, type Environment, type VariableName } from "./variables.ts";

/**
 * Attestation of the secrets that run, without a word about them: hashes under a key that only the stack and what it deployed know.
 * The same key and secrets give the same hashes, wherever they are made.
 */
export interface Attestation {
  /** Over all secrets that are set. */
  all: string;
  /** For each that is set. */
  secrets: Record<string, string>;
}

/** The variable that holds the key. */
export const ATTESTATION_KEY_VARIABLE = "ATTESTATION_KEY" satisfies VariableName;

const HASH_LENGTH = 16;
const ATTESTED = SECRET_NAMES.filter((name) => name !== ATTESTATION_KEY_VARIABLE).sort();

/** Returns what an environment's secrets come to under this key. Other entries, and empty ones, are not looked at. */
export async function attest(key: string, environment: Environment): Promise<Attestation> {
  const hash = async (text: string): Promise<string> => (await hmacHex(key, text)).slice(0, HASH_LENGTH);
  const secrets: Attestation["secrets"] = {};
  for (const name of [...ATTESTED, ...ownNames(environment, { secretOnly: true })]) {
    const value = environment[name];
    if (value) secrets[name] = await hash(`${name}\0${value}`);
  }
  return { all: await hash(JSON.stringify(secrets)), secrets };
}

/** Tells what runs; `undefined` without a key. Reckoned when it is first asked for. */
export type Attest = () => Promise<Attestation | undefined>;

/** The attestation of an environment with its own key. */
export function attestationOf(environment: Environment): Attest {
  let reckoned: Promise<Attestation> | undefined;
  return async () => {
    const key = environment[ATTESTATION_KEY_VARIABLE];
    if (!key) return undefined;
    return (reckoned ??= attest(key, environment));
  };
}

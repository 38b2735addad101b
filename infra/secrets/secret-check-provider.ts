import type { dynamic } from "@pulumi/pulumi";
import { ERRORS } from "../../runtime/contract/errors.ts";
import { configureEndpoints } from "../channels/endpoints.ts";
import { knownError } from "../channels/platform-call.ts";
import { TRIALS, type TriedVariable, type Verdict } from "./trial.ts";

/**
 * The dynamic provider of `SecretCheck`. Pulumi serialises what is reachable from here into the stack's state,
 * so it captures texts alone; the value comes as a secret input and is kept as one, to see when it changes.
 */

/** A secret's value, and what it is. */
export interface SecretCheckInputs {
  variable: TriedVariable;
  value: string;
}

const REFUSED = { code: "secret_refused", ...ERRORS.secret_refused };
const UNTRIED = { code: "secret_untried", ...ERRORS.secret_untried };

/** See {@link SecretCheckInputs}. A value that has not changed is not tried again. */
export const secretCheckProvider: dynamic.ResourceProvider<SecretCheckInputs, SecretCheckInputs> = {
  configure: configureEndpoints,

  async diff(_id, olds, news) {
    return { changes: olds.value !== news.value };
  },

  /** There is no value yet that serves: a platform that is down does not hold up a first deployment. */
  async create(inputs) {
    if ((await tried(inputs)) === "silent") {
      const { key, platform } = TRIALS[inputs.variable];
      process.stdout.write(`Warning: ${platform} did not answer, so ${key} goes out untried.\n`);
    }
    return { id: inputs.variable, outs: inputs };
  },

  /** The value before serves, and goes only for one that was taken. */
  async update(_id, _olds, news) {
    if ((await tried(news)) === "silent") {
      const { key, platform } = TRIALS[news.variable];
      throw knownError(UNTRIED, `${platform} did not answer for ${key}`);
    }
    return { outs: news };
  },
};

async function tried({ variable, value }: SecretCheckInputs): Promise<Verdict> {
  const { key, platform, ask } = TRIALS[variable];
  const verdict = await ask(value);
  if (verdict === "refused") throw knownError(REFUSED, `${platform} refuses the value of ${key}`);
  return verdict;
}

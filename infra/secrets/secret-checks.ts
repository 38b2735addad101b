import * as pulumi from "@pulumi/pulumi";
import { StewardError } from "../../runtime/contract/errors.ts";
import { type ConnectionArgs, OwnResource } from "../shell/resource.ts";
import type { ResourceProvider } from "../shell/provider.ts";
import { TRIALS, type TriedVariable, type Verdict } from "./trial.ts";
import { say } from "../shell/connection.ts";

/** Inputs of a check. The state stores `value` as a secret, for comparison with the next value. */
export interface SecretCheckInputs {
  variable: TriedVariable;
  value: string;
}

/** Provider of {@link SecretCheck}. It tests only changed values. */
export const secretCheckProvider: ResourceProvider<SecretCheckInputs, SecretCheckInputs> = {
  async diff(_id, olds, news) {
    return { changes: olds.value !== news.value };
  },

  /**
   * Tests a secret's first value. If the platform does not respond, only warns, because a first value does not
   * replace a working one.
   */
  async create(inputs) {
    if ((await checkSecret(inputs)) === "silent") {
      const { key, platform } = TRIALS[inputs.variable];
      say(`Warning: ${platform} did not answer, so ${key} is deployed untested.`);
    }
    return { id: inputs.variable, outs: inputs };
  },

  /** Tests a new value. Fails if the platform does not respond: an untested value must not replace the one in use. */
  async update(_id, _olds, news) {
    if ((await checkSecret(news)) === "silent") {
      const { key, platform } = TRIALS[news.variable];
      throw new StewardError("secret_untried", `${platform} did not answer for ${key}`);
    }
    return { outs: news };
  },
};

async function checkSecret({ variable, value }: SecretCheckInputs): Promise<Verdict> {
  const { key, platform, ask } = TRIALS[variable];
  const verdict = await ask(value);
  if (verdict === "refused") {
    throw new StewardError("secret_refused", `${platform} refuses the value of ${key}.`, {
      fix: ({ configSet }) =>
        `Set the right value with \`${configSet(key, "<value>", { secret: true })}\`, then deploy again.`,
    });
  }
  return verdict;
}

export interface SecretChecksArgs {
  /** Values to deploy, by variable. They must be Pulumi secrets. */
  secrets: Readonly<Record<string, pulumi.Output<string>>>;
  connection?: ConnectionArgs | undefined;
}

/**
 * Tests every secret that its platform can verify. Everything that uses the secrets must depend on this component, so
 * that an invalid value is never deployed.
 */
export class SecretChecks extends pulumi.ComponentResource {
  constructor(name: string, args: SecretChecksArgs, opts?: pulumi.ComponentResourceOptions) {
    super("steward:secrets:SecretChecks", name, {}, opts);

    const { connection } = args;
    const checks = Object.entries(args.secrets).flatMap(([variable, value]) =>
      isTried(variable)
        ? [new SecretCheck(`${name}-${nameOf(variable)}`, { variable, value, connection }, { parent: this })]
        : [],
    );

    this.registerOutputs({ tried: checks.map(({ id }) => id) });
  }
}

function isTried(variable: string): variable is TriedVariable {
  return Object.hasOwn(TRIALS, variable);
}

function nameOf(variable: TriedVariable): string {
  return variable.toLowerCase().replaceAll("_", "-");
}

interface SecretCheckArgs {
  variable: TriedVariable;
  /** A Pulumi secret. */
  value: pulumi.Output<string>;
  connection?: ConnectionArgs | undefined;
}

/** Resource that stores a secret's last tested value in the Pulumi state and creates nothing else. */
class SecretCheck extends OwnResource {
  constructor(name: string, args: SecretCheckArgs, opts?: pulumi.CustomResourceOptions) {
    const secret = { ...opts, additionalSecretOutputs: ["value"] };
    super("secrets:SecretCheck", name, args, secret);
  }
}

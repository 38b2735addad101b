import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "./files.ts";
import { emptyAccount, type AccountState } from "./state.ts";

const FILE = "account.json";

/**
 * An emulated account, stored as one JSON file with mode 0600 because it contains secrets. Changes run one at a time
 * on a copy, so a failed change has no effect.
 */
export class AccountStore {
  readonly #file: string;
  #state: AccountState;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: string, state: AccountState) {
    this.#file = file;
    this.#state = state;
  }

  /**
   * Opens the account in `dir`, or creates it.
   *
   * @throws if the file in `dir` belongs to another account
   */
  static open(dir: string, accountId: string, subdomain: string): AccountStore {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const file = join(dir, FILE);
    // Add lists that the file of an older version lacks.
    const state: AccountState = { ...emptyAccount(accountId, subdomain), ...read(file) };
    if (state.accountId !== accountId) {
      throw new Error(`${file} belongs to account ${state.accountId}, not ${accountId}`);
    }
    return new AccountStore(file, { ...state, subdomain });
  }

  /** Never mutated in place. */
  get state(): Readonly<AccountState> {
    return this.#state;
  }

  /** Applies `change` to a copy of the state. Stores the copy if `change` succeeds. */
  change<T>(change: (draft: AccountState) => T | Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      const draft = structuredClone(this.#state);
      const result = await change(draft);
      writeAtomically(this.#file, JSON.stringify(draft, undefined, 1));
      this.#state = draft;
      return result;
    };
    const done = this.#last.then(run, run);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all requested changes are done. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

function read(file: string): AccountState | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as AccountState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${file} cannot be read; remove it to start with an empty account`, { cause: error });
  }
}

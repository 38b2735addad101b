import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "./files.ts";
import { emptyAccount, type AccountState } from "./state.ts";

const FILE = "account.json";

/**
 * An emulated account on disk: one JSON document, replaced as a whole at every change.
 * Changes run one after the other, each on a copy that counts only when it succeeds, so a refused
 * deployment leaves nothing behind. The file holds the secrets of versions, hence mode 0600.
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
   * Reads the account below `dir`, or starts an empty one.
   * @throws when the directory holds another account's file
   */
  static open(dir: string, accountId: string, subdomain: string): AccountStore {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const file = join(dir, FILE);
    // A file of an older version lacks the lists that came later.
    const state: AccountState = { ...emptyAccount(accountId, subdomain), ...read(file) };
    if (state.accountId !== accountId) {
      throw new Error(`${file} belongs to account ${state.accountId}, not ${accountId}`);
    }
    return new AccountStore(file, { ...state, subdomain });
  }

  /** The account as it stands. Never changed in place. */
  get state(): Readonly<AccountState> {
    return this.#state;
  }

  /** Changes a copy of the account and, when `change` succeeds, keeps and stores it. */
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

  /** Resolves when every change that was asked for is done. */
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

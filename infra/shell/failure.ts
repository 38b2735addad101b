/**
 * What went wrong on this machine while something was built or looked for, with what to do about it.
 * `code` is stable: tests, CI and people search for it.
 */
export class BuildFailure extends Error {
  readonly code: string;
  readonly fix: string;

  constructor(code: string, message: string, fix: string) {
    super(`${message}\n  fix: ${fix} [${code}]`);
    this.name = "BuildFailure";
    this.code = code;
    this.fix = fix;
  }
}

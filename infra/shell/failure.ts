import { type Fix, fixText } from "../../runtime/contract/errors.ts";

const DIAGNOSTICS = "\nDiagnostics:\n";

/**
 * Failure on this machine while something was built or looked for, with what to do about it.
 * `code` is stable: tests, CI and people search for it.
 */
export class BuildFailure extends Error {
  readonly code: string;
  readonly reason: string;
  readonly fix: Fix;

  constructor(code: string, reason: string, fix: Fix) {
    super(`${reason} (${code})\n  fix: ${fixText(fix)}`);
    this.name = "BuildFailure";
    this.code = code;
    this.reason = reason;
    this.fix = fix;
  }
}

/**
 * Returns what went wrong, for people. For a failure of the engine it is only the diagnostics, because the error's text
 * repeats the whole output.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const start = message.indexOf(DIAGNOSTICS);
  if (start !== -1) {
    const [diagnostics = ""] = message.slice(start + DIAGNOSTICS.length).split(/^(?:Resources|Outputs):/m);
    return withoutRepeats(diagnostics).trim();
  }
  const engineError = message.split("\n").find((line) => line.startsWith("error: "));
  return engineError ?? message;
}

/** An error among an engine's diagnostics: its line below the resource's, and all that is indented further. */
const ERROR = /^ {4}error: (.*(?:\n(?! {4}(?:error|warning|info): | {0,3}\S|\n {4}\S).*)*)/gm;

/** Summary that the engine prints beside the errors that it ends by. */
const SUMMARY = /^(?:preview|update|refresh|destroy) failed$/;

/** A resource's line above its diagnostics: `  cloudflare:index:Worker (worker):`. The first one's indentation may be gone. */
const RESOURCE = /^ {0,2}(\S+ \(.*\)):$/gm;

/** An error among an engine's diagnostics. */
interface EngineError {
  /** Type and name of the resource. */
  resource: string;
  /** As it was thrown. */
  text: string;
}

/** Returns the errors among an engine's diagnostics, each once. */
export function errorsOf(diagnostics: string): EngineError[] {
  const found = new Map<string, EngineError>();
  const [, ...parts] = diagnostics.split(RESOURCE);
  for (let at = 0; at < parts.length; at += 2) {
    const [resource = "", said = ""] = parts.slice(at);
    for (const [, error = ""] of said.matchAll(ERROR)) {
      const text = error.replaceAll(/^ {4}/gm, "").trim();
      if (!SUMMARY.test(text)) found.set(text, found.get(text) ?? { resource, text });
    }
  }
  return [...found.values()];
}

/** Returns an engine's diagnostics without its errors, and without the resources that had nothing else. */
export function withoutErrors(diagnostics: string): string {
  const others = diagnostics.replaceAll(ERROR, "").replaceAll(/\n{2,}(?= {4})/g, "\n");
  return others.replaceAll(/^ {2}\S.*:\s*(?=^ {2}\S|(?![^]))/gm, "").trimEnd();
}

/** The Automation API reports a program's error twice: as rejected promise, and as the program's end. */
function withoutRepeats(diagnostics: string): string {
  const seen = new Set<string>();
  return diagnostics.replaceAll(ERROR, (whole: string) => {
    const isRepeated = seen.has(whole.trim());
    seen.add(whole.trim());
    return isRepeated ? "" : whole;
  });
}

/** Returns why a request got no answer; `fetch` hides it in the cause. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return failureOf(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

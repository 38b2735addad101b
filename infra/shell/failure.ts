import { type Fix, fixText } from "../../runtime/contract/errors.ts";

const DIAGNOSTICS = "\nDiagnostics:\n";

/**
 * A failure on this machine while building or looking for something, with its remedy. `code` is stable: tests, CI and
 * people search for it.
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
 * Returns what went wrong, in words. For a failure of the engine, returns only the diagnostics, because the error's
 * message repeats the whole output.
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

/**
 * Matches an error among an engine's diagnostics: its line below the resource's line, and the further indented lines
 * after it.
 */
const ERROR = /^ {4}error: (.*(?:\n(?! {4}(?:error|warning|info): | {0,3}\S|\n {4}\S).*)*)/gm;

/** Matches the closing sentence that the engine prints in addition to the errors that made it fail. */
const SUMMARY = /^(?:preview|update|refresh|destroy) failed$/;

/**
 * Matches the line of a resource above its diagnostics: `  cloudflare:index:Worker (worker):`. The first such line may
 * have lost its indentation.
 */
const RESOURCE = /^ {0,2}(\S+ \(.*\)):$/gm;

/** An error among an engine's diagnostics. */
interface EngineError {
  /** Type and name of the resource. */
  resource: string;
  /** The error's text as it was thrown. */
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

/** Returns an engine's diagnostics without the errors, and without the resources that had only errors. */
export function withoutErrors(diagnostics: string): string {
  const others = diagnostics.replaceAll(ERROR, "").replaceAll(/\n{2,}(?= {4})/g, "\n");
  return others.replaceAll(/^ {2}\S.*:\s*(?=^ {2}\S|(?![^]))/gm, "").trimEnd();
}

/**
 * Removes repeated errors: the Automation API reports a program's error twice, as a rejected promise and as the reason
 * why the program ended.
 */
function withoutRepeats(diagnostics: string): string {
  const seen = new Set<string>();
  return diagnostics.replaceAll(ERROR, (whole: string) => {
    const isRepeated = seen.has(whole.trim());
    seen.add(whole.trim());
    return isRepeated ? "" : whole;
  });
}

/** Returns why a request got no response, which `fetch` reports only in the error's cause. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return failureOf(cause);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

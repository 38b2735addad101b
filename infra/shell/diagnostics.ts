const DIAGNOSTICS = "\nDiagnostics:\n";

/** Matches an error and its indented continuation lines in the engine's diagnostics. */
const ERROR = /^ {4}error: (.*(?:\n(?! {4}(?:error|warning|info): | {0,3}\S|\n {4}\S).*)*)/gm;

/** Matches the engine's closing line, which only repeats that the operation failed. */
const SUMMARY = /^(?:preview|update|refresh|destroy) failed$/;

/**
 * Matches the heading of a resource's diagnostics, such as ` cloudflare:index:Worker (worker):`. The first heading may
 * lack its indentation.
 */
const RESOURCE = /^ {0,2}(\S+ \(.*\)):$/gm;

export interface EngineError {
  /** Type and name of the resource. */
  resource: string;
  /** The error's text as thrown. */
  text: string;
}

/** Returns the diagnostics in an engine's output, without repeated errors; `undefined` if it has none. */
export function diagnosticsIn(output: string): string | undefined {
  const start = output.indexOf(DIAGNOSTICS);
  if (start === -1) return undefined;
  const [diagnostics = ""] = output.slice(start + DIAGNOSTICS.length).split(/^(?:Resources|Outputs):/m);
  return withoutRepeats(diagnostics).trim();
}

/** Returns the distinct errors in an engine's diagnostics. */
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

/** Removes errors from an engine's diagnostics. Also removes headings of resources that have no other diagnostics. */
export function withoutErrors(diagnostics: string): string {
  const others = diagnostics.replaceAll(ERROR, "").replaceAll(/\n{2,}(?= {4})/g, "\n");
  return others.replaceAll(/^ {2}\S.*:\s*(?=^ {2}\S|(?![^]))/gm, "").trimEnd();
}

/** Removes repeated errors: the Automation API reports a program's error twice. */
function withoutRepeats(diagnostics: string): string {
  const seen = new Set<string>();
  return diagnostics.replaceAll(ERROR, (whole: string) => {
    const isRepeated = seen.has(whole.trim());
    seen.add(whole.trim());
    return isRepeated ? "" : whole;
  });
}

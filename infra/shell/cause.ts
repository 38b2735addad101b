const DIAGNOSTICS = "\nDiagnostics:\n";

/**
 * Returns what went wrong, for people: of an engine's failure the diagnostics alone, since the error's text repeats
 * the whole output.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  const start = message.indexOf(DIAGNOSTICS);
  if (start !== -1) {
    const [diagnostics = ""] = message.slice(start + DIAGNOSTICS.length).split(/^(?:Resources|Outputs):/m);
    return diagnostics.trim();
  }
  const engineError = message.split("\n").find((line) => line.startsWith("error: "));
  return engineError ?? message;
}

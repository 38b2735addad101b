/**
 * What went wrong, for people: of an engine's failure its diagnostics alone, since the error's text
 * repeats the whole output.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const diagnostics = /^Diagnostics:\n(?<text>[\s\S]*?)(?:^Resources:|^Outputs:|(?![\s\S]))/m.exec(
    error.message,
  );
  return diagnostics?.groups?.["text"]?.trim() ?? error.message;
}

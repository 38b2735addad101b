/** Parses JSON; `undefined` where the text is none. A schema reads what comes of it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

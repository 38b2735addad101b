/** The values that are right by themselves; a wrong one is left out, so that it is reported once. */
export type Values = Readonly<Record<string, unknown>>;

/** What an archive may come to when it is unpacked. */
export const MOST_BYTES = 2 * 1024 ** 3;

/** Files and directories of an archive. */
export const MOST_ENTRIES = 200_000;

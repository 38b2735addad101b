/**
 * A message in one of two copies of a transcript. `key` identifies it in both copies, `seq` orders it within its copy,
 * and `at` is in milliseconds since the epoch.
 */
export interface TranscriptEntry {
  key: string;
  seq: number;
  at: number;
}

/**
 * Point up to which a transcript was copied: the last copied message, and the time of the copy in milliseconds since
 * the epoch.
 */
export interface Origin {
  seq: number;
  at: number;
}

export interface Side {
  from: "ours" | "theirs";
  seq: number;
}

export interface MergedTranscript {
  /** Messages to delete from our transcript, by `seq`, because they were deleted from the other copy. */
  deleted: number[];
  /**
   * New end of our transcript, ordered by time: the messages that only the other copy has, and our messages newer
   * than the oldest message that only the other copy has.
   */
  appended: Side[];
  /** Ours has messages that theirs lacks. */
  oursIsNewer: boolean;
  /** Theirs has messages that ours lacks. */
  theirsIsNewer: boolean;
}

/**
 * Merges two ordered copies of a transcript. Messages that only one copy has are ordered by time.
 *
 * @param origin Point at which `theirs` was copied from `ours`; `undefined` if `theirs` is not a copy.
 */
export function mergeTranscripts(
  ours: readonly TranscriptEntry[],
  theirs: readonly TranscriptEntry[],
  origin: Origin | undefined,
): MergedTranscript {
  const [known, there] = [new Set(ours.map(({ key }) => key)), new Set(theirs.map(({ key }) => key))];
  const wasCopied = ({ seq, at }: TranscriptEntry): boolean =>
    origin !== undefined && seq <= origin.seq && at <= origin.at;
  const gone = ours.filter((one) => !there.has(one.key) && wasCopied(one));
  const left = ours.filter((one) => !gone.includes(one));
  const added = theirs.filter(({ key }) => !known.has(key));
  const first = Math.min(...added.map(({ at }) => at));
  const later = left.findIndex(({ at }) => at > first);
  return {
    deleted: gone.map(({ seq }) => seq),
    appended: byTime(later < 0 ? [] : left.slice(later), added),
    oursIsNewer: left.some(({ key }) => !there.has(key)),
    theirsIsNewer: added.length > 0,
  };
}

function byTime(ours: readonly TranscriptEntry[], theirs: readonly TranscriptEntry[]): Side[] {
  const merged: Side[] = [];
  let [a, b] = [0, 0];
  for (;;) {
    const [our, their] = [ours[a], theirs[b]];
    if (our !== undefined && (their === undefined || our.at <= their.at)) {
      merged.push({ from: "ours", seq: our.seq });
      a += 1;
    } else if (their !== undefined) {
      merged.push({ from: "theirs", seq: their.seq });
      b += 1;
    } else return merged;
  }
}

/** Summary of the messages up to `to`, a position in the merged transcript. */
export interface Summary {
  text: string;
  to: number;
  /**
   * Positions, in the merged transcript, of all messages that were in the same copy of the transcript as this
   * summary.
   */
  covers: ReadonlySet<number>;
}

/**
 * Returns the usable summary with the highest `to`; `undefined` if none is usable. A summary is usable if `covers`
 * contains every given position up to `to`.
 *
 * @param positions Positions of the merged messages since the last reset.
 */
export function bestSummary(
  summaries: readonly (Summary | undefined)[],
  positions: readonly number[],
): Summary | undefined {
  const whole = summaries.filter(
    (one): one is Summary =>
      one !== undefined && positions.every((position) => position > one.to || one.covers.has(position)),
  );
  return whole.toSorted((a, b) => b.to - a.to)[0];
}

/** `both` keeps theirs as a second file. */
type FileDecision = "ours" | "theirs" | "both";

/**
 * Decides which copy of a file to keep, by comparing SHA-256 digests.
 *
 * @param ours Digest of our copy; `undefined` if we have no such file.
 * @param origin Digest that our copy had at the time `theirs` was copied from it; `undefined` if `theirs` was not
 * copied from our copy.
 */
export function mergeFile(
  ours: string | undefined,
  theirs: string,
  origin: string | undefined,
): FileDecision {
  if (theirs === ours || theirs === origin) return "ours";
  return ours === origin || ours === undefined ? "theirs" : "both";
}

/** A message of a transcript. `key` is equal in both copies; `seq` orders a copy, `at` is in milliseconds since the epoch. */
export interface TranscriptEntry {
  key: string;
  seq: number;
  at: number;
}

/** State of a copy when it began: the last message, and the time in milliseconds since the epoch. */
export interface Origin {
  seq: number;
  at: number;
}

/** A message of one of the two copies. */
export interface Side {
  from: "ours" | "theirs";
  seq: number;
}

/** Result of {@link mergeTranscripts}. */
export interface MergedTranscript {
  /** Messages of ours that were deleted in theirs. */
  deleted: number[];
  /** Messages that come at the end, in order. Those of ours move there from their place. */
  appended: Side[];
  /** Ours has messages that theirs does not know. */
  oursIsNewer: boolean;
  /** Theirs has messages that ours does not know. */
  theirsIsNewer: boolean;
}

/**
 * Merges two copies of a transcript, each in its order. Messages that only one of them has are ordered by time.
 *
 * @param origin State of theirs when it was copied from ours; `undefined` if it was not.
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

/** Merges two lists by time, without a change of the order within each. */
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

/** A summary of the messages up to `to`, a position in the merged transcript, and the messages of its copy. */
export interface Summary {
  text: string;
  to: number;
  /** Positions in the merged transcript. */
  covers: ReadonlySet<number>;
}

/**
 * Returns the summary that reaches furthest and leaves out no message before its end; `undefined` if there is none.
 *
 * @param positions All positions of the merged transcript.
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

/** Decision about a file of two copies. `both`: theirs is kept beside ours. */
type FileDecision = "ours" | "theirs" | "both";

/**
 * Decides about a file by its digests.
 *
 * @param ours `undefined` if there is no such file.
 * @param origin Digest when theirs was copied from ours; `undefined` if it was not.
 */
export function mergeFile(
  ours: string | undefined,
  theirs: string,
  origin: string | undefined,
): FileDecision {
  if (theirs === ours || theirs === origin) return "ours";
  return ours === origin || ours === undefined ? "theirs" : "both";
}

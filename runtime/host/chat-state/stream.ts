import { generationManifest } from "../../contract/backup.ts";
import { StewardError } from "../../contract/errors.ts";
import type { Archive } from "../../backups/store.ts";
import { parseJson } from "../../shared/json.ts";

const LONGEST_MANIFEST = 64 * 1024;
const LINE_FEED = 0x0a;

/** Writes a backup as one stream: a line with its manifest, then its archive. */
export async function* writeCopy({ manifest, content }: Archive): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(manifest)}\n`);
  yield* content;
}

/**
 * Parses the manifest of a {@link writeCopy} stream. Reads the archive only when the caller consumes it.
 *
 * @throws StewardError `backup_corrupt` if the stream does not begin with a manifest.
 */
export async function readCopy(stream: AsyncIterable<Uint8Array>): Promise<Archive> {
  const pieces = stream[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (!head.includes(LINE_FEED)) {
    const { done, value } = await pieces.next();
    if (done === true || head.length > LONGEST_MANIFEST) throw corrupt("does not begin with a manifest");
    head = Buffer.concat([head, value]);
  }
  const end = head.indexOf(LINE_FEED);
  const { data: manifest } = generationManifest.safeParse(parseJson(head.subarray(0, end).toString()));
  if (manifest === undefined) throw corrupt("does not begin with a manifest");
  const content = async function* (): AsyncGenerator<Uint8Array> {
    let left = manifest.size;
    for (let piece: Uint8Array = head.subarray(end + 1); ;) {
      left -= piece.length;
      if (left < 0) throw corrupt("is longer than its manifest says");
      yield piece;
      const { done, value } = await pieces.next();
      if (done === true) return;
      piece = value;
    }
  };
  return { manifest, content: content() };
}

function corrupt(what: string): StewardError {
  return new StewardError("backup_corrupt", `The copy ${what}.`);
}

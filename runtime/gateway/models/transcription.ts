import type { Config } from "../../contract/config/index.ts";
import type { Environment } from "../../contract/environment.ts";
import type { Log } from "../../shared/log.ts";
import { parseJson } from "../../shared/json.ts";
import { readBytes } from "../../shared/read-bytes.ts";
import type { Redactor } from "../../shared/redact.ts";
import { serverOf } from "./create.ts";
import { errorKinds, messageOf, providerFailure } from "./provider-errors.ts";

/** OpenAI's limit of 25 MB per file: https://platform.openai.com/docs/guides/speech-to-text */
const MAX_BYTES = 25_000_000;
/** Maximum length of a recording in seconds: the limit of gpt-4o-transcribe. */
const MAX_SECONDS = 1_500;
const LONGEST_ANSWER_BYTES = 1_000_000;
const TIMEOUT_MS = 100_000;
/** Maximum number of cached transcripts. The cache avoids paying again when an answer is retried. */
const MAX_REMEMBERED = 50;

export interface TranscriberOptions {
  environment: Environment;
  redact: Redactor;
  fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  clock(): number;
  log: Log;
}

export interface Transcriber {
  /** Maximum length of a recording, in seconds. */
  readonly mostSeconds: number;
  /** Returns the text of a recording; `undefined` after a failure, which is logged. */
  transcribe(data: Uint8Array, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Creates a client for the server in `models.transcription`
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription); `undefined` if none is configured.
 */
export function createTranscriber(
  { transcription }: Config["models"],
  { environment, redact, fetch, clock, log }: TranscriberOptions,
): Transcriber | undefined {
  if (transcription === undefined) return undefined;
  const { model } = transcription;
  const { baseUrl, apiKey } = serverOf(transcription, environment);
  const ask = async (data: Uint8Array, name: string, signal: AbortSignal): Promise<string> => {
    const body = new FormData();
    body.set("model", model);
    body.set("response_format", "json");
    body.set("file", new Blob([new Uint8Array(data)]), name);
    const response = await fetch(`${baseUrl}/audio/transcriptions`, {
      method: "POST",
      headers: apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
      body,
      // Do not follow a redirect, which would send the key elsewhere.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const answer = new TextDecoder().decode(await readBytes(response, LONGEST_ANSWER_BYTES));
    const said = parseJson(answer) as { text?: unknown } | undefined;
    if (response.ok && typeof said?.text === "string") return said.text.trim();
    const failure = {
      message: messageOf(said) ?? `HTTP ${response.status}, without a text`,
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      kinds: errorKinds(said),
    };
    throw providerFailure(failure, { reference: `transcription by ${model}`, now: clock(), redact });
  };
  const remembered = new Map<string, string>();
  return {
    mostSeconds: MAX_SECONDS,
    transcribe: async (data, signal) => {
      const format = audioFormat(data);
      if (format === undefined || data.byteLength > MAX_BYTES) return undefined;
      const key = process.getBuiltinModule("node:crypto").hash("sha256", data);
      const before = remembered.get(key);
      if (before !== undefined) return before;
      try {
        const text = await ask(data, `audio.${format}`, signal);
        if (text === "") return undefined;
        const [oldest] = remembered.keys();
        if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
        remembered.set(key, text);
        return text;
      } catch (error) {
        // Redact the message, since an HTTP client's error may quote the request.
        const detail = redact(error instanceof Error ? error.message : "no answer");
        log.warn("a recording was not transcribed", { model, detail });
        return undefined;
      }
    },
  };
}

/**
 * Returns a file name extension for a recording's format. Servers infer the format from the extension, and some
 * reject Telegram's `.oga`.
 */
function audioFormat(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 12)).toString("latin1");
  if (head.startsWith("OggS")) return "ogg";
  if (head.startsWith("fLaC")) return "flac";
  if (head.startsWith("RIFF") && head.endsWith("WAVE")) return "wav";
  if (head.startsWith("\x1a\x45\xdf\xa3")) return "webm";
  if (head.startsWith("ftyp", 4)) return "m4a";
  // An MP3 file begins with an ID3 tag or an MPEG audio frame. A frame has sync bits and a valid layer.
  const isFrame = data[0] === 0xff && ((data[1] ?? 0) & 0xe0) === 0xe0 && ((data[1] ?? 0) & 0x06) !== 0;
  return head.startsWith("ID3") || isFrame ? "mp3" : undefined;
}

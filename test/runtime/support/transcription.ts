import { Hono } from "hono";
import { onTestFinished } from "vitest";
import { listen } from "../../../runtime/process/listen.ts";

/** https://platform.openai.com/docs/guides/speech-to-text: 25 MB, as the server counts them. */
const MAX_BYTES = 26_214_400;
const FORMATS = ["flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"];
/** The one model that is there. It refuses `.oga`, as OpenAI's do since whisper-1. */
const MODEL = "gpt-4o-mini-transcribe";

/** A request that the server got. */
interface TranscriptionCall {
  authorization: string | null;
  name: string;
  format: string;
}

/** Returns a recording whose words are `text`: an Ogg page's first bytes, and the words as they are. */
export function recording(text: string, bytes = 0): Buffer {
  return Buffer.concat([Buffer.from(`OggS\0${text}`), Buffer.alloc(bytes)]);
}

/**
 * Stands in for a server with OpenAI's audio transcriptions
 * (https://platform.openai.com/docs/api-reference/audio/createTranscription), with its answers for a wrong key (401,
 * quoting its beginning), an unknown model (404), a file that is missing, too large (413) or of another kind (400).
 * `next` sets the answer to the next request. Not modelled: other response formats than `json`, streaming, languages.
 */
export async function startTranscription(apiKey: string) {
  const calls: TranscriptionCall[] = [];
  const queue: Response[] = [];
  const app = new Hono();
  app.post("/v1/audio/transcriptions", async ({ req }) => {
    const authorization = req.header("authorization") ?? null;
    const form = await req.formData();
    const file = form.get("file");
    const name = file instanceof File ? file.name : "";
    calls.push({ authorization, name, format: String(form.get("response_format")) });
    const scripted = queue.shift();
    if (scripted !== undefined) return scripted;
    if (authorization !== `Bearer ${apiKey}`) {
      const quoted = `${(authorization ?? "").slice(7, 15)}********`;
      return refusal(401, `Incorrect API key provided: ${quoted}.`, "invalid_api_key");
    }
    if (form.get("model") !== MODEL) {
      return refusal(404, `The model \`${form.get("model")}\` does not exist.`, "model_not_found");
    }
    if (!(file instanceof File)) return refusal(400, "you must provide a file to transcribe");
    if (file.size > MAX_BYTES) {
      return refusal(413, `Maximum content size limit (${MAX_BYTES}) exceeded (${file.size} bytes read)`);
    }
    const ending = name.split(".").at(-1) ?? "";
    if (!FORMATS.includes(ending)) {
      return refusal(400, `Invalid file format. Supported formats: ${JSON.stringify(FORMATS)}`);
    }
    if (ending === "oga") return refusal(400, "Unsupported file format oga", "unsupported_value");
    const data = Buffer.from(await file.arrayBuffer());
    if (!data.subarray(0, 4).equals(Buffer.from("OggS"))) {
      return refusal(400, "Audio file might be corrupted or unsupported", "invalid_value");
    }
    const text = data.subarray(5).toString("utf8").replaceAll("\0", "");
    return Response.json({ text, usage: { type: "duration", seconds: Math.ceil(text.length / 15) } });
  });
  const server = await listen({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    model: MODEL,
    calls,
    next: (answer: Response) => void queue.push(answer),
  };
}

/** https://platform.openai.com/docs/guides/error-codes */
function refusal(status: number, message: string, code: string | null = null): Response {
  return Response.json({ error: { message, type: "invalid_request_error", param: null, code } }, { status });
}

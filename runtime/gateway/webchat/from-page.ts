import * as z from "zod/mini";
import { CHAT_MESSAGE_BYTES } from "../../contract/chat.ts";

/** What the page sends. Keys and signatures are base64url without padding. */
export const fromPageSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("hello"),
    /** SHA-256 of the raw public key, in hex. */
    deviceId: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    /** The raw Ed25519 key, 32 bytes. */
    publicKey: z.string().check(z.regex(/^[\w-]{43}$/)),
    displayName: z.string().check(z.maxLength(80)),
    signature: z.string().check(z.regex(/^[\w-]{86}$/)),
  }),
  z.strictObject({
    type: z.literal("say"),
    /** The page's own name for this message. */
    id: z.string().check(z.regex(/^[\w-]{8,64}$/)),
    text: z.string().check(z.minLength(1), z.maxLength(CHAT_MESSAGE_BYTES)),
  }),
]);

/** See {@link fromPageSchema}. */
export type FromPage = z.infer<typeof fromPageSchema>;

/** The first message of a page. */
export type Hello = Extract<FromPage, { type: "hello" }>;

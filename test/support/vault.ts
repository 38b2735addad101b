import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Hono } from "hono";
import { listen } from "../../rehearsal/standins/serve.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TOKEN = "a-test-token-of-vault";
const VERSION = "vault:v1:";

/** URL for `pulumi stack init --secrets-provider`, and variables for every Pulumi command. */
export interface SecretsProvider {
  url: string;
  variables: Record<string, string>;
}

let started: Promise<SecretsProvider> | undefined;

/**
 * Starts a stand-in for Vault's transit engine (https://developer.hashicorp.com/vault/api-docs/secret/transit),
 * because a passphrase costs each CLI command a quarter of a second. Not modelled: policies, key versions and
 * batches.
 */
export function vaultSecrets(): Promise<SecretsProvider> {
  return (started ??= start());
}

async function start(): Promise<SecretsProvider> {
  const key = randomBytes(32);
  const app = new Hono()
    .use(async (context, next) => {
      if (context.req.header("x-vault-token") !== TOKEN)
        return context.json({ errors: ["permission denied"] }, 403);
      return next();
    })
    .put("/v1/transit/encrypt/test", async (context) => {
      const { plaintext } = await context.req.json<{ plaintext: string }>();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const sealed = [nonce, cipher.update(plaintext, "base64"), cipher.final(), cipher.getAuthTag()];
      return context.json({ data: { ciphertext: VERSION + Buffer.concat(sealed).toString("base64") } });
    })
    .put("/v1/transit/decrypt/test", async (context) => {
      const { ciphertext } = await context.req.json<{ ciphertext: string }>();
      const sealed = Buffer.from(ciphertext.slice(VERSION.length), "base64");
      const cipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
      cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = [cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()];
      return context.json({ data: { plaintext: Buffer.concat(opened).toString("base64") } });
    });
  const { url, unref } = await listen(app, { hostname: "127.0.0.1", port: 0 });
  // Nothing closes this server.
  unref();
  return { url: "hashivault://test", variables: { VAULT_SERVER_URL: url, VAULT_SERVER_TOKEN: TOKEN } };
}

import { createHash } from "node:crypto";
import * as z from "zod";
import { parseJson } from "../../runtime/shared/json.ts";
import { readBytes } from "../../runtime/shared/read-bytes.ts";
import { BuildFailure, failureOf } from "../shell/failure.ts";
import type { RegistryLogin } from "../shell/docker.ts";
import type { ImageName } from "./image-name.ts";

const ANSWER_MS = 20_000;
/** Maximum manifest size in registries: https://github.com/opencontainers/distribution-spec/blob/main/spec.md */
const MAX_BYTES = 4 << 20;
/** Maximum number of signatures to read. */
const MAX_ARTIFACTS = 32;

const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const referrersSchema = z.object({
  manifests: z.array(z.object({ digest: z.string(), artifactType: z.string().optional() })),
});
const artifactSchema = z.object({ layers: z.array(z.object({ digest: z.string() })) });
const tokenSchema = z.object({ token: z.string().optional(), access_token: z.string().optional() });

export interface RegistryAccess {
  fetch: typeof fetch;
  /** Returns the login for a host, if any. Not called for a registry that requires no login. */
  login: (host: string) => Promise<RegistryLogin | undefined>;
}

/** Reads one repository of a registry: https://github.com/opencontainers/distribution-spec/blob/main/spec.md */
export class Repository {
  readonly #access: RegistryAccess;
  readonly #image: ImageName;
  #authorization: string | undefined;

  constructor(access: RegistryAccess, image: ImageName) {
    this.#access = access;
    this.#image = image;
  }

  /**
   * Returns the digest of the image or multi-platform index.
   *
   * @throws BuildFailure `image_not_found`, `image_registry_unreachable`, `image_registry_refused`
   */
  async digest(): Promise<string> {
    const { reference } = this.#image;
    const manifest = await this.#read(`manifests/${reference}`);
    if (manifest === undefined) {
      throw new BuildFailure(
        "image_not_found",
        `${new URL(this.#image.origin).host} has no image ${this.#image.repository}:${reference}`,
        ({ configSet }) => `Build the image here: \`${configSet("steward:image", "build")}\``,
      );
    }
    return `sha256:${createHash("sha256").update(manifest).digest("hex")}`;
  }

  /**
   * Returns the contents of up to 32 artifacts of this type that refer to an image. If the registry has no referrers
   * API, reads the tag named after the digest.
   */
  async artifacts(digest: string, type: string): Promise<Uint8Array[]> {
    const listed =
      (await this.#read(`referrers/${digest}`)) ??
      (await this.#read(`manifests/${digest.replace(":", "-")}`));
    const list = referrersSchema.safeParse(jsonOf(listed)).data?.manifests ?? [];
    const found = list.filter(({ artifactType }) => artifactType === type).slice(0, MAX_ARTIFACTS);
    const contents: Uint8Array[] = [];
    for (const one of found) {
      const { layers: [layer] = [] } =
        artifactSchema.safeParse(jsonOf(await this.#read(`manifests/${one.digest}`))).data ?? {};
      const content = layer && (await this.#read(`blobs/${layer.digest}`));
      if (content !== undefined) contents.push(content);
    }
    return contents;
  }

  /** Reads a path of the repository, such as `manifests/latest`; `undefined` if it does not exist. */
  async #read(part: string): Promise<Uint8Array | undefined> {
    let response = await this.#ask(part);
    if (response.status === 401 && this.#authorization === undefined) {
      this.#authorization = await this.#authorize(response.headers.get("www-authenticate") ?? "");
      await response.body?.cancel();
      response = await this.#ask(part);
    }
    if (response.status === 404 || response.status === 400) return undefined;
    if (!response.ok) throw this.#refused(`answers with ${response.status}`);
    const body = await readBytes(response, MAX_BYTES);
    if (body === undefined) throw this.#refused(`answers with more than ${MAX_BYTES} bytes`);
    return body;
  }

  async #ask(part: string): Promise<Response> {
    const { origin, repository } = this.#image;
    const authorization = this.#authorization;
    const headers = { accept: MANIFESTS, ...(authorization !== undefined && { authorization }) };
    return this.#fetch(`${origin}/v2/${repository}/${part}`, headers);
  }

  async #fetch(url: string, headers: Record<string, string>): Promise<Response> {
    try {
      return await this.#access.fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
    } catch (error) {
      throw new BuildFailure(
        "image_registry_unreachable",
        `the registry ${new URL(this.#image.origin).host} cannot be reached: ${failureOf(error)}`,
        ({ configSet }) => `Try again, or build the image here: \`${configSet("steward:image", "build")}\``,
      );
    }
  }

  /** https://distribution.github.io/distribution/spec/auth/token/ */
  async #authorize(challenge: string): Promise<string> {
    const login = await this.#access.login(this.#image.login);
    const basic = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
    const { realm, service } = Object.fromEntries(
      [...challenge.slice(0, 2_000).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string | undefined>;
    if (!/^bearer /i.test(challenge)) return basic ?? "";
    if (realm === undefined || !URL.canParse(realm) || !isPrivate(new URL(realm))) {
      throw this.#refused("asks for sign-in at an invalid address");
    }
    const address = new URL(realm);
    if (service !== undefined) address.searchParams.set("service", service);
    address.searchParams.set("scope", `repository:${this.#image.repository}:pull`);
    const response = await this.#fetch(address.href, basic === undefined ? {} : { authorization: basic });
    const body = response.ok ? await readBytes(response, MAX_BYTES) : undefined;
    const told = tokenSchema.safeParse(jsonOf(body)).data;
    const token = told?.token ?? told?.access_token;
    if (token === undefined) throw this.#refused(`issued no token (${response.status})`);
    return `Bearer ${token}`;
  }

  #refused(why: string): BuildFailure {
    const { origin, repository } = this.#image;
    const { host } = new URL(origin);
    return new BuildFailure(
      "image_registry_refused",
      `the registry ${host} ${why} for ${repository}`,
      `Log in, if the image is not public: docker login ${host}`,
    );
  }
}

/** Returns true if credentials may be sent to the URL: only over TLS or to this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

function jsonOf(body: Uint8Array | undefined): unknown {
  return body && parseJson(Buffer.from(body).toString());
}

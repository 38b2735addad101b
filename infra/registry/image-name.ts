export interface ImageName {
  /** The registry's address with its scheme. */
  origin: string;
  /** The registry's key in Docker's configuration. */
  login: string;
  repository: string;
  /** Tag or digest. */
  reference: string;
  /** The given name without tag and digest. */
  name: string;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Docker accesses these without TLS: https://docs.docker.com/reference/cli/dockerd/#insecure-registries */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** Returns true for a digest. Unlike a tag, a digest always names the same image. */
export function isDigest(reference: string): boolean {
  return DIGEST.test(reference);
}

/**
 * Parses an image's name by Docker's rules (https://pkg.go.dev/github.com/distribution/reference). If the part before
 * the first slash contains a dot or port, or is `localhost`, it is the registry's host. Otherwise, the registry is
 * Docker Hub.
 */
export function parseImageName(image: string): ImageName {
  const [beforeDigest = "", digest] = image.split("@");
  const slash = beforeDigest.lastIndexOf("/");
  const colon = beforeDigest.indexOf(":", slash + 1);
  const name = colon === -1 ? beforeDigest : beforeDigest.slice(0, colon);
  const reference = digest ?? (colon === -1 ? "latest" : beforeDigest.slice(colon + 1));
  const first = name.slice(0, name.indexOf("/"));
  if (/[.:]/.test(first) || first === "localhost") {
    const scheme = LOOPBACK.test(first) ? "http" : "https";
    const repository = name.slice(first.length + 1);
    return { origin: `${scheme}://${first}`, login: first, repository, reference, name };
  }
  const repository = name.includes("/") ? name : `library/${name}`;
  return { origin: "https://registry-1.docker.io", login: DOCKER_HUB, repository, reference, name };
}

/** As in Docker's configuration. */
const DOCKER_HUB = "https://index.docker.io/v1/";

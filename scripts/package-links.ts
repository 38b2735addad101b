import path from "node:path";

const LINK = /(\]\(|\bsrc(?:set)?=")([^)"\s]+)/g;

/** Converts `repository.url` of package.json to `https://github.com/<owner>/<name>`. */
export function repositoryPage(url: string): string {
  return url.replaceAll(/^git\+|\.git$/g, "");
}

/**
 * Makes links absolute whose targets are not in the package.
 *
 * @param page path of the page in the package
 * @param has returns true if the package has the file or folder of this path
 * @param repository `https://github.com/<owner>/<name>`, and the tag or commit whose files are linked
 */
export function absoluteLinks(
  text: string,
  page: string,
  has: (file: string) => boolean,
  repository: { url: string; ref: string },
): string {
  return text.replaceAll(LINK, (whole: string, start: string, link: string) => {
    const [file = "", ...anchor] = link.split("#");
    if (file === "" || /^[a-z]+:/.test(link)) return whole;
    const target = path.posix.normalize(path.posix.join(path.posix.dirname(page), file));
    if (has(target)) return whole;
    // GitHub shows a picture only from its raw address.
    const kind = /\.(?:png|svg)$/.test(file) ? "raw" : "blob";
    return `${start}${[`${repository.url}/${kind}/${repository.ref}/${target}`, ...anchor].join("#")}`;
  });
}

import path from "node:path";

const LINK = /(\]\(|\bsrc(?:set)?=")([^)"\s]+)/g;

/** Converts `repository.url` of package.json to `https://github.com/<owner>/<name>`. */
export function repositoryPage(url: string): string {
  return url.replaceAll(/^git\+|\.git$/g, "");
}

/**
 * Replaces a Markdown page's relative links with GitHub URLs if the package does not contain the linked file.
 *
 * @param page path of the page in the package
 * @param has returns true if the package contains this file or folder
 * @param repository `https://github.com/<owner>/<name>`, and the tag or commit for the links
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
    // A `blob` URL is a web page. Only a `raw` URL serves the picture itself.
    const kind = /\.(?:png|svg)$/.test(file) ? "raw" : "blob";
    return `${start}${[`${repository.url}/${kind}/${repository.ref}/${target}`, ...anchor].join("#")}`;
  });
}

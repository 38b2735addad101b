import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** https://docs.discord.com/developers/resources/message#create-message */
const LONGEST = 2_000;

const FORMS: Forms = {
  text: escape,
  code: (code) => (code.includes("`") ? `\`\` ${code} \`\`` : `\`${code}\``),
  strong: (inside) => `**${inside}**`,
  emphasis: (inside) => `*${inside}*`,
  struck: (inside) => `~~${inside}~~`,
  link({ target, shown }) {
    if (shown === "" || shown === target) return target;
    // Discord shows no link if the label contains a URL.
    if (/https?:/i.test(shown)) return `${escape(shown)} (${target})`;
    return `[${escape(shown.replace(/[[\]]/g, ""))}](<${target}>)`;
  },
  quote: (inside) => inside.replace(/^/gm, "> "),
  codeBlock: (code, language = "") => `\`\`\`${language}\n${code}\n\`\`\``,
  bullet: "-",
};

/**
 * Converts a reply's Markdown to Discord's, which lacks tables, checkboxes and pictures. Escapes Discord's own
 * markup, such as `||`: https://support.discord.com/hc/en-us/articles/210298617
 */
export function writeDiscordText(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
}

/** Splits a reply into parts that each fit into a message after rendering. */
export function splitForDiscord(text: string, limit: number): string[] {
  return splitMarkdown(text, limit, (part) => writeDiscordText(part).length / LONGEST);
}

function escape(text: string): string {
  return text.replace(/[\\*_~`|]/g, "\\$&").replace(/^([ \t]*)(?=[#>+-])/gm, "$1\\");
}

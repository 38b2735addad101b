import { type Platform, PLATFORM_TITLES } from "../../contract/delivery.ts";
import { hueOf } from "../../shared/display-name.ts";
import type { NameEntry } from "../ports.ts";
import type { Markup } from "./document.tsx";
import type { Column } from "./table.tsx";

export type Names = ReadonlyMap<string, NameEntry>;

interface PersonProps {
  /** `<platform>:<id>`, or a conversation. */
  id: string;
  entry: NameEntry | undefined;
  href?: string | undefined;
  /** Fallback if the directory has no name. */
  otherwise?: string | undefined;
  /** Name to show instead of the one in the directory, for example in a direct chat. */
  name?: string | undefined;
  /** Text instead of the avatar. */
  lead?: string | undefined;
}

/** Renders the name of a person or place, or the id if the name is unknown. */
export function Person(props: PersonProps): Markup {
  const { id, entry, href, lead } = props;
  const shown = nameOf(props);
  const text = <bdi>{shown}</bdi>;
  return (
    <span class="person" title={id}>
      {lead === undefined ? <Face of={entry?.key ?? id} name={shown} /> : <span class="soft">{lead}</span>}
      {href === undefined ? text : <a href={href}>{text}</a>}
      <CopyButton text={id} />
    </span>
  );
}

export function Id({ id }: { id: string }): Markup {
  return (
    <span class="person">
      <code>{id}</code>
      <CopyButton text={id} />
    </span>
  );
}

/** Hidden unless scripts can copy. */
function CopyButton({ text }: { text: string }): Markup {
  return <button type="button" class="copy" value={text} aria-label={`Copy ${text}`} />;
}

/** Returns the name that {@link Person} shows. */
export function nameOf({ id, entry, otherwise, name }: PersonProps): string {
  return name ?? (entry?.name || otherwise || id.slice(id.indexOf(":") + 1));
}

export function personColumn<Row>(head: string, of: (row: Row) => PersonProps): Column<Row> {
  return { head, kind: "name", by: (row) => nameOf(of(row)), cell: (row) => <Person {...of(row)} /> };
}

export function platformOf(id: string): string {
  const [platform = ""] = id.split(":");
  return platform === "web" ? "Web chat" : (PLATFORM_TITLES[platform as Platform] ?? platform);
}

/** Renders an avatar: an initial on a colour derived from the key. */
function Face({ of, name }: { of: string; name: string }): Markup {
  const initial = /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0] ?? "?";
  return (
    <svg class="face" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" fill={`hsl(${hueOf(of)} 55% 36%)`} />
      <text x="12" y="16.5" text-anchor="middle" font-size="13" fill="#fff">
        {initial.toUpperCase()}
      </text>
    </svg>
  );
}

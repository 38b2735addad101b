import { hueOf } from "../../shared/display-name.ts";
import type { NameEntry } from "../ports.ts";
import type { Markup } from "./document.tsx";

/** Properties of {@link Person}. */
interface PersonProps {
  /** `<platform>:<id>` */
  id: string;
  /** Absent for somebody whom the directory does not know. */
  entry: NameEntry | undefined;
  /** Address of a page about it. */
  href?: string;
}

/** A person or a place by name, with its picture; the id shows on hover, and in place of an unknown name. */
export function Person({ id, entry, href }: PersonProps): Markup {
  const shown = entry?.name ?? id.slice(id.indexOf(":") + 1);
  const name = <bdi>{shown}</bdi>;
  return (
    <span class="person" title={id}>
      <Face of={entry?.key ?? id} name={shown} />
      {href === undefined ? name : <a href={href}>{name}</a>}
    </span>
  );
}

/** The picture of a person or a place: its initial on a colour of its own. */
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

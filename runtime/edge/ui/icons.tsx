/** Icons from Lucide (https://lucide.dev). Separate imports keep all other icons out of the bundle. */
import type { IconNode } from "lucide";
import archive from "lucide/dist/esm/icons/archive.mjs";
import boxes from "lucide/dist/esm/icons/boxes.mjs";
import calendarClock from "lucide/dist/esm/icons/calendar-clock.mjs";
import chartColumn from "lucide/dist/esm/icons/chart-column.mjs";
import cpu from "lucide/dist/esm/icons/cpu.mjs";
import folder from "lucide/dist/esm/icons/folder.mjs";
import clipboardClock from "lucide/dist/esm/icons/clipboard-clock.mjs";
import house from "lucide/dist/esm/icons/house.mjs";
import inbox from "lucide/dist/esm/icons/inbox.mjs";
import info from "lucide/dist/esm/icons/info.mjs";
import menu from "lucide/dist/esm/icons/menu.mjs";
import messages from "lucide/dist/esm/icons/messages-square.mjs";
import plug from "lucide/dist/esm/icons/plug.mjs";
import rocket from "lucide/dist/esm/icons/rocket.mjs";
import scroll from "lucide/dist/esm/icons/scroll-text.mjs";
import search from "lucide/dist/esm/icons/search.mjs";
import settings from "lucide/dist/esm/icons/settings-2.mjs";
import users from "lucide/dist/esm/icons/users.mjs";
import type { Markup } from "./document.tsx";

const ICONS = {
  archive,
  boxes,
  calendarClock,
  chartColumn,
  cpu,
  folder,
  clipboardClock,
  house,
  inbox,
  info,
  menu,
  messages,
  plug,
  rocket,
  scroll,
  search,
  settings,
  users,
};

export type IconName = keyof typeof ICONS;

/** Renders a decorative icon beside text. Screen readers skip the icon. */
export function Icon({ name }: { name: IconName }): Markup {
  const nodes: IconNode = ICONS[name];
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {nodes.map(([Shape, attributes]) => (
        <Shape {...attributes} />
      ))}
    </svg>
  );
}

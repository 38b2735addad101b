import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { nameOf, stepsOf } from "../deployed/steps.ts";
import type { CommandOutput } from "../../../infra/shell/command.ts";

const WIDTH = 24;
const CLEAR_LINE = "\r\u001B[2K";
/** How the engine marks colors in a message. */
const MARKUP = /<\{%[^%]*%\}>/g;

/** How far the engine is, as somebody at a terminal sees it: a bar; elsewhere the engine's own lines. */
export interface Progress {
  onOutput: (text: string) => void;
  onEvent: (event: EngineEvent) => void;
  /** Takes the bar away. */
  end(): void;
}

/** @param total the resources that are going to change, where that is known; without it they are counted. */
export function showProgress({ say, terminal }: CommandOutput, what: string, total?: number): Progress {
  if (terminal === undefined) return { onOutput: say, onEvent: () => undefined, end: () => undefined };
  const begun = new Set<string>();
  const done = new Set<string>();
  let last = "";
  const draw = (): void => {
    const bar = total === undefined ? `${begun.size} resources` : `${barOf(done.size, total)} of ${total}`;
    const line = `${what}  ${bar}  ${last}`;
    terminal.write(`${CLEAR_LINE}${line.slice(0, (terminal.columns || 80) - 1)}`);
  };
  return {
    onOutput: () => undefined,
    onEvent(event) {
      const { diagnosticEvent: told } = event;
      if (told !== undefined && !told.ephemeral) {
        terminal.write(CLEAR_LINE);
        say(told.message.replaceAll(MARKUP, ""));
      }
      for (const { op, name } of stepsOf(event)) {
        begun.add(name);
        last = `${op} ${name}`;
      }
      const urn = event.resOutputsEvent?.metadata.urn;
      if (urn !== undefined && begun.has(nameOf(urn))) done.add(nameOf(urn));
      draw();
    },
    end: () => void terminal.write(CLEAR_LINE),
  };
}

function barOf(done: number, total: number): string {
  const full = Math.round((Math.min(done, total) / Math.max(total, 1)) * WIDTH);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${done}`;
}

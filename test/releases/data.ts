import type { Platforms } from "../../rehearsal/platforms.ts";
import { mention } from "../../rehearsal/standins/slack.ts";

/** A deployed service, and the headers by which it knows an operator. */
export interface Service {
  url: string;
  headers: Record<string, string>;
}

/** Everything that an upgrade keeps, as far as two versions can be asked for it in the same way. */
export interface Data {
  config: unknown;
  /** Ids of the people who were admitted to Telegram. */
  people: string[];
  /** Texts of each conversation, oldest first. */
  transcripts: Record<string, string[]>;
  file: string;
  /** Prompts of the schedules. */
  schedules: string[];
  /** End of each event by its key. */
  ledger: Record<string, string>;
  /** Ids of the backups. */
  backups: string[];
}

const FILE = "notes/upgrade.md";
const TEXT = "Kept across versions.";
const ARRIVES_MS = 60_000;

/** Gives a service some of everything: messages, an admitted person, a file, a schedule, and a backup of them. */
export async function fill(service: Service, { slack, telegram }: Platforms): Promise<void> {
  telegram.say("May I come in?");
  const told = await telegram.waitFor(({ text }) => /[A-Z0-9]{8}/.test(text), ARRIVES_MS);
  const [code = ""] = /\b[A-Z0-9]{8}\b/.exec(told.text) ?? [];
  await cli(service, `pairing approve telegram ${code}`);
  telegram.say("Remember the upgrade");
  await telegram.waitFor(({ text }) => text.includes("Remember the upgrade"), ARRIVES_MS);
  await cli(service, `workspace write ${FILE} none -- "${TEXT}"`);
  await cli(service, `schedules add --to slack:C0REHEARSAL --cron "0 9 * * 1" --prompt "Weekly summary"`);
  await slack.waitFor(() => true, ARRIVES_MS);
  await cli(service, "backup create");
}

/** Sends a service a message and waits for the answer. Resolves with the answer's text. */
export async function say({ url }: Service, { slack }: Platforms, text: string): Promise<string> {
  const unique = `${text} ${crypto.randomUUID()}`;
  const { status } = await fetch(new URL("/slack/events", url), {
    method: "POST",
    ...slack.sign(mention(unique)),
  });
  if (status !== 200 && status !== 503) throw new Error(`the message was answered with ${status}`);
  return (await slack.waitFor((message) => message.text.includes(unique), ARRIVES_MS)).text;
}

/** Reads all of {@link Data} by the operator's commands. */
export async function readData(service: Service): Promise<Data> {
  const { approved } = await cli<{ approved: string[] }>(service, "pairing list telegram");
  const { sessions } = await cli<{ sessions: { conversation: string }[] }>(service, "sessions list");
  const transcripts: Record<string, string[]> = {};
  for (const { conversation } of sessions) {
    const line = `sessions messages ${conversation}`;
    const { messages } = await cli<{ messages: { text: string }[] }>(service, line);
    transcripts[conversation] = messages.map(({ text }) => text);
  }
  const { schedules } = await cli<{ schedules: { prompt?: string }[] }>(service, "schedules list");
  const { backups } = await cli<{ backups: { id: string }[] }>(service, "backup list");
  const ledger = await fetch(new URL("/debug/ledger?limit=200", service.url), { headers: service.headers });
  const { entries } = (await ledger.json()) as { entries: { key: string; state: string }[] };
  return {
    config: await cli(service, "config get channels"),
    people: approved.toSorted(),
    transcripts,
    file: (await cli<{ text: string }>(service, `workspace show ${FILE}`)).text,
    schedules: schedules.map(({ prompt }) => String(prompt)).toSorted(),
    ledger: Object.fromEntries(entries.map(({ key, state }) => [key, state])),
    backups: backups.map(({ id }) => id).toSorted(),
  };
}

/** Returns the part of later data that former data can be equal to: what came later is left out. */
export function partOf(later: Data, former: Data): Data {
  const transcripts = Object.entries(former.transcripts).map(([conversation, { length }]) => {
    return [conversation, later.transcripts[conversation]?.slice(0, length)];
  });
  const ledger = Object.keys(former.ledger).map((key) => [key, later.ledger[key]]);
  return {
    ...later,
    transcripts: Object.fromEntries(transcripts),
    ledger: Object.fromEntries(ledger),
    backups: later.backups.filter((id) => former.backups.includes(id)),
  };
}

/** Runs a line of the operator's and returns its JSON. */
export async function cli<Reply>(service: Service, line: string): Promise<Reply> {
  const [command, text] = line.split(" -- ");
  const cmd = `${command} --json${text === undefined ? "" : ` -- ${text}`}`;
  const response = await fetch(new URL(`/debug/cli?${new URLSearchParams({ cmd })}`, service.url), {
    headers: { ...service.headers, "sec-fetch-site": "same-origin" },
  });
  const answer = (await response.json()) as { exitCode?: number; stdout: string; stderr: string };
  if (answer.exitCode !== 0) throw new Error(`${cmd}: ${JSON.stringify(answer)}`);
  return JSON.parse(answer.stdout) as Reply;
}

import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { STACK } from "../stack.ts";
import type { Stage } from "./stage.ts";

/** Part of a tour: demonstrates a scenario on a deployed stack and checks the results. */
export type Chapter = (stage: Stage) => Promise<void>;

const GRACE = { id: 424_242, is_bot: false, first_name: "Grace", username: "grace" };
const PATIENCE_MS = 90_000;
const CONFIG_KEY = "steward/steward.json";
/** Exit code of `npm run rollout` after a rollback. */
const ROLLED_BACK = 4;
const DRIFT_FOUND = 2;

/** A stranger asks for access and an operator approves it. */
export const pairing: Chapter = async (stage) => {
  const { guide, world } = stage;
  const { telegram } = world.platforms;
  const chat = { id: GRACE.id, type: "private", first_name: "Grace", username: "grace" };
  const reply = async (text: string, expected: RegExp): Promise<RegExpExecArray> => {
    telegram.say(text, { from: GRACE, chat });
    const isIt = (one: { chat: string; text: string }) =>
      one.chat === String(GRACE.id) && expected.test(one.text);
    const { text: said } = await telegram.waitFor(isIt, PATIENCE_MS);
    return expected.exec(said) as RegExpExecArray;
  };

  guide.explain(
    "Grace, a stranger, writes to the bot on Telegram. The bot does not process strangers' messages.",
  );
  const [, code = ""] = await guide.step("Grace writes: “May I come in?”", () =>
    reply("May I come in?", /pairing code: (\w+)/i),
  );
  const waiting = await stage.cli("pairing list");
  guide.check(
    `the bot has sent her a pairing code, ${code}, and she waits for approval`,
    waiting.includes(code),
  );
  guide.showAddresses(
    ["both sides of her chat", `${telegram.url}/`],
    ["Grace's request", stage.address(ROUTES.devicesPage)],
  );
  await guide.next("approve her");
  const approved = await guide.step(`steward pairing approve telegram ${code}`, () =>
    stage.cli(`pairing approve telegram ${code}`),
  );
  guide.check("she is approved", approved.includes("Approved"), approved);
  const [answer] = await guide.step("Grace writes: “Can you read me now?”", () =>
    reply("Can you read me now?", /.*“Can you read me now\?”/),
  );
  guide.check(`the bot answers: ${answer}`, true);
};

/** The gateway is killed while a message is in transit. */
export const crash: Chapter = async (stage) => {
  const { guide, cloud } = stage;
  guide.explain(
    "The gateway's process is killed, and somebody writes at that moment. The edge has recorded the message before it " +
      "answers the platform, so it is answered once the supervisor has started the gateway again.",
  );
  await stage.answered("Is everything well?");
  const before = await processes(stage);
  guide.showAddresses(
    ["the state, as it changes", stage.address(ROUTES.admin)],
    ["the message, and its answer", `${stage.world.platforms.slack.url}/`],
  );
  await guide.next("kill the gateway");
  await guide.step(`kill -9 ${before.pid}, and “Did you crash?” on Slack`, async () => {
    await cloud.runner.killInContainer(before.pid);
    await stage.answered("Did you crash?");
  });
  const after = await stage.until("the gateway runs again", async () => {
    const now = await processes(stage).catch(() => undefined);
    return now !== undefined && now.restarts > before.restarts && now;
  });
  guide.check(
    `the supervisor has restarted it: process ${before.pid} is now ${after.pid}`,
    after.pid !== before.pid,
  );
  guide.showAddresses(["the supervisor's log of it", stage.address(ROUTES.logsPage)]);
  await guide.next("continue");
};

/** Somebody breaks the config file by hand and repairs it. */
export const brokenConfig: Chapter = async (stage) => {
  const { guide, cloud } = stage;
  guide.explain(
    "Somebody edits steward.json in the bucket by hand and misspells a key: “grops” for “groups”. The console would have " +
      "refused to save it. The gateway refuses to start with it, and says why.",
  );
  const bucket = `${STACK}-steward`;
  const put = async (config: object): Promise<void> => {
    const text = JSON.stringify(config, undefined, 2);
    await cloud.runner.withBucket(bucket, (objects) => objects.put(CONFIG_KEY, text));
    await stage.operate(ROUTES.restart, {});
  };
  const answer = await stage.operate(ROUTES.containerConfig);
  const { config: good } = (await answer.json()) as { config: { channels: { slack: object } } };
  const { channels } = good;
  const bad = { ...good, channels: { ...channels, slack: { ...channels.slack, grops: {} } } };
  await guide.next("break the config and restart");
  await guide.step(`Putting ${CONFIG_KEY} into the bucket ${bucket}, and restarting`, async () => {
    await put(bad);
    await stage.until("the gateway stops", async () => (await stage.state()).state === "crash-looping");
  });
  const doctor = await stage.cli("doctor");
  guide.check("steward doctor names the key", /Unrecognized key.*grops/.test(doctor), doctor);
  const queued = await guide.step("Somebody writes “Are you broken?” on Slack", () =>
    stage.ask("Are you broken?"),
  );
  guide.showAddresses(
    ["the cause, and the repairs that it offers", stage.address(ROUTES.admin)],
    ["the line of the file", stage.address(ROUTES.configPage)],
    ["the notice that the person got", `${stage.world.platforms.slack.url}/`],
  );
  await guide.next("remove the key");
  await guide.step("Restoring the previous file and restarting", async () => {
    await put(good);
    await queued.reply();
  });
  const { state } = await stage.state();
  guide.check("the gateway is ready, and the queued message is answered", state === "ready", state);
};

export const rollout: Chapter = async (stage) => {
  const { guide, world } = stage;
  guide.explain(
    "`npm run rollout` previews under the policies, backs up, updates, and probes the new version.",
  );
  const { workerVersion: before } = await stage.state();
  await world.stack.setConfig("steward:logLevel", { value: "debug" });
  await guide.next("roll out another log level");
  const { code, output } = await withoutRecords(() => stage.command("rollout", "--yes"));
  guide.check("it exits with 0, after a backup", code === 0 && output.includes("Made the backup"), output);
  const { workerVersion: after } = await stage.state();
  guide.check(`version ${after.slice(0, 8)} answers instead of ${before.slice(0, 8)}`, after !== before);
  guide.showAddresses(["the new version", stage.address(ROUTES.aboutPage)]);
};

export const rolloutBack: Chapter = async (stage) => {
  const { guide, cloud, world } = stage;
  guide.explain(
    "A new version fails on every request: the emulated cloud answers with 500 for it, as Cloudflare does for a Worker " +
      "that throws. `npm run rollout` notices and rolls back. This takes about half a minute.",
  );
  const { workerVersion: before } = await stage.state();
  guide.showAddresses(["the serving versions and their times", stage.address(ROUTES.rolloutsPage)]);
  await guide.next("roll out the broken version");
  await world.stack.setConfig("steward:logLevel", { value: "warning" });
  cloud.breakAllBut(before);
  try {
    const { code, output } = await withoutRecords(() => stage.command("rollout", "--yes"));
    guide.check(
      `it exits with ${ROLLED_BACK}: the rollout failed, and the previous version answers`,
      code === ROLLED_BACK,
      output,
    );
  } finally {
    cloud.breakAllBut(undefined);
  }
  const { workerVersion: after } = await stage.state();
  guide.check(`version ${before.slice(0, 8)} serves again`, after === before);
  await guide.step("Somebody writes “Still the same?” on Slack", () => stage.answered("Still the same?"));
  guide.check("people are answered as before", true);
};

/**
 * Somebody changes a registration by hand. `npm run drift` detects the change, and an update restores the
 * registration.
 */
export const drift: Chapter = async (stage) => {
  const { guide, world } = stage;
  const { telegram } = world.platforms;
  guide.explain(
    "Somebody uses the bot's token elsewhere and moves Telegram's webhook to another address: messages no longer arrive. " +
      "`npm run drift` compares the deployed state with the actual one.",
  );
  const webhook = (): string => telegram.updates.webhook?.url ?? "";
  const deployed = webhook();
  guide.check(`Telegram's webhook is ${deployed}`, deployed.startsWith(stage.url));
  await guide.next("move the webhook");
  await guide.step("Calling Telegram's setWebhook with another address", async () => {
    const { telegramBotToken: token } = world.settings.secrets;
    const body = new URLSearchParams({ url: "https://elsewhere.example/hook" });
    const moved = `${telegram.url}/bot${token}/setWebhook`;
    await fetch(moved, { method: "POST", body: JSON.stringify(Object.fromEntries(body)) });
  });
  const found = await stage.command("drift");
  guide.check(
    "it exits with 2 and names the webhook",
    found.code === DRIFT_FOUND && /webhook/i.test(found.output),
    found.output,
  );
  guide.explain(found.output.trim());
  await guide.next("restore it");
  const put = await stage.pulumi("up", "--refresh", "--yes", "--stack", STACK, "--non-interactive");
  guide.check("pulumi up --refresh exits with 0", put.code === 0, put.output);
  guide.check(`the webhook is ${deployed} again`, webhook() === deployed, webhook());
  const none = await stage.command("drift");
  guide.check("npm run drift finds no differences", none.code === 0, none.output);
};

export const restore: Chapter = async (stage) => {
  const { guide } = stage;
  guide.explain(
    "Backups are made before each sleep, after changes, and on demand. A conversation is deleted by mistake, and the newest " +
      "backup brings it back.",
  );
  const text = "Remember that the tour was here.";
  await guide.step(`Somebody writes “${text}” on Slack`, () => stage.answered(text));
  const list = async () => {
    const { sessions } = JSON.parse(await stage.cli("sessions list --json")) as {
      sessions: { conversation: string }[];
    };
    return sessions;
  };
  const before = await list();
  const made = await stage.command("backup", "--create", "--verify");
  const id = /Made (\S+)\./.exec(made.output)?.[1] ?? "";
  guide.check(
    `the backup ${id} is complete`,
    made.code === 0 && made.output.includes(`${id} is complete`),
    made.output,
  );
  guide.showAddresses(
    ["the conversations", stage.address(ROUTES.sessionsPage)],
    ["the backups", stage.address(ROUTES.backupsPage)],
  );
  await guide.next("delete every conversation");
  await guide.step(`Deleting ${before.length} conversation(s)`, async () => {
    for (const { conversation } of before) await stage.cli(`sessions delete ${conversation}`);
  });
  guide.check("no conversation is left", (await list()).length === 0);
  await guide.next(`restore ${id}`);
  await guide.step(`Restoring ${id}`, async () => {
    await stage.operate(ROUTES.backupsRestore, { id, config: "current", typed: STACK });
    await stage.until("the conversations are back", async () => {
      const now = await list().catch(() => []);
      return now.length === before.length;
    });
  });
  guide.check(`${before.length} conversation(s) are back`, true);
};

async function processes(stage: Stage): Promise<{ pid: number; restarts: number }> {
  const answer = await stage.operate(ROUTES.processes);
  const { processes: list, restarts } = (await answer.json()) as {
    processes: { name: string; pid?: number }[];
    restarts: number;
  };
  const pid = list.find(({ name }) => name === "gateway")?.pid;
  if (pid === undefined) throw new Error("the gateway does not run");
  return { pid, restarts };
}

/** Runs `work`, then removes the rollout records that it wrote in the checkout. */
async function withoutRecords<T>(work: () => Promise<T>): Promise<T> {
  const folder = path.join(".steward", "rollouts", STACK);
  const names = () => readdir(folder).catch((): string[] => []);
  const before = new Set(await names());
  try {
    return await work();
  } finally {
    for (const name of await names())
      if (!before.has(name)) await rm(path.join(folder, name), { recursive: true });
    // `rmdir` fails if the folder is not empty, as intended.
    for (const empty of [folder, path.dirname(folder)]) await rmdir(empty).catch(() => undefined);
  }
}

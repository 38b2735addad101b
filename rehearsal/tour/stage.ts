import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runProcess } from "../../infra/shell/process.ts";
import { ROUTES, type Route } from "../../runtime/contract/routes.ts";
import type { Cloud } from "../cloud.ts";
import type { RehearsedDeployment } from "../deploy.ts";
import { STACK, stackVariables } from "../stack.ts";
import { mention } from "../standins/slack-events.ts";
import type { World } from "../world.ts";
import type { Guide } from "./guide.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Timeout in milliseconds for a cold start, backup or restore on a busy machine. */
const PATIENCE_MS = 90_000;
const POLL_MS = 200;
/** Probe timeout in milliseconds, short because the tour waits for the failed probe of a broken version. */
const PROBE_MS = "15000";

interface Ended {
  code: number;
  /** Standard output followed by standard error. */
  output: string;
}

export class Stage {
  readonly world: World;
  readonly cloud: Cloud;
  readonly url: string;
  readonly guide: Guide;
  readonly #audience: string;

  constructor(world: World, { url, audience }: RehearsedDeployment, guide: Guide) {
    if (world.cloud === undefined) throw new Error("a tour needs the emulated cloud");
    this.world = world;
    this.cloud = world.cloud;
    this.url = url;
    this.#audience = audience;
    this.guide = guide;
    world.platforms.slack.connect(this.address(ROUTES.slackEvents));
  }

  address({ path: route }: Pick<Route, "path">): string {
    return new URL(route, this.url).href;
  }

  /** Sends an operator's request. `fields` are sent as a form. */
  async operate({ path: route }: Pick<Route, "path">, fields?: Record<string, string>): Promise<Response> {
    const headers = { ...(await this.world.signIn(this.#audience)), origin: this.url };
    const form = fields && { method: "POST", body: new URLSearchParams(fields) };
    const answer = await fetch(new URL(route, this.url), { ...form, headers, redirect: "manual" });
    if (answer.status >= 400)
      throw new Error(`${route} was answered with ${answer.status}: ${await answer.text()}`);
    return answer;
  }

  /** Runs a gateway command through `/debug/cli`. */
  async cli(command: string): Promise<string> {
    const answer = await this.operate(ROUTES.cliChange, { cmd: command });
    const { stdout, stderr } = (await answer.json()) as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }

  /** Returns the service's state from `/readyz`. */
  async state(): Promise<{ state: string; workerVersion: string }> {
    return (await (await fetch(this.address(ROUTES.ready))).json()) as {
      state: string;
      workerVersion: string;
    };
  }

  /** Polls until `find` returns a result other than `undefined` and `false`. */
  async until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await find();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS / 1_000} s`);
      await sleep(POLL_MS);
    }
  }

  /**
   * Sends a message to the bot. `reply` waits for the reply that quotes the text. The timeout starts when `reply` is
   * called.
   */
  async ask(text: string): Promise<{ reply(): Promise<string> }> {
    const { slack } = this.world.platforms;
    const sent = await slack.send(mention(text));
    if (sent.status !== 200 && sent.status !== 503)
      throw new Error(`Slack's event was answered with ${sent.status}`);
    return {
      reply: async () =>
        (await slack.waitFor((message) => message.text.includes(`${text}”`), PATIENCE_MS)).text,
    };
  }

  async answered(text: string): Promise<void> {
    const { reply } = await this.ask(text);
    await reply();
  }

  /** Runs one of the project's commands. The tour shows the command as `npm run <script> -- rehearsal …`. */
  async command(script: string, ...words: string[]): Promise<Ended> {
    return this.#run(`npm run ${script} -- ${[STACK, ...words].join(" ")}`, process.execPath, [
      path.join(ROOT, "stacks/commands", `${script}.ts`),
      STACK,
      ...words,
    ]);
  }

  pulumi(...words: string[]): Promise<Ended> {
    return this.#run(`pulumi ${words.join(" ")}`, this.world.engine.cli, words);
  }

  async #run(typed: string, file: string, words: string[]): Promise<Ended> {
    const { engine, dir, settings } = this.world;
    const own = { ...engine.env, ...stackVariables({ dir, passphrase: settings.passphrase }) };
    const env = { ...process.env, ...own, PROBE_TIMEOUT_MS: PROBE_MS };
    const { progress } = this.guide;
    return this.guide.step(`$ ${typed}`, async () => {
      const ended = await runProcess(file, words, { cwd: ROOT, env, onLine: progress.log });
      return { code: ended.code, output: `${ended.stdout}${ended.stderr}` };
    });
  }
}

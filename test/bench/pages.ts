import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium, type Browser } from "playwright-core";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { fillHome } from "../support/busy-home.ts";
import { figure, median, type Figure } from "../support/measure.ts";
import { startService } from "../support/service.ts";
import type { RunOptions } from "./run.ts";
import { emptyHome } from "./start.ts";

const KB = 1_000;
const CHROMIUM = "/usr/bin/chromium";
const ADMIN_TOKEN = "bench-admin-token";
/** Pages of the navigation, and the chat. */
const PAGES = [
  ROUTES.admin,
  ROUTES.devicesPage,
  ROUTES.sessionsPage,
  ROUTES.ledgerPage,
  ROUTES.schedulesPage,
  ROUTES.workspacePage,
  ROUTES.channelsPage,
  ROUTES.modelsPage,
  ROUTES.usagePage,
  ROUTES.logsPage,
  ROUTES.configPage,
  ROUTES.configEdit,
  ROUTES.backupsPage,
  ROUTES.activityPage,
  ROUTES.rolloutsPage,
  ROUTES.aboutPage,
  ROUTES.chat,
];
const MAX_OVERVIEW_KB = 40;
const MAX_CLIENT_KB = 220;

/** A host that has been in use for long. */
const BUSY = { events: 1_000, people: 300, conversations: 200, schedules: 50 };
const MAX_BUSY_MS = 300;

/** A page as a browser loads it. */
export interface Weight {
  /** Kilobytes of all that it loads, each part gzipped. */
  kb: number;
  /** Milliseconds from the navigation to the first contents that are painted. */
  paintMs: number;
}

/** Opens the browser of the measurements. */
export function measuringBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`pages are measured in Chromium, and there is no ${CHROMIUM}`);
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** Loads a page in a context of its own, with nothing in any cache. */
export async function weigh(
  browser: Browser,
  url: string,
  headers: Record<string, string> = {},
): Promise<Weight> {
  const context = await browser.newContext({ extraHTTPHeaders: headers });
  try {
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      // The stream of changes never ends, and so has no size.
      if (response.headers()["content-type"]?.startsWith("text/event-stream")) return;
      sizes.push(
        response.body().then(
          (body) => gzipSync(body).length,
          () => 0,
        ),
      );
    });
    const answer = await page.goto(url, { waitUntil: "load" });
    if (!answer?.ok()) throw new Error(`${url} was answered ${answer?.status()}`);
    const paintMs = await page.evaluate<number>(
      `new Promise((resolve) => new PerformanceObserver((list) => {
         for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
       }).observe({ type: "paint", buffered: true }))`,
    );
    const kb = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / KB;
    return { kb, paintMs };
  } finally {
    await context.close();
  }
}

/** Measures what the pages weigh, how soon they are painted, and how soon a busy host answers each. */
export async function benchPages(options: RunOptions): Promise<Figure[]> {
  const { bundleDir, surroundings, folder, runs } = options;
  const home = await emptyHome(join(folder, "pages"));
  const environment = { ...surroundings.environment, ADMIN_TOKEN };
  const service = await startService(bundleDir, "host/main.js", home, environment);
  const bare = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html><title>bare</title><p>Hello"),
  );
  bare.listen(0, "127.0.0.1");
  await once(bare, "listening");
  const browser = await measuringBrowser();
  try {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const sizes = new Map<string, number>();
    for (const { path } of PAGES)
      sizes.set(path, (await weigh(browser, `${service.url}${path}`, headers)).kb);
    const overview: number[] = [];
    const nothing: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
      nothing.push((await weigh(browser, bareUrl)).paintMs);
      overview.push((await weigh(browser, `${service.url}${ROUTES.admin.path}`, headers)).paintMs);
    }
    const [largest = "", largestKb = 0] = [...sizes].toSorted(([, a], [, b]) => b - a)[0] ?? [];
    return [
      figure(
        "the overview with all it loads, gzipped",
        "KB",
        [sizes.get(ROUTES.admin.path) ?? 0],
        MAX_OVERVIEW_KB,
      ),
      figure(`the largest page (${largest}) with all it loads, gzipped`, "KB", [largestKb], MAX_CLIENT_KB),
      figure("the overview: first paint", "ms", overview),
      figure("a page of one word: first paint", "ms", nothing),
      ...(await busyFigures(options)),
    ];
  } finally {
    await browser.close();
    bare.close();
    await service.stop();
  }
}

/** Measures the answers of a busy host: the slowest page, beside the health check of the same host. */
async function busyFigures({ bundleDir, surroundings, folder, runs }: RunOptions): Promise<Figure[]> {
  const home = await emptyHome(join(folder, "busy"));
  await fillHome(home, BUSY);
  const service = await startService(bundleDir, "host/main.js", home, {
    ...surroundings.environment,
    ADMIN_TOKEN,
  });
  const times = async (path: string): Promise<number[]> => {
    const all: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const begun = performance.now();
      const answer = await fetch(`${service.url}${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      await answer.text();
      if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
      all.push(performance.now() - begun);
    }
    return all;
  };
  try {
    const pages: [path: string, times: number[]][] = [];
    for (const { path } of PAGES) pages.push([path, await times(path)]);
    const [slowest = "", slow = []] = pages.toSorted(([, a], [, b]) => median(b) - median(a))[0] ?? [];
    const words = "1,000 events, 300 people, 200 conversations, 50 schedules";
    return [
      figure(`with ${words}: the slowest page (${slowest})`, "ms", slow, MAX_BUSY_MS),
      figure("the same host: its health check", "ms", await times(ROUTES.live.path)),
    ];
  } finally {
    await service.stop();
  }
}

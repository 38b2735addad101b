import { expect, it } from "vitest";
import { BROKER_TOKEN as TOKEN, edgeFixture } from "../../support/edge.ts";
import { generator } from "../../support/random.ts";

const KEYS = {
  ANTHROPIC_API_KEY: "sk-ant-real-0123456789abcdef",
  OPENAI_API_KEY: "sk-real-0123456789abcdefghij",
  TELEGRAM_BOT_TOKEN: "123456789:AAreal-0123456789abcdefghijklmnopqr",
  SLACK_BOT_TOKEN: "xoxb-real-0123456789",
  DISCORD_BOT_TOKEN: "discord.real.0123456789abcdef",
};
const TELEGRAM_FILES = `https://api.telegram.org/file/bot${KEYS.TELEGRAM_BOT_TOKEN}`;
/** Every request that may go out, listed apart from the table. `~` is a part that holds no slash in any spelling. */
const ALLOWED = [
  "POST https://api.anthropic.com/v1/messages",
  "GET https://api.anthropic.com/v1/models/~",
  "POST https://api.openai.com/v1/chat/completions",
  "POST https://api.openai.com/v1/audio/transcriptions",
  "GET https://api.openai.com/v1/models",
  ...[
    "auth.test",
    "chat.postMessage",
    "chat.update",
    "files.info",
    "files.getUploadURLExternal",
    "files.completeUploadExternal",
  ].map((method) => `POST https://slack.com/api/${method}`),
  "GET https://discord.com/api/v10/users/@me",
  "POST https://discord.com/api/v10/channels/~/messages",
  "PATCH https://discord.com/api/v10/channels/~/messages/~",
  "POST https://discord.com/api/v10/channels/~/typing",
  ...[
    "getMe",
    "sendMessage",
    "editMessageText",
    "sendChatAction",
    "sendPhoto",
    "sendDocument",
    "getFile",
  ].map((method) => `POST https://api.telegram.org/bot${KEYS.TELEGRAM_BOT_TOKEN}/${method}`),
  `GET ${TELEGRAM_FILES}/~`,
  `GET ${TELEGRAM_FILES}/~/~`,
].map((form) => new RegExp(`^${form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("~", "[\\w.@:-]+")}$`));
/** A file's own name, with nothing that a server could take for a slash. */
const SLACK_FILE =
  /^GET https:\/\/files\.slack\.com\/files-pri\/T1-F1\/(?:download\/)?(?:[^/%\\?#]|%(?!25|2f|5c|00)[0-9a-f]{2})+(?:\?|$)/i;

const PLACES = [
  "auth.revoke",
  "conversations.history?channel=C1",
  "setWebhook",
  "v1/files",
  "guilds/1",
  "user",
  "models",
  "messages",
  "file?id=F1",
  "file?path=photos/a.jpg",
  "file?url=https://slack.com/api/auth.revoke",
  "model?id=claude-x",
  "chat.postMessage",
  "chat/completions",
  "audio/transcriptions",
  "message.create?channel=12",
  "message.edit?channel=12&message=3",
  "sendMessage",
];
const CLIMBS = [
  "../",
  "..%2f",
  "..%5c",
  "%2e%2e/",
  "%2e%2e%2f",
  "..%252f",
  "..\\",
  ".%2e/",
  "..;/",
  "%00/",
  "//",
];
const HOSTS = [
  "attacker.example",
  "169.254.169.254",
  "[::ffff:169.254.169.254]",
  "2852039166",
  "0x7f.1",
  "slack.com:8443",
  "files.slack.com:1",
  "api.telegram.org@attacker.example",
  "user:word@files.slack.com",
  "slack.com.attacker.example",
];
const SERVICES = ["anthropic", "openai", "slack", "discord", "telegram"];
const METHODS = ["GET", "GET", "GET", "POST", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"];
const BODIES = [
  "{}",
  "[]",
  "{",
  "file=F1&url=https://attacker.example",
  "channel=C1&text=a&unfurl_links=false&unfurl_media=false&as_user=true",
  '{"chat_id":"1","text":"a","link_preview_options":{"is_disabled":true},"url":"https://attacker.example"}',
  '{"__proto__":{"url":"https://attacker.example"},"content":"a"}',
];

/** The pass where its service looks for a key, so that only the broker's own checks are in the way. */
const pass = (path: string) => ({
  authorization: `${path.startsWith("discord") ? "Bot" : "Bearer"} ${TOKEN}`,
  "x-api-key": TOKEN,
});

it("no hostile request reaches another operation, host or port with a key", async () => {
  const random = generator(35);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const address = () => `${one(["https://", "http://", "//", "ftp://"])}${one(HOSTS)}/${one(PLACES)}`;
  const hostile = (): string => {
    const climb = `${one(CLIMBS)}${one(PLACES)}`;
    const value = one([address(), climb, `a/${one(CLIMBS)}${climb}`]);
    return one([value, encodeURIComponent(value), encodeURIComponent(encodeURIComponent(value))]);
  };
  const paths = [
    (service: string) => `${service}/${one(PLACES)}`,
    (service: string) => `${service}/${one(CLIMBS)}${one(PLACES)}`,
    (service: string) => `${service}/${one(CLIMBS)}${one(SERVICES)}/${one(PLACES)}`,
    (service: string) => `${service}/${hostile()}`,
    (service: string) => `${service}/file?path=${hostile()}`,
    (service: string) => `${service}/file?id=${hostile()}`,
    (service: string) => `${service}/model?id=${hostile()}`,
    (service: string) => `${service}/message.create?channel=${hostile()}`,
    (service: string) => `${service}/${one(PLACES)}&url=${hostile()}`,
    (service: string) => `${service}/${one(PLACES)}#${hostile()}`,
    () => hostile(),
    // Slack's answers about this file are hostile, too.
    () => "slack/file?id=F1",
  ];
  const sent: { request: string; headers: string }[] = [];
  const { app } = edgeFixture({
    environment: KEYS,
    services: async (url, { method = "", headers }) => {
      sent.push({ request: `${method} ${url}`, headers: JSON.stringify([...new Headers(headers)]) });
      if (url.endsWith("/files.info")) {
        const place = one([address(), "https://files.slack.com/files-pri/T1-F1/a.png"]);
        return Response.json({ ok: true, file: { id: "F1", url_private: place } });
      }
      const location = one([address(), hostile()]);
      return random() < 0.5 ? new Response("x") : new Response(null, { status: 307, headers: { location } });
    },
  });
  const codes = new Set<string>();
  for (let count = 0; count < 3_000; count += 1) {
    const method = one(METHODS);
    const hasBody = method !== "GET" && method !== "HEAD";
    const path = one(paths)(one(SERVICES));
    const request = new Request(`http://steward.example/broker/${path}`, {
      method,
      headers: {
        ...pass(path),
        "x-forwarded-host": one(HOSTS),
        "x-http-method-override": "DELETE",
        ...(random() < 0.1 && { "steward-proxy": address() }),
      },
      ...(hasBody && { body: one(BODIES) }),
    });
    const answer = await app.fetch(request);
    const text = await answer.text();
    expect(Object.values(KEYS).filter((key) => text.includes(key))).toEqual([]);
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    if (code !== undefined) codes.add(code);
  }
  expect(sent.filter(({ request }) => ![...ALLOWED, SLACK_FILE].some((form) => form.test(request)))).toEqual(
    [],
  );
  for (const { request, headers } of sent) {
    const own = Object.values(KEYS).filter((key) => `${request} ${headers}`.includes(key));
    expect([request, own.length, headers.includes(TOKEN)]).toEqual([request, 1, false]);
  }
  // Enough of them pass to try what lies behind the table.
  expect(sent.length).toBeGreaterThan(100);
  expect([...codes]).toEqual(
    expect.arrayContaining(["broker_operation_unknown", "broker_arguments_invalid", "slack_file_elsewhere"]),
  );
});

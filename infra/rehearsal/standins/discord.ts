import { Hono } from "hono";
import { listen, type Listening, type ListenOptions } from "./serve.ts";

/** Options of {@link startDiscord}. */
export interface DiscordOptions extends ListenOptions {
  botToken: string;
  applicationId: string;
}

/**
 * Stands in for Discord's API, version 10 (https://docs.discord.com/developers/reference): the
 * current user and application, its commands, and messages to a channel.
 * Not modelled: interactions from Discord's side, permissions, limits, every other resource.
 */
export async function startDiscord(options: DiscordOptions): Promise<Listening> {
  const app = new Hono();
  const sent: string[] = [];
  let commands: unknown[] = [];
  const application = { id: options.applicationId, name: "steward", interactions_endpoint_url: null };
  app.get("/", (context) =>
    context.text(`Stand-in for Discord (rehearsal only). Messages sent: ${sent.length}`),
  );
  app.use("/api/v10/*", async (context, next) => {
    if (context.req.header("authorization") !== `Bot ${options.botToken}`) {
      return context.json({ message: "401: Unauthorized", code: 0 }, 401);
    }
    await next();
    return undefined;
  });
  app.get("/api/v10/users/@me", (context) =>
    context.json({ id: options.applicationId, username: "steward", bot: true }),
  );
  app.get("/api/v10/applications/@me", (context) => context.json(application));
  app.put("/api/v10/applications/:id/commands", async (context) => {
    commands = await context.req.json();
    return context.json(commands);
  });
  app.post("/api/v10/channels/:id/messages", async (context) => {
    const { content = "" } = await context.req.json<{ content?: string }>();
    sent.push(content);
    return context.json({ id: String(sent.length), channel_id: context.req.param("id"), content });
  });
  app.notFound((context) => context.json({ message: "404: Not Found", code: 0 }, 404));
  return listen(app, options);
}

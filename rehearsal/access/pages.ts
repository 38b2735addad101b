import { html } from "hono/html";

type Page = ReturnType<typeof html>;

export function signInPage(host: string, action: string, problem = ""): Page {
  return page(
    "Sign in",
    html`<p>Sign in to <b>${host}</b></p>
      ${problem === "" ? "" : html`<p role="alert">${problem}</p>`}
      <p>Any address works: this local gateway does not verify it.</p>
      <form method="post" action="${action}">
        <label>E-mail <input name="email" type="email" required autofocus autocomplete="email" /></label>
        <button>Sign in</button>
      </form>`,
  );
}

export function deniedPage(host: string, email: string): Page {
  return page(
    "Forbidden",
    html`<p>That account does not have access.</p>
      <p>No policy of the application at ${host} allows <b>${email}</b>.</p>`,
  );
}

export function signedOutPage(): Page {
  return page("Signed out", html`<p>You are signed out. <a href="/">Back</a></p>`);
}

export function nothingDeployedPage(): Page {
  return page("Nothing is deployed", html`<p>No Worker of this account serves this address yet.</p>`);
}

export function messagePage(title: string, text: string): Page {
  return page(title, html`<p>${text}</p>`);
}

function page(title: string, body: Page): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · local identity gateway</title>
        <style>
          body {
            font:
              1rem/1.5 system-ui,
              sans-serif;
            max-width: 32rem;
            margin: 4rem auto;
            padding: 0 1rem;
          }
          small {
            color: #666;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
        <p><small>local identity gateway, rehearsal only</small></p>
      </body>
    </html>`;
}

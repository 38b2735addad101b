/**
 * The chat page's script, see contract/chat.ts for what it speaks. The key pair lives in this browser's
 * IndexedDB and cannot be read out of it. Every text is put in as text, never as markup.
 */
export const CHAT_SCRIPT = `
const $ = (id) => document.getElementById(id);
const log = $("log"), form = $("form"), field = $("text"), state = $("state");
const turns = new Map();
const encoder = new TextEncoder();
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");

// The key of this browser.
const stored = (mode, act) => new Promise((resolve, reject) => {
  const open = indexedDB.open("steward-chat", 1);
  open.onupgradeneeded = () => open.result.createObjectStore("keys");
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const request = act(open.result.transaction("keys", mode).objectStore("keys"));
    request.onsuccess = () => { resolve(request.result); open.result.close(); };
    request.onerror = () => reject(request.error);
  };
});
async function device(anew) {
  let pair = anew ? undefined : await stored("readonly", (keys) => keys.get("device"));
  if (!pair) {
    pair = await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]);
    await stored("readwrite", (keys) => keys.put(pair, "device"));
  }
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  const hash = await crypto.subtle.digest("SHA-256", raw);
  const deviceId = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { pair, deviceId, publicKey: base64url(raw) };
}
function displayName() {
  const agent = navigator.userAgent;
  const find = (names) => names.find(([, word]) => agent.includes(word))?.[0];
  const browser = find([["Edge", "Edg/"], ["Firefox", "Firefox/"], ["Chrome", "Chrome/"], ["Safari", "Safari/"]]);
  const system = find([["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"],
    ["macOS", "Mac OS"], ["Linux", "Linux"]]);
  return [browser ?? "Browser", system].filter(Boolean).join(" on ");
}

// What was said and has no answer yet survives a reload: it is said again under its own id.
const KEPT = "steward-chat-unanswered";
let unanswered = new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
const keep = () => sessionStorage.setItem(KEPT, JSON.stringify([...unanswered]));

// Texts: fenced code in <pre>, all else as it was written.
function render(element, text) {
  const parts = text.split(/^\`\`\`[\\w+#.-]*[ \\t]*$/m);
  element.replaceChildren(...parts.flatMap((part, index) => {
    const trimmed = part.replace(/^\\n|\\n$/g, "");
    if (trimmed === "") return [];
    const node = document.createElement(index % 2 ? "pre" : "p");
    if (index % 2 === 0) node.className = "part";
    else node.tabIndex = 0;
    node.textContent = trimmed;
    return [node];
  }));
}
function article(key, own) {
  let element = turns.get(key);
  if (!element) {
    element = document.createElement("article");
    element.className = own ? "own" : "";
    element.setAttribute("aria-label", own ? "You" : "steward");
    turns.set(key, element);
    const question = own ? undefined : turns.get("user " + key.slice("assistant ".length));
    // An answer stands right behind its question.
    if (question) question.after(element); else log.append(element);
  }
  return element;
}
function show(role, id, text, tone = "") {
  const pinned = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const element = article(role + " " + id, role === "user");
  element.className = [role === "user" ? "own" : "", tone].join(" ").trim();
  // Read out once it is whole, not with every word.
  element.setAttribute("aria-busy", String(tone === "busy"));
  render(element, text);
  if (pinned || role === "user") log.scrollTop = log.scrollHeight;
}
function tell(text, tone) { state.textContent = text; state.dataset.tone = tone; }
function ready(on) {
  field.disabled = !on; $("send").disabled = !on;
  if (on) { $("pairing").hidden = true; $("trouble").hidden = true; if (matchMedia("(hover: hover)").matches) field.focus(); }
}
function trouble(text, button, act) {
  $("pairing").hidden = true;
  $("trouble-text").textContent = text; $("retry").textContent = button; $("trouble").hidden = false;
  $("retry").onclick = () => { $("trouble").hidden = true; act(); };
}

// The connection.
let socket, attempts = 0, welcome = false;
// A silent page must not keep waking the gateway: it connects when its person writes, who may go on writing.
let asleep = false, roused = false;
function rouse() { if (asleep) { asleep = false; roused = true; connect(); } }
const send = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
async function connect(anew = false) {
  tell("Connecting", "wait");
  let self;
  try { self = await device(anew); }
  catch { tell("No key", "bad"); return trouble("This browser cannot make the key that the chat needs. It takes a current browser, and https or localhost.", "Try again", connect); }
  welcome = false;
  const current = socket = new WebSocket(location.origin.replace(/^http/, "ws") + document.body.dataset.socket);
  current.onmessage = async ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "challenge") {
      const text = ["steward-chat-v1", message.nonce, self.deviceId, location.origin].join("\\n");
      const signature = await crypto.subtle.sign({ name: "Ed25519" }, self.pair.privateKey, encoder.encode(text));
      send({ type: "hello", deviceId: self.deviceId, publicKey: self.publicKey, displayName: displayName(),
        signature: base64url(signature) });
    } else receive(message);
  };
  current.onclose = ({ code }) => {
    if (current !== socket) return;
    ready(roused); $("pairing").hidden = true;
    if (code === 4503) { asleep = true; ready(true); return tell("Asleep until you write", "wait"); }
    if (code === 4403) { tell("Revoked", "bad"); return trouble("This browser's access was revoked.", "Pair it anew", () => connect(true)); }
    if (code === 4408) { tell("Not paired", "bad"); return trouble("The request was not approved in time, or was rejected.", "Ask again", connect); }
    if (code === 4429) { tell("Not paired", "bad"); return trouble("Other browsers asked too, and took this one's place.", "Try again", connect); }
    if (code === 4400 || code === 4401) { tell("Refused", "bad"); return trouble("The chat refused this page. Load it again.", "Load again", () => location.reload()); }
    tell("Not connected, trying again", "bad");
    const wait = Math.min(30_000, 500 * 2 ** attempts++) * (0.75 + Math.random() / 2);
    setTimeout(() => current === socket && connect(), wait);
  };
}
function receive(message) {
  const { type, id, text } = message;
  if (type === "pairing") {
    roused = false; ready(false);
    tell("Waiting for approval", "wait");
    $("command").textContent = message.command; $("request").textContent = message.requestId; $("pairing").hidden = false;
  } else if (type === "welcome") {
    attempts = 0; welcome = true; roused = false;
    for (const turn of message.history) {
      show(turn.role, turn.id, turn.text);
      if (turn.role === "assistant") unanswered.delete(turn.id);
    }
    for (const running of message.running) if (turns.has("user " + running)) show("assistant", running, "", "busy");
    tell("Connected", "ok"); ready(true);
    keep();
    for (const [key, said] of unanswered) { show("user", key, said, "waiting"); send({ type: "say", id: key, text: said }); }
    log.scrollTop = log.scrollHeight;
  } else if (type === "accepted") show("user", id, text);
  else if (type === "typing") show("assistant", id, "", "busy");
  else if (type === "text") show("assistant", id, message.soFar, "busy");
  else if (type === "answer") { unanswered.delete(id); keep(); show("assistant", id, text); }
  else if (type === "error") {
    const said = unanswered.get(id);
    unanswered.delete(id); keep();
    show("assistant", id, text, "failed");
    if (message.again && said) {
      const button = document.createElement("button");
      button.type = "button"; button.textContent = "Try again";
      button.onclick = () => { turns.get("assistant " + id).remove(); turns.delete("assistant " + id); say(id, said); };
      turns.get("assistant " + id).append(button);
    }
  }
}
function say(id, text) {
  unanswered.set(id, text); keep();
  show("user", id, text, "waiting");
  if (welcome) send({ type: "say", id, text });
  rouse();
}
form.onsubmit = (event) => {
  event.preventDefault();
  const text = field.value.trim();
  if (!text || field.disabled) return;
  field.value = "";
  say(crypto.randomUUID(), text);
};
field.oninput = rouse;
field.onkeydown = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault(); form.requestSubmit();
};
$("copy").onclick = async () => {
  await navigator.clipboard.writeText($("command").textContent);
  $("copy").textContent = "Copied"; setTimeout(() => ($("copy").textContent = "Copy"), 2000);
};
addEventListener("online", () => socket?.readyState === WebSocket.CLOSED && !asleep && connect());
connect();
`;

/** The chats in the sidebar, as the service keeps them: found again in any browser, searched, renamed, deleted. */

import { ROOT, getJson, send, sendJson } from "../api.js";
import { announce, byId, element, icon } from "../dom.js";

const SHOWN = 12;
/** Milliseconds without a key after which typing is over. */
const TYPING_MS = 200;

/** @typedef {import("../types.js").ConversationLine} Chat */

/** Tells the other tabs that something has changed. */
const others = new BroadcastChannel("antiphon.chats");
let shown = SHOWN;
/** Counts the readings, so that an earlier one does not overwrite a later one. */
let readings = 0;

/** Begins to keep the list in step with other tabs, and lets it be searched. */
export function startChats() {
  others.addEventListener("message", () => showChats());
  const search = /** @type {HTMLInputElement} */ (byId("chat-search"));
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = window.setTimeout(showChats, TYPING_MS);
  });
}

/**
 * Calls back whenever something has changed in another tab.
 * @param {() => void} changed
 * @param {AbortSignal} signal Ends it.
 */
export function watchChats(changed, signal) {
  others.addEventListener("message", changed, { signal });
}

/** Draws the list again here and in the other tabs. */
export function chatsChanged() {
  others.postMessage(null);
  return showChats();
}

/** Draws the list in the sidebar. */
export async function showChats() {
  const reading = ++readings;
  const wanted = /** @type {HTMLInputElement} */ (byId("chat-search")).value.trim();
  const query = new URLSearchParams({ limit: String(shown) });
  if (wanted) query.set("q", wanted);
  /** @type {{conversations: Chat[], next: string | null}} */
  let found;
  try {
    found = await getJson(`/api/conversations?${query}`);
  } catch {
    // The page itself says that the service is away.
    return;
  }
  // A reader who renames or is about to delete is not disturbed.
  if (reading !== readings || byId("recent-list").querySelector("form") !== null) return;
  byId("recent-chats").hidden = found.conversations.length === 0 && !wanted;
  const items = found.conversations.map(chatItem);
  if (items.length === 0) items.push(element("li", { class: "chat-none soft" }, "No chats match."));
  if (found.next !== null) items.push(moreItem());
  byId("recent-list").replaceChildren(...items);
}

/** @param {string} sessionId */
function pathOf(sessionId) {
  return `${ROOT}/conversations/${encodeURIComponent(sessionId)}`;
}

/** @param {Chat} chat */
function chatItem(chat) {
  const path = pathOf(chat.session_id);
  const isHere = location.pathname === path;
  const item = element("li", { class: "chat" });
  item.append(
    element(
      "a",
      { href: path, "data-view": true, dir: "auto", "aria-current": isHere ? "page" : null },
      chat.title,
    ),
    action("pencil", "Rename", chat, () => item.replaceChildren(renaming(chat))),
    action("bin", "Delete", chat, () => item.replaceChildren(deleting(chat))),
  );
  return item;
}

function moreItem() {
  const more = () => {
    shown += 3 * SHOWN;
    showChats();
  };
  return element("li", {}, element("button", { class: "quiet", type: "button", click: more }, "Show more"));
}

/**
 * @param {string} sign
 * @param {string} name
 * @param {Chat} chat
 * @param {() => void} begin
 */
function action(sign, name, chat, begin) {
  const act = () => {
    begin();
    const field = byId("recent-list").querySelector("form :is(input, button)");
    if (field instanceof HTMLElement) field.focus();
  };
  return element(
    "button",
    { class: "chat-action", type: "button", title: name, click: act },
    icon(sign),
    element("span", { class: "hidden" }, `${name} ${chat.title}`),
  );
}

/** @param {Chat} chat */
function renaming(chat) {
  const input = element("input", {
    class: "text-input",
    "aria-label": "Title of the chat",
    maxlength: 120,
    required: true,
  });
  input.value = chat.title;
  return change([input, element("button", { class: "quiet", type: "submit" }, "Save")], () =>
    sendJson(`/api/conversations/${encodeURIComponent(chat.session_id)}`, { title: input.value }, "PATCH"),
  );
}

/** @param {Chat} chat */
function deleting(chat) {
  const words = element("p", { dir: "auto" }, `Delete “${chat.title}” with its traces?`);
  const button = element("button", { class: "quiet danger", type: "submit" }, "Delete");
  return change([words, button], async () => {
    await send(`/api/conversations/${encodeURIComponent(chat.session_id)}`, { method: "DELETE" });
    if (location.pathname !== pathOf(chat.session_id)) return;
    history.pushState(null, "", `${ROOT}/`);
    window.dispatchEvent(new PopStateEvent("popstate"));
  });
}

/**
 * Draws a form in a chat's place; its action closes it, or the form says why it failed.
 * @param {Node[]} parts
 * @param {() => Promise<unknown>} act
 */
function change(parts, act) {
  const form = element("form", { class: "row chat-form" });
  const end = () => {
    form.remove();
    chatsChanged();
  };
  form.append(...parts, element("button", { class: "quiet", type: "button", click: end }, "Cancel"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await act();
      end();
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      announce(message);
      form.append(element("p", { class: "soft bad" }, message));
    }
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end();
  });
  return form;
}

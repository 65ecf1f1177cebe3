/** The conversations of this browser: their ids and first questions; what was said is the service's to know. */

import { ROOT } from "../api.js";
import { byId, element } from "../dom.js";

const KEPT_UNDER = "antiphon.chats";
const MOST = 30;

/** @typedef {{id: string, title: string}} Chat */

/** @returns {Chat[]} */
function chats() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT_UNDER) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((chat) => typeof chat?.id === "string" && typeof chat.title === "string")
      : [];
  } catch {
    return [];
  }
}

/**
 * Keeps a conversation, the newest first.
 * @param {string} id
 * @param {string} title Its first question.
 */
export function keepChat(id, title) {
  const before = chats();
  const known = before.find((chat) => chat.id === id);
  const others = before.filter((chat) => chat.id !== id);
  write([known ?? { id, title: title.slice(0, 120) }, ...others].slice(0, MOST));
}

/**
 * Forgets a conversation that is not there any more.
 * @param {string} id
 */
export function forgetChat(id) {
  write(chats().filter((chat) => chat.id !== id));
}

/** @param {Chat[]} kept */
function write(kept) {
  try {
    localStorage.setItem(KEPT_UNDER, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing has no list; conversations have their addresses all the same.
  }
  showChats();
}

/** Draws the list in the sidebar. */
export function showChats() {
  const kept = chats();
  byId("recent-chats").hidden = kept.length === 0;
  const items = kept.slice(0, 8).map((chat) => {
    const path = `${ROOT}/conversations/${encodeURIComponent(chat.id)}`;
    const isHere = location.pathname === path;
    return element(
      "li",
      {},
      element(
        "a",
        { href: path, "data-view": true, dir: "auto", "aria-current": isHere ? "page" : null },
        chat.title,
      ),
    );
  });
  byId("recent-list").replaceChildren(...items);
}

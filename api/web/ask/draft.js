/** The text of an answer while it is written, as the service renders it: complete blocks stay, the open one is replaced. */

import { element } from "../dom.js";
import { fragmentOf } from "../safe_html.js";

export class Draft {
  node = element("div", { class: "answer-text prose draft", dir: "auto" });
  #callId = "";
  /** The nodes of the block that is being written. */
  /** @type {ChildNode[]} */
  #open = [];

  get isEmpty() {
    return this.node.childNodes.length === 0;
  }

  clear() {
    this.node.replaceChildren();
    this.#open = [];
  }

  /** @param {import("../types.js").TextHtml} html */
  take(html) {
    if (html.call_id !== this.#callId) this.clear();
    this.#callId = html.call_id;
    for (const node of this.#open) node.remove();
    const open = fragmentOf(html.open);
    this.#open = [...open.childNodes];
    this.node.append(fragmentOf(html.settled), open);
  }
}

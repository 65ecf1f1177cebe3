/** Calls of the REST API; what goes wrong is an error that says in words what to do. */

import { askForKey, keptKey, withKey } from "./key.js";

/** The path under which a proxy serves the service, such as `/antiphon`; empty if there is none. */
export const ROOT = document.body.dataset.root ?? "";

/** A request that the service refused, in its own words. */
export class RefusedError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A request that did not reach the service, or whose answer broke off. */
export class UnreachableError extends Error {
  constructor() {
    super("The service cannot be reached. Is it running, and the network up?");
  }
}

/**
 * Sends a request, and returns its answer if it succeeds.
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
export async function send(path, options = {}) {
  while (true) {
    const sent = keptKey();
    const response = await reached(path, withKey(options));
    if (response.ok) return response;
    const refused = await refusal(response);
    // Another request may have brought a new key meanwhile; without any there is nothing to try again with.
    const hasNew = response.status === 401 && (keptKey() !== sent || (await askForKey(refused.message)));
    if (!hasNew) throw refused;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function reached(path, options) {
  try {
    return await fetch(ROOT + path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new UnreachableError();
  }
}

/** @param {Response} response */
async function refusal(response) {
  try {
    const { code, message } = (await response.json()).error;
    // Commands are in backticks, for programs and terminals.
    return new RefusedError(response.status, code, message.replaceAll("`", ""));
  } catch {
    // A proxy in between answers in words of its own.
    return new RefusedError(
      response.status,
      "no_json",
      `The service answered with status ${response.status}: try again.`,
    );
  }
}

/**
 * Reads JSON. Callers say what they expect, as types.js has it.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function getJson(path) {
  return (await send(path)).json();
}

/**
 * Sends JSON, and reads some.
 * @param {string} path
 * @param {unknown} body
 * @param {"POST" | "PUT" | "PATCH"} method
 * @returns {Promise<any>}
 */
export async function sendJson(path, body = undefined, method = "POST") {
  /** @type {RequestInit} */
  const options = { method };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  return (await send(path, options)).json();
}

/**
 * Reads the readiness, which comes with status 503 if the service is not ready.
 * @returns {Promise<import("./types.js").Readiness>}
 */
export async function readiness() {
  try {
    return await (await fetch(`${ROOT}/readyz`)).json();
  } catch {
    throw new UnreachableError();
  }
}

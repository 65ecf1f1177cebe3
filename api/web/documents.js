/** Adding documents: files to the service, the progress of the indexing, and what was read, refused and why. */

import { RefusedError, UnreachableError, getJson, send } from "./api.js";
import { announce, element, icon } from "./dom.js";
import { eventsOf } from "./event_stream.js";
import { count } from "./text.js";

/** Endings that the service reads; it refuses other files itself, with the reason. */
export const ACCEPTED = ".txt,.md,.markdown,.mdx,.qmd,.rmd,.html,.htm,.pdf,.docx,.pptx,.vtt,.srt,.ipynb";
/** What one request may hold; more goes in several. */
const MOST_BYTES = 60_000_000;
const MOST_FILES = 100;
const STAGES = {
  waiting: "Waiting for another indexing run",
  files: "Reading",
  documents: "Embedding",
  vectors: "Building the index",
};

/**
 * @typedef {object} Job
 * @property {string} job_id
 * @property {"waiting" | "running" | "done" | "failed"} state
 * @property {"files" | "documents" | "vectors" | null} stage
 * @property {number} done
 * @property {number} total
 * @property {string} file
 * @property {{name: string, status: "added" | "unchanged" | "refused", reason: string}[]} files
 * @property {string | null} error
 */

/**
 * Lets a field choose files of the formats that the service reads; the service itself refuses other files.
 * @param {HTMLInputElement} input
 * @returns {Promise<string[]>} The names of the formats.
 */
export async function acceptDocuments(input) {
  /** @type {{formats: {name: string, suffixes: string[]}[]}} */
  const { formats } = await getJson("/api/formats");
  input.accept = formats.flatMap((each) => each.suffixes).join(",");
  return formats.map((each) => each.name);
}

/**
 * The sample courses, as files beside this one; none if the service has no samples.
 * @type {string[]}
 */
export const SAMPLES = JSON.parse(document.body.dataset.samples ?? "[]");

/** A change of the courses, for all that shows them. */
export const COURSES_CHANGED = "antiphon:courses";

/**
 * Sends files to the service and shows the outcome in front of `beside`.
 * @param {File[]} files
 * @param {HTMLElement} beside
 */
export async function addDocuments(files, beside) {
  if (files.length > 0) await add(async () => files, beside);
}

/**
 * Adds the sample courses in the same way.
 * @param {HTMLElement} beside
 */
export function addSamples(beside) {
  return add(() => Promise.all(SAMPLES.map(sample)), beside);
}

/** @param {string} path */
async function sample(path) {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(response.statusText);
  return new File([await response.blob()], path.split("/").at(-1) ?? path);
}

/**
 * @param {() => Promise<File[]>} files
 * @param {HTMLElement} beside
 */
async function add(files, beside) {
  const panel = new Panel(beside);
  try {
    for (const batch of batches(await files())) {
      panel.sending(batch.length);
      const form = new FormData();
      for (const file of batch) form.append("files", file, pathOf(file));
      const response = await send("/api/documents", { method: "POST", body: form });
      await followJob(await response.json(), (job) => panel.show(job));
    }
  } catch (error) {
    panel.fail(error);
    return;
  }
  document.dispatchEvent(new Event(COURSES_CHANGED));
}

/**
 * Follows an indexing job to its end.
 * @param {Job} job
 * @param {(job: Job) => void} show Called with each state of it, the last one too.
 */
export async function followJob(job, show) {
  show(job);
  const response = await send(`/api/documents/jobs/${job.job_id}`, {
    headers: { Accept: "text/event-stream" },
  });
  for await (const event of eventsOf(response)) show(event.data);
}

/**
 * Follows a job to its end. Throws why it failed.
 * @param {Response} response What began it.
 */
export async function jobDone(response) {
  /** @type {Job} */
  let last = await response.json();
  await followJob(last, (job) => (last = job));
  if (last.state !== "done")
    throw new Error(last.error ?? "It is not known whether this was done. Reload the page.");
}

/** @param {File[]} files */
function* batches(files) {
  /** @type {File[]} */
  let batch = [];
  let bytes = 0;
  for (const file of files) {
    if (batch.length > 0 && (batch.length === MOST_FILES || bytes + file.size > MOST_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(file);
    bytes += file.size;
  }
  if (batch.length > 0) yield batch;
}

/** Paths of files that came in a folder, which browsers keep apart from the file itself. */
/** @type {WeakMap<File, string>} */
const paths = new WeakMap();

/** @param {File} file */
function pathOf(file) {
  return paths.get(file) ?? (file.webkitRelativePath || file.name);
}

/**
 * Returns the files that were dropped, those of folders with their paths.
 * @param {DataTransfer} dropped
 * @returns {Promise<File[]>}
 */
export async function droppedFiles(dropped) {
  // All entries at once: what was dropped is gone after the first wait.
  const entries = Array.from(dropped.items, (item) => item.webkitGetAsEntry()).filter(
    (entry) => entry !== null,
  );
  // What a program drops, such as a mail, has no place in a file system.
  if (entries.length === 0) return [...dropped.files];
  const found = await Promise.all(entries.map(filesOf));
  return found.flat();
}

/**
 * @param {FileSystemEntry} entry
 * @returns {Promise<File[]>}
 */
async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => {
      /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject);
    });
    paths.set(file, entry.fullPath.replace(/^\//, ""));
    return [file];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const inside = [];
  while (true) {
    // A folder is read in pieces; an empty one is the last.
    /** @type {FileSystemEntry[]} */
    const piece = await new Promise((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (piece.length === 0) break;
    inside.push(...piece);
  }
  const found = await Promise.all(inside.map(filesOf));
  return found.flat();
}

/** An upload as the page shows it. */
class Panel {
  #bar = element("progress", { "aria-label": "Progress of the indexing" });
  #line = element("p", { class: "upload-line" });
  #list = element("ul", { class: "stack tight upload-files" });

  /** @param {HTMLElement} beside */
  constructor(beside) {
    const close = element(
      "button",
      { class: "icon-button", type: "button" },
      icon("close"),
      element("span", { class: "hidden" }, "Close"),
    );
    this.node = element(
      "section",
      { class: "card upload", "aria-label": "Documents" },
      element("div", { class: "row spread" }, this.#line, close),
      this.#bar,
      this.#list,
    );
    close.addEventListener("click", () => this.node.remove());
    document.querySelector(".upload")?.remove();
    beside.before(this.node);
  }

  /** @param {number} files */
  sending(files) {
    this.#line.textContent = `Sending ${count(files, "file")}…`;
    announce(this.#line.textContent);
  }

  /** @param {Job} job */
  show(job) {
    if (job.state === "failed") {
      this.#end(job.error ?? "The indexing failed.");
    } else if (job.state === "done") {
      const refused = job.files.filter((file) => file.status === "refused").length;
      const read = job.files.length - refused;
      this.#end(
        refused === 0
          ? `Ready for questions: ${count(read, "document")}.`
          : `Ready for questions: ${count(read, "document")}. Refused: ${refused}.`,
      );
    } else {
      this.#line.textContent = `${STAGES[job.stage ?? "waiting"]}${job.file ? `: ${job.file}` : "…"}`;
      this.#bar.max = Math.max(job.total, 1);
      this.#bar.value = job.done;
    }
    this.#list.replaceChildren(...job.files.map(fileLine));
  }

  /** @param {unknown} error */
  fail(error) {
    const known = error instanceof RefusedError || error instanceof UnreachableError;
    if (!known) console.error(error);
    this.#end(known ? error.message : "The files could not be sent: try again.");
    this.node.classList.add("failed");
  }

  /** @param {string} text */
  #end(text) {
    this.#line.textContent = text;
    this.#bar.remove();
    announce(text);
  }
}

/** @param {Job["files"][number]} file */
function fileLine(file) {
  const sign = file.status === "refused" ? "warn" : "tick";
  const read = file.reason ? `read, except: ${file.reason}` : "read";
  const words = { added: read, unchanged: "unchanged", refused: file.reason }[file.status];
  return element(
    "li",
    { class: `row upload-file ${file.status}` },
    icon(sign),
    element("span", { dir: "auto" }, file.name),
    element("span", { class: "soft", dir: "auto" }, words),
  );
}

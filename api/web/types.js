/**
 * The shapes that the REST API sends, as far as the pages read them; `/openapi.json` describes them whole.
 *
 * @typedef {object} Citation
 * @property {string} cited_text
 * @property {string} source
 * @property {string | null} course
 * @property {number | null} lesson
 * @property {string | null} place
 * @property {string | null} link
 * @property {string} fact
 *
 * @typedef {object} Indicator
 * @property {string} kind
 * @property {string} detail
 * @property {number} event_seq
 *
 * @typedef {object} Usage
 * @property {number} calls
 * @property {number} input_tokens
 * @property {number} output_tokens
 * @property {number} cache_read_tokens
 * @property {number} cache_write_tokens
 * @property {number | null} cost_usd
 *
 * @typedef {"high" | "medium" | "low"} Confidence
 *
 * @typedef {object} Answer
 * @property {string} answer
 * @property {string} html
 * @property {string[]} sources
 * @property {(string | null)[]} source_links
 * @property {string} session_id
 * @property {string} query_id
 * @property {Citation[]} citations
 * @property {{confidence: Confidence, indicators: Indicator[]}} uncertainty
 * @property {number} rounds
 * @property {string} reasoner
 * @property {Usage} usage
 * @property {number} duration_ms
 * @property {"answered" | "partial" | "cancelled" | "failed"} status
 *
 * @typedef {object} Lesson
 * @property {number} number
 * @property {string} title
 * @property {string | null} link
 *
 * @typedef {object} Course
 * @property {string} title
 * @property {string | null} link
 * @property {string | null} instructor
 * @property {Lesson[]} lessons
 * @property {string | null} language
 * @property {string[]} losses
 * @property {boolean} has_layout
 *
 * @typedef {object} LessonFiles
 * @property {number} number
 * @property {string} title
 * @property {string[]} files
 *
 * @typedef {object} LeftOutFile
 * @property {string} file
 * @property {string} reason
 * @property {boolean} by_owner
 *
 * @typedef {object} Layout
 * @property {string} title
 * @property {LessonFiles[]} lessons
 * @property {string[]} outside
 * @property {LeftOutFile[]} left_out
 * @property {boolean} corrected
 *
 * @typedef {object} Readiness
 * @property {boolean} ready
 * @property {string} reasoner
 * @property {number} courses
 * @property {number} chunks
 * @property {"none" | "unknown" | "accepted" | "refused"} model_key
 * @property {string[]} problems
 * @property {string[]} warnings
 *
 * @typedef {object} Suggestion
 * @property {string} question
 * @property {string} course
 * @property {number | null} lesson
 *
 * @typedef {{rating: "up" | "down", note: string | null, at: number}} Feedback
 *
 * @typedef {object} ConversationLine
 * @property {string} session_id
 * @property {string} title
 * @property {number} exchanges
 * @property {number} started_at
 * @property {number} last_at
 *
 * @typedef {object} TraceSummary
 * @property {string} query_id
 * @property {string} session_id
 * @property {string} query
 * @property {string} status
 * @property {number} started_at
 * @property {number | null} duration_ms
 * @property {number} events
 * @property {string | null} confidence
 * @property {string | null} reasoner
 * @property {string | null} parent
 * @property {string | null} answer Its first 200 characters.
 * @property {number | null} rounds
 * @property {number | null} input_tokens
 * @property {number | null} output_tokens
 * @property {number | null} cost_usd
 * @property {Feedback | null} feedback
 *
 * @typedef {TraceSummary & {follows: string | null, versions: string[]}} ConversationTrace
 *
 * @typedef {{kind: string} & Record<string, any>} TraceEvent
 *
 * @typedef {object} Recorded
 * @property {string} query_id
 * @property {number} seq
 * @property {number} cause
 * @property {number} at
 * @property {TraceEvent} event
 *
 * @typedef {object} TextHtml
 * @property {string} call_id
 * @property {string} settled Blocks of an answer that are complete now, as HTML.
 * @property {string} open The block that is being written.
 *
 * @typedef {object} FactView
 * @property {string} id
 * @property {string} source
 * @property {string[]} sentences
 */

export {};

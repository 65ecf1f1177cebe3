// Asks, follows, cancels and reads with openapi-fetch and the types that openapi-typescript made.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: string[] };
const [url, stuckUrl, question] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths, "application/json">({ baseUrl: url });
const stuck = createClient<paths, "application/json">({ baseUrl: stuckUrl });
const body = { query: question };

function given<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const answer = given(await client.POST("/api/query", { body }));

const begun = given(await client.POST("/api/queries", { body }));
const path = { query_id: begun.query_id };
const followed = await client.GET("/api/queries/{query_id}/events", { params: { path }, parseAs: "stream" });
const stream = await new Response(followed.data).text();

const unanswered = { query_id: given(await stuck.POST("/api/queries", { body })).query_id };
given(await stuck.POST("/api/queries/{query_id}/cancel", { params: { path: unanswered } }));
const cancelled = given(await stuck.GET("/api/traces/{query_id}/answer", { params: { path: unanswered } }));

const asked = { query_id: answer.query_id };
const trace = given(await client.GET("/api/traces/{query_id}", { params: { path: asked } }));

console.log(
  JSON.stringify({
    answer: answer.answer,
    calls: answer.usage.calls,
    stream,
    cancelled: cancelled.status,
    trace: trace.events.map((recorded) => recorded.event.kind),
  }),
);

// AG-UI's own client, told on the command line what to ask; it holds the order of the events to the protocol itself.
import { HttpAgent } from "@ag-ui/client";

const { runs, ...config } = JSON.parse(process.argv[2]);
let before = { threadId: config.threadId, messages: [], state: config.initialState };
const told = [];
for (const { say, leaveAt, ...parameters } of runs) {
  // As a page that is loaded anew: a client that has left a run may wait for its end for ever.
  const { threadId, messages, state } = before;
  const agent = new HttpAgent({ ...config, threadId, initialMessages: messages, initialState: state });
  before = agent;
  if (say) agent.addMessage({ id: crypto.randomUUID(), role: "user", content: say });
  const events = [];
  const run = {};
  let gone = false;
  const ended = new Promise((resolve, reject) => {
    function onEvent({ event }) {
      // What had arrived by then is still told behind it.
      if (!gone) events.push(event);
      if (gone || event.type !== leaveAt) return;
      gone = true;
      agent.abortRun();
      resolve({});
    }
    agent.runAgent(parameters, { onEvent }).then(resolve, reject);
  });
  try {
    run.result = (await ended).result;
  } catch (error) {
    run.error = String(error);
  }
  told.push({ ...run, events, state: agent.state, messages: structuredClone(agent.messages) });
}
console.log(JSON.stringify(told));

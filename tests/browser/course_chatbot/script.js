// A page in the shape of course chatbots: it knows `{answer, sources, session_id}` and `{total_courses, course_titles}`,
// and nothing else of the service.
const API_URL = "/api";
let currentSessionId = null;

const byId = (id) => document.getElementById(id);

async function sendMessage() {
  const query = byId("chatInput").value.trim();
  byId("chatInput").value = "";
  byId("sendButton").disabled = true;
  addMessage(query, "user");
  try {
    const response = await fetch(`${API_URL}/query`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query: query, session_id: currentSessionId }),
    });
    if (!response.ok) throw new Error("Query failed");
    const data = await response.json();
    if (!currentSessionId) currentSessionId = data.session_id;
    addMessage(data.answer, "assistant", data.sources);
  } catch (error) {
    addMessage(`Error: ${error.message}`, "assistant");
  }
  byId("sendButton").disabled = false;
}

function addMessage(content, type, sources = null) {
  const message = document.createElement("div");
  message.className = `message ${type}`;
  const text = document.createElement("p");
  text.textContent = content;
  message.append(text);
  if (sources && sources.length > 0) {
    const details = document.createElement("details");
    details.open = true;
    const summary = document.createElement("summary");
    summary.textContent = "Sources";
    const list = document.createElement("div");
    list.className = "sources-content";
    list.textContent = sources.join(", ");
    details.append(summary, list);
    message.append(details);
  }
  byId("chatMessages").append(message);
}

async function loadCourseStats() {
  const response = await fetch(`${API_URL}/courses`);
  if (!response.ok) throw new Error("Failed to load course stats");
  const data = await response.json();
  byId("totalCourses").textContent = data.total_courses;
  for (const title of data.course_titles) {
    const item = document.createElement("li");
    item.textContent = title;
    byId("courseTitles").append(item);
  }
}

byId("sendButton").addEventListener("click", sendMessage);
byId("chatInput").addEventListener("keypress", (event) => {
  if (event.key === "Enter") sendMessage();
});
loadCourseStats();

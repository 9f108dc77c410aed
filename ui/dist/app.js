const app = document.getElementById("app");
const list = document.createElement("ul");
app.append(list);
const answer = await fetch("/v1/runs", { headers: { accept: "application/json" } });
const page = answer.ok ? await answer.json() : { data: [] };
for (const run of page.data) {
  const item = document.createElement("li");
  item.textContent = `${run.run_id} ${run.runner} ${run.state}`;
  list.append(item);
}

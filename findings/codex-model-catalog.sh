#!/bin/sh
# @openai/codex 0.171.0: a provider's model catalog (`model_catalog_url` with `api_key_model_discovery`) takes the place of the list that is
# built in, also when it is empty. For gpt-6-sol, a model that Codex knows, an empty list changes the instructions, the tools, the effort
# and the verbosity of every request, although the list says nothing about the model.
#
# Seen: 18,748 characters of instructions, no `tools`, effort medium without a list; 16,979, 9 tools, no effort with `{"models":[]}`.
# Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" @openai/codex@0.171.0 >/dev/null
cat > run.mjs <<'JS'
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The first request of "say hi". */
async function ask(name, settings) {
  const home = `${process.cwd()}/${name}`;
  mkdirSync(home);
  let first;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method === 'GET') return response.end('{"object":"list","data":[],"models":[]}');
    first ??= JSON.parse(text);
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const answer = { id: 'resp_1', object: 'response', status: 'completed', output: [item], usage };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [{ type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } }, { type: 'response.output_item.done', output_index: 0, item }, { type: 'response.completed', response: answer }])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  const provider = `[model_providers.x]\nname = "X"\nbase_url = "${url}"\nwire_api = "responses"\nenv_key = "X_KEY"\n`;
  writeFileSync(`${home}/config.toml`, `model = "gpt-6-sol"\nmodel_provider = "x"\n${provider}${settings(url)}`);
  const words = ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', 'say hi'];
  const env = { ...process.env, CODEX_HOME: home, HOME: home, X_KEY: 'sk-1' };
  const child = spawn(`${process.cwd()}/node_modules/.bin/codex`, words, { cwd: home, env, stdio: ['ignore', 'ignore', 'ignore'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  server.close();
  server.closeAllConnections();
  const developer = first.input.find(({ role, content }) => role === 'developer' && content !== undefined);
  return { instructions: developer.content[0].text.length, tools: first.tools?.length, effort: first.reasoning?.effort };
}

const without = await ask('without', () => '');
const empty = await ask('empty', (url) => `model_catalog_url = "${url}/models"\n[features]\napi_key_model_discovery = true\n`);
console.log('without a list  ->', JSON.stringify(without));
console.log('an empty list   ->', JSON.stringify(empty));
process.exit(without.instructions !== empty.instructions && without.effort === 'medium' && empty.effort === undefined ? 0 : 1);
JS
node run.mjs

/**
 * Example programs that make one request, for the model pages and the playground. The server writes them into pages and the
 * playground's script loads this file, so it imports nothing.
 *
 * @typedef {'chat' | 'completion' | 'embedding' | 'image' | 'speech' | 'transcription' | 'rerank' | 'moderation'} CallKind
 * @typedef {object} CodeCall
 * @property {string} apiUrl with `/v1`
 * @property {CallKind} kind
 * @property {object} body of the request; a transcription sends its members as form fields, with a file
 * @typedef {'curl' | 'python' | 'typescript' | 'go' | 'php'} CodeLanguage
 */

/** @type {readonly [{ id: CodeLanguage, label: string }, ...{ id: CodeLanguage, label: string }[]]} */
export const codeLanguages = [
  { id: 'curl', label: 'curl' },
  { id: 'python', label: 'Python' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'go', label: 'Go' },
  { id: 'php', label: 'PHP' },
];

/** @type {Readonly<Record<CallKind, string>>} Below `/v1`. */
export const paths = {
  chat: '/chat/completions',
  completion: '/completions',
  embedding: '/embeddings',
  image: '/images/generations',
  speech: '/audio/speech',
  transcription: '/audio/transcriptions',
  rerank: '/rerank',
  moderation: '/moderations',
};

const files = { speech: 'speech.mp3', transcription: 'recording.mp3', image: 'image.png' };

/**
 * Returns the text of a program, with `YOUR_KEY` as the API key.
 *
 * @param {CodeLanguage} language
 * @param {CodeCall} call
 * @returns {string}
 */
export function writeCode(language, call) {
  const url = `${call.apiUrl}${paths[call.kind]}`;
  if (language === 'curl') return writeCurl(call, url);
  if (language === 'python') return writePython(call);
  if (language === 'typescript') return writeTypescript(call);
  return language === 'go' ? writeGo(call, url) : writePhp(call, url);
}

/** @param {object} body */
function formatJson(body) {
  return JSON.stringify(body, undefined, 2);
}

function quoteForShell(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeCurl({ kind, body }, url) {
  const lines = [`curl ${body.stream === true ? '-N ' : ''}${url}`, '-H "Authorization: Bearer YOUR_KEY"'];
  if (kind === 'transcription') {
    lines.push(`-F file=@${files.transcription}`);
    for (const [name, value] of Object.entries(body)) lines.push(`--form-string ${quoteForShell(`${name}=${value}`)}`);
  } else lines.push('-H "Content-Type: application/json"', `-d ${quoteForShell(formatJson(body))}`);
  if (kind === 'speech') lines.push(`--output ${files.speech}`);
  return lines.join(' \\\n  ');
}

function formatPythonLiteral(value, depth = 0) {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Array.isArray(value)
    ? value.map((entry) => formatPythonLiteral(entry, depth + 1))
    : Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${formatPythonLiteral(entry, depth + 1)}`);
  if (entries.length === 0) return `${open}${close}`;
  const space = ' '.repeat(4 * (depth + 1));
  return `${open}\n${entries.map((entry) => `${space}${entry},\n`).join('')}${' '.repeat(4 * depth)}${close}`;
}

function writePython({ apiUrl, kind, body }) {
  const args = Object.entries(body).map(([name, value]) => `    ${name}=${formatPythonLiteral(value, 1)},`);
  const call = (name, before = []) => `client.${name}(\n${[...before, ...args].join('\n')}\n)`;
  const streamed = (text) => `stream = ${call(text.name)}
for chunk in stream:
    if chunk.choices:
        print(${text.part} or "", end="")`;
  const programs = {
    chat: () =>
      body.stream === true
        ? streamed({ name: 'chat.completions.create', part: 'chunk.choices[0].delta.content' })
        : `answer = ${call('chat.completions.create')}\nprint(answer.choices[0].message)`,
    completion: () => `answer = ${call('completions.create')}\nprint(answer.choices[0].text)`,
    embedding: () => `answer = ${call('embeddings.create')}\nprint(len(answer.data[0].embedding))`,
    image: () => `answer = ${call('images.generate')}
with open("${files.image}", "wb") as file:
    file.write(base64.b64decode(answer.data[0].b64_json))`,
    speech: () => `with ${call('audio.speech.with_streaming_response.create')} as answer:
    answer.stream_to_file("${files.speech}")`,
    transcription: () =>
      `answer = ${call('audio.transcriptions.create', [`    file=open("${files.transcription}", "rb"),`])}\nprint(answer.text)`,
    rerank: () => `answer = client.post(
    "${paths.rerank}",
    cast_to=httpx.Response,
    body=${formatPythonLiteral(body, 1)},
)
print(answer.json())`,
    moderation: () => `answer = ${call('moderations.create')}\nprint(answer.results[0])`,
  };
  const imports = { image: 'import base64\n\n', rerank: 'import httpx\n' };
  return `# pip install openai
${imports[kind] ?? ''}from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(apiUrl)},
    api_key="YOUR_KEY",
)
${programs[kind]()}`;
}

function writeTypescript({ apiUrl, kind, body }) {
  // JSON strings have no raw line breaks, so only names can be at the start of a line and before a colon.
  const literal = formatJson(body).replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');
  const call = (name, more = '') => `await client.${name}(${literal.replace(/^\{/, `{${more}`)})`;
  const programs = {
    chat: () =>
      body.stream === true
        ? `const stream = ${call('chat.completions.create')};
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
}`
        : `const answer = ${call('chat.completions.create')};\nconsole.log(answer.choices[0].message);`,
    completion: () => `const answer = ${call('completions.create')};\nconsole.log(answer.choices[0].text);`,
    embedding: () => `const answer = ${call('embeddings.create')};\nconsole.log(answer.data[0].embedding.length);`,
    image: () => `const answer = ${call('images.generate')};
await writeFile("${files.image}", Buffer.from(answer.data[0].b64_json, "base64"));`,
    speech: () => `const answer = ${call('audio.speech.create')};
await writeFile("${files.speech}", Buffer.from(await answer.arrayBuffer()));`,
    transcription: () =>
      `const answer = ${call('audio.transcriptions.create', `\n  file: createReadStream("${files.transcription}"),`)};\nconsole.log(answer.text);`,
    rerank: () => `const answer = await client.post("${paths.rerank}", {
  body: ${literal.replaceAll('\n', '\n  ')},
});
console.log(answer);`,
    moderation: () => `const answer = ${call('moderations.create')};\nconsole.log(answer.results[0]);`,
  };
  const imports = {
    image: 'import { writeFile } from "node:fs/promises";\n',
    speech: 'import { writeFile } from "node:fs/promises";\n',
    transcription: 'import { createReadStream } from "node:fs";\n',
  };
  return `// npm install openai
${imports[kind] ?? ''}import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${JSON.stringify(apiUrl)},
  apiKey: "YOUR_KEY",
});
${programs[kind]()}`;
}

function formatGoLiteral(text) {
  // A raw string cannot contain a backtick.
  return `\`${text.replaceAll('`', '` + "`" + `')}\``;
}

function writeGo({ kind, body }, url) {
  const isForm = kind === 'transcription';
  const standard = ['io', 'net/http', 'os', 'strings', ...(isForm ? ['bytes', 'mime/multipart'] : [])];
  const imports = standard.filter((name) => !(isForm && name === 'strings')).toSorted();
  const fields = Object.entries(body).map(
    ([name, value]) => `form.WriteField("${name}", ${JSON.stringify(String(value))})`,
  );
  const content = isForm
    ? `var body bytes.Buffer
	form := multipart.NewWriter(&body)
	${fields.join('\n\t')}
	recording, err := os.Open("${files.transcription}")
	check(err)
	part, err := form.CreateFormFile("file", "${files.transcription}")
	check(err)
	_, err = io.Copy(part, recording)
	check(err)
	check(form.Close())
	request, err := http.NewRequest("POST", "${url}", &body)
	check(err)
	request.Header.Set("Content-Type", form.FormDataContentType())`
    : `body := ${formatGoLiteral(formatJson(body))}
	request, err := http.NewRequest("POST", "${url}", strings.NewReader(body))
	check(err)
	request.Header.Set("Content-Type", "application/json")`;
  const output =
    kind === 'speech'
      ? `file, err := os.Create("${files.speech}")
	check(err)
	_, err = io.Copy(file, response.Body)`
      : '_, err = io.Copy(os.Stdout, response.Body)';
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	${content}
	request.Header.Set("Authorization", "Bearer YOUR_KEY")
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	${output}
	check(err)
}`;
}

function quoteForPhp(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function writePhp({ kind, body }, url) {
  const isForm = kind === 'transcription';
  const fields = [
    `'file' => new CURLFile('${files.transcription}'),`,
    ...Object.entries(body).map(([name, value]) => `'${name}' => ${quoteForPhp(String(value))},`),
  ];
  const content = isForm
    ? `$body = [\n    ${fields.join('\n    ')}\n];`
    : `$body = <<<'JSON'\n${formatJson(body)}\nJSON;`;
  const headers = ["'Authorization: Bearer YOUR_KEY'", ...(isForm ? [] : ["'Content-Type: application/json'"])];
  return `<?php
${content}
$request = curl_init('${url}');
curl_setopt_array($request, [
    CURLOPT_HTTPHEADER => [${headers.join(', ')}],
    CURLOPT_POSTFIELDS => $body,${kind === 'speech' ? `\n    CURLOPT_FILE => fopen('${files.speech}', 'wb'),` : ''}
]);
curl_exec($request);`;
}

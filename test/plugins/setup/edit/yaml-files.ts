import fc from 'fast-check';
import { parseDocument } from 'yaml';

/** YAML files in every style that the format has, with the settings that Goose, Aider, Continue and llm write. */
const values = [
  'gpt-4o',
  '"dp/demo"',
  "'it''s'  # behind",
  '"esc \\" \\u00e9 # no"',
  'true',
  'yes',
  '128000',
  '1.5',
  '007',
  '1.0.0',
  '2024-01-01',
  '~',
  '',
  ' # nothing',
  'http://x:80/a#b',
  'several words - and: more'.replace(': ', ':'),
  'one\n  two # three\n',
  'one\n\n  two',
  '\n  below',
  '\n\n  # above\n  "below"',
  '"one\n  two\n\n  three \\\n  four # no"',
  "'one\n\n\n  models: no'",
  '|\n  text\n  # text\n\n  key: text',
  '|\n  text\n    \n',
  '>-  # comment\n  folded\n\n  text\n',
  '|+\n  kept\n\n',
  '|2-\n    deep\n  text',
  '[]',
  '[a, "b", \'c\', 1]',
  '[\n  a, # comment ]\n  {b: c, "d":e},\n]',
  '{a: 1, b: [x, y]}',
  '&anchor value',
  '!!str 5',
  '\n  a: 1\n  b:\n  - x\n  - y: 1\n    z: 2\n\n  c: end',
  '\n- x\n- y',
  '\n  - x\n  # between\n\n  - - 1\n    - 2\n  -\n    k: v',
];

const models = [
  '',
  ' []',
  ' # none',
  ' ~',
  ' [{name: flow}]',
  '\n- name: local',
  '\n  # first\n  - name: "local"\n    provider: ollama\n\n  # second\n  - name: other\n    roles: [chat]\n',
  '\n    - name: old\n      model: dp/demo\n      apiBase: https://ai.example/v1 # ours, older\n      roles:\n      - chat',
  '\n  - apiBase: "https://ai.example/v1"\n    model: "dp/demo"\n    name: dp/demo\n    roles: ["chat", edit]',
  '\n  -\n    name: below\n    prompt: |\n      text\n\n      # text',
  '\n  - &a\n    name: anchored\n  - *a\n  - uses: vendor/model',
];

const keys = [
  'GOOSE_PROVIDER',
  'GOOSE_MODEL',
  "'GOOSE_MODEL'",
  '"GOOSE_\\u004dODEL"',
  'name',
  'version',
  'a',
  'extensions',
];
const otherKeys = ['"quoted key"', "'single: key'", 'openai-api-base', 'x y', '"é"', 'http://x', '-dash'];
const trivia = ['', '', '  ', '# comment', '  # indented', '#x', '# é漢😀: "'];

const entry = fc
  .tuple(fc.constantFrom(...keys, ...otherKeys), fc.constantFrom('', '', ' '), fc.constantFrom(...values))
  .map(([key, gap, value]) => `${key}${gap}:${/^[\n ]|^$/.test(value) ? '' : ' '}${value}`);
const listEntry = fc.constantFrom(...models).map((value) => `models:${value}`);
const rootLine = fc.oneof(
  { weight: 6, arbitrary: entry },
  { weight: 2, arbitrary: listEntry },
  { weight: 3, arbitrary: fc.constantFrom(...trivia) },
);

const items = [
  '- model_id: gpt-5\n  model_name: gpt-5',
  '- model_id: "dp/demo"\n  # comment\n  api_base: https://old.example',
  "- 'model_id': 'dp/demo'\n  model_name: x\n  headers: {a: b}\n",
  '- {model_id: flow}',
  '-\n  model_id: below\n  text: |\n    a\n\n    b',
  '- text',
  '- - nested',
  '-   model_id: wide\n    deep:\n      - 1',
];
const rootItem = fc.oneof(fc.constantFrom(...items), fc.constantFrom(...trivia));

const style = fc.record({
  lineEnd: fc.constantFrom('\n', '\n', '\r\n'),
  mark: fc.constantFrom('', '', '', '\ufeff'),
  start: fc.constantFrom('', '', '', '---\n', '# top\n--- # here\n'),
  end: fc.constantFrom('', '\n', '\n', '\n', '\n\n', '\n...\n', '\n# end\n'),
});

export function isYaml(text: string): boolean {
  return parseDocument(text.replace('\ufeff', '')).errors.length === 0;
}

/** The key of an entry of the root, which must be unique; another line is unique by itself. */
function keyOf(line: string): unknown {
  const key = /^['"]?([^ '"#:-][^'":]*)['"]? ?:/.exec(line)?.[1]?.replace('\\u004d', 'M');
  return key ?? Symbol(line);
}

function filesOf(line: fc.Arbitrary<string>) {
  return fc
    .tuple(fc.uniqueArray(line, { maxLength: 10, selector: keyOf }), style)
    .map(([lines, { lineEnd, mark, start, end }]) => {
      const text = start + lines.join('\n') + (lines.length > 0 ? end : '');
      return mark + text.replaceAll('\n', lineEnd);
    })
    .filter(isYaml);
}

export const yamlMaps = filesOf(rootLine);
export const yamlLists = filesOf(rootItem);

export const continueOptions = { identity: ['apiBase', 'model'], at: 'start' };
export const llmOptions = { identity: ['model_id'] };

const text = fc.constantFrom('"dp/demo"', '"openai/dp/demo"', '128000', 'false', '"it\'s \\"é\\""', '"daypass"');

const scalars = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom('GOOSE_PROVIDER', 'GOOSE_MODEL', 'name', 'openai-api-base'), { maxLength: 3 }),
    fc.array(text, { minLength: 3, maxLength: 3 }),
  )
  .map(([names, texts]) => names.map((name, index) => `${name}: ${texts[index] ?? '""'}\n`).join(''));

const ours = fc.tuple(fc.constantFrom('dp/demo', 'dp/other'), fc.constantFrom('Daypass', 'dp/demo')).map(
  ([model, name]) => `  - name: "${name}"
    model: "${model}"
    apiBase: "https://ai.example/v1"
    roles:
      - "chat"
      - "edit"
`,
);
const lists = fc
  .uniqueArray(ours, { minLength: 1, maxLength: 2, selector: (one) => one.split('\n')[1] })
  .map((all) => `models:\n${all.join('')}`);

export const wantedMaps = fc
  .tuple(scalars, fc.oneof(fc.constant(''), lists))
  .map((parts) => parts.join(''))
  .filter((one) => one !== '');

export const wantedItems = fc
  .uniqueArray(fc.constantFrom('dp/demo', 'dp/other'), { minLength: 1 })
  .map((names) =>
    names
      .map((name) => `- model_id: "${name}"\n  api_base: "https://ai.example/v1"\n  supports_tools: true\n`)
      .join(''),
  );
